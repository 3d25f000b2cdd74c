"""From wishes to acts: one change of the count at a time, and nothing refused is asked for at full speed."""

from dataclasses import replace

from autopilot.domain.memory import Memory
from autopilot.domain.operations import OutcomeKind, SetReplicas
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bar
from autopilot.domain.verbs import Verb
from tests.support.policies import MINUTE, closed_loop, only
from tests.unit.control.ticks import BAD, CALM, Ticking, called_back, draining, fleet_of, proven


def below_the_minimum() -> Ticking:
    return Ticking(policy=replace(only(closed_loop(minimum=3), "queued"), receivers=("oncall",)))


def test_a_refused_scale_out_is_tried_once_a_minute_and_people_are_told_once() -> None:
    ticking, tries, told = below_the_minimum(), 0, 0
    for tick in range(12 * 60):
        ticking.tick(fleet_of("ss")).came_out(OutcomeKind.REFUSED, f"forbidden, try {tick}")
        tries += len(ticking.counts)
        told += len(ticking.told)

    assert 50 <= tries <= 61
    assert told == 1
    assert ticking.reasons(Verb.SCALE_OUT) == [Reason.DENIED]


def test_after_a_refusal_people_are_told_of_the_next_one_only_if_something_went_well_between() -> None:
    ticking = below_the_minimum().tick(fleet_of("ss")).came_out(OutcomeKind.REFUSED, "forbidden").tick(fleet_of("ss"))
    first = len(ticking.told)
    ticking.ticks(13, fleet_of("ss")).came_out().tick(fleet_of("sss", version=2))
    ticking.policy = only(closed_loop(minimum=4), "queued")
    ticking.tick(fleet_of("sss", version=2)).came_out(OutcomeKind.REFUSED, "forbidden").tick(fleet_of("sss", version=2))

    assert (first, len(ticking.told)) == (1, 1)


def test_a_retraction_that_is_refused_does_not_keep_replicas_from_being_added() -> None:
    ticking = Ticking(policy=only(closed_loop(), "queued"), memory=proven())
    failed = fleet_of("sff")
    ticking.tick(failed)
    retracted = ticking.counts
    ticking.came_out(OutcomeKind.REFUSED, "forbidden")
    ticking.policy = only(closed_loop(minimum=5), "queued")
    ticking.tick(failed)

    assert retracted == [(3, 1)]
    assert ticking.counts == [(3, 5)]


def test_only_one_change_of_the_count_is_decided_on_a_tick() -> None:
    ticking = Ticking(policy=only(closed_loop(minimum=2), "queued"), memory=proven())
    ticking.memory = replace(ticking.memory, level=replace(ticking.memory.level, bar=Bar(ticking.now - MINUTE, 9, MINUTE)))
    ticking.tick(fleet_of("sf", desired=2))

    assert len([effect for effect in ticking.effects if isinstance(effect, SetReplicas)]) <= 1


def test_a_conflict_is_decided_afresh_on_the_next_tick() -> None:
    ticking = below_the_minimum().tick(fleet_of("ss")).came_out(OutcomeKind.CONFLICT).tick(fleet_of("ss", version=7), CALM)

    assert ticking.effects == [SetReplicas(3, 2, "7")]


def test_an_unsure_change_that_was_made_is_not_made_again() -> None:
    ticking = below_the_minimum().tick(fleet_of("ss")).came_out(OutcomeKind.UNSURE).tick(fleet_of("sss", version=2))

    assert ticking.effects == []
    assert ticking.memory.accepted == 3


def test_the_backends_words_end_with_the_first_change_that_is_made() -> None:
    ticking = below_the_minimum().tick(fleet_of("ss")).came_out(OutcomeKind.REFUSED, "forbidden").tick(fleet_of("ss"))
    held = len(ticking.memory.pauses)
    ticking.ticks(13, fleet_of("ss")).came_out().tick(fleet_of("sss", version=2))

    assert (held, ticking.memory.pauses) == (1, ())


def unsaved(ticking: Ticking, before: Memory) -> Memory:
    assert ticking.last is not None
    return ticking.last.unsaved(before).memory


def test_a_page_is_not_lost_with_a_tick_that_could_not_be_saved() -> None:
    policy = replace(only(closed_loop(), "queued"), receivers=("oncall",), notify_on=("ticket",))
    ticking = Ticking(policy=policy).ticks(2, fleet_of("ss"), BAD)
    before = ticking.memory
    ticking.tick(fleet_of("ss"), BAD)
    assert ticking.last is not None
    left = ticking.last.unsaved(before)

    assert [act.operation.effect.kind for act in left.acts] == ["tell"]
    assert left.memory.alerts[0].firing
    assert left.memory.remediation is None


def test_a_victim_that_is_to_come_back_is_not_forgotten_with_a_tick_that_could_not_be_saved() -> None:
    ticking = draining()
    before = ticking.memory
    ticking.tick(fleet_of("css"), restarted=True)
    ticking.memory = unsaved(ticking, before)
    ticking.tick(fleet_of("css"))

    assert called_back(ticking)
