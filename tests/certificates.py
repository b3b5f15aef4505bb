"""Certificates for gateways of tests."""

from __future__ import annotations

from pathlib import Path

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.config.settings import Tls
from evergrid.process.private_directory import write_secret


def self_signed(folder: Path, name: str = "gateway") -> Tls:
    """Files of a new certificate for 127.0.0.1 and localhost, with its own authority."""
    folder.mkdir(exist_ok=True)
    authority = CertificateAuthority(name)
    made = authority.server(name=name)
    files = Tls(certificate=folder / f"{name}.pem", key=folder / f"{name}.key")
    files.certificate.write_text(made.pem + authority.pem)
    write_secret(files.key, made.key_pem)
    return files
