"""Laws of the whole cycle, for any story.

AUTOPILOT_DEEP=N tells N stories for each law instead of a few.
"""

import os
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from autopilot.domain.decisions import Act
from autopilot.domain.operations import SetReplicas
from autopilot.domain.verbs import Mode
from autopilot.domain.workloads import ReplicaState
from tests.support.policies import CHAT
from tests.unit.control.laws.statutes import broken_by
from tests.unit.control.laws.worlds import Life, Story, stories

DEEP = int(os.environ.get("AUTOPILOT_DEEP", "0"))
slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def any_story(examples: int) -> settings:
    return settings(max_examples=DEEP or examples, deadline=None, suppress_health_check=slow, derandomize=not DEEP)


@any_story(14)
@given(story=stories())
def test_no_story_breaks_a_law(story: Story) -> None:
    life = Life(story).live(tail=300)

    assert broken_by(life.records, story.numbers.policy()) == []


@any_story(5)
@given(story=stories())
def test_every_story_ends_with_nothing_open_and_nobody_out_of_traffic(story: Story) -> None:
    life = Life(story).live()

    assert what_is_open(life) == {}


@any_story(4)
@given(story=stories(calm=True), pick=st.integers(0, 1000), cut=st.sampled_from(["deciding", "saving", "acting"]))
def test_a_story_cut_after_any_effect_ends_as_the_uncut_one(story: Story, pick: int, cut: str) -> None:
    uncut = Life(replace(story, numbers=replace(story.numbers, mode=Mode.ACT))).live()
    acting = [number for number, each in enumerate(uncut.records) if any(isinstance(one, Act) for one in each.decisions)]
    assume(acting)
    resumed = Life(uncut.story, cut_at=acting[pick % len(acting)], cut_after=cut).live()
    versions = [one.effect.version for one in resumed.done if isinstance(one.effect, SetReplicas)]

    assert what_is_open(resumed) == {}
    assert len(versions) == len(set(versions))
    assert knows_good(resumed) is not knows_good(uncut) or count(resumed) == count(uncut)


def what_is_open(life: Life) -> dict[str, object]:
    """What a story left behind; a firing alert may keep its ladder open."""
    memory, workload = life.memory, life.world.observe(CHAT.ref)
    firing = {alert.name for alert in memory.alerts if alert.firing}
    ladder = memory.remediation if memory.remediation is not None and memory.remediation.alert not in firing else None
    out = [one.name for one in workload.in_state(ReplicaState.CORDONED)]
    left = {"intents": memory.intents, "removal": memory.removal, "ladder": ladder, "out of traffic": out}
    return {name: what for name, what in left.items() if what}


def knows_good(life: Life) -> bool:
    return life.memory.level.of(life.world.scene.template).good is not None


def count(life: Life) -> int:
    return life.world.observe(CHAT.ref).desired
