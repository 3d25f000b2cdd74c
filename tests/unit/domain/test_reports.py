from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.reports import Claim, Report, ReportStatus, Taken, claims_on, take
from tests.support.clocks import NOON

MINUTE = timedelta(minutes=1)
LABELS = (("alertname", "GpuLost"), ("fleet", "chat"), ("namespace", "llm"))


def firing(minutes: int = 0) -> Report:
    return Report("f1", "GpuLost", LABELS, ReportStatus.FIRING, NOON + minutes * MINUTE)


def resolved(minutes: int = 0, *, after: int = 5) -> Report:
    return Report("f1", "GpuLost", LABELS, ReportStatus.RESOLVED, NOON + minutes * MINUTE, NOON + (minutes + after) * MINUTE)


@pytest.mark.parametrize(
    ("report", "known", "expected"),
    [
        (firing(), None, Taken.FRESH),
        (firing(), firing(), Taken.DUPLICATE),
        (resolved(), firing(), Taken.CLOSED),
        (resolved(), None, Taken.CLOSED),
        (firing(), resolved(), Taken.STALE),
        (resolved(), resolved(), Taken.DUPLICATE),
        (firing(10), resolved(), Taken.FRESH),
        (firing(), firing(10), Taken.STALE),
        (resolved(), firing(10), Taken.STALE),
        (resolved(after=15), firing(10), Taken.CLOSED),
        (resolved(10), firing(), Taken.CLOSED),
    ],
    ids=[
        "first",
        "replayed",
        "ends",
        "its-end-came-first",
        "begins-after-its-end",
        "ends-twice",
        "fires-again",
        "a-stale-start",
        "the-end-of-an-older-one",
        "one-episode-with-two-starts",
        "a-later-one-that-is-over",
    ],
)
def test_a_report_is_taken_in_once_and_in_any_order(report: Report, known: Report | None, expected: Taken) -> None:
    assert take(report, known) is expected


@given(st.lists(st.sampled_from([firing(), resolved(), firing(10), resolved(10)]), min_size=1, max_size=12))
def test_whatever_the_order_each_episode_begins_at_most_once(reports: list[Report]) -> None:
    known: Report | None = None
    fresh = []
    for report in reports:
        taken = take(report, known)
        if taken is Taken.FRESH:
            fresh.append(report.starts_at)
        if taken in (Taken.FRESH, Taken.CLOSED):
            known = report

    assert fresh == sorted(set(fresh))


@pytest.mark.parametrize(
    ("identity", "found"),
    [
        ((("fleet", "chat"), ("namespace", "llm")), 1),
        ((("fleet", "chat"), ("namespace", "other")), 0),
        ((("fleet", "chat"), ("cluster", "a")), 0),
    ],
    ids=["all-its-labels", "one-differs", "one-is-not-there"],
)
def test_a_claim_is_about_a_fleet_when_it_carries_every_label_of_it(identity: tuple[tuple[str, str], ...], found: int) -> None:
    assert len(claims_on([firing(), resolved()], identity)) == found


def test_claims_come_once_each_in_order() -> None:
    assert claims_on([firing(3), firing(), firing()], {"fleet": "chat"}) == (
        Claim("GpuLost", NOON),
        Claim("GpuLost", NOON + 3 * MINUTE),
    )
