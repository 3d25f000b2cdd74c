"""A certificate authority for one test run, made by openssl."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest


@dataclass(frozen=True, slots=True)
class Authority:
    """A self-signed certificate for 127.0.0.1 and localhost, and its key: authority and server in one."""

    certificate: Path
    key: Path

    @classmethod
    def make(cls, folder: Path) -> Self:
        """Make one in this folder; valid for a day. Skips the test where openssl is missing."""
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("no openssl on the PATH")
        made = cls(folder / "certificate.pem", folder / "key.pem")
        request = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        files = ["-keyout", str(made.key), "-out", str(made.certificate)]
        subprocess.run([*request, *names, *files], check=True, capture_output=True, timeout=30)
        return made

    def server_context(self) -> ssl.SSLContext:
        """What a server speaks TLS with."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context
