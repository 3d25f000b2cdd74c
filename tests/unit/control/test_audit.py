"""Records: what is worth keeping, and that it can be made again."""

from dataclasses import replace

from autopilot.control.audit import Documents, Record, notable, record, replay
from autopilot.control.codec import decode, encode
from autopilot.control.cycle import Cycled, run_one
from autopilot.control.seen import Case, Seen
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Outcome, OutcomeKind
from tests.support.policies import CHAT, closed_loop, only
from tests.unit.control.ticks import BAD, CALM, START, TICK, fleet_of, proven, telling

POLICY = only(closed_loop(), "queued")


def made(memory: Memory, waiting: float, *, tick: int = 1, granted: int | None = None, outcomes: tuple[Outcome, ...] = ()) -> Record:
    there = fleet_of("ss")
    seen = Seen(
        now=START + tick * TICK,
        interval=TICK,
        scrape_interval=TICK,
        readings=telling(there, waiting=waiting),
        workload=there,
        outcomes=outcomes,
    )
    case = Case(CHAT, POLICY, memory, seen)
    return record(case, run_one(case, granted=granted), granted=granted, documents="d")


def story(*waiting: float, granted: int | None = None) -> list[Record]:
    records, memory = [], proven()
    for tick, level in enumerate(waiting, 1):
        records.append(made(memory, level, tick=tick, granted=granted))
        memory = records[-1].after
    return records


def test_a_tick_like_the_one_before_is_not_notable() -> None:
    assert [notable(each) for each in story(CALM, CALM, CALM)] == [True, False, False]


def test_every_change_of_an_alert_and_every_act_is_notable() -> None:
    assert [notable(each) for each in story(CALM, CALM, BAD, BAD, BAD)] == [True, False, True, False, True]


def test_an_outcome_is_notable() -> None:
    after = story(CALM, CALM)[-1].after

    assert notable(made(after, CALM, tick=3, outcomes=(Outcome("llm/chat/9", OutcomeKind.DONE),)))


def test_a_record_is_made_again_with_what_the_budgets_granted() -> None:
    acted = decode(encode(story(BAD, BAD, BAD, granted=1)[-1], Record), Record)
    documents = Documents(CHAT, POLICY)

    assert replay(acted, documents).same
    assert not replay(replace(acted, granted=0), documents).same


def test_a_record_is_not_made_again_under_another_policy() -> None:
    acted = story(BAD, BAD, BAD)[-1]

    assert not replay(acted, Documents(CHAT, only(closed_loop(maximum=3), "queued"))).same


def test_a_tick_that_could_not_be_saved_is_made_again_as_what_was_left_of_it() -> None:
    acted = story(BAD, BAD, BAD)[-1]
    cycled = Cycled(acted.after, acted.decisions, acted.wanted).unsaved(acted.before)
    kept = replace(acted, decisions=cycled.decisions, after=cycled.memory)

    assert acted.decisions != kept.decisions
    assert replay(kept, Documents(CHAT, POLICY)).same
