"""HTTP with a deadline over the whole call and a cap on the body: the only importer of requests.

No retries, no redirects, no proxies or credentials from the environment, a new connection for every
call: one that was dropped on the way is never met, and nothing is shared between threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http_options import (
    BasicAuth,
    HttpError,
    HttpFailed,
    HttpLate,
    HttpOptions,
    HttpRefused,
    HttpTooLarge,
    request_headers,
    tls_context,
)
from autopilot.adapters.sockets import Deadline, OutOfTimeError, Resolver, TimedSocket, TimedTlsSocket, connect
from autopilot.ports import Clock

__all__ = [
    "BasicAuth",
    "BoundedSession",
    "HttpClient",
    "HttpError",
    "HttpFailed",
    "HttpLate",
    "HttpOptions",
    "HttpRefused",
    "HttpTooLarge",
    "Response",
    "excerpt",
    "origin",
]

EXCERPT = 200  # characters of a body that an error message shows
NOWHERE = "an address that cannot be read"
_CHUNK = 2**16  # bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered, whatever the status, except redirects."""

    status: int
    body: bytes

    @property
    def excerpt(self) -> str:
        """The first 200 characters of the body on one line, for messages."""
        return excerpt(self.body)


@dataclass(frozen=True, slots=True)
class HttpClient:
    """Makes calls; safe to use from any number of threads at once."""

    options: HttpOptions = field(default_factory=HttpOptions)
    clock: Clock = field(default_factory=SystemClock)
    resolver: Resolver = field(default_factory=Resolver)

    def request(self, method: str, url: str, *, body: bytes | None = None, deadline_seconds: float) -> Response:
        """The answer to one request; a body is sent as JSON unless the options name another content type.

        Ends within `deadline_seconds` (+0.2 s). Raises HttpError.
        """
        with self.session(deadline_seconds) as session:
            headers = {} if body is None or "Content-Type" in session.headers else {"Content-Type": "application/json"}
            answer = session.request(method, url, data=body, headers=headers)
        return Response(status=answer.status_code, body=answer.content)

    def session(self, deadline_seconds: float) -> "BoundedSession":
        """A session whose calls, all together, end within `deadline_seconds`. Raises HttpFailed for unreadable files."""
        return BoundedSession(self.options, Deadline.after(deadline_seconds, self.clock), self.resolver)


class BoundedSession(requests.Session):
    """A session of requests that holds a deadline and a cap, and whose answers are read to the end."""

    def __init__(self, options: HttpOptions, deadline: Deadline, resolver: Resolver) -> None:
        super().__init__()
        self.trust_env = False  # .netrc would replace our Authorization header without a word
        self.max_redirects = 0
        self.headers.clear()
        self.headers.update(request_headers(options))
        self._limit = options.body_limit
        self._bounded = _BoundedAdapter(options, deadline, resolver)

    def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> requests.Response:  # type: ignore[override]
        """Make one call. Raises HttpError."""
        if origin(url) == NOWHERE:
            message = f"{method}: {NOWHERE}; it begins with http:// or https:// and a name"
            raise HttpFailed(message)
        with _translated(f"{method} {origin(url)}"):
            return super().request(method, url, *args, **kwargs)

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send and read the whole answer, up to the limit."""
        response = super().send(request, **(kwargs | {"stream": True}))
        with response:
            if 300 <= response.status_code < 400:
                message = f"it answers {response.status_code}, a redirect, which is not followed; configure the address it leads to"
                raise HttpFailed(message)
            body = self._read(response)
        response._content = body  # noqa: SLF001 - so that `content`, `text` and `json()` give what was read under the cap
        return response

    def get_adapter(self, url: str | bytes) -> HTTPAdapter:  # noqa: ARG002 - the signature is requests'
        """The bounded adapter for every address: PrometheusConnect mounts one of its own, without bounds."""
        return self._bounded

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Redirects lead nowhere: requests would read their bodies without a cap and send on our credentials."""

    def close(self) -> None:
        """Close the connection."""
        super().close()
        self._bounded.close()

    def _read(self, response: requests.Response) -> bytes:
        chunks: list[bytes] = []
        try:
            self._fill(chunks, response)
        except BaseException:
            chunks.clear()  # the error's traceback holds this frame: megabytes a query, until a collection comes round
            raise
        return b"".join(chunks)

    def _fill(self, chunks: list[bytes], response: requests.Response) -> None:
        announced = response.headers.get("Content-Length", "")
        promised = int(announced) if announced.isdecimal() else 0
        size = 0
        while chunk := response.raw.read(_CHUNK, decode_content=False):
            chunks.append(chunk)
            size += len(chunk)
            if max(size, promised) > self._limit:  # what is promised need not be read: its beginning is for the message
                message = (
                    f"it answers {response.status_code} with more than {self._limit} bytes, "
                    f"beginning with {excerpt(chunks[0])!r}; ask for less or raise the limit"
                )
                raise HttpTooLarge(message)


