"""`autopilot status`: every fleet as of the daemon's last tick."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from autopilot.adapters.clock import SystemClock
from autopilot.cli.asking import DEFAULT_SERVER, NoAnswer, Server, ask, fleet_named, no_autopilot
from autopilot.cli.output import LOUD, QUIET, WARN, Row, ago, clean, console, facts, give_up, said, utc
from autopilot.cli.status_rows import fleet_rows
from autopilot.control.codec import decode
from autopilot.daemon.board import DaemonStatus, Status
from autopilot.web.answers import StatusAnswer

STALE = timedelta(minutes=1)  # twelve ticks of 5 s; two machines' clocks seldom differ by more
EVERY_SECONDS = 2.0  # under half an interval, so that no tick is missed

FleetName = Annotated[str | None, typer.Argument(metavar="[FLEET]", help="namespace/name; without it every fleet.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; with --watch one line per look.")]
Watch = Annotated[bool, typer.Option("--watch", help="Look again every 2 s until Ctrl-C.")]


def status(fleet: FleetName = None, server: Server = DEFAULT_SERVER, as_json: AsJson = False, watch: Watch = False) -> None:
    """Show every fleet, or one, as of the daemon's last tick.

    A TTFT that is "at least" lies above the largest bucket; "sparse n=12" rests on too few requests to be judged by.
    """
    name = str(fleet_named(fleet)) if fleet is not None else None

    def look() -> Status:
        return _one(_read(server), name, server)

    if watch:
        with suppress(KeyboardInterrupt):
            _watch_json(look) if as_json else _watch(look)
        return
    try:
        seen = look()
    except NoAnswer as error:
        give_up(str(error))
    if as_json:
        typer.echo(_json(seen, indent=2))
    else:
        console().print(rendered(seen, SystemClock().wall()))


def _read(server: str) -> Status:
    text = ask(server, "/api/v1/status", {})
    try:
        return decode(text, Status)
    except ValueError as error:
        raise no_autopilot(server) from error


def _one(seen: Status, name: str | None, server: str) -> Status:
    found = tuple(fleet for fleet in seen.fleets if name in (None, fleet.fleet))
    if name is not None and not found:
        known = ", ".join(fleet.fleet for fleet in seen.fleets) or "none yet"
        message = f'{server}: no fleet is called "{name}"; there are: {known}'
        raise NoAnswer(message)
    return Status(seen.daemon, found)


def _json(seen: Status, *, indent: int | None) -> str:
    return StatusAnswer(daemon=seen.daemon, fleets=seen.fleets).model_dump_json(indent=indent)


def _watch(look: Callable[[], Status]) -> None:
    with Live(console=console(), auto_refresh=False) as live:
        for shown in _looks(look):
            live.update(rendered(shown, SystemClock().wall()) if isinstance(shown, Status) else said(shown, style=LOUD), refresh=True)


def _watch_json(look: Callable[[], Status]) -> None:
    for shown in _looks(look):
        if isinstance(shown, Status):
            typer.echo(_json(shown, indent=None))
        else:
            typer.echo(f"autopilot: {clean(shown)}", err=True)


def _looks(look: Callable[[], Status]) -> Iterator[Status | str]:
    """One look after another, or why there was none. A daemon that is away for a moment ends no watch."""
    pause = threading.Event()
    while True:
        try:
            yield look()
        except NoAnswer as error:
            yield str(error)
        pause.wait(EVERY_SECONDS)


def rendered(seen: Status, now: datetime) -> RenderableType:
    """The daemon's own troubles first, then fleet by fleet."""
    parts: list[RenderableType] = [*_troubles(seen.daemon), _daemon_line(seen.daemon, now)]
    for fleet in seen.fleets:
        covered = f"policy {fleet.policy}" if fleet.policy else "no policy: only observed"
        rows: list[Row] = fleet_rows(fleet, seen.daemon.running_seconds)
        parts += [Text(), Text.assemble((clean(fleet.fleet), "bold"), "  ", (clean(covered), QUIET)), facts(rows)]
    if seen.daemon.ticks and not seen.fleets:
        parts.append(said("no fleet is known: put Fleet documents where the daemon's file says policies are", style="bold"))
    return Group(*parts)


def _troubles(daemon: DaemonStatus) -> list[Text]:
    return [
        *(said(f"PROBLEM  {problem}", style=LOUD) for problem in daemon.problems),
        *(said(f"QUERY FAILED  {failure}", style=LOUD) for failure in daemon.failures),
        *(said(f"INERT  {line}", style=LOUD) for line in daemon.inert),
        *(said(f"warning  {warning}", style=WARN) for warning in daemon.warnings),
    ]


def _daemon_line(daemon: DaemonStatus, now: datetime) -> Text:
    if daemon.at is None:
        return said("the daemon runs, and has not completed a tick yet", style=LOUD)
    stale = now - daemon.at > STALE
    warning = "STALE, the daemon's loop may stand still: " if stale else ""
    text = f"{warning}as of {utc(daemon.at)}, {ago(daemon.at, now)}; tick {daemon.ticks}, {daemon.queries} queries"
    return said(text, style=LOUD if stale else QUIET)
