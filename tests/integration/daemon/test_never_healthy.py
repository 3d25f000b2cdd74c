"""A replica that never gets healthy: a deadline, its last words, a verdict, and no second one for the same need (R-29)."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from autopilot.domain.remediations import Attempt, Verdict
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import Plan
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY, SAID

DEADLINE = 5.0  # seconds
MORE = 6.0  # seconds that the breach goes on afterwards
PLANS = {fate: Plan(fate, maximum=4, start_within=f"{DEADLINE:.0f}s") for fate in ("crash", "hang")}

TAKES = 30

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class NeverHealthy:
    """One fleet whose new replica never serves. `asked` and `ended` are moments of the step, in seconds."""

    counts: list[tuple[int, int]]
    attempt: Attempt
    story: str
    told: str
    desired: int
    serves: bool
    seconds: float


def never_healthy(ground: Ground) -> Mapping[str, NeverHealthy]:
    with ground.site(*PLANS.values()) as site:
        site.start()
        for fate in PLANS:
            site.play(BUSY, fate, start=fate)
        for fate in PLANS:
            assert comes(lambda fate=fate: any(f"llm/{fate}:" in one["title"] for one in site.told), within=60), site.daemon.story()  # type: ignore[misc]
        pause(MORE)
        lines = site.daemon.json("/api/v1/story?limit=2000")["lines"]
        seen = {}
        for fate in PLANS:
            last = site.records(fate)[-1].after
            ladder = next(one for one in (*last.finished, last.remediation) if one is not None)
            attempt = ladder.attempts[0]
            story = "\n".join(line["text"] for line in lines if line["fleet"] == f"llm/{fate}")
            told = "\n".join(json_text(one) for one in site.told if f"llm/{fate}" in one["title"])
            took = (attempt.ended_at or attempt.began) - attempt.began
            desired, serves = site.record(fate).desired, site.serves(fate)
            seen[fate] = NeverHealthy(site.counts(fate), attempt, story, told, desired, serves, took.total_seconds())
        return seen


def json_text(message: Mapping[str, str]) -> str:
    return f"{message['title']} {message['text']}"


STORIES = (never_healthy,)


@pytest.fixture(params=list(PLANS))
def seen(stories: SideBySide, request: pytest.FixtureRequest) -> NeverHealthy:
    return stories.told(never_healthy)[request.param]


def test_the_step_ends_in_error_by_its_deadline(seen: NeverHealthy) -> None:
    assert seen.attempt.verdict is Verdict.ERROR
    assert seen.seconds <= DEADLINE + 3


def test_the_story_holds_the_last_twenty_lines_of_its_log(seen: NeverHealthy) -> None:
    assert all(line in seen.story for line in SAID[-20:])
    assert SAID[-21] not in seen.story


def test_people_are_told_with_those_lines(seen: NeverHealthy) -> None:
    assert SAID[-1] in seen.told


def test_what_never_came_is_taken_back_and_not_asked_for_again(seen: NeverHealthy) -> None:
    assert seen.counts[0] == (0, 1)
    assert len([one for one in seen.counts if one[1] > one[0]]) == 2
    assert seen.desired == 1
    assert seen.serves