class _BoundedAdapter(HTTPAdapter):
    """Opens connections that keep the deadline; never retries."""

    def __init__(self, options: HttpOptions, deadline: Deadline, resolver: Resolver) -> None:
        super().__init__(max_retries=0)
        self._options = options
        self._deadline = deadline
        self._resolver = resolver
        self._pools: list[HTTPConnectionPool] = []

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: Any,  # noqa: ARG002 - the signature is requests'
        proxies: Any = None,  # noqa: ARG002
        cert: Any = None,  # noqa: ARG002
    ) -> HTTPConnectionPool:
        """A pool for this server; verification is the options' affair alone."""
        parts = urlsplit(str(request.url))
        pool: HTTPConnectionPool
        if parts.scheme == "https":
            pool = HTTPSConnectionPool(str(parts.hostname), parts.port, ssl_context=tls_context(self._options))
            pool.ConnectionCls = cast("Any", partial(_TlsConnection, deadline=self._deadline, resolver=self._resolver))
        else:
            pool = HTTPConnectionPool(str(parts.hostname), parts.port)
            pool.ConnectionCls = cast("Any", partial(_PlainConnection, deadline=self._deadline, resolver=self._resolver))
        self._pools.append(pool)
        return pool

    def cert_verify(self, *_: Any) -> None:
        """Leave the TLS context as it is: requests would load its own authorities into it at every call."""

    def close(self) -> None:
        """Close every connection."""
        super().close()
        for pool in self._pools:
            pool.close()


class _PlainConnection(HTTPConnection):
    def __init__(self, *args: Any, deadline: Deadline, resolver: Resolver, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = deadline, resolver

    def _new_conn(self) -> TimedSocket:
        return _open(self.host, self.port, *self._bounds)


class _TlsConnection(HTTPSConnection):
    def __init__(self, *args: Any, deadline: Deadline, resolver: Resolver, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = deadline, resolver

    def _new_conn(self) -> TimedSocket:
        return _open(self.host, self.port, *self._bounds)

    def connect(self) -> None:
        super().connect()
        cast("TimedTlsSocket", self.sock).deadline = self._bounds[0]
        self.is_verified = True  # or as the options ask: whoever asks for less says so in the log, once and not at every call


def excerpt(body: bytes) -> str:
    """The first 200 characters on one line."""
    return " ".join(body[: 4 * EXCERPT].decode("utf-8", "replace").split())[:EXCERPT]


def origin(url: str) -> str:
    """Scheme, host and port of an address: what may be shown to anybody."""
    try:
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return NOWHERE
    return f"{parts.scheme}://{parts.hostname}{port}" if parts.scheme in {"http", "https"} and parts.hostname else NOWHERE


@contextmanager
def _translated(call: str) -> Iterator[None]:
    """Turn what can go wrong below into our errors, without the addresses that the originals carry."""
    try:
        yield
    except HttpError as error:
        raise type(error)(f"{call}: {error}") from None
    except (OutOfTimeError, requests.Timeout):
        message = f"{call}: no full answer within the deadline; is it overloaded or frozen?"
        raise HttpLate(message) from None
    except ValueError as error:  # quotes the address or the header that it objects to
        message = f"{call}: {type(error).__name__}; correct the address and the headers"
        raise HttpFailed(message) from None
    except (requests.RequestException, HTTPError, OSError) as error:
        message = f"{call}: {_root(error)}; check the address, TLS and what lies between"
        raise HttpFailed(message) from None


def _root(error: BaseException) -> str:
    """The innermost reason: the outer ones quote the address with its path."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return f"{type(error).__name__}: {error}"


def _open(host: str, port: int, deadline: Deadline, resolver: Resolver) -> TimedSocket:
    try:
        return connect(resolver.addresses(host, port, deadline), deadline)
    except ConnectionRefusedError as error:
        message = "connection refused; is it running and is the port right?"
        raise HttpRefused(message) from error
