"""Killed with -9 at every point of every act: the story ends as the uncut one, and everything was done once (R-13)."""

import signal
from dataclasses import dataclass

import pytest

from autopilot.domain.remediations import Verdict
from tests.integration.daemon.altered import POINTS, command
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Site
from tests.support.daemons import RUN
from tests.support.exporters import BUSY, CALM, QUIET

TAKES = 50

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Ended:
    """What was left when the story had ended. `versions` are those of the backend's record, one more with every change of the count."""

    codes: list[int | None]
    versions: list[int]
    desired: int
    serves: bool
    verdicts: list[Verdict]


@dataclass(frozen=True)
class Cut:
    """One story up and down, cut at the same point of each of its acts: a replica more, one out of traffic, one fewer."""

    point: str

    def __call__(self, ground: Ground) -> Ended:
        with ground.site() as site:
            codes: list[int | None] = []
            site.start(command=command("cut", self.point, "out"))
            site.play(BUSY)
            codes.append(self._next(site, command("cut", self.point, "cordon")))
            assert site.shows(serving=2)
            site.play(CALM)
            assert site.rests(at=2)
            versions = [site.record().version]
            site.play(QUIET)
            codes.append(self._next(site, command("cut", self.point, "in")))
            codes.append(self._next(site, RUN))
            assert site.rests(at=1), site.daemon.story()
            record = site.record()
            verdicts = [one.verdict for one in site.records()[-1].after.finished]
            return Ended(codes, [*versions, record.version], record.desired, site.serves(), verdicts)

    def _next(self, site: Site, following: tuple[str, ...]) -> int | None:
        """The end of this life, and the beginning of the next."""
        code = site.daemon.ends(within=PATIENCE)
        site.daemon.start(following)
        return code


CUTS = {point: Cut(point) for point in POINTS}
STORIES = tuple(CUTS.values())


@pytest.mark.parametrize("point", POINTS)
def test_a_story_that_was_cut_ends_as_the_uncut_one_and_nothing_was_done_twice(stories: SideBySide, point: str) -> None:
    ended = stories.told(CUTS[point])

    assert ended == Ended(codes=[-signal.SIGKILL] * 3, versions=[3, 4], desired=1, serves=True, verdicts=[Verdict.HELPED])
