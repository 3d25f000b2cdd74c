"""Sockets that keep a deadline over a whole call.

A socket's own timeout starts anew with every read, so a server that sends a byte now and then holds
a call for ever. Here every wait is cut to what is left of the call.
"""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from autopilot.ports import Clock

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

AddressInfo: TypeAlias = tuple[int, int, int, str, Any]  # what getaddrinfo answers
Lookup: TypeAlias = Callable[[str, int], list[AddressInfo]]


class OutOfTimeError(Exception):
    """The deadline of a call has passed."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock."""

    at: timedelta
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> "Deadline":
        """So many seconds from now."""
        return cls(at=clock.running() + timedelta(seconds=seconds), clock=clock)

    def remaining_seconds(self) -> float:
        """What is left, more than zero. Raises OutOfTimeError when nothing is."""
        left = (self.at - self.clock.running()).total_seconds()
        if left <= 0.0:
            raise OutOfTimeError
        return left


class TimedSocket(socket.socket):
    """A TCP socket whose every wait ends at the deadline with OutOfTimeError."""

    deadline: Deadline

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Read once; http.client reads through this alone."""
        with _within(self, self.deadline):
            return super().recv_into(buffer, nbytes, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        """Send everything; the interpreter counts the timeout over the whole call."""
        with _within(self, self.deadline):
            super().sendall(data, flags)


class TimedTlsSocket(ssl.SSLSocket):
    """The same for TLS. The handshake itself runs under the timeout of the socket it was made from."""

    deadline: Deadline

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
        """Read once; http.client reads through this alone."""
        with _within(self, self.deadline):
            return super().recv_into(buffer, nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0) -> int:
        """Send once; `sendall` of a TLS socket is many of these."""
        with _within(self, self.deadline):
            return super().send(data, flags)


class Resolver:
    """Looks up names.

    The system's lookup cannot be cut short, so it runs on a thread of its own. All who want a name
    that is being looked up wait for that one lookup: a dead name server holds one thread per name.
    """

    def __init__(self, lookup: Lookup | None = None) -> None:
        self._lookup = lookup or _system_lookup
        self._lock = threading.Lock()
        self._running: dict[tuple[str, int], Future[list[AddressInfo]]] = {}

    def addresses(self, host: str, port: int, deadline: Deadline) -> list[AddressInfo]:
        """Where to connect to. Raises OSError for a name that is unknown, OutOfTimeError."""
        if _is_address(host):
            return self._lookup(host, port)
        found = self._share(host, port)
        try:
            return found.result(timeout=deadline.remaining_seconds())
        except TimeoutError as error:
            raise OutOfTimeError from error

    def _share(self, host: str, port: int) -> "Future[list[AddressInfo]]":
        """The lookup of this name that is running, or a new one."""
        with self._lock:
            running = self._running.get((host, port))
            if running is None:
                running = self._running[host, port] = Future()
                threading.Thread(target=self._look, args=(host, port, running), name=f"lookup {host}", daemon=True).start()
            return running

    def _look(self, host: str, port: int, into: "Future[list[AddressInfo]]") -> None:
        try:
            found = self._lookup(host, port)
        except (OSError, UnicodeError) as error:
            self._forget(host, port)
            into.set_exception(error if isinstance(error, OSError) else OSError(str(error)))
        else:
            self._forget(host, port)
            into.set_result(found)

    def _forget(self, host: str, port: int) -> None:
        with self._lock:
            del self._running[host, port]


def connect(addresses: list[AddressInfo], deadline: Deadline) -> TimedSocket:
    """A connection to the first address that takes one.

    Each address gets an equal part of what is left, so that one that swallows packets leaves time for the next.
    Raises OSError when none takes it, OutOfTimeError.
    """
    failure: OSError = OSError("the name has no address")
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        patience = deadline.remaining_seconds() / (len(addresses) - index)
        sock = TimedSocket(family, kind, protocol)
        sock.deadline = deadline
        try:
            sock.settimeout(patience)
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            sock.settimeout(patience)
            return sock
    if isinstance(failure, TimeoutError):
        raise OutOfTimeError from failure
    raise failure


@contextmanager
def _within(sock: socket.socket, deadline: Deadline) -> Iterator[None]:
    sock.settimeout(deadline.remaining_seconds())
    try:
        yield
    except TimeoutError as error:
        raise OutOfTimeError from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _system_lookup(host: str, port: int) -> list[AddressInfo]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(int(family), int(kind), protocol, name, address) for family, kind, protocol, name, address in found]
