"""Changes to a running broker: SCRAM accounts and new certificates."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from evergrid.broker.listeners import Account
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import clients

NODE = "1"  # the id of the one broker that there is

_REQUEST_SECONDS = 20.0
_POLL_SECONDS = 0.05
_ITERATIONS = 4096  # the least that Kafka accepts
_SCRAM = {
    Mechanism.SCRAM_SHA_256: ScramMechanism.SCRAM_SHA_256,
    Mechanism.SCRAM_SHA_512: ScramMechanism.SCRAM_SHA_512,
}


def put_accounts(
    administration: Connection, accounts: Iterable[Account], mechanisms: Iterable[Mechanism]
) -> None:
    """Create accounts or set their passwords; return when the broker uses them."""
    admin = clients.admin(administration)
    known = list(accounts)
    for mechanism in mechanisms:
        info = ScramCredentialInfo(_SCRAM[mechanism], _ITERATIONS)
        changes: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(account.name, info, account.password.encode())
            for account in known
        ]
        answers = admin.alter_user_scram_credentials(changes, request_timeout=_REQUEST_SECONDS)
        clients.wait_for(answers, administration, "set passwords")
        deadline = time.monotonic() + _REQUEST_SECONDS
        while not _has_accounts(admin, known, mechanism) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def reload_file(administration: Connection, setting: str, file: Path) -> None:
    """Make the broker reload the file that one of its settings names.

    It does so when the setting changes, and the controller passes on only changes: so the setting
    is overridden with the same value, and the override is removed.
    """
    admin = clients.admin(administration)
    for change in (AlterConfigOpType.SET, AlterConfigOpType.DELETE):
        entry = ConfigEntry(setting, str(file), incremental_operation=change)
        broker = ConfigResource(ConfigResource.Type.BROKER, NODE, incremental_configs=[entry])
        answers = admin.incremental_alter_configs([broker], request_timeout=_REQUEST_SECONDS)
        clients.wait_for(answers, administration, f"set {setting}")


def _has_accounts(admin: AdminClient, accounts: list[Account], mechanism: Mechanism) -> bool:
    """Whether the broker, and not only its controller, has them."""
    names = [account.name for account in accounts]
    answers = admin.describe_user_scram_credentials(names, request_timeout=_REQUEST_SECONDS)
    assert isinstance(answers, dict)  # one for each name
    for answer in answers.values():
        try:
            described = answer.result(timeout=_REQUEST_SECONDS)
        except KafkaException:  # not yet
            return False
        kinds = {info.mechanism for info in described.scram_credential_infos}
        if _SCRAM[mechanism] not in kinds:
            return False
    return True
