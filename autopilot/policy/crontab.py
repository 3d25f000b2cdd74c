"""Five-field crontab lines, as cron(5) reads them."""

from dataclasses import dataclass

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}


@dataclass(frozen=True, slots=True)
class Crontab:
    """The minutes a line names. Weekdays are 0 (Sunday) to 6.

    `any_day` and `any_weekday` say that the field was `*`: when neither is, a date fits if either field fits.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool


def parse_crontab(text: str) -> Crontab:
    """Read `30 7 * * 1-5`. Raises ValueError that says which field is wrong."""
    fields = text.split()
    if len(fields) != 5:
        raise ValueError(f'"{text[:60]}" has {len(fields)} fields, write five: minute hour day month weekday, such as "30 7 * * 1-5"')
    minute, hour, day, month, weekday = fields
    return Crontab(
        minutes=_numbers(minute, "minute", 0, 59),
        hours=_numbers(hour, "hour", 0, 23),
        days=_numbers(day, "day", 1, 31),
        months=_numbers(month, "month", 1, 12, names=_MONTHS),
        weekdays=frozenset(number % 7 for number in _numbers(weekday, "weekday", 0, 7, names=_DAYS)),
        any_day=day.startswith("*"),
        any_weekday=weekday.startswith("*"),
    )


def _numbers(field: str, what: str, low: int, high: int, *, names: dict[str, int] | None = None) -> frozenset[int]:
    """The numbers that one field names."""
    found: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        first, last = _span(span, what, low, high, names or {})
        if slash and (not step.isascii() or not step.isdigit() or int(step[:4]) == 0):
            raise ValueError(f'"{part[:20]}" is no step for the {what}, write it as */15')
        found.update(range(first, (high if slash and first == last else last) + 1, int(step[:4]) if slash else 1))
    return frozenset(found)


def _span(span: str, what: str, low: int, high: int, names: dict[str, int]) -> tuple[int, int]:
    if span == "*":
        return low, high
    first, dash, last = span.partition("-")
    ends = [_number(first, names), _number(last if dash else first, names)]
    begin, end = ends
    if begin is None or end is None or not low <= begin <= end <= high:
        raise ValueError(f'"{span[:20]}" is no {what}, write {low} to {high}, * or a range such as {low}-{high}')
    return begin, end


def _number(text: str, names: dict[str, int]) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= 2:
        return int(text)
    return names.get(text.lower())
