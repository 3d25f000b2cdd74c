"""Warm-up prompts follow the fleet's own traffic."""

from dataclasses import replace

import pytest

from autopilot.daemon.warm_ups import OVER, SIGNAL, follow, prompt_lengths
from autopilot.domain.signals import Distribution, Entry, Gap, Idle, Reading, Readings, Unknown
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book
from autopilot.policy.book import Entry as BookEntry
from autopilot.policy.values import WarmUp
from tests.support.policies import CHAT

INF = float("inf")
# 1,000 prompts: half of them up to 500 tokens, all but the last five up to 2,000.
BUSY = Distribution((500.0, 1000.0, 2000.0, INF), (500.0, 900.0, 995.0, 1000.0))


def readings(reading: Reading) -> Readings:
    return Readings((Entry(SIGNAL, OVER, None, reading),))


def followed(warm_up: WarmUp, backend: str = "local") -> dict[FleetRef, tuple[int, ...]]:
    fleet = replace(CHAT, backend=backend, pools=(replace(CHAT.pools[0], warm_up=warm_up),))
    told: dict[FleetRef, tuple[int, ...]] = {}
    follow(Book((BookEntry(fleet, None),)), {fleet.ref: readings(BUSY)}, told.__setitem__)
    return told


def test_the_lengths_are_the_fleets_own_median_and_its_p99() -> None:
    median, longest = prompt_lengths(readings(BUSY)) or (0, 0)

    assert median == 500
    assert 1000 < longest <= 2000


@pytest.mark.parametrize(
    "reading",
    [Idle(), Unknown(Gap.ABSENT), Distribution((500.0, INF), (20.0, 20.0))],
    ids=["idle", "unknown", "too-few-prompts-for-a-p99"],
)
def test_nothing_is_said_while_the_lengths_are_not_known(reading: Reading) -> None:
    assert prompt_lengths(readings(reading)) is None


def test_a_fleet_whose_file_says_auto_is_told() -> None:
    assert list(followed(WarmUp(prompt_tokens=None))) == [CHAT.ref]


@pytest.mark.parametrize(
    ("warm_up", "backend"),
    [(WarmUp(prompt_tokens=64), "local"), (WarmUp(prompt_tokens=None), "kubernetes")],
    ids=["the-file-names-a-length", "the-pod-warms-itself"],
)
def test_other_fleets_are_left_alone(warm_up: WarmUp, backend: str) -> None:
    assert followed(warm_up, backend) == {}
