import json
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from autopilot.cli.status import rendered
from autopilot.cli.status_rows import fleet_rows, quantile_in_words
from autopilot.control.status import FleetStatus, Quantile, ReplicaStatus, summarize
from autopilot.daemon.board import Tick
from autopilot.daemon.looking import Sight
from autopilot.domain.signals import Gap, Readings
from autopilot.domain.workloads import FleetRef, Unobserved
from autopilot.policy.book import Book, Entry
from tests.support.clocks import NOON
from tests.unit.cli.running import document, refused, told
from tests.unit.web.played import BURST, BURST_OPENS, burst, house, posted, quiet, serving

ROOT = Path(__file__).parents[3]


def fleet() -> FleetStatus:
    story = burst().until(BURST_OPENS)
    return summarize(story.records[-1], story.policy)


def rows(shown: FleetStatus) -> dict[str, list[str]]:
    """What is said in each row."""
    found: dict[str, list[str]] = {}
    for label, value in fleet_rows(shown, running_seconds=BURST_OPENS.total_seconds() + 30):
        found.setdefault(label, []).append(str(value))
    return found


@pytest.mark.parametrize(
    ("quantile", "expected"),
    [
        (Quantile(0.99, 0.41, "measured", 800.0), "p99 0.41 s"),
        (Quantile(0.999, 0.5, "sparse", 12.4), "p99.9 0.5 s (sparse n=12)"),
        (Quantile(0.99, 10.0, "measured", 800.0, at_least=True), "p99 at least 10 s"),
        (Quantile(0.5, None, "idle"), "p50 idle"),
        (Quantile(0.95, None, "unknown"), "p95 unknown"),
        (Quantile(0.95, None, "measured", 3.0), "p95 unknown"),
    ],
    ids=["measured", "sparse", "top-bucket", "idle", "unknown", "no-number"],
)
def test_a_quantile_says_how_far_it_can_be_trusted(quantile: Quantile, expected: str) -> None:
    assert quantile_in_words(quantile) == expected


def test_replicas_are_told_as_serving_desired_and_wanted() -> None:
    assert rows(fleet())["replicas"] == ["1 serving, 1 desired, 8 wanted"]


def test_a_pending_alert_shows_its_progress() -> None:
    pending, firing = rows(fleet())["alert"]

    assert "10 s of 1 min" in pending
    assert "firing" in firing


def test_an_open_remediation_shows_its_step() -> None:
    (shown,) = rows(fleet())["remediation"]

    assert shown.startswith(BURST)
    assert "scaleOut to 8" in shown
    assert "30 s" in shown


def test_every_hold_has_its_reason() -> None:
    story = quiet()
    shown = summarize(story.records[-1], story.policy)

    assert rows(shown)["decided"] == list(shown.decisions)


def test_a_blind_alert_is_loud() -> None:
    blind = replace(fleet(), alerts=tuple(replace(alert, blind=True) for alert in fleet().alerts))

    assert all("BLIND" in shown for shown in rows(blind)["alert"])


def test_what_is_not_known_never_reads_as_a_number() -> None:
    record = burst().records[-1]
    seen = replace(record.seen, readings=Readings(), workload=Unobserved("the API server is away"))
    shown = summarize(replace(record, seen=seen, wanted=None), burst().policy)

    told_rows = rows(shown)

    assert not any(sign.isdigit() for sign in told_rows["replicas"][0])
    assert told_rows["TTFT 1 min"] == ["p50 unknown   p95 unknown   p99 unknown   p99.9 unknown"]
    assert told_rows["in flight"][0].startswith("unknown, rate unknown")


def test_replicas_with_the_same_trouble_share_a_line() -> None:
    starting = tuple(ReplicaStatus(f"r-{number}", "starting", 10.0, None, None) for number in range(3))
    failed = ReplicaStatus("r-9", "failed", 60.0, None, None, "CUDA out of memory")

    assert rows(replace(fleet(), replicas=(*starting, failed)))[""] == ["starting: r-0, r-1, r-2", "failed: r-9: CUDA out of memory"]


