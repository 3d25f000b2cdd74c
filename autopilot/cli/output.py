"""How commands speak: one line per error, other people's text made harmless, times that need no time zone."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

LOUD = "bold red"
WARN = "yellow"
QUIET = "dim"
_PIPED_WIDTH = 160  # columns where nobody tells: wide enough that figures stay on one line

Row = tuple[str, str | Text]


def give_up(message: str) -> NoReturn:
    """Say in one line what is wrong and what to do, and exit with 1."""
    typer.echo(f"autopilot: {clean(message)}", err=True)
    raise typer.Exit(1)


def clean(text: str) -> str:
    """Text of others for a terminal: what is not printable is shown, not obeyed."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def console() -> Console:
    """Standard output. NO_COLOR is respected; nothing in a text is taken for markup."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(markup=False, emoji=False, highlight=False, width=width)


def facts(rows: Sequence[Row]) -> Table:
    """Labels and what there is to say about each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in rows:
        table.add_row(f"  {label}", value if isinstance(value, Text) else said(value))
    return table


def said(text: str, style: str = "") -> Text:
    """Text of others with a style, made harmless."""
    return Text(clean(text), style=style)


def utc(wall: datetime) -> str:
    """A moment, the same for everybody."""
    return wall.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(wall: datetime, now: datetime) -> str:
    """How long a moment is past."""
    seconds = (now - wall).total_seconds()
    return f"{spell(seconds)} ago" if seconds >= 0 else f"in {spell(-seconds)}"


def spell(seconds: float) -> str:
    """A duration in its two largest units: `45 s`, `3 min 10 s`, `2 h 5 min`, `3 d 4 h`."""
    whole = round(seconds)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    index = next((index for index, (_, size) in enumerate(units) if whole >= size), len(units) - 1)
    rest, parts = whole, []
    for name, size in units[index : index + 2]:
        parts.append((rest // size, name))
        rest %= size
    return " ".join(f"{count} {name}" for count, name in parts if count or parts[0] == (count, name))


def figure(value: float | None, unit: str = "") -> str:
    """A number for people, `-` where there is none."""
    if value is None:
        return "-"
    match unit:
        case "seconds":
            return f"{value:.3g} s" if value < 1_000 else spell(value)
        case "ratio":
            return f"{100 * value:.3g} %"
        case "per_second":
            return f"{value:.3g}/s"
        case _:
            return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def requests(count: float | None) -> str:
    """How many requests: Prometheus gives fractions of them."""
    return "-" if count is None else f"{count:,.0f}"
