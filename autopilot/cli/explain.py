"""`autopilot explain`: what was seen, which alerts came of it, which guard spoke, what was done, and how it was judged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autopilot.adapters.clock import SystemClock
from autopilot.cli.asking import DEFAULT_SERVER, NoAnswer, ask, fleet_named, no_autopilot
from autopilot.cli.explain_rows import rendered
from autopilot.cli.journals import ConfigPath, JournalPath, journal_of, known_fleets, reading
from autopilot.cli.output import console, give_up, said
from autopilot.cli.run import DEFAULT_CONFIG
from autopilot.control.codec import decode
from autopilot.domain.workloads import FleetRef
from autopilot.web.answers import DecisionsAnswer
from autopilot.web.explained import Decisions, explain_all, find_remediation

SEARCHED = 20_000  # records looked through in a file: two weeks of quiet
NEWEST = 10  # records shown of a fleet that never had a remediation
LAST_REMEDIATION = "last"

FleetName = Annotated[str, typer.Argument(metavar="FLEET", help="namespace/name")]
Last = Annotated[int | None, typer.Option("--last", min=1, max=200, help="The newest records instead of a remediation.")]
Remediation = Annotated[str, typer.Option("--remediation", help='Its id, as the story shows it; "last" is the newest.')]
Server = Annotated[
    str | None,
    typer.Option("--server", envvar="AUTOPILOT_SERVER", help=f"Ask a daemon, such as {DEFAULT_SERVER}, instead of reading a file."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything that was recorded, as the API does.")]


def explain(  # noqa: PLR0913 - each is an option
    fleet: FleetName,
    *,
    last: Last = None,
    remediation: Remediation = LAST_REMEDIATION,
    journal: JournalPath = None,
    config: ConfigPath = DEFAULT_CONFIG,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Tell the story of a fleet's last remediation, or of its newest records; newest last.

    Reads --journal; else asks --server; else reads the journal of --config. A daemon may be running, or be gone.
    Where nothing is named and there is no autopilot.yaml, the daemon at its usual address is asked.
    """
    ref = fleet_named(fleet)
    wanted = None if last is not None else remediation
    if journal is None and (server is not None or _unconfigured(config)):
        found = _from_server(server or DEFAULT_SERVER, ref, last=last, remediation=wanted)
    else:
        found = _from_file(journal if journal is not None else journal_of(config), ref, last=last, remediation=wanted)
    if as_json:
        typer.echo(DecisionsAnswer(found).model_dump_json(indent=2))
    else:
        _print(found, wanted)


def _unconfigured(config: Path) -> bool:
    return config == DEFAULT_CONFIG and not config.is_file()


def _from_file(path: Path, fleet: FleetRef, *, last: int | None, remediation: str | None) -> Decisions:
    with reading(path) as journal:
        newest = explain_all(journal.read(fleet, last=last or NEWEST), journal.policy)
        if not newest.records:
            give_up(_nothing(f"{path}", fleet, newest, known=known_fleets(journal)))
        if remediation is None:
            return newest
        wanted = None if remediation == LAST_REMEDIATION else remediation
        lines = find_remediation(lambda many: journal.read(fleet, last=many), wanted, at_most=SEARCHED)
        found = explain_all(lines, journal.policy)
    return _or_newest(found, newest, wanted)


def _from_server(server: str, fleet: FleetRef, *, last: int | None, remediation: str | None) -> Decisions:
    newest = _ask(server, fleet, {"last": last or NEWEST})
    if not newest.records:
        give_up(_nothing(server, fleet, newest, known=""))
    if remediation is None:
        return newest
    found = _ask(server, fleet, {"remediation": remediation})
    return _or_newest(found, newest, None if remediation == LAST_REMEDIATION else remediation)


def _ask(server: str, fleet: FleetRef, query: dict[str, str | int]) -> Decisions:
    try:
        text = ask(server, "/api/v1/decisions", {"fleet": str(fleet), **query})
        try:
            return decode(text, Decisions)
        except ValueError as error:
            raise no_autopilot(server) from error
    except NoAnswer as error:
        give_up(str(error))


def _nothing(where: str, fleet: FleetRef, found: Decisions, *, known: str) -> str:
    if found.unreadable:
        return f"{where}: the records of {fleet} were written by another version of the autopilot; read them with that one"
    there = f"; recorded are: {known}" if known else "; its first tick may be to come"
    return f"{where}: nothing is recorded of {fleet}{there}"


def _or_newest(found: Decisions, newest: Decisions, wanted: str | None) -> Decisions:
    """The remediation; where there never was one the newest records. A remediation that was asked for by name must be there."""
    if found.records:
        return found
    if wanted is not None:
        give_up(f"{wanted}: no record of this remediation is kept; leave --remediation out for the last one")
    return newest


def _print(found: Decisions, wanted: str | None) -> None:
    out, now = console(), SystemClock().wall()
    about = _ids(found)
    if wanted is not None and not about:
        out.print(said("there was no remediation yet; the newest records:", style="bold"))
    for part in rendered(found.records, about=_subject(about, wanted), now=now):
        out.print(part)
    if found.unreadable:
        out.print(said(f"{found.unreadable} records of another version of the autopilot could not be read", style="yellow"))


def _ids(found: Decisions) -> Sequence[str]:
    """The remediations of the records, in the order in which they are met."""
    return list(dict.fromkeys(one.id for record in found.records for one in record.remediations))


def _subject(about: Sequence[str], wanted: str | None) -> str | None:
    """The one remediation that is told of; None for plain records."""
    if wanted is None or not about:
        return None
    return about[-1] if wanted == LAST_REMEDIATION else wanted
