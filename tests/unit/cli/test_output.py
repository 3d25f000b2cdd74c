from datetime import timedelta, timezone

import pytest

from autopilot.cli.output import ago, clean, figure, spell, utc
from tests.support.clocks import NOON


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (0.4, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (3_600, "1 h"), (3_665, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_a_duration_has_its_two_largest_units(seconds: float, expected: str) -> None:
    assert spell(seconds) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (None, "seconds", "-"),
        (0.5123, "seconds", "0.512 s"),
        (0.0, "requests", "0"),
        (0.425, "ratio", "42.5 %"),
        (-5.2, "per_second", "-5.2/s"),
        (1_234_567.0, "tokens", "1,234,567"),
    ],
    ids=["unknown-is-not-zero", "seconds", "zero", "ratio", "falling", "large"],
)
def test_a_figure_has_its_unit(value: float | None, unit: str, expected: str) -> None:
    assert figure(value, unit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("llm/chat", "llm/chat"),
        ("Größe", "Größe"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb", "a\\nb"),
        ("\u202e", "\\u202e"),
        ("[bold]", "[bold]"),
    ],
    ids=["plain", "letters", "escape", "line-break", "right-to-left", "markup"],
)
def test_text_of_others_cannot_steer_the_terminal(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_times_are_utc_wherever_they_were_taken() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=9)))

    assert utc(elsewhere) == "2026-03-02 12:00:00 UTC"


@pytest.mark.parametrize(("past", "expected"), [(190, "3 min 10 s ago"), (-10, "in 10 s")], ids=["past", "a-clock-that-is-ahead"])
def test_a_moment_is_so_long_ago(past: float, expected: str) -> None:
    assert ago(NOON, NOON + timedelta(seconds=past)) == expected
