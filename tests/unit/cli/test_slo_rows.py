"""Error budgets as a row for people."""

import pytest

from autopilot.cli.status_rows import slo_in_words
from autopilot.control.slo_status import SloRate, SloStatus

DAY = 86400.0


@pytest.mark.parametrize(
    ("left", "rate", "figures"),
    [
        ((0.5, 0.5), SloRate(3600.0, "measured", 0.5, 0.5, 1000.0), ("50 %", "0.5 over 1 h")),
        ((0.0, 1.0), SloRate(3600.0, "measured", 0.5, 3.0, 1000.0), ("0 to 100 %", "0.5 to 3 over 1 h")),
        ((None, 0.5), SloRate(3600.0, "measured", 0.5, None, 1000.0, partial=True), ("at most 50 %", "at least 0.5 over 1 h")),
        ((None, None), SloRate(3600.0, "unknown"), ("unknown", "unknown over 1 h")),
        ((None, None), SloRate(3600.0, "idle"), ("unknown", "idle over 1 h")),
    ],
    ids=["certain", "undecided", "partial", "unknown", "idle"],
)
def test_a_budget_is_shown_with_what_is_known_of_it(
    left: tuple[float | None, float | None], rate: SloRate, figures: tuple[str, str]
) -> None:
    row = slo_in_words(SloStatus("limit", "ttft", 0.8, 0.99, 28 * DAY, *left, (rate,))).plain

    assert all(figure in row for figure in figures)
