"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday


class ManualClock:
    """Port `Clock` for tests: both readings move together, or the wall alone where somebody set the machine's clock."""

    def __init__(self, wall: datetime = NOON, running: timedelta = timedelta()) -> None:
        self._wall = wall
        self._running = running

    def wall(self) -> datetime:
        return self._wall

    def running(self) -> timedelta:
        return self._running

    def advance(self, by: timedelta) -> None:
        """Let time pass. Raises ValueError for a negative time: monotonic clocks do not go back."""
        if by < timedelta():
            message = f"time does not go back: {by}"
            raise ValueError(message)
        self._wall += by
        self._running += by

    def jump(self, by: timedelta) -> None:
        """Set the wall clock forwards or backwards; no time passes."""
        self._wall += by
