from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from autopilot.adapters.calendar import is_open, open_windows, valid_time_zone
from autopilot.adapters.scheduler import CronTimes
from autopilot.domain.crontab import Crontab, parse_crontab, valid_cron
from autopilot.domain.windows import CronWindow, SpanWindow, Window

BERLIN = ZoneInfo("Europe/Berlin")
OFFICE = CronWindow("30 7 * * 1-5", timedelta(hours=12), "Europe/Berlin")
STOP = SpanWindow(datetime(2026, 12, 18, 17, tzinfo=UTC), datetime(2027, 1, 4, 7, tzinfo=UTC))
INSTANT = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)
SUNDAY = date(2026, 3, 1)

SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)


def local(day: date, clock: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(f"{day} {clock}").replace(tzinfo=BERLIN, fold=fold)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (local(date(2026, 3, 2), "07:29:59.999999"), False),
        (local(date(2026, 3, 2), "07:30"), True),
        (local(date(2026, 3, 2), "19:29:59.999999"), True),
        (local(date(2026, 3, 2), "19:30"), False),
        (local(date(2026, 3, 6), "12:00"), True),
        (local(date(2026, 3, 7), "12:00"), False),
        (local(SUNDAY, "12:00"), False),
        (local(date(2026, 7, 6), "07:30"), True),
        (local(date(2026, 7, 6), "07:29"), False),
    ],
    ids=["just-before", "opens", "last-instant", "closed", "friday", "saturday", "sunday", "in-summer", "before-it-in-summer"],
)
def test_a_window_is_open_from_its_line_for_as_long_as_it_lasts(at: datetime, expected: bool) -> None:
    assert is_open(OFFICE, at) is expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [(STOP.begins - INSTANT, False), (STOP.begins, True), (STOP.ends - INSTANT, True), (STOP.ends, False)],
    ids=["just-before", "begins", "last-instant", "ends"],
)
def test_a_span_is_open_from_its_beginning_without_its_end(at: datetime, expected: bool) -> None:
    assert is_open(STOP, at) is expected


def test_the_open_ones_are_named() -> None:
    windows: dict[str, Window] = {"office": OFFICE, "release-stop": STOP}

    assert open_windows(windows, local(date(2026, 12, 21), "08:00")) == {"office", "release-stop"}


def test_the_moment_may_be_written_in_any_zone() -> None:
    moment = local(date(2026, 3, 2), "07:30")

    assert is_open(OFFICE, moment.astimezone(UTC))
    assert is_open(OFFICE, moment.astimezone(ZoneInfo("Asia/Tokyo")))


@pytest.mark.parametrize(
    ("day", "begins", "hours_open"),
    [
        (SPRING, local(SPRING, "00:00"), 4),
        (AUTUMN, local(AUTUMN, "00:00"), 4),
    ],
    ids=["spring", "autumn"],
)
def test_lasting_is_time_that_passes_on_the_days_of_the_change(day: date, begins: datetime, hours_open: int) -> None:
    window = CronWindow("0 0 * * *", timedelta(hours=4), "Europe/Berlin")
    start = begins.astimezone(UTC)

    minutes = sum(is_open(window, start + minute * MINUTE) for minute in range(20 * 60))

    assert minutes == 60 * hours_open


def opens_in_utc(line: str, day: date) -> list[str]:
    times, at, end = CronTimes(line, "Europe/Berlin"), local(day, "00:00").astimezone(UTC) - INSTANT, local(day, "23:59:59")
    found = []
    while (due := times(at)) is not None and due <= end.astimezone(UTC):
        found.append(due.strftime("%H:%M"))
        at = due
    return found


@pytest.mark.parametrize(
    ("line", "day", "expected"),
    [
        ("30 1 * * *", SPRING, ["00:30"]),
        ("30 2 * * *", SPRING, ["01:30"]),
        ("30 3 * * *", SPRING, ["01:30"]),
        ("30 1 * * *", AUTUMN, ["23:30"]),
        ("30 2 * * *", AUTUMN, ["00:30", "01:30"]),
        ("30 3 * * *", AUTUMN, ["02:30"]),
    ],
    ids=["spring-before", "spring-skipped", "spring-after", "autumn-before", "autumn-twice", "autumn-after"],
)
def test_lines_come_due_on_the_days_of_the_change(line: str, day: date, expected: list[str]) -> None:
    assert opens_in_utc(line, day) == expected


def matches(line: Crontab, at: datetime) -> bool:
    """The definition of crontab(5), read minute by minute."""
    in_day, in_week = at.day in line.days, at.isoweekday() % 7 in line.weekdays
    day = in_day or in_week if line.either_day else in_day and in_week
    return day and at.month in line.months and at.hour in line.hours and at.minute in line.minutes


@pytest.mark.parametrize(
    "line",
    [
        "*/7 * * * *",
        "0 */5 * * *",
        "15,45 1-3 * * *",
        "0 0 * * 0",
        "0 0 * * 7",
        "0 0 * * 5-7",
        "0 0 * * 1-5/2",
        "0 0 * * sun,Wed",
        "0 0 * * */3",
        "30 7 13 * 5",
        "30 7 */10 * 5",
        "0 0 29 2 *",
        "0 6 31 * *",
        "0 0 1 jan-mar *",
        "59 23 28-31 * *",
    ],
)
@pytest.mark.parametrize(
    "begins", [datetime(2026, 10, 24, tzinfo=UTC), datetime(2028, 2, 25, tzinfo=UTC)], ids=["autumn-change", "leap-day"]
)
def test_lines_mean_what_crontab_says(line: str, begins: datetime) -> None:
    crontab, times = parse_crontab(line), CronTimes(line, "Europe/Berlin")
    minutes = [begins + minute * MINUTE for minute in range(9 * 24 * 60)]
    expected = [at for at in minutes if matches(crontab, at.astimezone(BERLIN))]

    found, at = [], begins - INSTANT
    while (due := times(at)) is not None and due <= minutes[-1]:
        found.append(due)
        at = due

    assert found == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "-1 * * * *",
        "5/2 * * * *",
        "*/0 * * * *",
        "*/60 * * * *",
        "22-2 * * * *",
        "0 0 * * fri-sun",
        "0 0 last * *",
        "0 0 1st mon *",
        "0 0 * * mon#1",
        "0 0 L * *",
        "1,,2 * * * *",
        "1- * * * *",
        "²  * * * *",
        "0 0 31 2 *",
        "0 0 30 feb *",
        "0 0 31 4,6,9,11 *",
        "@daily",
    ],
)
def test_what_is_no_crontab_line_is_said(line: str) -> None:
    assert valid_cron(line)


@pytest.mark.parametrize("line", ["* * * * *", "30 7 * * 1-5", "0 0 29 2 *", "0 0 31 2 mon", "0 22-23,0-2 * DEC 5-7,0"])
def test_a_crontab_line_is_taken(line: str) -> None:
    assert valid_cron(line) is None


@pytest.mark.parametrize("name", ["", "Europe", "Europe/Berlinn", "/etc/localtime", "../x", "CET+1"])
def test_what_is_no_time_zone_is_said(name: str) -> None:
    assert valid_time_zone(name)


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/New_York"])
def test_a_time_zone_is_taken(name: str) -> None:
    assert valid_time_zone(name) is None
