"""A connection that must bring its request's head in time: uvicorn waits for ever, and so few of these hold every place there is."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_WITHIN = 10.0  # seconds from the first byte, or from the connection, to the end of the head


class ImpatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with a bound on how long a head may take."""

    head_within = HEAD_WITHIN

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for the first head from here on."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait on while the head is not whole."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._wait()
        else:
            self._stop_waiting()

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = asyncio.get_running_loop().call_later(self.head_within, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
