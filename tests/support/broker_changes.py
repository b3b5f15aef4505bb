"""Changes of a secured broker that runs: passwords, certificates and rights."""

from __future__ import annotations

import secrets
import ssl
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AclBindingFilter,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)

from evergrid.broker.embedded_broker import NODE, REQUEST_SECONDS
from evergrid.broker.listeners import Account, Listener
from evergrid.broker.rights import Right, acls
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.process.private_directory import write_secret

# Each of the broker's network threads reloads for itself, and they take connections in turn.
_CONNECTIONS = 8
_RELOAD_SECONDS = 20.0
_POLL_SECONDS = 0.05


def set_password(house: SecuredBroker, name: str, password: str = "") -> Account:
    """Change a password for SCRAM and at the token endpoint; its file follows.

    The accounts of PLAIN are in the broker's settings: a password there does not change.
    """
    account = Account(name, password or secrets.token_urlsafe(24))
    house.broker.put_accounts([account])
    if house.tokens is not None:
        house.tokens.secrets[name] = account.password
    write_secret(house.password_file(name), account.password)
    house.accounts[name] = account
    return account


def certify(house: SecuredBroker, listener: Listener, until: datetime | None = None) -> None:
    """Give a listener a new certificate, valid until then; open connections stay.

    Returns when the broker uses it for new connections.
    """
    file = house.security.certificate(listener)
    new = house.certify(file, until).pem
    _reload(house.administration(), house.security.certificate_setting(listener), file)
    host, _, port = house.broker.address(listener.name).partition(":")
    deadline = time.monotonic() + _RELOAD_SECONDS
    address = host, int(port)
    while any(ssl.get_server_certificate(address) != new for _ in range(_CONNECTIONS)):
        assert time.monotonic() < deadline, f"{listener.name} still uses its old certificate"
        time.sleep(_POLL_SECONDS)


def _reload(administration: Connection, setting: str, file: Path) -> None:
    """Make the broker reload the file that one of its settings names.

    It does so when the setting changes, and the controller passes on only changes: so the
    setting is overridden with the same value, and the override is removed.
    """
    admin = clients.admin(administration)
    for change in (AlterConfigOpType.SET, AlterConfigOpType.DELETE):
        entry = ConfigEntry(setting, str(file), incremental_operation=change)
        broker = ConfigResource(ConfigResource.Type.BROKER, NODE, incremental_configs=[entry])
        answers = admin.incremental_alter_configs([broker], request_timeout=REQUEST_SECONDS)
        clients.wait_for(answers, administration, f"set {setting}")


def revoke(administration: Connection, principal: str, rights: Iterable[Right]) -> None:
    """Take these rights away; one that was not granted is no error."""
    admin = clients.admin(administration)
    filters = [
        AclBindingFilter(
            acl.restype,
            acl.name,
            acl.resource_pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for acl in acls(principal, rights)
    ]
    answers = admin.delete_acls(filters, request_timeout=REQUEST_SECONDS)
    clients.wait_for(answers, administration, f"take rights from {principal}")
