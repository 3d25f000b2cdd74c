import pytest

from autopilot.doctor.findings import Level
from autopilot.doctor.sources import judge_build, judge_delay, judge_skew, selector
from autopilot.domain.samples import Build
from tests.unit.doctor.subjects import SERVER


@pytest.mark.parametrize(
    ("ahead", "slack", "level"),
    [
        (0.0, 0.01, Level.OK),
        (1.9, 0.0, Level.OK),
        (2.1, 0.0, Level.WARN),
        (-2.1, 0.0, Level.WARN),
        (5.0, 4.0, Level.OK),
        (15.0, 0.0, Level.FAIL),
        (-300.0, 0.1, Level.FAIL),
    ],
    ids=["none", "little", "ahead", "behind", "a-slow-answer-proves-nothing", "a-whole-scrape", "minutes-behind"],
)
def test_t15_clocks_agree_within_two_seconds_and_never_differ_by_a_scrape(ahead: float, slack: float, level: Level) -> None:
    assert judge_skew(SERVER, ahead, slack=slack).level is level


@pytest.mark.parametrize(("behind", "level"), [(0.0, Level.OK), (30.0, Level.WARN)], ids=["now", "half-a-minute-ago"])
def test_a_source_that_answers_for_a_while_ago_is_noticed(behind: float, level: Level) -> None:
    assert judge_delay(SERVER, behind).level is level


@pytest.mark.parametrize(
    ("build", "level"),
    [(Build("Prometheus", "2.42.0"), Level.OK), (Build("VictoriaMetrics", "v1.79"), Level.OK), (Build("", ""), Level.WARN)],
    ids=["prometheus", "victoriametrics", "unknown"],
)
def test_a_source_says_what_it_is(build: Build, level: Level) -> None:
    assert judge_build("default", build).level is level


def test_a_value_cannot_leave_its_selector() -> None:
    assert selector([("fleet", 'a"} or {x="')], "up") == r'up{fleet="a\"} or {x=\""}'
