"""`check` names the edges next to a threshold that no edge meets."""

from pathlib import Path

import pytest

from autopilot.policy.load import load_documents
from autopilot.policy.loaded import Loaded

POLICIES = Path(__file__).parents[3] / "policies"


def loaded(name: str, *changes: tuple[str, str]) -> Loaded:
    text = (POLICIES / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return load_documents({name: text.encode()})


@pytest.mark.parametrize(
    ("name", "threshold", "named"),
    [
        ("closed-loop.yaml", "500ms", 0),
        ("closed-loop.yaml", "800ms", 1),
        ("closed-loop.yaml", "1000ms", 0),
        ("chat.yaml", "700ms", 0),
    ],
    ids=["an-edge", "between-two", "an-edge-in-other-words", "engines-that-we-start"],
)
def test_a_threshold_between_two_edges_is_warned_of(name: str, threshold: str, named: int) -> None:
    old = "threshold: 500ms" if name == "closed-loop.yaml" else "threshold: 800ms"
    found = loaded(name, (old, f"threshold: {threshold}"))

    assert found.problems == ()
    assert len([warning for warning in found.warnings if ".slos." in str(warning)]) == named


@pytest.mark.parametrize(("rate", "named"), [("99", 0), ("100", 1), ("150", 1)], ids=["reached", "the-fastest-there-is", "never-reached"])
def test_a_burn_rate_that_is_never_reached_is_warned_of(rate: str, named: int) -> None:
    found = loaded(
        "closed-loop.yaml", ("{slo: first-token, burnRateAbove: 13.44, over: 5m}", f"{{slo: first-token, burnRateAbove: {rate}, over: 5m}}")
    )

    assert found.problems == ()
    assert len([warning for warning in found.warnings if "burnRateAbove" in str(warning)]) == named
