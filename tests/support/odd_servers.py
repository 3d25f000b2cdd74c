"""HTTP servers that misbehave in one chosen way, made of plain sockets."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Self, TypeAlias

Behaviour: TypeAlias = Callable[[socket.socket, bytes, threading.Event], None]
"""What a server does with a connection, the request that came on it, and the event that ends the server."""


class OddServer:
    """Listens on a loopback port inside `with`, with TLS where it is given a context; keeps the requests that came."""

    def __init__(self, behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.requests: list[bytes] = []
        self._behaviour = behaviour
        self._ending = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.port = int(self._listener.getsockname()[1])
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._begin(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=10.0)

    def _begin(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._ending.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._begin(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5.0)
            try:
                with connection if self._tls is None else self._tls.wrap_socket(connection, server_side=True) as spoken:
                    request = read_request(spoken)
                    self.requests.append(request)
                    self._behaviour(spoken, request, self._ending)
            except OSError:
                return  # the client has gone, as a client with a deadline does


def answering(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer in full."""
    return lambda connection, _request, _ending: connection.sendall(
        head(status, {"Content-Length": str(len(body))} | dict(headers or {})) + body
    )


def truncating(body: bytes, *, missing: int) -> Behaviour:
    """Promise so many bytes more than come, and hang up."""
    return lambda connection, _request, _ending: connection.sendall(head(200, {"Content-Length": str(len(body) + missing)}) + body)


def silent(_connection: socket.socket, _request: bytes, ending: threading.Event) -> None:
    """Take the request and never answer."""
    ending.wait()


def dripping(answer: bytes, *, every_seconds: float) -> Behaviour:
    """Send one byte now and then; `answer` is everything from the status line on."""

    def drip(connection: socket.socket, _request: bytes, ending: threading.Event) -> None:
        for index in range(len(answer)):
            if ending.wait(every_seconds):
                return
            connection.sendall(answer[index : index + 1])

    return drip


def dripping_proxy(upstream_port: int, *, every_seconds: float) -> Behaviour:
    """Pass the request on, and hand the answer out one byte now and then."""

    def proxy(connection: socket.socket, request: bytes, ending: threading.Event) -> None:
        with socket.create_connection(("127.0.0.1", upstream_port), timeout=5.0) as upstream:
            upstream.sendall(request)
            answer = b"".join(iter(lambda: upstream.recv(65536), b""))
        dripping(answer, every_seconds=every_seconds)(connection, request, ending)

    return proxy


def flooding(total: int, *, status: int = 200, chunked: bool = False) -> Behaviour:
    """Send a body of so many bytes, with its length announced or in chunks."""

    def flood(connection: socket.socket, _request: bytes, ending: threading.Event) -> None:
        part = b"x" * 2**16
        size = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(total)}
        connection.sendall(head(status, size))
        for _ in range(total // len(part)):
            if ending.is_set():
                return
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)

    return flood


def head(status: int, headers: Mapping[str, str] | None = None) -> bytes:
    """Status line and headers."""
    lines: Iterable[str] = (f"{name}: {value}" for name, value in (headers or {}).items())
    return "\r\n".join([f"HTTP/1.1 {status} Odd", "Connection: close", *lines, "", ""]).encode("latin-1")


def read_request(connection: socket.socket) -> bytes:
    """One request with its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    header, _, body = received.partition(b"\r\n\r\n")
    for line in header.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            while len(body) < int(value):
                body += _more(connection)
    return header + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    part = connection.recv(65536)
    if not part:
        message = "the client hung up"
        raise ConnectionError(message)
    return part
