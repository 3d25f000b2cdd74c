"""Slow questions, each on a thread of its own, so that the supervisor never waits for an engine."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Errands(Generic[T]):
    """At most one errand per key; its answer is fetched once."""

    def __init__(self) -> None:
        self._running: dict[str, Future[T]] = {}

    def begin(self, key: str, errand: Callable[[], T]) -> None:
        """Start an errand unless one of this key is under way."""
        if key in self._running:
            return
        future: Future[T] = Future()
        self._running[key] = future
        threading.Thread(target=_run, args=(errand, future), name=f"errand {key}", daemon=True).start()

    def fetch(self, key: str) -> T | None:
        """The answer when it is there, and forget the errand; None while it runs or when there is none."""
        future = self._running.get(key)
        if future is None or not future.done():
            return None
        return self._running.pop(key).result()

    def drop(self, key: str) -> None:
        """Care no more for this errand: it ends by its own deadline."""
        self._running.pop(key, None)


def _run(errand: Callable[[], T], future: Future[T]) -> None:
    try:
        future.set_result(errand())
    except Exception as error:  # noqa: BLE001 - it belongs to whoever fetches the answer
        future.set_exception(error)
