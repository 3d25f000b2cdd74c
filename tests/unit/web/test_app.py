import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from autopilot.adapters.http import HttpClient, Response
from autopilot.control.codec import decode
from autopilot.daemon.board import Status, Tick
from autopilot.daemon.looking import Sight
from autopilot.domain.signals import Gap
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.ports import StateLost
from autopilot.web.app import health_of
from tests.support.clocks import NOON
from tests.unit.web.played import BURST, BURST_CLOSES, BURST_OPENS, INTERVAL, House, burst, house, posted, serving

HINTS = "/api/v1/alerts"  # the one door that takes something in; see test_webhook.py
HOSTILE = '"><script>\x1b[2J{}$(x)\u202e%2e%2e?&#'


@pytest.fixture
def inside() -> House:
    return house(burst())


@pytest.fixture
def url(inside: House) -> Iterator[str]:
    with serving(inside) as address:
        yield address


def get(url: str) -> Response:
    return HttpClient().request("GET", url, deadline_seconds=10)


def body(url: str, *, status: int = 200) -> Any:
    response = get(url)
    assert response.status == status, response.excerpt
    return json.loads(response.body)


@pytest.mark.parametrize(
    ("intervals", "healthy"), [(0, True), (2.9, True), (3, False)], ids=["just-ticked", "just-inside", "exactly-at-the-edge"]
)
def test_the_loop_is_healthy_while_its_last_tick_is_younger_than_three_intervals(intervals: float, *, healthy: bool) -> None:
    health = health_of(intervals * INTERVAL, running=100 * INTERVAL, interval=INTERVAL)

    assert (health.healthy, health.limit_seconds, health.ticked) == (healthy, 15.0, True)


@pytest.mark.parametrize(("intervals", "healthy"), [(5.9, True), (6, False)], ids=["in-the-grace", "past-it"])
def test_the_first_tick_is_given_six_intervals(intervals: float, *, healthy: bool) -> None:
    health = health_of(None, running=intervals * INTERVAL, interval=INTERVAL)

    assert (health.healthy, health.limit_seconds, health.ticked) == (healthy, 30.0, False)


def test_a_loop_that_stands_still_is_told_with_its_age(inside: House, url: str) -> None:
    inside.now += timedelta(seconds=20)

    assert body(f"{url}/healthz", status=503) == {"healthy": False, "ticked": True, "age_seconds": 20.0, "limit_seconds": 15.0}


def test_the_start_grace_counts_from_the_start_of_this_process_not_from_logical_zero() -> None:
    inside = house()
    inside.now = timedelta(days=30)  # the logical time of a daemon that was restarted
    with serving(inside) as url:
        fresh = body(f"{url}/healthz")
        inside.now += 6 * INTERVAL
        stuck = body(f"{url}/healthz", status=503)

    assert (fresh["age_seconds"], stuck["age_seconds"]) == (0.0, 30.0)


def test_readiness_tells_every_reason(inside: House, url: str) -> None:
    assert body(f"{url}/readyz") == {"ready": True, "reasons": []}

    inside.reasons = ("source default does not answer",)
    assert body(f"{url}/readyz", status=503) == {"ready": False, "reasons": ["source default does not answer"]}


def test_metrics_are_passed_on_as_they_are(inside: House, url: str) -> None:
    assert get(f"{url}/metrics").body == inside.metrics


def test_the_status_reads_back_as_what_was_posted(inside: House, url: str) -> None:
    text = get(f"{url}/api/v1/status").body.decode()

    assert decode(text, Status) == inside.board.read()


def test_durations_in_the_status_are_seconds() -> None:
    inside = house(burst().until(BURST_OPENS))
    with serving(inside) as url:
        fleet = body(f"{url}/api/v1/fleets/llm/chat")

    assert fleet["remediation"]["opened_at"] == BURST_OPENS.total_seconds()
    assert fleet["alerts"][1] == {
        "name": "queued",
        "severity": "ticket",
        "state": "firing",
        "blind": False,
        "active_seconds": 10.0,
        "for_seconds": 10.0,
        "inert": False,
    }


