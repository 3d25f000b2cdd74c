import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.policy.crontab import parse_crontab


def test_a_line_names_its_minutes() -> None:
    line = parse_crontab("30 7,19 1-3 jan-mar mon-fri/2")

    assert [sorted(field) for field in (line.minutes, line.hours, line.days, line.months, line.weekdays)] == [
        [30],
        [7, 19],
        [1, 2, 3],
        [1, 2, 3],
        [1, 3, 5],
    ]


@pytest.mark.parametrize(
    ("field", "weekdays"),
    [("0", {0}), ("7", {0}), ("sun", {0}), ("5-7", {5, 6, 0}), ("*", {0, 1, 2, 3, 4, 5, 6}), ("1/3", {1, 4, 0})],
)
def test_0_and_7_are_sunday(field: str, weekdays: set[int]) -> None:
    assert parse_crontab(f"0 0 * * {field}").weekdays == weekdays


def test_steps_count_from_the_start_of_their_range() -> None:
    assert parse_crontab("5-59/20 */8 * * *").minutes == {5, 25, 45}


def test_a_star_is_told_from_every_number() -> None:
    line = parse_crontab("0 0 1-31 * *")

    assert (line.any_day, line.any_weekday) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "a * * * *",
        "1,, * * * *",
        "@daily",
        "-1 * * * *",
        "1-2-3 * * * *",
        "² * * * *",
    ],
)
def test_what_is_no_crontab_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_crontab(text)


@given(st.text(alphabet="0123456789*/,- @jan²", max_size=40))
def test_any_text_is_a_line_or_refused(text: str) -> None:
    try:
        line = parse_crontab(text)
    except ValueError:
        return

    assert line.minutes <= set(range(60))
    assert line.minutes
