"""What the doctor looks at, made from the daemon's own file: the same sources, the same questions, the recorded backend."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http import HttpClient, HttpError
from autopilot.adapters.local.record import Folder
from autopilot.adapters.machine import ThisMachine
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.prometheus_facts import PrometheusFacts
from autopilot.adapters.queries import ask
from autopilot.adapters.state import read_state
from autopilot.catalog.queries import Query
from autopilot.daemon.assembly import CODEC, eyes_of, receivers_of
from autopilot.daemon.looking import Eyes, target_of
from autopilot.daemon.planning import recorded_backends
from autopilot.doctor.doors import Asking, Server, Subject
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Tell
from autopilot.domain.samples import Answer
from autopilot.domain.workloads import FleetRef, Unobserved
from autopilot.policy.book import Book, Entry
from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.values import Fleet
from autopilot.ports import DeliveryFailed, Source, StateLost

SERIES = 20_000  # of one answer: metric names of a fleet, targets of a large one
SECONDS = 10.0  # for everything that one fleet needs
VERSION_SECONDS = 2.0


@dataclass(frozen=True)
class Patients:
    """The sources by name, and the fleets in each. `strays` are policies that rule no fleet."""

    servers: Mapping[str, Server]
    subjects: Mapping[str, tuple[Subject, ...]]
    strays: tuple[str, ...]


class NoRivalsKnown:
    """Door `Rivals` where the backend has no other writers: a fleet of processes belongs to whoever holds its state."""

    def of(self, fleet: Fleet) -> tuple[str, ...]:  # noqa: ARG002 - the door's signature
        """Nobody."""
        return ()


def patients(config: DaemonConfig, book: Book, *, only: FleetRef | None) -> Patients:
    """Everything there is to look at, or one fleet with its source."""
    clock = SystemClock()
    eyes = eyes_of(config, recorded_backends(config, book, clock))
    servers = {name: _server(name, source, eyes) for name, source in eyes.sources.items()}
    memories = _memories(config)
    subjects: dict[str, list[Subject]] = {}
    for entry in book.entries:
        if entry.fleet.source in servers and only in (None, entry.fleet.ref):
            subject = _subject(config, entry, eyes, servers[entry.fleet.source])
            subjects.setdefault(entry.fleet.source, []).append(replace(subject, memory=memories.get(entry.fleet.ref, Memory())))
    chosen = {name: server for name, server in servers.items() if only is None or name in subjects}
    return Patients(chosen, {name: tuple(found) for name, found in subjects.items()}, tuple(map(str, book.strays)) if only is None else ())


def machine() -> ThisMachine:
    """The door to this machine."""
    return ThisMachine.with_codec(CODEC)


def sent_tests(config: DaemonConfig) -> Iterable[tuple[str, str]]:
    """Send one message to every receiver, and say what came of it: empty where it was taken."""
    told = SystemClock().wall()
    message = Tell(tuple(config.receivers), f"doctor/{told.timestamp():.0f}", "a test message of autopilot doctor", "nothing has happened")
    for name, deliver in receivers_of(config).items():
        try:
            deliver(message, told)
        except DeliveryFailed as error:
            yield name, str(error)
        else:
            yield name, ""


def _server(name: str, source: Source, eyes: Eyes) -> Server:
    assert isinstance(source, PrometheusSource)  # noqa: S101 - there is no other kind of source
    roomy = source.limited(SERIES)
    return Server(name, roomy, PrometheusFacts(source.url, source.http), asking_of(name, roomy), eyes.scrape_intervals[name], SECONDS)


def asking_of(name: str, source: Source) -> Asking:
    """Many queries at once to one source."""
    return partial(_ask, name, source)


def _ask(name: str, source: Source, queries: Sequence[Query], *, at: float) -> Mapping[Query, Answer | Exception]:
    return dict(ask({name: source}, queries, at=at, deadline_seconds=SECONDS))


def _subject(config: DaemonConfig, entry: Entry, eyes: Eyes, server: Server) -> Subject:
    fleet = entry.fleet
    backend = eyes.backends.get(fleet.backend)
    workload = backend.observe(fleet.ref) if backend is not None else Unobserved(f"there is no {fleet.backend} backend on this machine")
    target = target_of(fleet, entry.policy, eyes)
    return Subject(fleet, entry.policy, target, server, workload, Memory(), config.interval, _versions(config, fleet))


def _memories(config: DaemonConfig) -> Mapping[FleetRef, Memory]:
    """What the daemon learned; a state that cannot be read is said by a check of its own."""
    try:
        return read_state(Path(config.state), CODEC).memories
    except StateLost:
        return {}


def _versions(config: DaemonConfig, fleet: Fleet) -> dict[str, str]:
    """What the engines of this machine answer to GET /version; who does not answer is left out."""
    if fleet.backend != "local" or config.local is None:
        return {}
    try:
        record = Folder(Path(config.local.state_dir).absolute(), fleet.ref).load()
    except StateLost:
        return {}
    found = {replica.name: _version(replica.url) for replica in (record.counted if record is not None else ())}
    return {name: version for name, version in found.items() if version}


def _version(url: str) -> str:
    try:
        answer = HttpClient().request("GET", f"{url}/version", deadline_seconds=VERSION_SECONDS)
        return str(json.loads(answer.body)["version"]) if answer.status == 200 else ""
    except (HttpError, ValueError, KeyError, TypeError):
        return ""
