"""Certificates for gateways of tests."""

from __future__ import annotations

from pathlib import Path

from evergrid.broker.certificate_authority import HERE, Authority, Purpose
from evergrid.broker.secret_files import write_secret
from evergrid.config.settings import Tls


def self_signed(folder: Path, name: str = "gateway") -> Tls:
    """Files of a new certificate for 127.0.0.1 and localhost, with its own authority."""
    folder.mkdir(exist_ok=True)
    authority = Authority(name)
    made = authority.issue(name, Purpose.SERVER, HERE)
    files = Tls(certificate=folder / f"{name}.pem", key=folder / f"{name}.key")
    files.certificate.write_text(made.pem + authority.pem)
    write_secret(files.key, made.key.pem())
    return files
