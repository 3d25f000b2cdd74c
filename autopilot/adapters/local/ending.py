"""From a replica that is to go to nothing of it left: asked, waited for, killed with all it started, and looked for again."""

import signal
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from autopilot.adapters.local.post import Post, Setbacks
from autopilot.adapters.local.processes import Mark, Process, alive, marked, send, session_of
from autopilot.adapters.local.record import Phase, ReplicaRecord

_ROUTER_PATIENCE = timedelta(seconds=5)  # for a router that does not confirm that a replica is out of its list


class Ending:
    """Looks after the replicas that leave, are lost or have failed."""

    def __init__(self, post: Post, setbacks: Setbacks) -> None:
        self._post = post
        self._setbacks = setbacks
        self._since: dict[str, timedelta] = {}
        self._kin: dict[str, frozenset[Process]] = {}

    def step(self, replica: ReplicaRecord, listed: frozenset[str], *, now: timedelta) -> None:
        """Take one replica a step nearer to its end; `listed` is who the router sends requests to. Raises StateLost."""
        since = self._since.setdefault(replica.name, now)
        if replica.url in listed and now - since < _ROUTER_PATIENCE:
            return  # out of traffic first
        cleared = replica.phase is Phase.FAILED and replica.process is None and not replica.gpus
        left = frozenset[Process]() if cleared else self._left(replica)
        if replica.phase is not Phase.LEAVING:
            self._kill_or_clear(replica, left, now=now)
        elif not left:
            self._forget(replica)
        elif not replica.termed:
            self._ask(replica, now=now)
        elif now - since >= timedelta(seconds=replica.drain_seconds + self._post.options.times.stop_margin) or replica.process not in left:
            kill(left)  # late, or its parent is gone and these are orphans

    def _kill_or_clear(self, replica: ReplicaRecord, left: frozenset[Process], *, now: timedelta) -> None:
        if left:
            kill(left)
        elif replica.phase is Phase.DOOMED or self._setbacks.over(now=now):
            self._forget(replica)  # its place is empty: the next replica gets a new name
        elif replica.process is not None or replica.gpus:
            self._post.put(replica, replace(replica, process=None, gpus=()))

    def _ask(self, replica: ReplicaRecord, *, now: timedelta) -> None:
        """SIGTERM, once: a second one would cut an engine's drain short. So it is recorded before it is sent."""
        self._post.put(replica, replace(replica, termed=True))
        self._since[replica.name] = now
        if replica.process is not None:
            send(replica.process, signal.SIGTERM)

    def _left(self, replica: ReplicaRecord) -> frozenset[Process]:
        """What still runs of it, orphans included: those seen in its session, and those that carry its mark."""
        seen = remains(replica.mark, replica.process, self._kin.get(replica.name, frozenset()))
        self._kin[replica.name] = seen
        return seen

    def _forget(self, replica: ReplicaRecord) -> None:
        self._since.pop(replica.name, None)
        self._kin.pop(replica.name, None)
        self._post.change(lambda record: record.without(replica.name))


def remains(mark: Mark, process: Process | None, seen_before: frozenset[Process]) -> frozenset[Process]:
    """Every running process of one launch; `seen_before` are those known to be of it from an earlier look."""
    session = frozenset() if process is None else session_of(process)
    return marked(mark) | session | frozenset(each for each in seen_before if alive(each))


def kill(processes: Iterable[Process]) -> None:
    """SIGKILL each of them and nobody else."""
    for process in processes:
        send(process, signal.SIGKILL)
