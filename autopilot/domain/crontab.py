"""The five fields of a crontab line, read strictly: minute, hour, day of month, month, day of week."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month, of February in a leap year


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    lowest: int
    highest: int
    names: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, MappingProxyType({name: number for number, name in enumerate(_MONTHS, 1)})),
    _Field("day of week", 0, 7, MappingProxyType({name: number for number, name in enumerate(_DAYS)})),
)


@dataclass(frozen=True, slots=True)
class Crontab:
    """When a crontab line comes due. Week days are numbered from Sunday, 0.

    `either_day`: both day fields are narrowed, and a day that is in either of them counts, as crontab(5) has it.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool


def parse_crontab(text: str) -> Crontab:
    """Read a crontab line. Raises ValueError with what is wrong and what to write instead."""
    parts = text.split()
    if len(parts) != len(_FIELDS):
        message = f'"{text}" has {len(parts)} fields, write five: minute hour day-of-month month day-of-week'
        raise ValueError(message)
    minutes, hours, days, months, weekdays = (_values(part, each) for part, each in zip(parts, _FIELDS, strict=True))
    either_day = not parts[2].startswith("*") and not parts[4].startswith("*")
    if not either_day and min(days) > max(_LONGEST[month - 1] for month in months):
        message = f'"{text}" never happens: none of these months has a day {min(days)}'
        raise ValueError(message)
    return Crontab(minutes, hours, days, months, frozenset(day % 7 for day in weekdays), either_day)


def valid_cron(text: str) -> str | None:
    """What is wrong with a crontab line and what to write instead; None when nothing is."""
    try:
        parse_crontab(text)
    except ValueError as error:
        return str(error)
    return None


def _values(part: str, each: _Field) -> frozenset[int]:
    return frozenset(value for item in part.split(",") for value in _item(item, each))


def _item(item: str, each: _Field) -> range:
    span, slash, step = item.partition("/")
    first, dash, last = span.partition("-")
    if slash and not dash and span != "*":
        message = f'{each.name}: "{item}" has a step without a range, write {span}-{each.highest}/{step}'
        raise ValueError(message)
    low, high = (each.lowest, each.highest) if span == "*" else (_number(first, each), _number(last if dash else first, each))
    if low > high:
        message = f'{each.name}: "{item}" runs backwards, write {first}-{each.highest},{each.lowest}-{last}'
        raise ValueError(message)
    if slash and not (step.isascii() and step.isdigit() and 0 < int(step) <= each.highest):
        message = f'{each.name}: the step of "{item}" must be a number from 1 to {each.highest}'
        raise ValueError(message)
    return range(low, high + 1, int(step) if slash else 1)


def _number(text: str, each: _Field) -> int:
    value = each.names.get(text.lower())
    if value is None and text.isascii() and text.isdigit():
        value = int(text)
    if value is None or not each.lowest <= value <= each.highest:
        words = f" or {next(iter(each.names))} to {list(each.names)[-1]}" if each.names else ""
        message = f'{each.name}: "{text}" is not a number from {each.lowest} to {each.highest}{words}'
        raise ValueError(message)
    return value
