"""`autopilot doctor` against real Prometheus: quiet about a fleet that is well, and to the point about those that are not (T5, T7 C, T15)."""

import json
import stat
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.daemon.examining import NoRivalsKnown, patients
from autopilot.doctor.examine import Examiner
from autopilot.doctor.findings import Check, Finding, Level
from autopilot.policy.load import load_documents
from autopilot.policy.load_daemon import load_daemon, surroundings
from autopilot.policy.loaded import book_of
from autopilot.policy.sources import read_source, read_sources
from tests.integration.doctor.wards import GOOD, ILL, written
from tests.support.clocks import ManualClock
from tests.support.prometheus import PrometheusServer, free_port
from tests.unit.cli.running import called

ILLS = {ward.name: ward for ward in ILL}


def examined(path: Path, *arguments: str) -> tuple[int, list[dict[str, str]]]:
    result = called("doctor", "--config", str(path), "--json", *arguments)
    return result.exit_code, json.loads(result.stdout)["findings"]


def failures(found: Sequence[dict[str, str]]) -> set[str]:
    return {one["check"] for one in found if one["level"] == "fail"}


def said(found: Sequence[dict[str, str]], check: str) -> str:
    return " ".join(one["said"] for one in found if one["check"] == check)


def test_a_fleet_that_is_well_fails_nothing(server: PrometheusServer, tmp_path: Path) -> None:
    code, found = examined(written(tmp_path, server.url, GOOD))

    assert (code, failures(found)) == (0, set())
    assert {one["check"] for one in found if one["level"] == "warn"} == {"backend-observed"}


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("label-case", "identity-matches"),
        ("label-suffix", "identity-matches"),
        ("misspelt", "signal-exists"),
        ("ha-pair", "ha-duplicates"),
        ("no-cluster", "clusters-told-apart"),
        ("between-edges", "threshold-on-edge"),
    ],
)
def test_each_illness_is_found_and_nothing_else(server: PrometheusServer, tmp_path: Path, name: str, check: str) -> None:
    code, found = examined(written(tmp_path, server.url, ILLS[name]))

    assert (code, failures(found)) == (1, {check})
    assert all(one["todo"] for one in found if one["level"] != "ok")


@pytest.mark.parametrize(
    ("name", "check", "nearest"),
    [
        ("label-case", "identity-matches", '"chat-70b"'),
        ("label-suffix", "identity-matches", '"chat-70b-rank-0"'),
        ("misspelt", "signal-exists", "vllm:kv_cache_usage_percent"),
    ],
)
def test_t5_the_nearest_names_that_exist_are_shown(server: PrometheusServer, tmp_path: Path, name: str, check: str, nearest: str) -> None:
    _, found = examined(written(tmp_path, server.url, ILLS[name]))

    assert nearest in said(found, check)


def test_t7c_the_edges_next_to_an_undecidable_threshold_are_shown(server: PrometheusServer, tmp_path: Path) -> None:
    _, found = examined(written(tmp_path, server.url, ILLS["between-edges"]))

    assert "0.25" in said(found, "threshold-on-edge")
    assert "0.5" in said(found, "threshold-on-edge")


def test_the_form_of_each_histogram_is_told(server: PrometheusServer, tmp_path: Path) -> None:
    _, found = examined(written(tmp_path, server.url, GOOD))

    assert said(found, "histogram-form") == "ttft: classic"


def test_windows_are_held_against_the_interval_that_is_really_there(server: PrometheusServer, tmp_path: Path) -> None:
    code, found = examined(written(tmp_path, server.url, ILLS["slow-scrapes"]))

    assert code == 1
    assert failures(found) >= {"scrape-interval", "window-holds-scrapes"}


def test_one_fleet_alone_can_be_looked_at(server: PrometheusServer, tmp_path: Path) -> None:
    written(tmp_path, server.url, ILLS["misspelt"])
    code, found = examined(written(tmp_path, server.url, GOOD), "--fleet", "llm/good")

    assert code == 0
    assert not any("misspelt" in one["about"] for one in found)


def test_a_fleet_that_nobody_wrote_is_refused_with_those_that_there_are(server: PrometheusServer, tmp_path: Path) -> None:
    result = called("doctor", "--config", str(written(tmp_path, server.url, GOOD)), "--fleet", "llm/bad")

    assert result.exit_code == 1
    assert "llm/good" in result.stderr


def looked(path: Path, clock: ManualClock) -> list[Finding]:
    config = load_daemon(read_source(path), str(path), {}).config
    assert config is not None
    book = book_of(load_documents(read_sources([Path(folder) for folder in config.policies]), surroundings(config)))
    found = patients(config, book, only=None)
    examiner = Examiner(clock, NoRivalsKnown(), lambda _: None)
    return [one for name, server in found.servers.items() for one in examiner.source(server, found.subjects[name])]


@pytest.mark.parametrize(
    ("off", "level"),
    [(timedelta(seconds=5), Level.WARN), (timedelta(minutes=5), Level.FAIL), (-timedelta(minutes=5), Level.FAIL)],
    ids=["five-seconds-ahead", "five-minutes-ahead", "five-minutes-behind"],
)
def test_t15_a_clock_that_differs_is_noticed(server: PrometheusServer, tmp_path: Path, off: timedelta, level: Level) -> None:
    clock = ManualClock(SystemClock().wall() + off)
    found = looked(written(tmp_path, server.url, GOOD), clock)

    assert [one.level for one in found if one.check is Check.CLOCK_SKEW] == [level]


def test_of_a_source_that_does_not_answer_nothing_more_is_asked(tmp_path: Path) -> None:
    code, found = examined(written(tmp_path, f"http://127.0.0.1:{free_port()}", GOOD))

    assert (code, failures(found)) == (1, {"source-answers"})
    assert not any(one["check"] == "identity-matches" for one in found)


def test_a_policy_without_a_fleet_is_inert(server: PrometheusServer, tmp_path: Path) -> None:
    path = written(tmp_path, server.url, GOOD)
    document = tmp_path / "policies" / "good.yaml"
    document.write_text(document.read_text().replace('"fleets": {\n   "names": [\n    "good"', '"fleets": {\n   "names": [\n    "goood"'))
    code, found = examined(path)

    assert (code, failures(found)) == (1, {"policy-has-fleets"})


@pytest.mark.parametrize(
    ("own", "check"),
    [
        ({"http": {"port": 0, "apiTokenFile": "/does/not/exist"}}, "files-readable"),
        ({"receivers": {"hook": {"webhook": {"url": "http://127.0.0.1:9/x"}}}}, "receiver-reachable"),
    ],
    ids=["token", "webhook"],
)
def test_what_this_machine_lacks_is_found(server: PrometheusServer, tmp_path: Path, own: dict[str, Any], check: str) -> None:
    _, found = examined(written(tmp_path, server.url, GOOD, **own))

    assert failures(found) == {check}


def test_a_test_message_is_sent_only_when_asked_for(server: PrometheusServer, tmp_path: Path) -> None:
    path = written(tmp_path, server.url, GOOD)
    examined(path)
    before = (tmp_path / "told.jsonl").exists()
    examined(path, "--send-test")

    assert (before, len((tmp_path / "told.jsonl").read_text().splitlines())) == (False, 1)


def test_nothing_is_changed_by_looking(server: PrometheusServer, tmp_path: Path) -> None:
    path = written(tmp_path, server.url, GOOD)
    before = {file: file.stat()[stat.ST_MTIME] for file in tmp_path.rglob("*")}
    examined(path)

    assert {file: file.stat()[stat.ST_MTIME] for file in tmp_path.rglob("*")} == before
