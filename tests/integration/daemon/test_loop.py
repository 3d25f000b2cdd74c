"""A whole story up and down, with nothing wrong: what the bad days are compared with."""

from dataclasses import dataclass

import pytest

from autopilot.domain.remediations import Verdict
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.support.exporters import BUSY, CALM, QUIET

TAKES = 25

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class UpAndDown:
    """What was left of the story."""

    counts: list[tuple[int, int]]
    version: int
    verdicts: list[Verdict]
    serves: bool


def up_and_down(ground: Ground) -> UpAndDown:
    with ground.site() as site:
        site.start()
        site.play(BUSY)
        assert site.grows(to=2)
        assert site.shows(serving=2)
        site.play(CALM)
        assert site.rests(at=2)
        site.play(QUIET)
        assert site.rests(at=1)
        verdicts = [one.verdict for one in site.records()[-1].after.finished]
        return UpAndDown(site.counts(), site.record().version, verdicts, site.serves())


STORIES = (up_and_down,)


def test_a_breach_is_answered_by_a_replica_that_goes_again_when_the_load_falls(stories: SideBySide) -> None:
    story = stories.told(up_and_down)

    assert story.counts == [(0, 1), (1, 2), (2, 1)]
    assert story.version == 4
    assert story.verdicts == [Verdict.HELPED]
    assert story.serves
