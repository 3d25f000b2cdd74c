"""The loop that makes a fleet what its record says: looks, compares, acts, and begins again."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import structlog

from autopilot.adapters.local import logs
from autopilot.adapters.local.ending import Ending
from autopilot.adapters.local.health import Vitals
from autopilot.adapters.local.post import Post, Setbacks
from autopilot.adapters.local.record import FleetRecord, Phase
from autopilot.adapters.local.serving import Serving
from autopilot.adapters.local.starting import Starting
from autopilot.adapters.local.traffic import Traffic
from autopilot.domain.workloads import Observation, Unobserved
from autopilot.fleet.template import template_hash
from autopilot.ports import PortError

_ASKED_FOR_VITALS = frozenset({Phase.STARTING, Phase.SERVING, Phase.UNHEALTHY})
_LOOKS_AT_ONCE = 8

log = structlog.get_logger()


class Supervisor:
    """One fleet's thread. Nothing waits for it but `stop`."""

    def __init__(self, post: Post, publish: Callable[[], None]) -> None:
        setbacks = Setbacks(post)
        self.post = post
        self.traffic = Traffic(post)
        self._publish = publish
        self._starting = Starting(post, setbacks)
        self._serving = Serving(post, setbacks)
        self._ending = Ending(post, setbacks)
        self._completed: float | None = None
        self._trouble = "it was not looked at yet"
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._looks = ThreadPoolExecutor(_LOOKS_AT_ONCE, thread_name_prefix=f"look {post.fleet.ref}")
        self._thread = threading.Thread(target=self._run, name=f"supervisor {post.fleet.ref}", daemon=True)

    def start(self) -> None:
        """Begin to look after the fleet, unless that has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def wake(self) -> None:
        """Look again now."""
        self._woken.set()

    def stop(self) -> None:
        """End after the step under way; engines and router go on."""
        self._stopped.set()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._looks.shutdown(cancel_futures=True)

    def observe(self) -> Observation:
        """The fleet as it was seen last; unobserved when that is too long ago. Takes no lock and asks nobody."""
        now = self.post.clock.running().total_seconds()
        if self._completed is None or now - self._completed > self.post.options.times.blind_after:
            return Unobserved(f"{self.post.fleet.ref}: {self._trouble}")
        return self.post.record.as_workload(template_hash(self.post.fleet.engine), now=self.post.clock.wall())

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            before = self.post.record, self.traffic.listed
            try:
                self._look()
            except (PortError, OSError) as error:
                self._note(str(error))
            except Exception as error:  # our own bug: the fleet is unobserved from now on, its engines serve, the next look may succeed
                log.exception("supervisor_broke", fleet=str(self.post.fleet.ref))
                self._note(f"{type(error).__name__}: {error}")
            else:
                self._completed = self.post.clock.running().total_seconds()
                if (self.post.record, self.traffic.listed) != before:
                    continue  # one step leads to the next
            self._woken.wait(self.post.options.times.look)

    def _look(self) -> None:
        try:
            self._tend()
        finally:
            self.traffic.step(now=self.post.clock.running())  # whatever is wrong with one replica, the others get requests
        self._publish()
        self._keep_logs_small(self.post.record)

    def _tend(self) -> None:
        self._starting.fill()
        vitals = self._vitals(self.post.record)
        for replica in self.post.record.replicas:
            now = self.post.clock.running()
            match replica.phase:
                case Phase.STARTING | Phase.WARMING:
                    self._starting.step(replica, vitals.get(replica.name), now=now)
                case Phase.JOINING:
                    self._starting.join(replica, self.traffic.listed, now=now)
                case Phase.SERVING | Phase.UNHEALTHY:
                    self._serving.step(replica, vitals.get(replica.name), now=now)
                case Phase.DOOMED | Phase.FAILED | Phase.LEAVING:
                    self._ending.step(replica, self.traffic.listed, now=now)

    def _vitals(self, record: FleetRecord) -> Mapping[str, Vitals]:
        """Ask every engine that may answer, all at once."""
        asked = [each for each in record.replicas if each.phase in _ASKED_FOR_VITALS and each.process is not None]
        seconds = self.post.options.times.answer
        answers = self._looks.map(lambda each: self.post.engine(each).vitals(deadline_seconds=seconds), asked)
        return {replica.name: answer for replica, answer in zip(asked, answers, strict=True)}

    def _keep_logs_small(self, record: FleetRecord) -> None:
        marks = [replica.mark for replica in record.replicas] + ([] if record.router is None else [record.router.mark])
        for mark in marks:
            logs.bound(mark.log)
        logs.prune(self.post.folder.logs, [mark.log for mark in marks])

    def _note(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.warning("fleet_not_looked_after", fleet=str(self.post.fleet.ref), error=trouble)
        self._trouble = trouble
