"""A local backend with stand-in engines in a folder of its own, and eyes for what it started."""

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http import HttpClient, HttpError
from autopilot.adapters.local import LocalBackend, LocalFleet, LocalOptions, LocalTimes, WarmUp
from autopilot.adapters.local.processes import Process, alive, send
from autopilot.adapters.local.record import FleetRecord, Folder, ReplicaRecord, RouterRecord
from autopilot.domain.operations import SetReplicas
from autopilot.domain.workloads import FleetRef, Replica, ReplicaState, Workload
from autopilot.fleet.engine import EngineSpec
from tests.support import engines, routers
from tests.support.waiting import eventually

CHAT = FleetRef("llm", "chat")
PATIENCE = 20.0  # seconds; two cores are shared with other tests
TIMES = LocalTimes(look=0.1, answer=1.0, start_unknown=15.0, start_at_least=15.0, stall=0.6, probe=0.6, stop_margin=0.8)


@dataclass
class Rig:
    """The backend under test. `start` and `close` may be repeated: a restart of the daemon."""

    folder: Path
    launch: tuple[str, ...] = engines.PROGRAM
    router: tuple[str, ...] = routers.PROGRAM
    times: LocalTimes = TIMES
    gpus: tuple[int, ...] = ()
    fleet: LocalFleet = field(init=False)
    backend: LocalBackend = field(init=False)
    http: HttpClient = field(default_factory=HttpClient)

    def __post_init__(self) -> None:
        engine = EngineSpec(model="/models/fake", served_names=("fake",))
        self.fleet = LocalFleet(CHAT, engine, minimum=0, maximum=4, warm_up=WarmUp(requests=2), labels=(("fleet", "chat"),))

    @property
    def options(self) -> LocalOptions:
        state, targets = self.folder / "state", self.folder / "targets.json"
        return LocalOptions(self.launch, self.router, state, targets, gpus=self.gpus, times=self.times)

    def start(self) -> None:
        self.backend = LocalBackend(self.options, clock=SystemClock(), http=self.http)
        self.backend.start([self.fleet])
        self.workload()

    def run(self, args: Mapping[str, Any]) -> None:
        """Take up another document of the fleet."""
        self.fleet = replace(self.fleet, engine=replace(self.fleet.engine, args=args))
        self.backend.manage(self.fleet)

    def workload(self) -> Workload:
        """The first observation there is."""
        seen: list[Workload] = []

        def look() -> bool:
            found = self.backend.observe(CHAT)
            if isinstance(found, Workload):
                seen.append(found)
            return bool(seen)

        assert eventually(look, within=PATIENCE), self.backend.observe(CHAT)
        return seen[0]

    def ask(self, count: int, victims: tuple[str, ...] = ()) -> None:
        now = self.workload()
        self.backend.set_replicas(CHAT, SetReplicas(count, now.desired, now.version, victims))

    def states(self) -> dict[str, ReplicaState]:
        return {replica.name: replica.state for replica in self.workload().replicas}

    def becomes(self, **wanted: ReplicaState) -> bool:
        """Whether the replicas, by number, come to be exactly these: `_1=SERVING`."""
        named = {f"chat-{number.lstrip('_')}": state for number, state in wanted.items()}
        return eventually(lambda: self.states() == named, within=PATIENCE)

    def serve(self, count: int) -> tuple[str, ...]:
        """Ask for so many and wait until they serve."""
        self.ask(count)
        assert eventually(lambda: len(self.workload().serving) == count, within=PATIENCE), self.workload()
        return tuple(replica.name for replica in self.workload().serving)

    def named(self, name: str) -> Replica:
        found = self.workload().named(name)
        assert found is not None
        return found

    @property
    def record(self) -> FleetRecord:
        """What is on disk."""
        record = Folder(self.options.state_dir, CHAT).load()
        assert record is not None
        return record

    def replica(self, name: str) -> ReplicaRecord:
        found = self.record.replica(name)
        assert found is not None
        return found

    def process(self, name: str) -> Process:
        found = self.replica(name).process
        assert found is not None
        return found

    @property
    def router_record(self) -> RouterRecord:
        found = self.record.router
        assert found is not None
        return found

    def workers(self) -> set[str]:
        """Whom the router sends requests to; nobody while it does not answer."""
        try:
            answer = self.http.request("GET", f"{self.router_record.url}/list_workers", deadline_seconds=2)
        except HttpError:
            return set()
        return set(json.loads(answer.body)["urls"])

    def control(self, name: str, **mood: Any) -> None:
        """Change the mood of a stand-in engine."""
        body = json.dumps(mood).encode()
        try:
            self.http.request("POST", f"{self.replica(name).url}/control", body=body, deadline_seconds=5)
        except HttpError:
            assert mood.get("die")

    def served(self, name: str) -> dict[str, Any]:
        answer = self.http.request("GET", f"{self.replica(name).url}/served", deadline_seconds=5)
        return dict(json.loads(answer.body))

    def targets(self) -> dict[str, dict[str, str]]:
        """The labels in the targets file, by instance."""
        groups = json.loads((self.folder / "targets.json").read_text())
        return {group["labels"]["instance"]: group["labels"] for group in groups}


def holders(folder: Path) -> set[Process]:
    """Every running process whose output goes to a file below the folder."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            output = str((entry / "fd" / "1").readlink())
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if output.startswith(str(folder.resolve()) + "/") and fields[0] != "Z":
            found.add(Process(int(entry.name), int(fields[19]), Path("/proc/sys/kernel/random/boot_id").read_text().strip()))
    return found


@contextmanager
def cleaned(rig: Rig) -> Iterator[Rig]:
    """The rig, and nothing of it left behind."""
    try:
        yield rig
    finally:
        if hasattr(rig, "backend"):
            rig.backend.close()
        for process in holders(rig.folder):
            send(process, signal.SIGKILL)
        assert eventually(lambda: not [each for each in holders(rig.folder) if alive(each)], within=PATIENCE)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)