def test_the_table_is_drawn_from_a_running_server() -> None:
    with serving(house(burst())) as url:
        shown = told("status", "--server", url)

    assert "llm/chat" in shown
    assert "8 serving, 8 desired, 8 wanted" in shown
    assert "p99.9" in shown


def test_the_troubles_of_files_come_first() -> None:
    inside = house(burst())
    book = Book(burst().book.entries, problems=("policies/chat.yaml:3:5: spec.alerts: missing",))
    posted(inside.board, burst(), book=book, sight=Sight({}, {}, (("default", Gap.LATE, "no answer"),), 9))
    with serving(inside) as url:
        first, second, *_ = told("status", "--server", url).splitlines()

    assert "policies/chat.yaml:3:5" in first
    assert "default: late" in second


@pytest.mark.parametrize(("age", "stale"), [(60, False), (61, True)], ids=["exactly-a-minute", "older"])
def test_an_old_status_is_loud(age: int, *, stale: bool) -> None:
    inside = house(burst())
    seen = inside.board.read()
    assert seen.daemon.at is not None
    out = Console(width=200)
    with out.capture() as shown:
        out.print(rendered(seen, seen.daemon.at + timedelta(seconds=age)))

    assert ("STALE" in shown.get()) is stale


def test_one_fleet_is_shown_alone_and_as_json() -> None:
    with serving(house(burst())) as url:
        shown = document("status", "llm/chat", "--server", url, "--json")

    assert [fleet["fleet"] for fleet in shown["fleets"]] == ["llm/chat"]
    assert shown["daemon"]["queries"] == 7


def test_the_server_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from autopilot.cli import app

    with serving(house(burst())) as url:
        monkeypatch.setenv("AUTOPILOT_SERVER", url)
        result = CliRunner().invoke(app, ["status"])

    assert result.exit_code == 0
    assert "llm/chat" in result.stdout


def test_a_daemon_before_its_first_tick_is_good() -> None:
    with serving(house()) as url:
        assert document("status", "--server", url, "--json")["daemon"]["ticks"] == 0


def test_an_unknown_fleet_is_refused_with_the_known_ones() -> None:
    with serving(house(burst())) as url:
        assert "llm/chat" in refused("status", "llm/nobody", "--server", url)


def test_a_hostile_name_cannot_steer_the_terminal() -> None:
    ref = FleetRef("llm", "\x1b[2J[bold]\r\nfake: 8 serving")
    inside = house()
    entry = Entry(replace(burst().fleet, ref=ref), None)
    inside.board.post(Book((entry,)), Tick([replace(burst().records[-1], fleet=ref)], Sight({}, {}, (), 0)), wall=NOON, now=inside.now)
    with serving(inside) as url:
        shown = told("status", "--server", url)

    assert "\x1b" not in shown
    assert "\r" not in shown
    assert "[bold]" in shown


@pytest.mark.parametrize(
    "server", ["http://127.0.0.1:1", "nonsense", "http://host.invalid"], ids=["nobody-listens", "no-address", "no-such-name"]
)
def test_a_server_that_does_not_answer_is_named(server: str) -> None:
    assert refused("status", "--server", server)


def test_an_answer_of_another_program_is_told_from_ours() -> None:
    inside = house()
    with serving(inside) as url:
        assert refused("status", "--server", f"{url}/metrics?")


def test_a_watch_looks_again_until_it_is_interrupted() -> None:
    with serving(house(burst())) as url:
        command = [sys.executable, "-m", "autopilot.cli", "status", "--watch", "--json", "--server", url]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            looks = [json.loads(watch.stdout.readline()) for _ in range(2)]
            watch.send_signal(signal.SIGINT)
            code = watch.wait(timeout=20)

    assert code == 0
    assert looks[0] == looks[1]
