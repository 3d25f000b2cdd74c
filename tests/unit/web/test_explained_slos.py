"""An explained record shows the error budgets as the policy of that time saw them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from autopilot.control.audit import Documents, Record
from autopilot.control.codec import encode
from autopilot.control.seen import Seen
from autopilot.domain.memory import Memory
from autopilot.domain.signals import Distribution, Entry, Readings
from autopilot.domain.slos import Slo
from autopilot.ports import Line
from autopilot.web.explained import explain_all
from tests.support.policies import CHAT, closed_loop
from tests.unit.control.ticks import START, TICK, fleet_of

HOUR = timedelta(hours=1)
SLO = Slo("first-token", "ttft", 0.5, 0.99, HOUR)
KEPT = encode(Documents(CHAT, replace(closed_loop(), slos=(SLO,))), Documents)
SLOW = Distribution((0.5, float("inf")), (960.0, 1000.0))
SEEN = Seen(START, TICK, TICK, Readings((Entry("ttft", HOUR, None, SLOW),)), fleet_of("ss"))
RECORD = Record(CHAT.ref, "then", Memory(), SEEN, None, (), 2, Memory())
LINE = Line(CHAT.ref, START, datetime(2026, 12, 1, tzinfo=UTC), encode(RECORD, Record))


def test_a_record_shows_the_budgets_of_its_own_policy() -> None:
    (record,) = explain_all([LINE], {"then": KEPT}.get).records
    (slo,) = record.slos

    assert slo.name == "first-token"
    assert (slo.left_low, slo.rates[0].low) == pytest.approx((-3.0, 4.0))


@pytest.mark.parametrize("kept", [{}, {"then": "{}"}], ids=["not-kept", "of-another-version"])
def test_a_record_whose_policy_is_gone_shows_none(kept: dict[str, str]) -> None:
    (record,) = explain_all([LINE], kept.get).records

    assert record.slos == ()
