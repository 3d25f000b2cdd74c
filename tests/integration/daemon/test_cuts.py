"""Killed with -9 at every point of an act: the next daemon ends the story as the uncut one, and everything was done once (R-13)."""

import signal
from dataclasses import dataclass, replace

import pytest

from autopilot.domain.remediations import Verdict
from tests.integration.daemon.altered import POINTS, command
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Plan, Site
from tests.support.exporters import BUSY, CALM, QUIET

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Ended:
    """What was left when the story had ended. `version` begins at 1 and counts every change of the backend's record."""

    code: int | None
    desired: int
    version: int
    serves: bool
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True)
class Cut:
    """One story, cut at one point of one effect."""

    effect: str
    point: str

    def __call__(self, ground: Ground) -> Ended:
        return _out(ground, self) if self.effect == "out" else _in(ground, self)


CUTS = tuple(Cut(effect, point) for effect in ("out", "cordon", "in") for point in POINTS)
STORIES = CUTS


def _out(ground: Ground, cut: Cut) -> Ended:
    with ground.site() as site:
        site.start(command=command("cut", cut.point, cut.effect))
        site.play(BUSY)
        code = site.daemon.ends(within=PATIENCE)
        site.daemon.start()
        assert site.shows(serving=2)
        site.play(CALM)
        return _ended(site, code, at=2)


def _in(ground: Ground, cut: Cut) -> Ended:
    two = Plan(minimum=2)
    with ground.site(two) as site:
        site.start(serving=2, command=command("cut", cut.point, cut.effect))
        site.rewrite(replace(two, minimum=1))
        site.play(QUIET)
        code = site.daemon.ends(within=PATIENCE)
        site.daemon.start()
        return _ended(site, code, at=1)


def _ended(site: Site, code: int | None, *, at: int) -> Ended:
    assert site.rests(at=at), site.daemon.story()
    verdicts = tuple(one.verdict for one in site.records()[-1].after.finished)
    record = site.record()
    return Ended(code, record.desired, record.version, site.serves(), verdicts)


@pytest.mark.parametrize("cut", CUTS, ids=[f"{cut.effect}-{cut.point}" for cut in CUTS])
def test_a_story_that_was_cut_ends_as_the_uncut_one_and_nothing_was_done_twice(stories: SideBySide, cut: Cut) -> None:
    ended = stories.told(cut)

    assert ended == Ended(
        code=-signal.SIGKILL,
        desired=2 if cut.effect == "out" else 1,
        version=3,
        serves=True,
        verdicts=(Verdict.HELPED,) if cut.effect == "out" else (),
    )
