"""Our alert state machine beside Prometheus's: the same on gapless data, different on purpose where data is missing."""

import random
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.domain.alerts import AlertState
from tests.integration.alerts.promtool import Case, agrees
from tests.support.prometheus import Binaries
from tests.unit.domain.histories import INTERVAL, lived, rule, states

SAMPLES = {"y": "1", "n": "0"}
STATES = {".": AlertState.INACTIVE, "p": AlertState.PENDING, "F": AlertState.FIRING}
CASES, EVALUATIONS = 200, 40
# Prometheus shows a sample for 5 min when no stale marker ends it: at 7 more evaluations. No multiple of the interval
# is 5 min, because versions 2 and 3 differ on whether the edge belongs to it.
SLOWER, SHOWN = timedelta(seconds=40), 7


def _case(number: int, chance: random.Random) -> Case:
    likely = chance.choice([0.2, 0.5, 0.8])
    evaluations = "".join("y" if chance.random() < likely else "n" for _ in range(EVALUATIONS))
    # Half an interval as well: a duration need not be a multiple of the interval.
    under = rule(hold=chance.randrange(0, 11) * INTERVAL / 2, keep_firing_for=chance.randrange(0, 9) * INTERVAL / 2)
    expected = tuple(alert.state for alert in lived(evaluations, under=under))
    return Case(f"case_{number}", under, tuple(SAMPLES[truth] for truth in evaluations), expected)


def _story(name: str, samples: str, expected: str, *, hold: int, keep: int = 0) -> Case:
    under = rule(hold=hold * INTERVAL, keep_firing_for=keep * INTERVAL)
    return Case(name, under, tuple(samples.split()), tuple(STATES[mark] for mark in expected))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_gapless_data_every_state_is_prometheus_own(seed: int, binaries: Binaries, tmp_path: Path) -> None:
    chance = random.Random(seed)  # the same cases in every run
    cases = [_case(number, chance) for number in range(CASES)]
    outcome = agrees(binaries.promtool, cases, folder=tmp_path)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert {state for case in cases for state in case.expected} == set(AlertState)


def test_a_wrong_expectation_is_noticed(binaries: Binaries, tmp_path: Path) -> None:
    """The comparison itself is tested: one state too late must fail."""
    late = _story("late", "1 1 1 1", "pppF", hold=2)
    outcome = agrees(binaries.promtool, [late], folder=tmp_path)

    assert outcome.returncode != 0


def test_at_a_stale_marker_prometheus_resolves_and_we_stay_blind(binaries: Binaries, tmp_path: Path) -> None:
    theirs = [
        _story("firing", "1 1 1 stale stale 1 1", "ppF..pp", hold=2),
        _story("pending", "1 1 stale 1 1 1 0", "pp.ppp.", hold=3),
        _story("lingering", "1 0 stale stale 0 0 1", "FFFF..F", hold=0, keep=3),
    ]
    ours = [
        states(lived("yyy??yy", under=theirs[0].rule)),
        states(lived("yy?yyyn", under=theirs[1].rule)),
        states(lived("yn??nny", under=theirs[2].rule)),
    ]
    outcome = agrees(binaries.promtool, theirs, folder=tmp_path)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert ours == ["ppFFFFF", "pppppF.", "FFFFFFF"]


def test_without_a_marker_prometheus_sees_the_last_sample_for_five_minutes_and_we_stay_blind(binaries: Binaries, tmp_path: Path) -> None:
    under = rule(hold=2 * SLOWER)
    theirs = Case("silent", under, ("1", *["_"] * 9, "1"), tuple(STATES[mark] for mark in "pp" + "F" * (SHOWN - 1) + ".." + "p"))
    ours = states(lived("y" + "?" * 9 + "y", under=under, interval=SLOWER))
    outcome = agrees(binaries.promtool, [theirs], folder=tmp_path, interval=SLOWER)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert ours == "p" * 11
