"""Certificates that sign themselves, for gateways of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from evergrid.config.settings import Tls


def self_signed(folder: Path, name: str = "gateway") -> Tls:
    """Files of a new certificate for 127.0.0.1 and localhost, which is its own authority."""
    folder.mkdir(exist_ok=True)
    files = Tls(certificate=folder / f"{name}.pem", key=folder / f"{name}.key")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    make += ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", str(files.key)]
    make += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-out", str(files.certificate)]
    subprocess.run(make, check=True, capture_output=True)
    return files
