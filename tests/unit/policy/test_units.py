from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.actions.ratio import parse_ratio
from autopilot.catalog.signals import Unit
from autopilot.policy.units import format_duration, parse_duration, parse_size, parse_threshold


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("28d", 2_419_200), ("500ms", 0.5), ("1w", 604_800), ("1d12h", 129_600), ("0s", 0), ("1y", 31_536_000)],
)
def test_a_duration_is_read_as_prometheus_writes_it(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("5min", "5m"),
        ("2 min", "2m"),
        ("1 hour", "1h"),
        ("1.5h", "1h30m"),
        ("90 sec", "1m30s"),
        ("30m1h", "1h30m"),
        ("10 Minutes", "10m"),
        (0.5, "500ms"),
    ],
)
def test_a_misspelt_duration_is_refused_with_the_right_spelling(text: object, meant: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as refused:
        parse_duration(text)

    assert str(refused.value).split()[-1] == meant


@pytest.mark.parametrize(
    "value", ["", " ", "soon", "-5m", "5", "1h 30m ago", "٣m", "9999999999y", None, True, [], {}, 5, float("inf"), float("nan")]
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_duration(value)


@given(st.integers(min_value=0, max_value=10 * 365 * 86_400_000))
def test_a_duration_survives_being_written(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)

    assert parse_duration(format_duration(duration)) == duration


@given(st.text(max_size=40))
def test_any_text_is_a_duration_or_refused(text: str) -> None:
    try:
        read = parse_duration(text)
    except ValueError:
        return

    assert read >= timedelta(0)


@pytest.mark.parametrize(
    ("text", "size"), [("80Gi", 80 * 2**30), ("500M", 500_000_000), ("1.5Ki", 1536), (4096, 4096), ("3350G", 3_350_000_000_000)]
)
def test_a_size_is_read_as_kubernetes_writes_it(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("value", ["80GB", "80 Gi", "-1", -1, True, None, 1.5, "", []])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_size(value)


@pytest.mark.parametrize(("value", "ratio"), [("60%", 0.6), ("99.9%", 0.999), (0.6, 0.6), (1, 1), ("0.1%", 0.001), ("100 %", 1.0)])
def test_a_ratio_is_a_percentage_or_a_number(value: object, ratio: float) -> None:
    assert parse_ratio(value) == ratio


@pytest.mark.parametrize("value", ["0.6", "60", "sixty", "", True, None, float("nan"), float("inf"), "-5%", [], "%"])
def test_what_is_no_ratio_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_ratio(value)


@pytest.mark.parametrize(
    ("value", "unit", "threshold"),
    [
        ("500ms", "seconds", 0.5),
        ("1s", "seconds", 1.0),
        ("60%", "ratio", 0.6),
        (0.6, "ratio", 0.6),
        (4, "requests", 4.0),
        (0.5, "per_second", 0.5),
        (8000, "tokens", 8000.0),
        (1, "replicas", 1.0),
        (0, "steps", 0.0),
    ],
)
def test_a_threshold_comes_in_its_signals_unit(value: object, unit: Unit, threshold: float) -> None:
    assert parse_threshold(value, unit) == threshold


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (1, "seconds"),
        ("60%", "seconds"),
        ("500ms", "ratio"),
        (60, "ratio"),
        (-0.1, "ratio"),
        ("150%", "ratio"),
        ("1s", "requests"),
        ("60%", "requests"),
        ("4", "requests"),
        (True, "requests"),
        (float("inf"), "tokens"),
    ],
)
def test_a_threshold_of_the_wrong_kind_is_refused(value: object, unit: Unit) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_threshold(value, unit)
