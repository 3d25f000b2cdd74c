"""Port `Backend` over engines on this machine."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from autopilot.adapters.http import HttpClient
from autopilot.adapters.local import targets
from autopilot.adapters.local.fleets import LocalFleet, LocalOptions
from autopilot.adapters.local.ledger import Ledger, free_gpus
from autopilot.adapters.local.post import Post
from autopilot.adapters.local.record import FleetRecord, Folder, lock, recorded
from autopilot.adapters.local.resize import check_gpus, cordoned, released, resized
from autopilot.adapters.local.router import RouterSilentError
from autopilot.adapters.local.starting import filled
from autopilot.adapters.local.supervisor import Supervisor
from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.workloads import FleetRef, Observation, Unobserved
from autopilot.fleet.edges import Edges
from autopilot.ports import Clock, Failed, Refused, StateLost, Unsure


class LocalBackend:
    """Fleets of `vllm` servers as processes of this machine.

    `start` before anything else; `close` leaves everything serving, and so does a kill of this process.
    """

    def __init__(self, options: LocalOptions, *, clock: Clock, http: HttpClient) -> None:
        self._options = options
        self._clock = clock
        self._http = http
        self._ledger = Ledger()
        self._supervisors: dict[FleetRef, Supervisor] = {}
        self._unreadable: dict[FleetRef, str] = {}
        self._publishing = threading.Lock()
        self._unlock: Callable[[], None] | None = None

    def start(self, fleets: Iterable[LocalFleet]) -> None:
        """Take the state folder, find again what was started, and look after these fleets. Raises StateInUse, StateLost."""
        self._unlock = lock(self._options.state_dir)
        try:
            self._take_up(tuple(fleets))
        except BaseException:
            self.close()
            raise

    def _take_up(self, managed: tuple[LocalFleet, ...]) -> None:
        for ref in sorted(set(recorded(self._options.state_dir)) - {fleet.ref for fleet in managed}):
            self._enter(ref)  # nobody manages it now, but it serves, and Prometheus goes on scraping it
        for fleet in managed:
            self.manage(fleet)

    def manage(self, fleet: LocalFleet) -> None:
        """Look after this fleet from now on, or take up its new document: replicas that run keep their template.

        A fleet whose record cannot be read stays unobserved and untouched.
        """
        supervisor = self._supervisors.get(fleet.ref)
        if supervisor is None:
            if not self._enter(fleet.ref):
                return
            post = Post(fleet, self._options, Folder(self._options.state_dir, fleet.ref), self._ledger, self._clock, self._http)
            supervisor = self._supervisors[fleet.ref] = Supervisor(post, self._publish)
        supervisor.post.fleet = fleet.with_edges(self._ledger[fleet.ref].edges)
        with _saved():
            record = self._ledger.change(fleet.ref, lambda record: replace(record, labels=fleet.labels, edges=_edges(record, fleet)))
        supervisor.post.fleet = fleet.with_edges(record.edges)
        supervisor.post.ruled = True
        supervisor.start()
        supervisor.wake()

    def leave_all_but(self, ruled: Collection[FleetRef]) -> None:
        """Start and kill nothing more for fleets that have no document any more; they serve on, and what began is finished."""
        for ref, supervisor in self._supervisors.items():
            if ref not in ruled:
                supervisor.post.ruled = False

    def warm_up_with(self, fleet: FleetRef, prompt_tokens: tuple[int, ...]) -> None:
        """Warm new replicas up with prompts of these lengths from now on; a fleet that is not of this machine is left alone."""
        supervisor = self._supervisors.get(fleet)
        if supervisor is not None:
            document = supervisor.post.fleet
            supervisor.post.fleet = replace(document, warm_up=replace(document.warm_up, prompt_tokens=prompt_tokens))

    def close(self) -> None:
        """Stop looking; engines and routers go on."""
        for supervisor in self._supervisors.values():
            supervisor.stop()
        self._supervisors.clear()
        if self._unlock is not None:
            self._unlock()
            self._unlock = None

    def observe(self, fleet: FleetRef) -> Observation:
        """What is there, as it was seen last."""
        supervisor = self._supervisors.get(fleet)
        if supervisor is None:
            return Unobserved(self._unreadable.get(fleet, f"{fleet}: is not a fleet of this machine"))
        return supervisor.observe()

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        """Record the wanted count, if nobody changed it since it was looked at. New replicas are to be seen at once, as pending."""
        supervisor = self._supervisor(fleet)
        if not supervisor.post.ruled:
            message = f"{fleet}: its document was taken away; nothing is started or removed until it is back"
            raise Refused(message)
        with _saved(), self._ledger.lock:
            if effect.count > effect.before:
                self._check_gpus(fleet, effect.count)
            self._ledger.change(fleet, lambda record: filled(supervisor.post, resized(record, effect, supervisor.post.fleet)))
        supervisor.wake()

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        """Take replicas out of the router's list, recorded first."""
        supervisor = self._supervisor(fleet)
        with _saved():
            record = self._ledger.change(fleet, lambda record: cordoned(record, effect.replicas, out=True))
        out = frozenset(replica.url for replica in record.replicas if replica.name in effect.replicas)
        with _confirmed(f"{fleet}: cordon of {', '.join(effect.replicas)}"):
            supervisor.traffic.take_out(out)

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        """Put replicas back into the router's list, recorded first."""
        supervisor = self._supervisor(fleet)
        with _saved():
            self._ledger.change(fleet, lambda record: cordoned(record, effect.replicas, out=False))
        with _confirmed(f"{fleet}: uncordon of {', '.join(effect.replicas)}"):
            supervisor.traffic.put_in()

    def bring_up(self, fleet: FleetRef) -> None:
        """Ask for at least the fleet's minimum: `autopilot fleet up`. Raises Refused, Failed."""
        supervisor = self._supervisor(fleet)
        minimum = supervisor.post.fleet.minimum

        def raised(record: FleetRecord) -> FleetRecord:
            if record.desired >= minimum and not record.down:
                return record
            return filled(supervisor.post, replace(record, desired=max(record.desired, minimum), version=record.version + 1, down=False))

        with _saved(), self._ledger.lock:
            self._check_gpus(fleet, max(minimum, self._ledger[fleet].desired))
            self._ledger.change(fleet, raised)
        supervisor.wake()

    def take_down(self, fleet: FleetRef, *, within: timedelta) -> bool:
        """Drain and stop every replica, then the router: `autopilot fleet down`. Whether all was gone in time.

        It goes on when time is up. Raises Refused, Failed.
        """
        supervisor = self._supervisor(fleet)
        with _saved():
            self._ledger.change(fleet, released)
        until, pause = self._clock.running() + within, threading.Event()
        while not self._is_gone(fleet):
            if self._clock.running() >= until:
                return False
            supervisor.wake()
            pause.wait(0.2)  # the wait of a command; the loop never calls this
        return True

    def router_url(self, fleet: FleetRef) -> str | None:
        """Where users send their requests; None until there is a router."""
        router = self._ledger[fleet].router if fleet in self._supervisors else None
        return None if router is None else router.url

    def log_of(self, fleet: FleetRef, replica: str) -> Path:
        """The log of a replica, for diagnosis; it may be gone."""
        return Folder(self._options.state_dir, fleet).log(replica)

    def _enter(self, ref: FleetRef) -> bool:
        """Read a fleet's record, or begin one."""
        folder = Folder(self._options.state_dir, ref)
        try:
            self._ledger.enter(folder.load() or FleetRecord(ref.namespace, ref.name), folder)
        except StateLost as error:
            self._unreadable[ref] = str(error)
            return False
        self._unreadable.pop(ref, None)
        return True

    def _supervisor(self, fleet: FleetRef) -> Supervisor:
        supervisor = self._supervisors.get(fleet)
        if supervisor is None:
            raise Refused(self._unreadable.get(fleet, f"{fleet}: is not a fleet of this machine; is its document loaded?"))
        return supervisor

    def _check_gpus(self, fleet: FleetRef, count: int) -> None:
        """Object when the wanted counts of all fleets, this one at `count`, need more GPUs than there are."""
        if not self._options.gpus:
            return
        if self._unreadable:
            message = f"{fleet}: which GPUs are free is not known, for {' · '.join(self._unreadable.values())}"
            raise Refused(message)
        wanted = [(each.post.fleet, count if ref == fleet else self._ledger[ref].desired) for ref, each in self._supervisors.items()]
        others = [record for record in self._ledger.records if record.ref not in self._supervisors]
        check_gpus(wanted, len(free_gpus(others, self._options.gpus)))

    def _is_gone(self, fleet: FleetRef) -> bool:
        record = self._ledger[fleet]
        return not record.replicas and (record.router is None or record.router.process is None)

    def _publish(self) -> None:
        with self._publishing:
            targets.publish(self._options.file_sd, targets.targets(self._ledger.records))


def _edges(record: FleetRecord, fleet: LocalFleet) -> Edges:
    return record.edges if record.replicas else fleet.edges


@contextmanager
def _saved() -> Iterator[None]:
    try:
        yield
    except StateLost as error:
        raise Failed(str(error)) from error


@contextmanager
def _confirmed(what: str) -> Iterator[None]:
    try:
        yield
    except RouterSilentError as error:
        message = f"{what} is recorded and will be made so, but the router did not confirm it: {error}"
        raise Unsure(message) from error
