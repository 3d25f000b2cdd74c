"""What need not be asked again is not asked again, and nothing that could mislead is kept."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from autopilot.adapters.kept import KeptAnswers
from autopilot.domain.samples import Answer, Sample
from autopilot.ports import QueryFailed

NOON = 1_772_452_800.0
MINUTE = timedelta(minutes=1)
WHOLE = Answer((Sample({}, 1.0, NOON),))
HALF = Answer((Sample({}, 1.0, NOON),), ("a store did not answer",))


@dataclass(frozen=True, slots=True)
class Question:
    promql: str
    keep: timedelta = MINUTE
    source: str = "default"


@dataclass(slots=True)
class Counting:
    """A source that counts how often each question was put, and gives the answers that it was made with, then whole ones."""

    first: list[Answer | QueryFailed] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    within: list[tuple[float, float]] = field(default_factory=list)

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        self.asked.append(query)
        self.within.append((at, deadline_seconds))
        answer = self.first.pop(0) if self.first else WHOLE
        if isinstance(answer, QueryFailed):
            raise answer
        return answer

    def ready(self) -> bool:
        return True


def asked_at(seconds: list[float], source: Counting, *questions: Question) -> None:
    kept = KeptAnswers[Question]()
    for second in seconds:
        kept.ask({"default": source}, questions, at=NOON + second, deadline_seconds=5.0)


@pytest.mark.parametrize(
    ("seconds", "times"),
    [([0, 5, 55], 1), ([0, 60], 2), ([0, 5, 60, 65], 2), ([0, -1], 2)],
    ids=["while-it-is-good", "when-it-is-old", "once-a-minute", "by-a-clock-that-was-set-back"],
)
def test_a_kept_answer_is_used_again(seconds: list[float], times: int) -> None:
    source = Counting()
    asked_at(seconds, source, Question("edges"))

    assert len(source.asked) == times


def test_a_kept_answer_is_given_as_it_was() -> None:
    kept = KeptAnswers[Question]()
    source = Counting([Answer((Sample({"le": "1"}, 0.5, NOON),))])
    first = kept.ask({"default": source}, [Question("edges")], at=NOON, deadline_seconds=5.0)

    assert kept.ask({"default": source}, [Question("edges")], at=NOON + 5, deadline_seconds=5.0) == first


def test_what_says_nothing_about_keeping_is_asked_every_time() -> None:
    source = Counting()
    asked_at([0, 5], source, Question("up", keep=timedelta()))

    assert source.asked == ["up", "up"]


@pytest.mark.parametrize("answer", [HALF, QueryFailed()], ids=["half-answered", "failed"])
def test_an_answer_that_is_not_whole_is_asked_for_again(answer: Answer | QueryFailed) -> None:
    source = Counting([answer])
    asked_at([0, 5, 10], source, Question("edges"))

    assert len(source.asked) == 2


def test_a_question_about_other_fleets_is_another_question() -> None:
    kept, source = KeptAnswers[Question](), Counting()
    for text in ("edges of a", "edges of a and b"):
        kept.ask({"default": source}, [Question(text)], at=NOON, deadline_seconds=5.0)

    assert source.asked == ["edges of a", "edges of a and b"]


def test_answers_come_in_the_order_of_the_questions() -> None:
    kept, source = KeptAnswers[Question](), Counting()
    questions = [Question("up", keep=timedelta()), Question("edges"), Question("running", keep=timedelta())]
    kept.ask({"default": source}, questions, at=NOON, deadline_seconds=5.0)

    assert list(kept.ask({"default": source}, questions, at=NOON + 5, deadline_seconds=5.0)) == questions


@pytest.mark.parametrize(("seconds", "times"), [([0, 5, 25], 1), ([0, 30], 2), ([0, 30, 40, 300], 2)], ids=["soon", "later", "answered"])
def test_a_dear_question_that_failed_is_not_asked_on_every_tick(seconds: list[float], times: int) -> None:
    source = Counting([QueryFailed()])
    asked_at(seconds, source, Question("28 days", keep=5 * MINUTE))

    assert len(source.asked) == times