def test_a_figure_that_is_no_number_is_null() -> None:
    inside = house(burst())
    record = burst().records[-1]
    level = record.after.level
    proven = replace(level.learned[0], days=(replace(level.learned[0].days[0], good=float("nan")),))
    odd = replace(record, after=replace(record.after, level=replace(level, learned=(proven,))))
    posted(inside.board, replace(burst(), records=(odd,)))
    with serving(inside) as url:
        assert body(f"{url}/api/v1/fleets/llm/chat")["good"] is None


def test_the_troubles_of_files_and_sources_are_in_the_status(inside: House, url: str) -> None:
    book = Book(entries=burst().book.entries, problems=("policies/chat.yaml:3:5: spec.alerts: missing",))
    posted(inside.board, burst(), book=book, sight=Sight({}, {}, (("default", Gap.LATE, "no answer"),), 9))

    daemon = body(f"{url}/api/v1/status")["daemon"]

    assert daemon["problems"] == ["policies/chat.yaml:3:5: spec.alerts: missing"]
    assert daemon["failures"] == ["default: late: no answer"]


@pytest.mark.parametrize(
    "path",
    ["/api/v1/fleets/llm/nobody", "/api/v1/story?fleet=llm/nobody", "/api/v1/decisions?fleet=llm/nobody"],
    ids=["fleet", "story", "decisions"],
)
def test_an_unknown_fleet_is_answered_with_the_known_ones(path: str, url: str) -> None:
    assert body(f"{url}{path}", status=404)["known"] == ["llm/chat"]


def test_a_hostile_name_is_only_data() -> None:
    ref = FleetRef("llm", HOSTILE)
    fleet = replace(burst().fleet, ref=ref)
    record = replace(burst().records[-1], fleet=ref)
    inside = house()
    inside.board.post(Book((Entry(fleet, None),)), Tick([record], Sight({}, {}, (), 0)), wall=NOON, now=inside.now)
    with serving(inside) as url:
        shown = body(f"{url}/api/v1/status")
        unknown = get(f"{url}/api/v1/fleets/llm/%3Cscript%3E")

    assert shown["fleets"][0]["fleet"] == f"llm/{HOSTILE}"
    assert json.loads(unknown.body)["known"] == [f"llm/{HOSTILE}"]


def test_the_story_comes_in_order_with_the_remediation_of_each_line(url: str) -> None:
    story = body(f"{url}/api/v1/story?fleet=llm/chat")
    numbers = [line["number"] for line in story["lines"]]
    events = [line["event"] for line in story["lines"] if line["remediation"] == BURST]

    assert numbers == sorted(numbers)
    assert story["newest"] == numbers[-1]
    assert events == ["remediation_opened", "step_started", "change_decided", "step_landed", "step_ended", "remediation_closed"]


def test_a_follower_of_the_story_misses_no_line(url: str) -> None:
    whole = body(f"{url}/api/v1/story")["lines"]
    followed: list[Any] = []
    while True:
        after = followed[-1]["number"] if followed else 0
        part = body(f"{url}/api/v1/story?after={after}&limit=3")["lines"]
        if not part:
            break
        followed += part

    assert followed == whole


def test_without_a_place_to_begin_at_the_newest_lines_come(url: str) -> None:
    whole = body(f"{url}/api/v1/story")["lines"]

    assert body(f"{url}/api/v1/story?limit=2")["lines"] == whole[-2:]


def test_decisions_are_the_newest_records_oldest_first(url: str) -> None:
    records = body(f"{url}/api/v1/decisions?fleet=llm/chat&last=3")["records"]

    assert [record["at_seconds"] for record in records] == [590.0, 595.0, 600.0]


def test_a_decision_tells_what_it_rested_on(url: str) -> None:
    records = body(f"{url}/api/v1/decisions?remediation=last")["records"]
    opened = next(record for record in records if record["at_seconds"] == BURST_OPENS.total_seconds())
    waiting = next(one for one in opened["signals"] if one["signal"] == "waiting_per_replica" and one["over_seconds"] is None)
    ttft = next(one for one in opened["signals"] if one["signal"] == "ttft")

    assert (waiting["state"], waiting["unit"]) == ("measured", "requests")
    assert waiting["value"] > 1.0
    assert ttft["count"] > 0
    assert [one["quantile"] for one in ttft["quantiles"]] == [0.5, 0.95, 0.99, 0.999]
    assert {alert["name"]: (alert["state"], alert["truth"]) for alert in opened["alerts"]}["queued"] == ("firing", "true")
    assert (opened["did"][0]["verb"], opened["did"][0]["remediation"]) == ("scaleOut", BURST)


