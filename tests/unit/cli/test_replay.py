from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autopilot.adapters.journal import SqliteJournal
from autopilot.control.audit import Documents, Record
from autopilot.control.codec import encode
from autopilot.domain.decisions import Hold
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb
from tests.support.policies import closed_loop
from tests.unit.cli.running import called, document, refused
from tests.unit.web.played import burst, journal_at, line


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.journal.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with journal_at(path, burst()) as opened:
        yield opened


@pytest.fixture
def last() -> Record:
    return burst().records[-1]


def test_every_decision_of_a_story_comes_out_the_same(journal: SqliteJournal, path: Path) -> None:
    counts = document("replay", "--journal", str(path), "--json")["counts"]

    assert counts == {"same": len(burst().records), "differs": 0, "without_documents": 0, "unreadable": 0}


def test_a_decision_that_was_made_differently_is_found(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.append([line(replace(last, decisions=(Hold(Verb.SCALE_OUT, Reason.NO_GPUS),)))])

    result = called("replay", "--journal", str(path), "--last", "1")
    difference, _ = result.stdout.splitlines()

    assert result.exit_code == 1
    assert Reason.NO_GPUS in difference
    assert last.decisions[0].kind == "hold"
    assert last.decisions[0].reason in difference


def test_a_memory_that_comes_out_differently_is_found(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.append([line(replace(last, after=replace(last.after, sequence=99)))])

    assert called("replay", "--journal", str(path), "--last", "1").exit_code == 1


def test_a_record_without_its_documents_is_counted_apart(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.append([line(replace(last, documents="forgotten"))])

    counts = document("replay", "--journal", str(path), "--last", "2", "--json")["counts"]

    assert (counts["same"], counts["without_documents"]) == (1, 1)


def test_each_record_is_made_again_under_its_own_documents(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.remember_policy("smaller", encode(Documents(burst().fleet, closed_loop(maximum=2)), Documents))
    journal.append([line(replace(record, documents="smaller")) for record in burst().records])

    result = called("replay", "--journal", str(path), "--last", str(2 * len(burst().records)))

    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) < len(burst().records)  # only those of the other documents, and of them not all


def test_records_of_another_version_are_counted_apart(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.append([replace(line(last), body="{}")])

    assert document("replay", "--journal", str(path), "--last", "2", "--json")["counts"]["unreadable"] == 1


def test_nothing_to_replay_is_not_good(journal: SqliteJournal, path: Path, last: Record) -> None:
    journal.append([line(replace(last, documents="forgotten"))])

    assert called("replay", "--journal", str(path), "--last", "1").exit_code == 1


def test_a_fleet_that_was_never_recorded_is_refused(journal: SqliteJournal, path: Path) -> None:
    assert "llm/chat" in refused("replay", "--journal", str(path), "--fleet", "llm/nobody")


def test_without_a_journal_nothing_is_replayed(path: Path) -> None:
    assert str(path) in refused("replay", "--journal", str(path))
