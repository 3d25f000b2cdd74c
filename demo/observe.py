"""Look at a running demo: the autopilot's API, Prometheus, and what the load wrote. Never waits long, never raises."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from demo.place import Place
from demo.sight import Attempt, Fleet, Latency, Sight, Tally, Told, attempts_of, fleet_of, latency_of_buckets, latency_of_times, told_of

FLEET = "demo/chat"
WINDOW_SECONDS = 20.0  # the window of the policy's alert
ANSWER_SECONDS = 2.0  # everything is on this machine
BUCKETS = 'sum by (le) (increase(vllm:time_to_first_token_seconds_bucket{{fleet="chat"}}[{seconds:.0f}s]))'
NEWEST = 'max(timestamp(vllm:time_to_first_token_seconds_count{fleet="chat"}))'


@dataclass(frozen=True)
class Answer:
    """What became of one request; TTFT and end-to-end time in seconds."""

    sent_at: float
    ttft_seconds: float | None
    error: str | None


def get(port: int, path: str, **query: str | float) -> Mapping[str, Any] | None:
    """Ask a server of this machine for JSON; None when it does not answer with some in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)  # no proxy is asked
    try:
        connection.request("GET", f"{path}?{urlencode(query)}" if query else path)
        response = connection.getresponse()
        body = response.read()
        answer: Any = json.loads(body) if response.status == http.client.OK else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else None


class Answers:
    """What the load has written so far, read along."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self.all: list[Answer] = []
        self.summary: Mapping[str, Any] | None = None

    def read(self) -> None:
        """Take in what was written since; a line that is still being written is left for later."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                fresh = file.read()
        except FileNotFoundError:
            return
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            self._take(json.loads(line))

    def tally(self) -> Tally:
        """How many have ended, and how many badly."""
        return Tally(len(self.all), sum(answer.error is not None for answer in self.all))

    def first_tokens(self, begin: float, end: float) -> Latency:
        """TTFT of those whose first token came between two wall times."""
        return latency_of_times([ttft for one in self.all if (ttft := one.ttft_seconds) is not None and begin <= one.sent_at + ttft < end])

    def _take(self, line: Mapping[str, Any]) -> None:
        if line.get("summary"):
            self.summary = line
        else:
            self.all.append(Answer(line["sent_at"], line["ttft_seconds"], line["error"]))


class Observer:
    """Looks, and remembers only how far it has read."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._story = 0
        self.answers = Answers(place.answers)

    def look(self, now: float) -> Sight:
        """Everything that is to be seen at wall time `now`; what does not answer is left out."""
        self.answers.read()
        status = get(self._place.api_port, "/api/v1/status")
        fleet = fleet_of(status) if status is not None else None
        story = self._new_lines() if fleet is not None else ()
        return Sight(
            at=now,
            fleet=fleet,
            server=self.server(now, WINDOW_SECONDS),
            client=self.answers.first_tokens(now - WINDOW_SECONDS, now),
            tally=self.answers.tally(),
            story=story,
            attempts=self._attempts(fleet, story),
            told=_lines(self._place.told),
        )

    def server(self, at: float, seconds: float) -> Latency:
        """TTFT as the engines measured it in the seconds before a wall time."""
        answer = get(self._place.prometheus_port, "/api/v1/query", query=BUCKETS.format(seconds=seconds), time=at)
        return latency_of_buckets(answer) if answer is not None else Latency()

    def newest_sample(self, at: float) -> float | None:
        """When the newest sample that could be queried at a wall time was scraped."""
        answer = get(self._place.prometheus_port, "/api/v1/query", query=NEWEST, time=at)
        rows = answer["data"]["result"] if answer is not None else []
        return float(rows[0]["value"][1]) if rows else None

    def _new_lines(self) -> tuple[Told, ...]:
        answer = get(self._place.api_port, "/api/v1/story", fleet=FLEET, after=self._story)
        lines = told_of(answer) if answer is not None else ()
        self._story = max((line.number for line in lines), default=self._story)
        return lines

    def _attempts(self, fleet: Fleet | None, story: tuple[Told, ...]) -> tuple[Attempt, ...]:
        """Of an open remediation from the status; how a closed one ended is told by the journal, so that is asked once."""
        closed = any(line.event == "remediation_closed" for line in story)
        answer = get(self._place.api_port, "/api/v1/decisions", fleet=FLEET, remediation="last") if closed else None
        records = answer["records"] if answer is not None else []
        ended = [attempt for record in records[-1:] for one in record["remediations"] for attempt in attempts_of(one)]
        return (*ended, *(fleet.attempts if fleet is not None else ()))


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
