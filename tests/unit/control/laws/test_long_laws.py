"""Laws that only show in the long run: nothing runs away, and nothing grows."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.codec import memory_to_json
from autopilot.domain.operations import SetReplicas, Tell
from autopilot.simulation.fleet import StartUp
from tests.unit.control.laws.worlds import Happening, Life, Numbers, Story

DEEP = bool(os.environ.get("AUTOPILOT_DEEP"))
DAY = 86_400
INTERVAL = timedelta(seconds=5 if DEEP else 60)
HOPELESS = Story(levels=((0, 0.5),), seconds=DAY, replicas=1, hopeless=True, numbers=Numbers(room=3, hold=60, within=120))

EDGE = replace(HOPELESS, hopeless=False, levels=((0, 4.0),))


@pytest.mark.parametrize(
    "story",
    [HOPELESS, replace(HOPELESS, start_up=StartUp(30.0, fails="engine died")), replace(HOPELESS, start_up=StartUp(30.0, places=1))],
    ids=["more replicas do not help", "none ever starts", "there is no place"],
)
def test_an_alert_that_nothing_can_end_is_not_acted_on_without_end(story: Story) -> None:
    life = Life(story, interval=INTERVAL).live(tail=0)
    changes = [one for one in life.done if isinstance(one.effect, SetReplicas)]
    told = [one.effect.key for one in life.done if isinstance(one.effect, Tell)]
    ladders = {key.rsplit("/", 1)[0] if key.endswith("handed-over") else key for key in told}

    # A ladder in an hour at most, on each of three alerts; each asks `repeat` times at most, and is taken back once.
    assert len(changes) <= 2 * 3 * 25 * story.numbers.repeat
    assert 20 <= len(told) == len(set(told)) == len(ladders) <= 3 * 25


@pytest.mark.parametrize("story", [HOPELESS, EDGE] if DEEP else [HOPELESS], ids=["hopeless", "on the edge"] if DEEP else ["hopeless"])
def test_memory_stays_small_however_long_it_lasts(story: Story) -> None:
    ticks = 10_000 if DEEP else 4_000
    interval = timedelta(seconds=15)
    often = tuple(Happening(tick, "crash", tick) for tick in range(50, ticks, 97)) + tuple(
        Happening(tick, "hand", tick) for tick in range(80, ticks, 1009)
    )
    life = Life(replace(story, seconds=ticks * 15, happenings=often, trouble=0.1), interval=interval)
    sizes = []
    for tick in range(ticks):
        life.step()
        life.records.clear()
        if tick % 50 == 0:
            sizes.append(len(memory_to_json(life.memory)))
    # The ladders that are remembered are all there after half of it: one an hour.
    early, late = max(sizes[len(sizes) * 6 // 10 : len(sizes) * 8 // 10]), max(sizes[len(sizes) * 8 // 10 :])

    assert max(sizes) < 64 * 1024
    assert late <= 1.25 * early + 1024
