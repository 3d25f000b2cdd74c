"""Many questions under one deadline: what hangs harms itself alone."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.queries import PATIENCE, ask
from autopilot.domain.samples import Answer, Sample
from autopilot.ports import QueryFailed, QueryLate, Source
from tests.support.waiting import eventually

NOON = 1_772_452_800.0
GRACE = timedelta(seconds=0.2)


@dataclass(frozen=True, slots=True)
class Question:
    source: str
    promql: str


@dataclass(slots=True)
class Scripted:
    """A source that answers with the time it was given, hangs until its deadline on "hang", longer on "deaf", and breaks on "bug"."""

    seen: list[tuple[str, float, float]] = field(default_factory=list)
    most: int = 0
    awake: threading.Event = field(default_factory=threading.Event)
    _busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        with self._lock:
            self.seen.append((query, at, deadline_seconds))
            self._busy += 1
            self.most = max(self.most, self._busy)
        try:
            return self._answer(query, at, deadline_seconds)
        finally:
            with self._lock:
                self._busy -= 1

    def ready(self) -> bool:
        return True

    def _answer(self, query: str, at: float, deadline_seconds: float) -> Answer:
        match query.split(maxsplit=1)[0]:
            case "hang":
                threading.Event().wait(deadline_seconds)
                raise QueryLate
            case "deaf":
                self.awake.wait()
            case "pause":
                threading.Event().wait(0.05)
            case "fail":
                raise QueryFailed
            case "bug":
                raise KeyError(query)
            case _:
                pass
        return Answer((Sample({}, 1.0, at),))


GOOD = Answer((Sample({}, 1.0, NOON),))


def questions(*texts: str, source: str = "default") -> list[Question]:
    return [Question(source, text) for text in texts]


def test_every_question_is_answered_in_its_order() -> None:
    asked = questions(*(f"up {number}" for number in range(25)))
    answers = ask({"default": Scripted()}, asked, at=NOON, deadline_seconds=5.0)

    assert list(answers.items()) == [(question, GOOD) for question in asked]


def test_no_questions_need_no_time() -> None:
    assert ask({}, questions(), at=NOON, deadline_seconds=5.0) == {}


def test_equal_questions_are_asked_once() -> None:
    source = Scripted()
    ask({"default": source}, questions("up", "up"), at=NOON, deadline_seconds=5.0)

    assert len(source.seen) == 1


def test_four_run_at_a_time() -> None:
    source = Scripted()
    ask({"default": source}, questions(*(f"pause {number}" for number in range(12))), at=NOON, deadline_seconds=5.0)

    assert source.most == 4


@pytest.mark.parametrize("text", ["fail", "bug"])
def test_one_failure_is_its_own(text: str) -> None:
    answers = ask({"default": Scripted()}, questions(text, "up"), at=NOON, deadline_seconds=5.0)

    failed, good = answers.values()
    assert isinstance(failed, QueryFailed)
    assert not isinstance(failed, QueryLate)
    assert good == GOOD


def test_a_source_that_nobody_configured_is_a_failure() -> None:
    (answer,) = ask({"default": Scripted()}, questions("up", source="other"), at=NOON, deadline_seconds=5.0).values()

    assert isinstance(answer, QueryFailed)


def test_no_question_may_take_more_than_its_part_of_the_deadline() -> None:
    source = Scripted()
    ask({"default": source}, questions("up"), at=NOON, deadline_seconds=4.0)

    assert source.seen[0][2] <= 4.0 * PATIENCE


def test_the_dearest_question_may_take_the_whole_deadline_while_a_worker_is_free_for_the_others() -> None:
    source = Scripted()
    ask({"default": source}, questions("hang", *(f"up {number}" for number in range(8))), at=NOON, deadline_seconds=0.5)

    assert next(seconds for text, _, seconds in source.seen if text == "hang") > 0.5 * PATIENCE


def test_who_takes_the_last_worker_leaves_it_to_others_in_time() -> None:
    source = Scripted()
    ask({"default": source}, questions(*(f"hang {number}" for number in range(4))), at=NOON, deadline_seconds=0.5)

    assert min(seconds for _, _, seconds in source.seen) <= 0.5 * PATIENCE


def test_a_sound_source_has_its_turn_when_every_worker_began_with_a_frozen_one() -> None:
    names = [f"frozen-{number}" for number in range(4)]
    frozen = [question for name in names for question in questions("hang 1", "hang 2", source=name)]
    sound = questions(*map(str, range(10)), source="sound")
    sources: dict[str, Source] = {name: Scripted() for name in (*names, "sound")}
    answers = ask(sources, [*frozen, *sound], at=NOON, deadline_seconds=1.0)

    assert [answers[question] for question in sound] == [GOOD] * 10


def test_four_that_hang_leave_time_for_the_rest() -> None:
    asked = questions("hang 1", "hang 2", "hang 3", "hang 4", "up")
    answers = ask({"default": Scripted()}, asked, at=NOON, deadline_seconds=1.0)

    assert [isinstance(answer, QueryLate) for answer in answers.values()] == [True, True, True, True, False]


@pytest.mark.parametrize("hanging", [1, 8, 25])
def test_the_round_ends_at_its_deadline_whatever_hangs(hanging: int) -> None:
    asked = questions(*(f"hang {number}" for number in range(hanging)))
    clock = SystemClock()
    answers = ask({"default": Scripted()}, asked, at=NOON, deadline_seconds=0.6)

    assert clock.running() <= timedelta(seconds=0.6) + GRACE
    assert all(isinstance(answer, QueryLate) for answer in answers.values())


def test_a_frozen_source_cannot_hold_every_worker() -> None:
    frozen, sound = questions(*(f"hang {number}" for number in range(20)), source="frozen"), questions(*map(str, range(20)), source="sound")
    sources: dict[str, Source] = {"frozen": Scripted(), "sound": Scripted()}
    answers = ask(sources, [*frozen, *sound], at=NOON, deadline_seconds=1.0)

    assert [answers[question] for question in sound] == [GOOD] * 20


def test_a_source_that_breaks_its_promise_does_not_delay_the_round() -> None:
    source = Scripted()
    clock = SystemClock()
    (answer,) = ask({"default": source}, questions("deaf"), at=NOON, deadline_seconds=0.3).values()
    took = clock.running()
    source.awake.set()

    assert isinstance(answer, QueryLate)
    assert took <= timedelta(seconds=0.3) + GRACE


def rounds(work: Callable[[], object], count: int) -> None:
    for _ in range(count):
        work()


def test_thousands_of_rounds_leave_no_thread_behind() -> None:
    before = threading.active_count()
    rounds(lambda: ask({"default": Scripted()}, questions("up 1", "up 2", "fail"), at=NOON, deadline_seconds=5.0), 2000)
    rounds(lambda: ask({"default": Scripted()}, questions("hang 1", "hang 2"), at=NOON, deadline_seconds=0.002), 200)

    assert eventually(lambda: threading.active_count() <= before, within=5.0)
