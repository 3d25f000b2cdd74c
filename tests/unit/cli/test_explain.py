from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autopilot.ports import Line
from autopilot.web.explained import find_remediation, of_remediation
from tests.unit.cli.running import document, refused, told
from tests.unit.web.played import BURST, BURST_CLOSES, BURST_OPENS, burst, house, journal_at, lines, quiet, serving


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Path]:
    """The story's journal, as a daemon that still runs has it open."""
    path = tmp_path / "state.journal.sqlite"
    with journal_at(path, burst()):
        yield path


def test_the_last_remediation_is_told_from_its_alert_to_its_verdict(journal: Path) -> None:
    records = document("explain", "llm/chat", "--journal", str(journal), "--json")["records"]

    assert records[0]["at_seconds"] == BURST_OPENS.total_seconds() - 10
    assert records[-1]["at_seconds"] == BURST_CLOSES.total_seconds()
    assert records[-1]["remediations"][0]["verdict"] == "helped"


def test_the_story_reads_from_top_to_bottom(journal: Path) -> None:
    shown = told("explain", "llm/chat", "--journal", str(journal))
    places = [shown.index(part) for part in (BURST, "alert queued is pending", "replicas 1 -> 8", "landed, its effect", "effect of")]

    assert places == sorted(places)


def test_the_story_shows_what_was_seen_held_and_judged(journal: Path) -> None:
    shown = told("explain", "llm/chat", "--journal", str(journal))

    assert "waiting_per_replica 138" in shown
    assert "sparse n=230" in shown
    assert "at_bound: 15 wanted, at most 8" in shown
    assert "arrivals 14.1/s" in shown


def test_the_newest_records_can_be_told_instead(journal: Path) -> None:
    records = document("explain", "llm/chat", "--journal", str(journal), "--last", "2", "--json")["records"]

    assert [record["at_seconds"] for record in records] == [595.0, 600.0]


def test_a_remediation_is_found_by_its_id(journal: Path) -> None:
    by_id = document("explain", "llm/chat", "--journal", str(journal), "--remediation", BURST, "--json")

    assert by_id == document("explain", "llm/chat", "--journal", str(journal), "--json")


def test_a_server_tells_the_same_as_the_file(journal: Path) -> None:
    with serving(house(burst())) as url:
        from_server = document("explain", "llm/chat", "--server", url, "--json")

    assert from_server == document("explain", "llm/chat", "--journal", str(journal), "--json")


def test_without_a_remediation_the_newest_records_are_told(tmp_path: Path) -> None:
    with journal_at(tmp_path / "j.sqlite", quiet()):
        records = document("explain", "llm/chat", "--journal", str(tmp_path / "j.sqlite"), "--json")["records"]

    assert [record["at_seconds"] for record in records][-1] == 180.0
    assert len(records) == 10


def test_the_journal_beside_the_configured_state_is_read(tmp_path: Path) -> None:
    (tmp_path / "autopilot.yaml").write_text(f"sources: {{default: {{url: 'http://127.0.0.1:9'}}}}\nstate: {tmp_path}/state.sqlite\n")
    with journal_at(tmp_path / "state.journal.sqlite", burst()):
        shown = document("explain", "llm/chat", "--config", str(tmp_path / "autopilot.yaml"), "--json")

    assert shown["records"]


def test_an_unknown_fleet_is_refused_with_those_that_were_recorded(journal: Path) -> None:
    assert "llm/chat" in refused("explain", "llm/nobody", "--journal", str(journal))


@pytest.mark.parametrize("arguments", [("--remediation", "llm/chat#99")], ids=["no-such-remediation"])
def test_a_remediation_that_is_not_kept_is_refused(arguments: tuple[str, ...], journal: Path) -> None:
    assert refused("explain", "llm/chat", "--journal", str(journal), *arguments)


@pytest.mark.parametrize("content", [None, b"", b"no database"], ids=["missing", "empty", "garbage"])
def test_a_journal_that_cannot_be_read_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    if content is not None:
        path.write_bytes(content)

    assert str(path) in refused("explain", "llm/chat", "--journal", str(path))


def test_a_configuration_that_keeps_no_journal_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "autopilot.yaml"
    config.write_text("sources: {default: {url: 'http://127.0.0.1:9'}}\naudit: {sink: stdout}\n")

    assert "audit.sink" in refused("explain", "llm/chat", "--config", str(config))


def test_records_of_another_version_are_counted(tmp_path: Path) -> None:
    with journal_at(tmp_path / "j.sqlite", burst()) as journal:
        journal.append([replace(lines(burst())[-1], body="{}")])
        shown = document("explain", "llm/chat", "--journal", str(tmp_path / "j.sqlite"), "--last", "2", "--json")

    assert (len(shown["records"]), shown["unreadable"]) == (1, 1)


def test_only_as_much_is_read_as_the_remediation_needs() -> None:
    kept, asked = lines(burst()), []

    def read(last: int) -> tuple[Line, ...]:
        asked.append(last)
        return kept[-last:]

    found = find_remediation(read, None, at_most=10_000)

    assert asked == [100]
    assert found == of_remediation(kept, None)


def test_the_search_goes_back_until_the_beginning_is_found() -> None:
    kept, asked = lines(burst()), []
    calm = tuple(replace(kept[-1], at=kept[-1].at * 2) for _ in range(500))

    def read(last: int) -> tuple[Line, ...]:
        asked.append(last)
        return (*kept, *calm)[-last:]

    found = find_remediation(read, None, at_most=10_000)

    assert asked == [100, 400, 1600]
    assert found == of_remediation(kept, None)
