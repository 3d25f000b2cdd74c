"""The part of `autopilot check` that asks the sources about the past."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from autopilot.cli.output import clean, spell, utc

if TYPE_CHECKING:
    from autopilot.doctor.backtest import Backtest, History
    from autopilot.policy.daemon import DaemonConfig
    from autopilot.policy.loaded import Loaded


@dataclass(frozen=True, slots=True)
class Online:
    """How much of the past to look at, how often, and how long that may take."""

    days: float
    step: timedelta
    within: timedelta


def looked_back(config: "DaemonConfig", loaded: "Loaded", online: Online) -> "Iterator[Backtest]":
    """Fleet by fleet; where somebody watches, how far it is."""
    from autopilot.daemon.backtesting import Backtests

    told = {"": -1}

    def progress(fleet: str, share: float) -> None:
        tenth = int(10 * share)
        if sys.stderr.isatty() and told.get(fleet) != tenth:
            told[fleet] = tenth
            typer.echo(f"... {fleet}: {10 * tenth} % of {online.days:g} days", err=True)

    yield from Backtests(config, loaded, length=timedelta(days=online.days), step=online.step, within=online.within).run(progress)


def lines(result: "Backtest") -> Iterator[str]:
    """What came of one fleet, a line for each alert and for each thing that the past does not tell."""
    fleet, span = str(result.fleet.ref), result.span
    looked = result.until - span.start
    for history in result.histories:
        yield f"{fleet} {history.alert}: {_told(history, looked)}"
        yield from (f"{fleet} {history.alert}: not tested: {clean(leaf)} leaves no trace in a source" for leaf in history.untested)
    if result.until < span.end:
        yield f"{fleet}: the time was up after {spell(looked)} of {spell(span.end - span.start)}; give it more with --within"
    yield from (f"{fleet}: unknown where this failed: {clean(failure)}" for failure in result.failures[:3])


def _told(history: "History", looked: float) -> str:
    gaps = _gaps(history)
    if not history.looks:
        return "nothing was looked at"
    if history.blind == history.looks:
        return f"nothing is known: without data for all of {spell(looked)}"
    if not history.fired:
        almost = f", {history.pending} times pending" if history.pending else ""
        return f"would not have fired in {spell(looked)}{almost}{gaps}"
    last = utc(datetime.fromtimestamp(history.last, UTC)) if history.last is not None else "-"
    times = f"{history.fired} {'time' if history.fired == 1 else 'times'}"
    lasting = f"{spell(history.firing_seconds)} in all, {spell(history.longest_seconds)} the longest"
    return f"would have fired {times} in {spell(looked)} ({lasting}, last at {last}){gaps}"


def _gaps(history: "History") -> str:
    """What part of the time it could not be judged, and why."""
    parts = [(history.blind, "without data"), (history.undecided, "undecided")]
    said = [f"{100 * count / history.looks:.3g} % of the time {why}" for count, why in parts if count and history.looks]
    return f"; {', '.join(said)}" if said else ""


def plain(result: "Backtest") -> dict[str, Any]:
    """As JSON: times as Unix seconds."""
    alerts = [
        {
            "alert": one.alert,
            "fired": one.fired,
            "firingSeconds": one.firing_seconds,
            "longestSeconds": one.longest_seconds,
            "last": one.last,
            "pending": one.pending,
            "looks": one.looks,
            "blind": one.blind,
            "undecided": one.undecided,
            "untested": list(one.untested),
        }
        for one in result.histories
    ]
    span = {"from": result.span.start, "to": result.span.end, "stepSeconds": result.span.step, "until": result.until}
    return {"fleet": str(result.fleet.ref), "span": span, "alerts": alerts, "failures": list(result.failures)}
