"""What a policy names is what is asked for."""

from dataclasses import replace

from autopilot.control.needs import signals_by_replica, signals_needed
from autopilot.domain.conditions import All, Comparison, Leaf, Per
from tests.support.policies import MINUTE, QUEUED, SLOW, closed_loop, rule

EACH = Leaf("waiting", Comparison.ABOVE, 5.0, per=Per.REPLICA)
POLICY = replace(closed_loop(), alerts=(rule("one", All((SLOW, EACH))), rule("queued", QUEUED)), remedies=())


def test_every_leaf_is_asked_for() -> None:
    assert signals_needed(POLICY) == {("ttft", MINUTE), ("waiting", None), ("waiting_per_replica", None)}


def test_only_leaves_per_replica_are_read_replica_by_replica() -> None:
    assert signals_by_replica(POLICY) == {("waiting", None)}


def test_a_fleet_without_a_policy_needs_nothing_more() -> None:
    assert (signals_needed(None), signals_by_replica(None)) == (frozenset(), frozenset())
