"""How to reach a server, and what can go wrong on the way: the values of `autopilot.adapters.http`."""

# ruff: noqa: N818 - these errors read better as what they say: HttpRefused, HttpLate

import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from autopilot.adapters.sockets import TimedTlsSocket

BODY_LIMIT = 8 * 2**20  # bytes; 40,000 series of an instant query take about as much


class HttpError(Exception):
    """A call gave no answer. The message names the server without path or credentials: paths of webhooks are secrets."""


class HttpRefused(HttpError):
    """Nothing listens there: the request was not sent."""


class HttpLate(HttpError):
    """No full answer within the deadline: the request may have been carried out."""


class HttpTooLarge(HttpError):
    """The body is over the limit."""


class HttpFailed(HttpError):
    """Anything else: an unknown name, a broken TLS handshake, a redirect, a connection cut in the middle."""


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """A user name and the file that holds the password; it is read again for every call."""

    username: str
    password_file: Path


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How to reach a server. Files are read again for every call, so that rotated ones are taken up.

    `body_limit` is in bytes. `any_certificate` believes whoever answers: for tests. Raises ValueError for two kinds of credentials at once.
    """

    ca_file: Path | None = None
    bearer_file: Path | None = None
    basic: BasicAuth | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    body_limit: int = BODY_LIMIT
    any_certificate: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be sent in one request."""
        if self.bearer_file is not None and self.basic is not None:
            message = "a server takes a bearer token or a user name with a password, not both"
            raise ValueError(message)
        for name, value in self.headers.items():
            if not (name + value).isprintable():  # requests would refuse it later, with the value in its message
                message = f"the header {name!r} has a line break or another character that cannot be sent"
                raise ValueError(message)
        if self.body_limit <= 0:
            message = f"the limit of a body is a positive number of bytes, got {self.body_limit}"
            raise ValueError(message)


def request_headers(options: HttpOptions) -> dict[str, str]:
    """What every request carries. Compression is refused: a small body may unpack into a large one."""
    headers = {"User-Agent": "vllm-slo-autopilot", "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}
    if options.bearer_file is not None:
        headers["Authorization"] = f"Bearer {_secret(options.bearer_file)}"
    if options.basic is not None:
        pair = f"{options.basic.username}:{_secret(options.basic.password_file)}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    return headers | dict(options.headers)


def _secret(path: Path) -> str:
    """The content of a secret file. Raises HttpFailed when it is unreadable or empty, as it is for a moment while it is rotated."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        message = f"{path}: cannot be read ({type(error).__name__}); the credentials belong there"
        raise HttpFailed(message) from error
    if not text or not text.isprintable():
        message = f"{path}: is empty or holds more than one line; the credentials alone belong there"
        raise HttpFailed(message)
    return text


def tls_context(options: HttpOptions) -> ssl.SSLContext:
    """The TLS context for an authority, kept until the file changes. Raises OSError when the file is no authority."""
    if options.any_certificate:
        return _tls_of_anybody()
    ca_file = options.ca_file
    return _tls_of(ca_file, 0 if ca_file is None else ca_file.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _tls_of_anybody() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = TimedTlsSocket
    return context


@lru_cache(maxsize=8)
def _tls_of(ca_file: Path | None, _changed: int) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = TimedTlsSocket
    return context
