import threading
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.notifier import KEEP_TRYING, LONGEST_PAUSE, QUEUE, QueueNotifier
from autopilot.adapters.receivers import Undeliverable
from autopilot.domain.operations import Tell
from autopilot.ports import DeliveryFailed
from tests.support.clocks import NOON, ManualClock
from tests.support.waiting import eventually

SECOND = timedelta(seconds=1)
SOON = timedelta(seconds=5)


def message(key: str, *receivers: str) -> Tell:
    return Tell(receivers or ("oncall",), key, f"title of {key}", "text")


class Mailbox:
    """A receiver that keeps what it is given, unless it is told to fail."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.told: list[datetime] = []
        self.attempts = 0
        self.failure: Exception | None = None

    def __call__(self, message: Tell, told: datetime) -> None:
        self.attempts += 1
        if self.failure is not None:
            raise self.failure
        self.keys.append(message.key)
        self.told.append(told)


class Scene:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.oncall, self.other = Mailbox(), Mailbox()
        self.missed: list[str] = []
        self.notifier = QueueNotifier({"oncall": self.oncall, "other": self.other}, self.clock, self.missed.append)

    def deliver_for(self, time: timedelta) -> None:
        """Deliver whatever comes due within this time."""
        end = self.clock.running() + time
        while (wait := self.notifier.deliver_due()) is not None and self.clock.running() + wait <= end:
            self.clock.advance(wait)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_message_goes_to_each_of_its_receivers(scene: Scene) -> None:
    scene.notifier.tell(message("a", "oncall", "other"))

    scene.deliver_for(SECOND)

    assert (scene.oncall.keys, scene.other.keys) == (["a"], ["a"])


def test_messages_arrive_in_the_order_they_were_told(scene: Scene) -> None:
    for key in ("a", "b", "c"):
        scene.notifier.tell(message(key))

    scene.deliver_for(SECOND)

    assert scene.oncall.keys == ["a", "b", "c"]


def test_a_receiver_named_twice_is_told_once(scene: Scene) -> None:
    scene.notifier.tell(message("a", "oncall", "oncall"))

    scene.deliver_for(SECOND)

    assert scene.oncall.keys == ["a"]


def test_a_key_that_is_waiting_is_not_queued_again(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    scene.notifier.tell(message("a"))
    scene.deliver_for(SECOND)
    scene.notifier.tell(message("a"))
    scene.oncall.failure = None

    scene.deliver_for(LONGEST_PAUSE)

    assert scene.oncall.keys == ["a"]


@pytest.mark.parametrize(
    ("later", "deliveries"), [(KEEP_TRYING, ["a"]), (KEEP_TRYING + SECOND, ["a", "a"])], ids=["within-a-day", "a-day-later"]
)
def test_a_key_is_told_once_a_day(scene: Scene, later: timedelta, deliveries: list[str]) -> None:
    scene.notifier.tell(message("a"))
    scene.deliver_for(SECOND)
    scene.clock.advance(later)
    scene.notifier.tell(message("a"))

    scene.deliver_for(SECOND)

    assert scene.oncall.keys == deliveries


def test_a_receiver_that_is_down_is_asked_less_and_less_often(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    scene.notifier.tell(message("a"))

    scene.deliver_for(63 * SECOND)

    assert scene.oncall.attempts == 7


def test_a_receiver_that_is_down_is_asked_every_five_minutes_for_a_day(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    scene.notifier.tell(message("a"))

    scene.deliver_for(2 * KEEP_TRYING)

    assert 288 <= scene.oncall.attempts <= 300
    assert scene.missed == ["oncall"]


def test_a_message_is_stamped_with_the_moment_it_was_told(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    scene.notifier.tell(message("a"))
    scene.deliver_for(SECOND)
    scene.oncall.failure = None

    scene.deliver_for(LONGEST_PAUSE)

    assert scene.oncall.told == [NOON]


def test_a_receiver_that_is_down_holds_up_no_other(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    for number in range(20):
        scene.notifier.tell(message(str(number), "oncall", "other"))

    scene.deliver_for(timedelta())

    assert len(scene.other.keys) == 20
    assert scene.oncall.attempts == 1


def test_everything_arrives_when_a_receiver_is_back(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    for number in range(20):
        scene.notifier.tell(message(str(number)))
    scene.deliver_for(timedelta(hours=1))
    scene.oncall.failure = None

    scene.deliver_for(LONGEST_PAUSE)

    assert sorted(scene.oncall.keys, key=int) == [str(number) for number in range(20)]
    assert scene.missed == []


@pytest.mark.parametrize("failure", [Undeliverable("no"), ArithmeticError()], ids=["refused", "a-bug-of-the-receiver"])
def test_what_will_never_be_taken_is_given_up_at_once(scene: Scene, failure: Exception) -> None:
    scene.oncall.failure = failure
    scene.notifier.tell(message("a"))

    scene.deliver_for(KEEP_TRYING)

    assert (scene.oncall.attempts, scene.missed) == (1, ["oncall"])


def test_an_unknown_receiver_is_missed_and_the_others_are_told(scene: Scene) -> None:
    scene.notifier.tell(message("a", "nobody", "other"))

    scene.deliver_for(SECOND)

    assert (scene.missed, scene.other.keys) == (["nobody"], ["a"])


def test_a_full_queue_loses_its_oldest(scene: Scene) -> None:
    for number in range(QUEUE + 2):
        scene.notifier.tell(message(str(number)))

    scene.deliver_for(SECOND)

    assert scene.missed == ["oncall", "oncall"]
    assert scene.oncall.keys == [str(number) for number in range(2, QUEUE + 2)]


def test_nothing_queued_is_nothing_to_wait_for(scene: Scene) -> None:
    assert scene.notifier.deliver_due() is None


class Slow:
    """A receiver that takes its time: until the test says so."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()
        self.taken: list[tuple[Tell, datetime]] = []

    def __call__(self, message: Tell, told: datetime) -> None:
        self.entered.set()
        self.leave.wait(10)
        self.taken.append((message, told))


@pytest.fixture
def slow() -> Iterator[Slow]:
    slow = Slow()
    yield slow
    slow.leave.set()


def test_telling_does_not_wait_for_a_delivery(slow: Slow) -> None:
    notifier = QueueNotifier({"oncall": slow}, SystemClock(), lambda _: None)
    notifier.start()
    notifier.tell(message("a"))
    slow.entered.wait(5)
    clock = SystemClock()

    for number in range(100):
        notifier.tell(message(str(number)))

    assert clock.running() < SECOND
    slow.leave.set()
    assert eventually(lambda: len(slow.taken) == 101, within=20)
    assert notifier.stop(SOON) == 0


def test_a_thread_delivers_what_is_told_and_tries_again() -> None:
    mailbox, tries = Mailbox(), []

    def first_no_then_yes(message: Tell, told: datetime) -> None:
        tries.append(message.key)
        if len(tries) == 1:
            raise DeliveryFailed
        mailbox(message, told)

    notifier = QueueNotifier({"oncall": first_no_then_yes}, SystemClock(), lambda _: None)
    notifier.start()
    notifier.tell(message("a"))

    assert eventually(lambda: mailbox.keys == ["a"], within=20)
    assert notifier.stop(SOON) == 0


def test_a_stop_says_how_much_is_left(scene: Scene) -> None:
    scene.oncall.failure = DeliveryFailed("down")
    scene.notifier.start()
    scene.notifier.tell(message("a"))
    eventually(lambda: scene.oncall.attempts, within=20)

    assert scene.notifier.stop(SOON) == 1
