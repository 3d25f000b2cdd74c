"""`autopilot doctor`: would what the files say work in this world? One line for each question, before anything acts."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from autopilot.cli.run import DEFAULT_CONFIG, ConfigPath

if TYPE_CHECKING:
    from autopilot.doctor.findings import Finding
    from autopilot.domain.workloads import FleetRef
    from autopilot.policy.book import Book
    from autopilot.policy.daemon import DaemonConfig

OneFleet = Annotated[str | None, typer.Option("--fleet", metavar="NAMESPACE/NAME", help="Look at this fleet and its source alone.")]
SendTest = Annotated[bool, typer.Option("--send-test", help="Send one real message to every receiver.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def doctor(config: ConfigPath = DEFAULT_CONFIG, fleet: OneFleet = None, send_test: SendTest = False, as_json: AsJson = False) -> None:
    """Put every question to the live sources and this machine; change nothing. Exit 1 when anything failed."""
    from autopilot.adapters.logging import log_json
    from autopilot.cli.asking import fleet_named
    from autopilot.cli.configured import checked_documents, configured
    from autopilot.doctor.findings import failed
    from autopilot.policy.loaded import book_of

    log_json("error")
    settings = configured(config)
    book = book_of(checked_documents(settings))
    only = fleet_named(fleet) if fleet is not None else None
    _known(book, only)
    found = []
    for finding in _findings(settings, book, only, send_test=send_test):
        found.append(finding)
        if not as_json:
            _print(finding)
    _conclude(found, as_json=as_json)
    raise typer.Exit(1 if failed(found) else 0)


def _known(book: "Book", only: "FleetRef | None") -> None:
    if only is not None and only not in book.by_fleet:
        from autopilot.cli.output import give_up

        known = ", ".join(str(ref) for ref in book.by_fleet) or "none"
        give_up(f'doctor: no fleet is called "{only}" in the configured files; there are: {known}')


def _findings(config: "DaemonConfig", book: "Book", only: "FleetRef | None", *, send_test: bool) -> "Iterator[Finding]":
    from autopilot.adapters.clock import SystemClock
    from autopilot.daemon.examining import NoRivalsKnown, machine, patients, sent_tests
    from autopilot.doctor.examine import Examiner
    from autopilot.doctor.machine import ask_machine, judge_any, judge_sent, judge_unmatched

    if only is None:
        _step("this machine")
        yield from ask_machine(machine(), config)
    if send_test:
        _step("receivers")
        yield from (judge_sent(name, why) for name, why in sent_tests(config))
    found = patients(config, book, only=only)
    yield from judge_any(len(book.entries))
    yield from judge_unmatched(found.strays)
    examiner = Examiner(SystemClock(), NoRivalsKnown(), _step)
    for name, server in found.servers.items():
        yield from examiner.source(server, found.subjects.get(name, ()))


def _step(what: str) -> None:
    """Where somebody watches, say what is being asked: a source may take ten seconds to fail."""
    if sys.stderr.isatty():
        typer.echo(f"... {what}", err=True)


def _print(finding: "Finding") -> None:
    from autopilot.cli.output import clean

    colour = {"ok": typer.colors.GREEN, "warn": typer.colors.YELLOW, "fail": typer.colors.RED}[finding.level]
    level = typer.style(f"{finding.level:<4}", fg=colour)
    todo = f" -> {finding.todo}" if finding.todo else ""
    typer.echo(f"{level}  {finding.check:<21} {clean(finding.about)}: {clean(finding.said + todo)}")


def _conclude(found: "list[Finding]", *, as_json: bool) -> None:
    from collections import Counter

    counts = Counter(finding.level for finding in found)
    levels = {level: counts.get(level, 0) for level in ("ok", "warn", "fail")}  # type: ignore[call-overload]
    if as_json:
        rows = [{"check": one.check, "level": one.level, "about": one.about, "said": one.said, "todo": one.todo} for one in found]
        typer.echo(json.dumps({"findings": rows, "summary": levels}, indent=2))
        return
    typer.echo(f"{levels['ok']} ok, {levels['warn']} to look at, {levels['fail']} failed")
