"""Laws of the alert state machine over any history."""

from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.alerts import AlertRule, AlertState
from tests.unit.domain.histories import INTERVAL, lived, rule, states

histories = st.text(alphabet="yn?", max_size=30)
known = st.text(alphabet="yn", max_size=30)
durations = st.integers(0, 5).map(lambda number: number * INTERVAL)
rules = st.builds(rule, hold=durations, keep_firing_for=durations)


@given(evaluations=histories.filter(bool), under=rules)
def test_unknown_moves_neither_the_state_nor_a_clock(evaluations: str, under: AlertRule) -> None:
    history = lived(evaluations + "?", under=under)
    before, after = history[-2], history[-1]

    assert (after.state, after.since, after.active, after.lingered) == (before.state, before.since, before.active, before.lingered)
    assert after.blind


@given(evaluations=known, under=rules, data=st.data())
def test_a_gap_of_any_length_is_worth_one_interval_at_most(evaluations: str, under: AlertRule, data: st.DataObject) -> None:
    """What was blind in between changes nothing but the clocks: a longer gap ends in the same states as a short one."""
    cut = data.draw(st.integers(0, len(evaluations)))
    short = lived(evaluations[:cut] + "?" + evaluations[cut:], under=under)
    long = lived(evaluations[:cut] + "?" * 9 + evaluations[cut:], under=under)

    assert states(long[cut + 9 :]) == states(short[cut + 1 :])


@given(evaluations=histories, under=rules)
def test_only_a_known_yes_begins_to_fire_and_only_a_known_no_resolves(evaluations: str, under: AlertRule) -> None:
    history = lived(evaluations, under=under)

    for truth, before, after in zip(evaluations[1:], history, history[1:], strict=False):
        if not before.firing and after.firing:
            assert truth == "y"
        if before.state is not AlertState.INACTIVE and after.state is AlertState.INACTIVE:
            assert truth == "n"


@given(evaluations=histories, under=rules)
def test_an_alert_fires_only_after_its_condition_held_for_all_of_for(evaluations: str, under: AlertRule) -> None:
    for alert in lived(evaluations, under=under):
        assert not alert.firing or alert.active >= under.hold
        assert alert.lingered is None or alert.lingered < under.keep_firing_for
