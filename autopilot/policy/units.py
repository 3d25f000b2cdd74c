"""Units as files spell them: durations as Prometheus writes them, ratios, sizes, and the thresholds of leaves."""

import math
import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from autopilot.actions.ratio import parse_ratio
from autopilot.catalog.signals import Unit

_MILLISECONDS = {"y": 31_536_000_000, "w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_DURATION = re.compile("".join(rf"(?:(\d{{1,15}}){unit})?" for unit in _MILLISECONDS), re.ASCII)
LONGEST = timedelta(days=10 * 365)  # anything longer is a slip of the keyboard
LONGEST_WAIT = timedelta(days=1)  # nothing that a fleet waits for takes longer
_LOOSE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*,?", re.IGNORECASE | re.ASCII)
_SPELLINGS = {
    "ms": ("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
    "w": ("w", "wk", "week", "weeks"),
    "y": ("y", "yr", "year", "years"),
}
_UNIT_OF = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?", re.ASCII)
_BYTES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BYTES |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_MEANING = {
    "requests": "counts requests, write a plain number such as 4",
    "per_second": "is a rate per second, write a plain number such as 0.5",
    "tokens": "counts tokens, write a plain number such as 8000",
    "replicas": "counts replicas, write a plain number such as 1",
    "steps": "counts engine steps, write a plain number such as 1",
}


def parse_duration(value: object) -> timedelta:
    """Read `90s`, `1h30m`, `28d`, `500ms`. Raises ValueError with the right spelling for anything else."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        found = _DURATION.fullmatch(value)
        if found is not None and value:
            return _total(value, dict(zip(_MILLISECONDS, found.groups(), strict=True)))
    raise ValueError(_not_a_duration(value))


def _total(text: str, parts: dict[str, str | None]) -> timedelta:
    milliseconds = sum(int(count) * _MILLISECONDS[unit] for unit, count in parts.items() if count)
    if milliseconds > LONGEST / timedelta(milliseconds=1):
        raise ValueError(f'"{text[:40]}" is longer than 10y, write a shorter duration')
    return timedelta(milliseconds=milliseconds)


def _not_a_duration(value: object) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return "a duration is needed here, write it as 90s, 5m or 1h30m"
    if isinstance(value, int | float):
        usual = f"{value:g}s or {value:g}ms" if math.isfinite(value) and value % 1 == 0 else _respelt(f"{value}s") or "500ms"
        return f"{value:g} has no unit, write it as {usual}"
    guess = _respelt(str(value))
    return f'"{str(value)[:60]}" is not a duration, write it as {guess or "90s, 5m or 1h30m"}'


def _respelt(text: str) -> str | None:
    """The right spelling of what was probably meant, None where that cannot be told."""
    total, end = 0.0, 0
    while found := _LOOSE.match(text, end):
        unit = _UNIT_OF.get(found.group(2).lower())
        if unit is None:
            return None
        total, end = total + float(found.group(1)) * _MILLISECONDS[unit], found.end()
    usable = end == len(text) and end > 0 and 1 <= total <= LONGEST / timedelta(milliseconds=1)
    return format_duration(timedelta(milliseconds=round(total))) if usable else None


def format_duration(value: timedelta) -> str:
    """A duration as Prometheus writes it, without years and weeks: `1h30m`; zero is `0s`."""
    left, text = round(value / timedelta(milliseconds=1)), ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, left = divmod(left, _MILLISECONDS[unit])
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def parse_size(value: object) -> int:
    """Read `80Gi` or `500M` into bytes; a plain number is bytes. Raises ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = _SIZE.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    if found is None:
        text = value if isinstance(value, str | int | float) and not isinstance(value, bool) else "this"
        raise ValueError(f'"{str(text)[:60]}" is not a size, write it as 80Gi or 500M')
    return round(float(found.group(1)) * _BYTES[found.group(2) or ""])


def parse_threshold(value: object, unit: Unit) -> float:
    """A leaf's threshold in its signal's own unit: seconds, a ratio, or a plain number.

    Raises ValueError with the right spelling for a value of the wrong kind.
    """
    match unit:
        case "seconds":
            return parse_duration(value).total_seconds()
        case "ratio":
            return _ratio(value)
        case _:
            return _plain(value, unit)


def _ratio(value: object) -> float:
    ratio = parse_ratio(value)
    if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not math.isfinite(ratio):
        raise ValueError("the signal is a ratio, write it as 60% or 0.6")
    if not 0 <= ratio <= 1:
        hint = f"{ratio:g}%" if 1 < ratio <= 100 else "a value from 0% to 100%"
        raise ValueError(f"{value} lies outside 0 and 1, the signal is a ratio: write it as {hint}")
    return float(ratio)


def _plain(value: object, unit: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        shown = f'"{value[:60]}"' if isinstance(value, str) else "this value"
        raise ValueError(f"{shown} does not fit: the signal {_MEANING[unit]}")
    return float(value)


def _some_time(value: object) -> timedelta:
    duration = parse_duration(value)
    if duration <= timedelta(0):
        raise ValueError(f'"{value}" is no time at all, write a longer duration')
    return duration


def _short(value: object) -> timedelta:
    duration = parse_duration(value)
    if duration > LONGEST_WAIT:
        raise ValueError(f'"{value}" is longer than {format_duration(LONGEST_WAIT)}, write a shorter duration')
    return duration


def _short_time(value: object) -> timedelta:
    return _short(_some_time(value))


_SPELLING = WithJsonSchema(
    {
        "type": "string",
        "pattern": r"^(?=.)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$",
        "description": "a duration as Prometheus writes it: 90s, 5m, 1h30m",
    }
)
SomeTime = Annotated[timedelta, BeforeValidator(_some_time), _SPELLING]
ShortTime = Annotated[timedelta, BeforeValidator(_short_time), _SPELLING]
ShortOrNone = Annotated[timedelta, BeforeValidator(_short), _SPELLING]
Size = Annotated[
    int,
    BeforeValidator(parse_size),
    WithJsonSchema(
        {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$"}],
            "description": "bytes: 80Gi, 500M or a plain number",
        }
    ),
]
