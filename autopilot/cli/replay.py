"""`autopilot replay`: recorded decisions made again from what they rested on, bit for bit (law 7)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from enum import StrEnum
from typing import Annotated

import typer

from autopilot.adapters.journal import JournalReader
from autopilot.cli.asking import fleet_named
from autopilot.cli.journals import ConfigPath, JournalPath, journal_of, known_fleets, reading
from autopilot.cli.output import clean, give_up
from autopilot.cli.run import DEFAULT_CONFIG
from autopilot.control.audit import Documents, Record
from autopilot.control.audit import replay as decide_again
from autopilot.control.codec import decode
from autopilot.control.status import describe
from autopilot.ports import Line
from autopilot.web.explained import record_of

FleetName = Annotated[str | None, typer.Option("--fleet", help="namespace/name; without it every fleet.")]
Last = Annotated[int, typer.Option("--last", min=1, help="How many of the newest records.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Came(StrEnum):
    """How a record came out."""

    SAME = "same"
    DIFFERS = "differs"
    WITHOUT_DOCUMENTS = "without_documents"  # its fleet and policy are not kept (any more)
    UNREADABLE = "unreadable"  # written by another version


@dataclass(frozen=True, slots=True)
class Outcome:
    """One record. `at_seconds` is logical time; `difference` is "" unless it differs."""

    fleet: str
    wall: str
    at_seconds: float
    came: Came
    difference: str = ""


def replay(
    journal: JournalPath = None, config: ConfigPath = DEFAULT_CONFIG, fleet: FleetName = None, last: Last = 1_000, as_json: AsJson = False
) -> None:
    """Make recorded decisions again and compare: exit 0 when all came out the same, 1 when one differs or there was none."""
    ref = fleet_named(fleet) if fleet is not None else None
    path = journal if journal is not None else journal_of(config)
    with reading(path) as reader:
        outcomes = _replayed(reader, reader.read(ref, last=last))
        if not outcomes:
            give_up(f"{path}: nothing is recorded{f' of {ref}; recorded are: {known_fleets(reader)}' if ref is not None else ' yet'}")
    counted = Counter(outcome.came for outcome in outcomes)
    typer.echo(_as_json(outcomes, counted)) if as_json else _print(outcomes, counted)
    raise typer.Exit(1 if counted[Came.DIFFERS] or not counted[Came.SAME] else 0)


def _replayed(reader: JournalReader, lines: Sequence[Line]) -> list[Outcome]:
    kept: dict[str, Documents | None] = {}

    def documents(hash_: str) -> Documents | None:
        if hash_ not in kept:
            kept[hash_] = _documents(reader.policy(hash_))
        return kept[hash_]

    return [_one(line, documents) for line in lines]


def _documents(text: str | None) -> Documents | None:
    if text is None:
        return None
    try:
        return decode(text, Documents)
    except ValueError:  # another version's
        return None


def _one(line: Line, documents: Callable[[str], Documents | None]) -> Outcome:
    record = record_of(line)
    if record is None:
        return _outcome(line, Came.UNREADABLE)
    found = documents(record.documents)
    if found is None:
        return _outcome(line, Came.WITHOUT_DOCUMENTS)
    difference = _difference(record, found)
    return _outcome(line, Came.DIFFERS if difference else Came.SAME, difference)


def _difference(record: Record, documents: Documents) -> str:
    try:
        again = decide_again(record, documents)
    except Exception as error:  # noqa: BLE001 - a decision that cannot be made again is a finding, not the end of the search
        return f"it cannot be made again: {type(error).__name__}: {error}"
    if again.same:
        return ""
    if again.decisions == record.decisions:
        return "the decisions are the same, what is remembered or wanted is not"
    recorded, made = ("; ".join(describe(one) for one in decisions) or "nothing" for decisions in (record.decisions, again.decisions))
    return f"recorded {recorded}, made again {made}"


def _outcome(line: Line, came: Came, difference: str = "") -> Outcome:
    return Outcome(str(line.fleet), line.wall.astimezone(UTC).isoformat(), line.at.total_seconds(), came, difference)


def _print(outcomes: Sequence[Outcome], counted: Counter[Came]) -> None:
    for one in outcomes:
        if one.came is Came.DIFFERS:
            typer.echo(clean(f"{one.fleet} {one.wall} (at {one.at_seconds:.0f} s): {one.difference}"))
    typer.echo(
        f"{counted[Came.SAME] + counted[Came.DIFFERS]} made again: {counted[Came.SAME]} the same, {counted[Came.DIFFERS]} different; "
        f"left out: {counted[Came.WITHOUT_DOCUMENTS]} without documents, {counted[Came.UNREADABLE]} of another version"
    )


def _as_json(outcomes: Sequence[Outcome], counted: Counter[Came]) -> str:
    import json

    differences = [asdict(one) for one in outcomes if one.came is Came.DIFFERS]
    return json.dumps({"counts": {came.value: counted[came] for came in Came}, "differences": differences}, indent=2)
