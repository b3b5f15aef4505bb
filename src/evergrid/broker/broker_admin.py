"""What a broker of ours is told while it runs: the accounts of SCRAM, and new certificates."""

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
from evergrid.config.mechanism import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import clients

NODE = "1"  # the id of the one broker that there is

_ASK_SECONDS = 20.0
_LOOK_SECONDS = 0.05
_ITERATIONS = 4096  # the least that Kafka takes
_WORDS = {
    Mechanism.SCRAM_SHA_256: ScramMechanism.SCRAM_SHA_256,
    Mechanism.SCRAM_SHA_512: ScramMechanism.SCRAM_SHA_512,
}


def put_accounts(
    administration: Connection, accounts: Iterable[Account], mechanisms: Iterable[Mechanism]
) -> None:
    """Make these accounts, or give them these passwords; returns when they count."""
    admin = clients.admin(administration)
    known = list(accounts)
    for mechanism in mechanisms:
        info = ScramCredentialInfo(_WORDS[mechanism], _ITERATIONS)
        changes: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(account.name, info, account.password.encode())
            for account in known
        ]
        answers = admin.alter_user_scram_credentials(changes, request_timeout=_ASK_SECONDS)
        try:
            for answer in answers.values():
                answer.result(timeout=_ASK_SECONDS)
        except KafkaException as error:
            raise clients.link_error(administration, "set passwords", error) from None
        deadline = time.monotonic() + _ASK_SECONDS
        while not _there(admin, known, mechanism) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)


def reload_file(administration: Connection, setting: str, file: Path) -> None:
    """Have the broker read again the file that a setting of its names.

    It does so when the setting changes, and the controller passes on changes alone: so it is
    set over what the broker was started with, and taken back.
    """
    admin = clients.admin(administration)
    for change in (AlterConfigOpType.SET, AlterConfigOpType.DELETE):
        entry = ConfigEntry(setting, str(file), incremental_operation=change)
        broker = ConfigResource(ConfigResource.Type.BROKER, NODE, incremental_configs=[entry])
        answers = admin.incremental_alter_configs([broker], request_timeout=_ASK_SECONDS)
        try:
            for answer in answers.values():
                answer.result(timeout=_ASK_SECONDS)
        except KafkaException as error:
            raise clients.link_error(administration, f"set {setting}", error) from None


def _there(admin: AdminClient, accounts: list[Account], mechanism: Mechanism) -> bool:
    """Whether the broker, and not its controller alone, knows them."""
    names = [account.name for account in accounts]
    answers = admin.describe_user_scram_credentials(names, request_timeout=_ASK_SECONDS)
    assert isinstance(answers, dict)  # one for each name
    for answer in answers.values():
        try:
            described = answer.result(timeout=_ASK_SECONDS)
        except KafkaException:  # not yet
            return False
        kinds = {info.mechanism for info in described.scram_credential_infos}
        if _WORDS[mechanism] not in kinds:
            return False
    return True
