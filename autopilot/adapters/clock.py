"""The one place where clocks are read."""

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clocks."""

    def __init__(self) -> None:
        self._started = _monotonic_seconds()

    def wall(self) -> datetime:
        """Now, in UTC, aware. It jumps when somebody sets the machine's clock."""
        return datetime.now(UTC)  # noqa: TID251 - this is the one place

    def running(self) -> timedelta:
        """Monotonic time since this clock was made."""
        return timedelta(seconds=_monotonic_seconds() - self._started)


def _monotonic_seconds() -> float:
    return time.monotonic()  # noqa: TID251 - this is the one place
