"""A broker with Kafka's own security, for the demo and the tests: TLS, logins, tokens, ACLs.

All secrets are new at each start of the program. They are in its directory, and only their owner
may read them:

    ca.pem             the authority that signed the broker's certificate
    server/            certificates and keys of the broker's listeners and the token endpoint
    NAME.pem           certificate and key of the account NAME
    NAME.password      its password, which is also its secret at the token endpoint
    broker/            the broker's own files, unless they are kept elsewhere
    token-port         the token endpoint's port at the last start
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evergrid.broker.certificate_authority import CertificateAuthority, IssuedCertificate, make_key
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.broker.jars import Jars
from evergrid.broker.listeners import Account, Listener, Security, trust
from evergrid.broker.loopback_ports import choose_ports
from evergrid.broker.token_endpoint import SCOPE, TokenEndpoint
from evergrid.config.sasl import Mechanism, login
from evergrid.config.secrets import SecretReader
from evergrid.config.settings import Connection
from evergrid.kafka.property_names import HANDLER, OIDC_HANDLER, TOKEN_ENDPOINT
from evergrid.model.errors import BrokenPromise
from evergrid.process.private_directory import make_private, write_secret

ADMINISTRATOR = "evergrid-administrator"
_PASSWORD_BYTES = 24


class SecuredBroker:
    """Runs while its `with` block does; `names` are the accounts, without any rights at first.

    An account has the same name whichever way it logs in, so that the same ACLs apply.
    """

    def __init__(
        self,
        directory: Path,
        listeners: Sequence[Listener],
        names: Sequence[str] = ("evergrid",),
        port: int | None = None,
        *,
        data: Path | None = None,
        extra: Mapping[str, str] | None = None,
        jars: Jars | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        if ADMINISTRATOR in names:
            raise BrokenPromise(f"{ADMINISTRATOR} has all rights and cannot be an account")
        self.directory = directory.absolute()
        make_private(self.directory, report)
        self.listeners = tuple(listeners)
        self.authority = CertificateAuthority()
        self.ca = self.authority.write(self.directory / "ca.pem")
        self.accounts = {name: self._account(name) for name in names}
        self._key = make_key()
        self.tokens = self._endpoint()
        self.security = Security(
            listeners=self.listeners,
            administrator=Account(ADMINISTRATOR, _password()),
            accounts=tuple(self.accounts.values()),
            authority=self.ca,
            certificates=self.directory / "server",
            issuer=self.tokens.issuer if self.tokens else "",
        )
        for listener in self.listeners:
            if listener.protocol.is_encrypted:
                self.certify(self.security.certificate(listener))
        self.broker = EmbeddedBroker(
            data or self.directory / "broker",
            port,
            security=self.security,
            extra=extra,
            jars=jars,
            report=report,
        )

    def __enter__(self) -> SecuredBroker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start, and return when the broker answers and has all accounts."""
        if self.tokens is not None:
            self.tokens.start()  # first, because the broker fetches its keys
        try:
            self.broker.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self.broker.stop()
        if self.tokens is not None:
            self.tokens.stop()

    def section(self, listener: Listener, name: str = "evergrid") -> dict[str, Any]:
        """The `kafka` section of a configuration for the account `name`, with Java's names.

        Secrets are references to files, so that the section can be shown to anyone.
        """
        properties = {"security.protocol": listener.protocol.value}
        if listener.protocol.is_encrypted:
            properties |= trust(self.ca)
        if listener.client_certificates:
            properties["ssl.keystore.type"] = "PEM"
            properties["ssl.keystore.location"] = str(self.directory / f"{name}.pem")
        if listener.mechanism is not None:
            properties |= self._login(listener.mechanism, name)
        return {"bootstrap": self.broker.address(listener.name), "properties": properties}

    def _login(self, mechanism: Mechanism, name: str) -> dict[str, str]:
        secret = f"${{file:{self.password_file(name)}}}"
        options, more = Account(name, secret).login, {}
        if mechanism is Mechanism.OAUTHBEARER:
            assert self.tokens is not None
            # Java takes the authority of the token endpoint from the login's own options.
            options = {"clientId": name, "clientSecret": secret, "scope": SCOPE, **trust(self.ca)}
            more = {HANDLER: OIDC_HANDLER, TOKEN_ENDPOINT: self.tokens.url}
        line = login(mechanism, options)
        return {"sasl.mechanism": mechanism.value, "sasl.jaas.config": line, **more}

    def connection(
        self, listener: Listener, name: str = "evergrid", *, called: str = "secured"
    ) -> Connection:
        """The connection that this section configures."""
        secrets = SecretReader(os.environ, self.directory)
        return Connection(called, **self.section(listener, name)).revealed(secrets)

    def administration(self) -> Connection:
        """A connection with all rights."""
        return self.broker.connection("administrator")

    def certify(self, file: Path, until: datetime | None = None) -> IssuedCertificate:
        """Write a new certificate of this machine to `file`."""
        file.parent.mkdir(exist_ok=True)
        certificate = self.authority.server(until, self._key)
        certificate.write(file)
        return certificate

    def password_file(self, name: str) -> Path:
        return self.directory / f"{name}.password"

    def _account(self, name: str) -> Account:
        account = Account(name, _password())
        write_secret(self.password_file(name), account.password)
        if any(listener.client_certificates for listener in self.listeners):
            self.authority.client(name).write(self.directory / f"{name}.pem")
        return account

    def _endpoint(self) -> TokenEndpoint | None:
        if all(listener.mechanism is not Mechanism.OAUTHBEARER for listener in self.listeners):
            return None
        file = self.directory / "token-port"
        (port,) = choose_ports(file, 1)
        file.write_text(f"{port}\n")
        known = {account.name: account.password for account in self.accounts.values()}
        certificate = self.directory / "server" / "tokens.pem"
        self.certify(certificate)
        return TokenEndpoint(certificate, port, known)


def _password() -> str:
    return secrets.token_urlsafe(_PASSWORD_BYTES)
