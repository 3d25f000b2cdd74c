"""Port `Notifier`: a queue per receiver, and a thread that empties them and tries again for a day.

The queues are in memory: what was not delivered when the process ends is told again only if it is decided again.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from autopilot.adapters.receivers import Deliver, Undeliverable
from autopilot.domain.operations import Tell
from autopilot.ports import Clock, DeliveryFailed

KEEP_TRYING = timedelta(hours=24)
FIRST_PAUSE = timedelta(seconds=1)  # doubled after every failure in a row
LONGEST_PAUSE = timedelta(minutes=5)
QUEUE = 1_000  # messages per receiver; then the oldest goes: the newest says how things stand
REMEMBERED = 10_000  # keys per receiver

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Queued:
    message: Tell
    told: datetime
    at: timedelta


@dataclass(slots=True)
class _Receiver:
    """One receiver's queue. A failing one is left alone for a while, and holds up none of the others."""

    name: str
    deliver: Deliver
    queue: deque[_Queued] = field(default_factory=deque)
    keys: "OrderedDict[str, timedelta]" = field(default_factory=OrderedDict)
    failures: int = 0
    due: timedelta = timedelta()


class QueueNotifier:
    """Delivers each key once a day to each receiver. `on_undelivered` is given the name of a receiver that missed a message."""

    def __init__(self, receivers: Mapping[str, Deliver], clock: Clock, on_undelivered: Callable[[str], None]) -> None:
        self._receivers = {name: _Receiver(name, deliver) for name, deliver in receivers.items()}
        self._clock = clock
        self._on_undelivered = on_undelivered
        self._changed = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name="notifier", daemon=True)

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def tell(self, message: Tell) -> None:
        """Queue a message for its receivers. Never raises, never waits for a delivery."""
        queued = _Queued(message, self._clock.wall(), self._clock.running())
        for name in dict.fromkeys(message.receivers):
            receiver = self._receivers.get(name)
            if receiver is None:
                self._missed(name, message, "there is no receiver of this name")
            else:
                self._enqueue(receiver, queued)

    def deliver_due(self) -> timedelta | None:
        """Make one delivery to every receiver that is due. How long until the next is, None when nothing is queued."""
        for receiver in self._receivers.values():
            if receiver.queue and receiver.due <= self._clock.running() and not self._ending:
                self._serve(receiver)
        with self._changed:
            waits = [receiver.due - self._clock.running() for receiver in self._receivers.values() if receiver.queue]
        return max(min(waits), timedelta()) if waits else None

    def stop(self, within: timedelta) -> int:
        """End within this time; how many messages are left undelivered."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(within.total_seconds())
        return sum(len(receiver.queue) for receiver in self._receivers.values())

    def _enqueue(self, receiver: _Receiver, queued: _Queued) -> None:
        pushed_out = None
        with self._changed:
            _forget_old(receiver, self._clock.running())
            if queued.message.key in receiver.keys:
                return
            receiver.keys[queued.message.key] = queued.at
            if len(receiver.queue) >= QUEUE:
                pushed_out = receiver.queue.popleft()
                receiver.keys.pop(pushed_out.message.key, None)
            receiver.queue.append(queued)
            self._changed.notify_all()
        if pushed_out is not None:
            self._missed(receiver.name, pushed_out.message, "its queue is full")

    def _serve(self, receiver: _Receiver) -> None:
        with self._changed:
            queued = receiver.queue.popleft()
        now = self._clock.running()
        if now - queued.at > KEEP_TRYING:
            self._give_up(receiver, queued, "it did not take it for a day")
            return
        try:
            receiver.deliver(queued.message, queued.told)
        except Undeliverable as error:
            self._give_up(receiver, queued, str(error))
        except DeliveryFailed as error:
            self._postpone(receiver, queued, str(error))
        except Exception as error:  # noqa: BLE001 - a receiver's own bug must not end the thread that serves the others
            self._give_up(receiver, queued, repr(error))
        else:
            receiver.failures = 0

    def _postpone(self, receiver: _Receiver, queued: _Queued, problem: str) -> None:
        with self._changed:
            receiver.failures += 1
            receiver.due = self._clock.running() + _pause(receiver.failures)
            # To the end: if it is this message that the receiver cannot take, the others still get through.
            receiver.queue.append(queued)
        _log.warning("notification_postponed", receiver=receiver.name, key=queued.message.key, problem=problem, failures=receiver.failures)

    def _give_up(self, receiver: _Receiver, queued: _Queued, problem: str) -> None:
        with self._changed:
            receiver.keys.pop(queued.message.key, None)
        self._missed(receiver.name, queued.message, problem)

    def _missed(self, name: str, message: Tell, problem: str) -> None:
        _log.error("notification_undelivered", receiver=name, key=message.key, title=message.title, problem=problem)
        self._on_undelivered(name)

    def _work(self) -> None:
        while not self._ending:
            wait = self.deliver_due()
            with self._changed:
                self._changed.wait_for(self._news, None if wait is None else wait.total_seconds())

    def _news(self) -> bool:
        now = self._clock.running()
        return self._ending or any(receiver.queue and receiver.due <= now for receiver in self._receivers.values())


def _pause(failures: int) -> timedelta:
    return min(FIRST_PAUSE * (1 << min(failures - 1, 20)), LONGEST_PAUSE)


def _forget_old(receiver: _Receiver, now: timedelta) -> None:
    """Forget keys told over a day ago, and the oldest where there are too many."""
    while receiver.keys and (now - next(iter(receiver.keys.values())) > KEEP_TRYING or len(receiver.keys) >= REMEMBERED):
        receiver.keys.popitem(last=False)
