"""Proven load: what teaches, what does not, and what is unlearned."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.learning import LOAD_TIMES_KEPT, learn
from autopilot.control.load import LevelView, load_of
from autopilot.domain.conditions import Truth
from autopilot.domain.scaling import DayOfLoad, LevelState, ProvenLoad
from autopilot.domain.workloads import Replica, ReplicaState
from tests.unit.control.levels import NOON, NOTHING_KNOWN, PROVEN, TEMPLATE, Traffic, evenly, pending, serving, view_of, workload

DAY = timedelta(days=1)


def taught(state: LevelState, view: LevelView) -> ProvenLoad:
    return learn(state, view, load_of(view)).of(view.workload.template)


def test_good_is_the_mean_running_per_ready_replica_of_a_minute_without_symptom() -> None:
    view = view_of(Traffic({"a": 3.0, "b": 5.0}, mean={"a": 12.0, "b": 16.0}), workload(*serving(2), *pending("c")))

    assert taught(LevelState(), view).good == 14.0


def test_the_highest_good_load_stays() -> None:
    view = view_of(evenly(2, 8.0), workload(*serving(2)))

    assert taught(PROVEN, view).good == 10.0


@pytest.mark.parametrize("latency", [Truth.YES, Truth.UNKNOWN], ids=["symptom", "unknown"])
def test_a_minute_teaches_good_only_when_its_latency_was_known_to_be_fine(latency: Truth) -> None:
    view = replace(view_of(evenly(2, 60.0), workload(*serving(2))), latency=latency)

    assert taught(PROVEN, view) == PROVEN.of(TEMPLATE)


def test_unknown_signals_change_nothing() -> None:
    view = replace(view_of(None, workload(*serving(2))), latency=Truth.NO, began_firing=True)

    assert taught(PROVEN, view) == PROVEN.of(TEMPLATE)


def test_a_silent_replica_keeps_the_others_from_teaching() -> None:
    view = replace(view_of(Traffic({"a": 40.0}), workload(*serving(2))), began_firing=True)

    assert taught(PROVEN, view) == PROVEN.of(TEMPLATE)


def test_an_idle_minute_proves_nothing() -> None:
    view = view_of(evenly(2, 0.0, finished=0.0), workload(*serving(2)))

    assert taught(LevelState(), view).good is None


def test_less_than_one_request_at_a_time_proves_one() -> None:
    view = view_of(evenly(2, 0.2), workload(*serving(2)))

    assert taught(LevelState(), view).good == 1.0


def test_seconds_follow_from_littles_law() -> None:
    view = view_of(evenly(2, 12.0, finished=3.0), workload(*serving(2)))

    assert taught(LevelState(), view).seconds == pytest.approx(4.0)


def test_bad_is_the_higher_of_load_and_present_when_an_alert_begins_to_fire() -> None:
    traffic = Traffic({"a": 30.0, "b": 34.0}, mean={"a": 20.0, "b": 20.0})
    view = replace(view_of(traffic, workload(*serving(2))), latency=Truth.YES, began_firing=True)

    assert taught(PROVEN, view).bad == 32.0


def test_an_alert_that_only_goes_on_firing_teaches_no_bad() -> None:
    view = replace(view_of(evenly(2, 60.0), workload(*serving(2))), latency=Truth.YES)

    assert taught(PROVEN, view).bad is None


def test_a_symptom_under_a_load_that_was_good_before_is_not_the_loads_doing() -> None:
    view = replace(view_of(evenly(2, 18.0), workload(*serving(2))), latency=Truth.YES, began_firing=True)

    assert taught(PROVEN, view).bad is None


def test_bad_lies_at_least_five_percent_over_good() -> None:
    days = (DayOfLoad(0, good=10.0, bad=12.0), DayOfLoad(1, good=20.0))

    assert ProvenLoad(TEMPLATE, days).bad == pytest.approx(21.0)


@pytest.mark.parametrize(("age", "good"), [(6, 10.0), (7, None)], ids=["sixth-day-after", "a-week-after"])
def test_a_load_is_unlearned_after_seven_days(age: int, good: float | None) -> None:
    view = view_of(None, workload(*serving(2)), now=NOON + age * DAY)

    assert taught(PROVEN, view).good == good


def test_a_new_template_starts_without_anything_proven() -> None:
    view = view_of(None, replace(workload(*serving(2)), template="t2"))

    assert taught(PROVEN, view) == ProvenLoad("t2")


def test_going_back_to_a_template_finds_what_it_had_proven() -> None:
    forth = view_of(None, replace(workload(*serving(2)), template="t2"))
    state = learn(PROVEN, forth, load_of(forth))

    back = view_of(None, workload(*serving(2)))

    assert taught(state, back) == PROVEN.of(TEMPLATE)


def test_a_start_up_time_is_learned_once() -> None:
    loaded = Replica("c", ReplicaState.SERVING, TEMPLATE, load_seconds=80.0)
    view = view_of(None, workload(*serving(2), loaded))
    state = learn(learn(PROVEN, view, load_of(view)), view, load_of(view))

    assert state.of(TEMPLATE).load_seconds == (80.0,)


def test_only_the_newest_start_up_times_are_kept() -> None:
    crowd = (Replica(f"r{n}", ReplicaState.SERVING, TEMPLATE, load_seconds=float(n)) for n in range(LOAD_TIMES_KEPT + 3))
    view = view_of(None, workload(*crowd))

    assert taught(LevelState(), view).load_seconds[0] == 3.0


def test_a_backend_without_replicas_and_a_prometheus_without_data_teach_nothing() -> None:
    view = replace(view_of(None, workload()), readings=NOTHING_KNOWN, began_firing=True, latency=Truth.NO)

    assert taught(PROVEN, view) == PROVEN.of(TEMPLATE)