def test_the_decisions_of_a_remediation_run_from_its_alert_to_its_verdict(url: str) -> None:
    records = body(f"{url}/api/v1/decisions?remediation={BURST.replace('#', '%23')}")["records"]
    ended = records[-1]["remediations"][0]

    assert records[0]["at_seconds"] == BURST_OPENS.total_seconds() - 10
    assert records[-1]["at_seconds"] == BURST_CLOSES.total_seconds()
    assert (ended["id"], ended["verdict"], ended["attempts"][0]["verdict"]) == (BURST, "helped", "helped")
    assert ended["attempts"][0]["before"]["means"][0] > ended["attempts"][0]["after"]["means"][0]


def test_a_journal_that_cannot_be_read_is_told(inside: House, url: str) -> None:
    inside.error = StateLost("journal.sqlite: cannot be read")

    assert body(f"{url}/api/v1/decisions", status=503) == {"detail": "journal.sqlite: cannot be read"}


def test_records_of_another_version_are_counted_not_shown(inside: House, url: str) -> None:
    inside.lines = (*inside.lines, replace(inside.lines[-1], body='{"kind": "of old"}'))

    answer = body(f"{url}/api/v1/decisions?last=2")

    assert (len(answer["records"]), answer["unreadable"]) == (1, 1)


def test_a_fleet_that_is_gone_keeps_its_history(inside: House, url: str) -> None:
    posted(inside.board, burst())
    inside.board.post(Book(), Tick([], Sight({}, {}, (), 0)), wall=NOON, now=inside.now)

    assert body(f"{url}/api/v1/decisions?fleet=llm/chat&last=1")["records"]
    assert body(f"{url}/api/v1/story?fleet=llm/chat")["lines"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/story?limit=0",
        "/api/v1/story?after=-1",
        "/api/v1/story?after=soon",
        "/api/v1/story?fleet=chat",
        "/api/v1/decisions?last=100000",
        "/api/v1/decisions?fleet=a/b/c",
        "/api/v1/decisions?fleet=/",
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(path: str, url: str) -> None:
    assert get(f"{url}{path}").status == 422


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(method: str, url: str) -> None:
    paths = body(f"{url}/openapi.json")["paths"]
    statuses = {
        HttpClient().request(method, f"{url}{path}", deadline_seconds=10).status for path in paths if "{" not in path and path != HINTS
    }

    assert statuses == {405}


def test_every_answer_has_a_named_form_in_the_openapi_document(url: str) -> None:
    document = body(f"{url}/openapi.json")
    forms = {
        path: operation["get"]["responses"]["200"]["content"]["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
        for path, operation in document["paths"].items()
        if path not in ("/metrics", HINTS)
    }

    assert forms == {
        "/healthz": "Health",
        "/readyz": "Readiness",
        "/api/v1/status": "StatusAnswer",
        "/api/v1/fleets/{namespace}/{name}": "FleetAnswer",
        "/api/v1/story": "StoryAnswer",
        "/api/v1/decisions": "DecisionsAnswer",
    }
    assert document["components"]["schemas"]["Remediation"]["properties"]["opened_at"]["type"] == "number"


def test_the_index_names_every_endpoint(url: str) -> None:
    index = get(f"{url}/").body.decode()

    assert [path for path in body(f"{url}/openapi.json")["paths"] if path not in index] == []


def test_health_is_told_while_every_worker_waits(inside: House, url: str) -> None:
    held, reached = threading.Event(), threading.Semaphore(0)

    def blocked(_: FleetRef | None, __: int) -> Any:
        reached.release()
        held.wait(20)
        return ()

    inside.reader = blocked
    askers = [threading.Thread(target=get, args=(f"{url}/api/v1/decisions",)) for _ in range(45)]  # the pool has 40 workers
    for asker in askers:
        asker.start()
    try:
        for _ in range(40):
            assert reached.acquire(timeout=10)

        assert get(f"{url}/healthz").status == 200
    finally:
        held.set()
        for asker in askers:
            asker.join()
