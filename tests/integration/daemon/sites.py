"""A daemon's place in the world: its files, its fleets of scripted engines, its record of what was done, and its end."""

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autopilot.adapters.http import HttpClient
from autopilot.adapters.journal import open_journal_to_read
from autopilot.adapters.local.processes import alive, send
from autopilot.adapters.local.record import FleetRecord, Folder
from autopilot.control.audit import Record
from autopilot.control.codec import decode
from autopilot.domain.decisions import Act
from autopilot.domain.operations import Effect, SetReplicas
from autopilot.domain.workloads import FleetRef
from tests.contract.backend.rig import holders
from tests.support import exporters, routers
from tests.support.daemons import RUN, DaemonProcess, comes
from tests.support.exporters import CALM, Script
from tests.support.waiting import eventually

PATIENCE = 30.0  # seconds; two cores are shared with other work
SLO = "slow"


@dataclass(frozen=True)
class Plan:
    """What the documents of one fleet say, times as people write them."""

    name: str = "chat"
    source: str = "default"
    minimum: int = 1
    maximum: int = 2
    hold: str = "1s"
    keep_firing: str = "0s"
    within: str = "30s"
    held_for: str = "1s"
    stable_for: str = "3s"
    start_within: str = "60s"
    cooldown: str = "1s"

    def documents(self, identity: str) -> list[dict[str, Any]]:
        """The fleet and its policy; `identity` tells its series from those of other tests."""
        workload = {"render": {"model": {"source": "/models/fake", "servedName": [self.name]}, "engine": {"args": {}}}}
        bounds = {"min": self.minimum, "max": self.maximum}
        pool = {"name": "engines", "workload": workload, "replicas": bounds, "warmUp": {"requests": 1, "promptTokens": 8}}
        metrics = {"source": self.source, "identity": {"fleet": identity}}
        step = {"do": {"scale": {"by": "shortfall"}}, "verify": {"within": self.within, "heldFor": self.held_for}}
        spec = {
            "fleets": {"names": [self.name]},
            "modes": {"default": "act"},
            "scaling": {
                "bounds": [bounds],
                "out": {"startWithin": self.start_within},
                "in": {"stableFor": self.stable_for, "every": "1s", "drainWithin": "20s"},
            },
            "alerts": [
                {
                    "name": SLO,
                    "severity": "ticket",
                    "when": {"signal": "ttft", "quantile": "90%", "above": "500ms", "over": "4s"},
                    "for": self.hold,
                    "keepFiringFor": self.keep_firing,
                }
            ],
            "remedies": [{"alert": SLO, "steps": [step, {"do": {"notify": {"receivers": ["people"]}}}]}],
            "notify": {"on": ["handed-over"], "receivers": ["people"]},
            "limits": {"cooldown": self.cooldown},
        }
        return [
            {
                "apiVersion": API,
                "kind": "Fleet",
                "metadata": self._named,
                "spec": {"backend": "local", "metrics": metrics, "pools": [pool]},
            },
            {"apiVersion": API, "kind": "Policy", "metadata": self._named, "spec": spec},
        ]

    @property
    def _named(self) -> dict[str, str]:
        return {"name": self.name, "namespace": "llm"}


API = "autopilot.dev/v1alpha1"


