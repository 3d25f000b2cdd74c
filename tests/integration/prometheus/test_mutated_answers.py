"""Answers recorded from Prometheus 2.42 and 3.16, spoilt at random: each is refused with a typed error or read whole.

1,000 with every run; AUTOPILOT_DEEP=1 spoils 10,000.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.catalog.derive import Failure, derive
from autopilot.catalog.queries import Query, plan
from autopilot.catalog.series import OLD, UP, Series, Split
from autopilot.domain.samples import Answer, Sample
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Unknown
from autopilot.ports import QueryFailed
from tests.integration.catalog.fleets import BUSY
from tests.integration.catalog.scenes import NOW
from tests.support.odd_servers import OddServer, answering

CASES = 10_000 if os.environ.get("AUTOPILOT_DEEP") else 1_000
TAKEN = (Path(__file__).parent / "recorded_answers.jsonl").read_text(encoding="utf-8").splitlines()
RECORDED: tuple[str, ...] = tuple(json.loads(line)["answer"] for line in TAKEN)
ODD: tuple[Any, ...] = (
    *(None, True, False, "", "NaN", "+Inf", "-Inf", "1e999", "-1", "0x10", "１２", "1_0", "\ud800", "\x00", 0, -1, 1e308, 10**400),
    *(float("nan"), float("inf"), [], {}, [[]], {"": ""}, "vector", "matrix", "success", "error", [1, 2, 3], ["1", "2"], "a" * 5000),
)


def spoilt(body: str, source: random.Random) -> bytes:
    """The bytes of an answer with one to three things changed, in its text or in its structure."""
    if source.random() < 0.4:
        return torn(bytearray(body.encode()), source)
    envelope = json.loads(body)
    for _ in range(source.randint(1, 2)):
        envelope = bent(envelope, source)
    return json.dumps(envelope).encode()


def torn(found: bytearray, source: random.Random) -> bytes:
    for _ in range(source.randint(1, 2)):
        at, length = source.randrange(len(found) + 1), source.randint(1, 40)
        noise = bytes(source.choice((source.randrange(256), source.choice(b"0123456789-.eE"))) for _ in range(source.randint(1, 4)))
        left, right = found[:at], found[at:]
        changes = (
            *[left + noise[:1] + right[1:]] * 4,
            left + noise[:1] + right[1:],
            left + right[length:],
            left + right[:length] + right,
            left + noise + right,
            left,
        )
        found = source.choice(changes)
    return bytes(found)


def bent(envelope: Any, source: random.Random) -> Any:
    """The same with one node in it replaced, left out, doubled or renamed; each as likely as any other."""
    places = list(inside(envelope))
    if not places:
        return deepcopy(source.choice(ODD))
    parent, key = source.choice(places)
    match source.randrange(8):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.insert(key, deepcopy(parent[key]))
        case 2 if isinstance(parent, dict):
            parent[source.choice(("value", "histogram", "le", "pod", "", "buckets"))] = parent.pop(key)
        case _:
            parent[key] = deepcopy(source.choice(ODD))
    return envelope


def inside(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a structure: what holds it, and under which key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from inside(node[key])


@dataclass(slots=True)
class Told:
    """A server's only answer, to whatever it is asked."""

    body: bytes = b""

    def __call__(self, *asked: Any) -> None:
        answering(200, self.body)(*asked)


def recorded(read: Callable[[bytes], Answer | Failure]) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
    """What was recorded, read: answers by edge, and by replica."""
    found = [answer for body in RECORDED if isinstance(answer := read(body.encode()), Answer)]
    edges = tuple(answer for answer in found if any("le" in sample.labels for sample in answer.samples) or answer.natives)
    return edges, tuple(answer for answer in found if answer not in edges)


def sound(reading: Reading) -> bool:
    """Whether a reading holds no number that is none."""
    match reading:
        case Measured(value=value):
            return isfinite(value)
        case Distribution(counts=counts, total=total):
            return all(map(isfinite, counts)) and (total is None or isfinite(total))
        case Idle() | Unknown():
            return True


HEARD = Answer(tuple(Sample({"namespace": "llm", "fleet": "busy", "pod": pod.name}, NOW - 5.0, NOW) for pod in BUSY.pods))
PROOF: Mapping[Series, Answer] = {UP: HEARD, OLD: Answer(())}  # that the fleet is heard: else nothing of it is looked at


def answers(
    queries: Sequence[Query], edges: Sequence[Answer], replicas: Sequence[Answer], source: random.Random
) -> dict[Query, Answer | Failure]:
    found = {query: edges if query.series.split is Split.EDGE else replicas for query in queries}
    return {query: PROOF.get(query.series) or source.choice(among) for query, among in found.items()}


def test_no_spoilt_answer_breaks_a_look_or_becomes_a_number_that_is_none() -> None:
    source = random.Random(20_260_101)
    told, counted, queries = Told(), Counter[str](), plan([BUSY.target])
    with OddServer(told) as server:
        prometheus = PrometheusSource(server.url)

        def read(body: bytes) -> Answer | Failure:
            told.body = body
            try:
                return prometheus.instant("up", at=NOW, deadline_seconds=5.0)
            except QueryFailed as error:
                return Failure(Gap.QUERY_FAILED, str(error))

        edges, replicas = recorded(read)
        unsound: list[Mapping[str, object]] = []
        for number in range(CASES):
            body = spoilt(source.choice(RECORDED), source)
            answer = read(body)
            counted["read" if isinstance(answer, Answer) else "refused"] += 1
            all_answers = answers(queries, edges, replicas, source)
            for query in source.sample(queries, 3):
                all_answers[query] = answer
            entries = derive([BUSY.target], all_answers, {BUSY.ref: BUSY.replicas}, NOW)[BUSY.ref].entries
            counted.update(type(entry.reading).__name__ for entry in entries)
            unsound += [{"number": number, "entry": entry} for entry in entries if not sound(entry.reading)]
    print(f"{CASES} mutated answers: {dict(counted)}")  # noqa: T201 - the figure

    assert unsound == []
    assert counted["refused"] > CASES / 4
    assert counted["read"] > CASES / 20
