"""Replicas that have served: whether they still do, and what happens to those that do not."""

from dataclasses import replace
from datetime import timedelta

from autopilot.adapters.local.errands import Errands
from autopilot.adapters.local.health import Health, History, Verdict, Vitals, judge, look, proven
from autopilot.adapters.local.logs import tail
from autopilot.adapters.local.post import Post, Setbacks
from autopilot.adapters.local.processes import alive
from autopilot.adapters.local.record import Phase, ReplicaRecord


class Serving:
    """Looks after the replicas in traffic and those that fell out of it."""

    def __init__(self, post: Post, setbacks: Setbacks) -> None:
        self._post = post
        self._setbacks = setbacks
        self._histories: dict[str, History] = {}
        self._probes: Errands[bool] = Errands()

    def step(self, replica: ReplicaRecord, vitals: Vitals | None, *, now: timedelta) -> None:
        """Judge one replica by this look and the ones before. Raises StateLost."""
        if replica.process is None or not alive(replica.process):
            self._lost(replica, f"its process died; the end of its log:\n{tail(replica.mark.log)}", now=now)
            return
        if replica.phase is Phase.SERVING:
            self._setbacks.served(replica, now=now)
        if vitals is None:
            return
        history = look(self._histories.get(replica.name, History(progress=now)), vitals, now=now)
        self._histories[replica.name] = history
        self._act(replica, vitals, judge(history, now=now, stall=self._stall), now=now)

    def _act(self, replica: ReplicaRecord, vitals: Vitals, verdict: Verdict, *, now: timedelta) -> None:
        match verdict:
            case Verdict.WELL:
                self._post.put(replica, replace(replica, phase=Phase.SERVING, message=replica.message if replica.in_traffic else ""))
            case Verdict.UNWELL:
                said = "refuses connections" if vitals.health is Health.REFUSED else "says on /health that its engine is dead"
                self._post.put(replica, replace(replica, phase=Phase.UNHEALTHY, message=said))
            case Verdict.PROBE | Verdict.LOST if not self._post.ruled:
                pass  # to kill it would shrink a fleet that nobody rules
            case Verdict.PROBE:
                self._probe(replica, now=now)
            case Verdict.LOST:
                self._lost(replica, f"unhealthy for {self._stall.total_seconds():.0f} s: {replica.message}", now=now)

    def _probe(self, replica: ReplicaRecord, *, now: timedelta) -> None:
        """Ask for one token: a slow answer to the usual questions is no proof of a stall."""
        engine, patience = self._post.engine(replica), self._post.options.times.probe
        answered = self._probes.fetch(replica.name)
        if answered is None:
            self._probes.begin(replica.name, lambda: engine.answers(deadline_seconds=patience))
        elif answered:
            self._histories[replica.name] = proven(self._histories[replica.name], now=now)
        else:
            stalled = f"stalled: no engine step for {self._stall.total_seconds():.0f} s with requests waiting, and no token within {patience:.0f} s"
            self._lost(replica, stalled, now=now)

    def _lost(self, replica: ReplicaRecord, why: str, *, now: timedelta) -> None:
        self._histories.pop(replica.name, None)
        self._probes.drop(replica.name)
        self._setbacks.died(replica, why, now=now)

    @property
    def _stall(self) -> timedelta:
        return timedelta(seconds=self._post.options.times.stall)