@dataclass
class Site:
    """A folder with everything in it. `sources` are the daemon's Prometheus servers by name."""

    folder: Path
    sources: Mapping[str, str]
    targets: Path
    plans: Sequence[Plan] = (Plan(),)
    state: str = "state/state.sqlite"
    daemon: DaemonProcess = field(init=False)
    http: HttpClient = field(default_factory=HttpClient)

    def __post_init__(self) -> None:
        self.daemon = DaemonProcess(self.folder)
        self.policies.mkdir()
        self.scripts.mkdir()
        for plan in self.plans:
            self.document(plan).write_text(self.text(plan))
            self.play(CALM, plan.name)
        (self.folder / "autopilot.yaml").write_text(json.dumps(self._configuration(), indent=1))

    @property
    def policies(self) -> Path:
        return self.folder / "policies"

    @property
    def scripts(self) -> Path:
        return self.folder / "scripts"

    @property
    def told(self) -> list[dict[str, Any]]:
        """What people were told."""
        file = self.folder / "told.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def document(self, plan: Plan) -> Path:
        return self.policies / f"{plan.name}.yaml"

    def text(self, plan: Plan) -> str:
        """The documents of a fleet as a file holds them: JSON is YAML."""
        return "\n---\n".join(json.dumps(one, indent=1) for one in plan.documents(f"{self.folder.name}-{plan.name}"))

    def play(self, script: Script, fleet: str = "chat", **changes: Any) -> None:
        """What every replica of a fleet shows from now on."""
        draft = self.scripts / f".{fleet}.new"
        draft.write_text(json.dumps(asdict(replace(script, **changes))))
        draft.replace(self.scripts / f"{fleet}.json")

    def rewrite(self, plan: Plan) -> None:
        """Put another version of a fleet's documents into force, as an operator would."""
        draft = self.folder / f"{plan.name}.draft"
        draft.write_text(self.text(plan))
        draft.replace(self.document(plan))

    def shows(self, fleet: str = "chat", **wanted: Any) -> bool:
        """Whether a fleet's status comes to say this."""
        return comes(lambda: {**self.daemon.fleet(fleet), **wanted} == self.daemon.fleet(fleet), within=PATIENCE)

    def alerts(self, fleet: str = "chat", *, state: str, within: float = PATIENCE) -> bool:
        """Whether the fleet's alert comes to be in this state."""
        return comes(lambda: self.daemon.alert(fleet).get("state") == state, within=within)

    def play_alone(self, replica: str, **changes: Any) -> None:
        """What one replica shows from now on, whatever the others do."""
        fleet = replica.rpartition("-")[0]
        record = self.record(fleet).replica(replica)
        assert record is not None
        self.http.request("POST", f"{record.url}/script", body=json.dumps(changes).encode(), deadline_seconds=5)

    def start(self, *, serving: int = 1, command: Sequence[str] = RUN) -> None:
        """Start the daemon and wait until every fleet serves, is seen, and has shown what it can carry."""
        self.daemon.start(command)
        ready = comes(lambda: all(self.knows(plan.name, serving=serving) for plan in self.plans), within=PATIENCE)
        assert ready, self.daemon.said()[-3000:]

    def knows(self, fleet: str, *, serving: int) -> bool:
        """Whether so many replicas serve, all of them are seen, and the load they carry is known to be good."""
        status = self.daemon.fleet(fleet)
        seen = [replica for replica in status.get("replicas", []) if replica["running"] is not None]
        return (
            status.get("serving") == serving == len(seen) and status["good"] is not None and not self.daemon.alert(fleet).get("blind", True)
        )

    def grows(self, fleet: str = "chat", *, to: int, within: float = PATIENCE) -> bool:
        """Whether so many replicas come to be asked for."""
        return comes(lambda: self.record(fleet).desired == to, within=within)

    def rests(self, fleet: str = "chat", *, at: int, within: float = PATIENCE) -> bool:
        """Whether the fleet comes to be at so many serving replicas with nothing open."""
        return comes(lambda: self._at_rest(fleet, at), within=within)

    def _at_rest(self, fleet: str, count: int) -> bool:
        status, record = self.daemon.fleet(fleet), self.record(fleet)
        open_ = status.get("remediation") is not None or self.daemon.alert(fleet).get("state") != "inactive"
        return status.get("serving") == count == record.desired and len(record.replicas) == count and not open_

    def record(self, fleet: str = "chat") -> FleetRecord:
        """The backend's own record of a fleet; its `version` rises by one with every change of the count."""
        return Folder(self.folder / "local", FleetRef("llm", fleet)).load() or FleetRecord("llm", fleet)

    def records(self, fleet: str = "chat") -> list[Record]:
        """The journal of a fleet, oldest first."""
        path = (self.folder / self.state).with_suffix(".journal.sqlite")
        with closing(open_journal_to_read(path)) as journal:
            return [decode(line.body, Record) for line in journal.read(FleetRef("llm", fleet), last=10_000)]

    def effects(self, fleet: str = "chat") -> list[Effect]:
        """Everything that was decided to be done to a fleet."""
        acts = (one for record in self.records(fleet) for one in record.decisions if isinstance(one, Act))
        return [act.operation.effect for act in acts]

    def counts(self, fleet: str = "chat") -> list[tuple[int, int]]:
        """The changes of the count that were decided, as (before, after)."""
        return [(effect.before, effect.count) for effect in self.effects(fleet) if isinstance(effect, SetReplicas)]

    def serves(self, fleet: str = "chat") -> bool:
        """Whether a request of a user is answered, through the router."""
        router = self.record(fleet).router
        assert router is not None
        answer = self.http.request("POST", f"{router.url}/v1/completions", body=b'{"prompt": "hello"}', deadline_seconds=10)
        return answer.status == 200

    def engines(self, fleet: str = "chat") -> set[int]:
        """The process numbers of a fleet's replicas."""
        return {replica.process.pid for replica in self.record(fleet).replicas if replica.process is not None}

    def _configuration(self) -> dict[str, Any]:
        identity = self.folder.name
        return {
            "sources": {name: {"url": url, "scrapeInterval": "1s"} for name, url in self.sources.items()},
            "policies": ["policies"],
            "interval": "1s",
            "state": self.state,
            "http": {"port": 0},
            "receivers": {"people": {"file": "told.jsonl"}},
            "local": {
                "launch": [*exporters.PROGRAM, str(self.scripts)],
                "router": list(routers.PROGRAM),
                "stateDir": "local",
                "fileSd": str(self.targets / f"{identity}.json"),
            },
        }


@contextmanager
def cleaned(site: Site) -> Iterator[Site]:
    """The site, and nothing of it left behind."""
    try:
        yield site
    finally:
        site.daemon.kill()
        for process in holders(site.folder):
            send(process, signal.SIGKILL)
        (site.targets / f"{site.folder.name}.json").unlink(missing_ok=True)
        assert eventually(lambda: not [each for each in holders(site.folder) if alive(each)], within=PATIENCE)
