"""The web server in a thread of its own: uvicorn without its signal handlers, its access log and its say in our logging."""

import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from autopilot.ports import PortError
from autopilot.web.impatient import ImpatientProtocol

BACKLOG = 128
CONNECTIONS = 256  # more than these are answered 503; far under the 1,024 files a process may have open
_SHORTLY = 1.0  # seconds for the loop to end once nothing is waited for any more


class CannotListen(PortError):  # noqa: N818  # as the ports' errors: it reads as what it says
    """The address cannot be listened on: taken, not ours, not allowed."""


class WebServer:
    """Serves one application. `port` 0 takes a free one."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._host, self._port = host, port
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=ImpatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
        )
        self._server = _Announcing(config)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port listened on."""
        return self._port

    def start(self) -> None:
        """Listen, and return once requests are answered. Raises CannotListen."""
        listener = _listen(self._host, self._port)
        self._port = int(listener.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, args=(listener,), name="web", daemon=True)
        self._thread.start()
        self._server.settled.wait()
        if not self._server.started:
            message = f"{self._host}:{self._port}: the web server ended while it started; see the log before this"
            raise CannotListen(message)

    def stop(self, within_seconds: float) -> bool:
        """Let requests end, then cut them off. Whether the thread has ended; a second time is allowed."""
        if self._thread is None:
            return True
        self._server.config.timeout_graceful_shutdown = within_seconds  # type: ignore[assignment]  # it is given to wait_for
        self._server.should_exit = True
        self._thread.join(within_seconds + _SHORTLY)
        return not self._thread.is_alive()

    def _serve(self, listener: socket.socket) -> None:
        try:
            with listener:
                self._server.run(sockets=[listener])
        finally:
            self._server.settled.set()


class _Announcing(uvicorn.Server):
    """Tells when it is up, or has failed to come up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.settled.set()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, made here so that what is wrong is known before anything else starts."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # asyncio does this for sockets of its own making only, and an answer in two writes then waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"{host}:{port}: cannot be listened on: {reason}; is another autopilot running? if not, change http.host or http.port"
        raise CannotListen(message) from error
    return listener
