"""From an empty place to a replica in traffic: intent, fork, load, warm-up."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from autopilot.adapters.local.engines import Warmed
from autopilot.adapters.local.errands import Errands
from autopilot.adapters.local.health import Health, Vitals
from autopilot.adapters.local.ledger import free_gpus, free_port
from autopilot.adapters.local.logs import tail
from autopilot.adapters.local.post import Post, Setbacks
from autopilot.adapters.local.processes import Launch, Mark, alive, leader, marked, start
from autopilot.adapters.local.record import FleetRecord, Phase, ReplicaRecord
from autopilot.fleet.engine import command_line
from autopilot.fleet.template import template_hash

_OURS = "AUTOPILOT_"  # variables of the daemon: its tokens are no engine's business


class Starting:
    """Looks after the replicas that do not serve yet."""

    def __init__(self, post: Post, setbacks: Setbacks) -> None:
        self._post = post
        self._setbacks = setbacks
        self._since: dict[str, timedelta] = {}
        self._launched: set[str] = set()
        self._warming: Errands[Warmed] = Errands()

    def fill(self) -> None:
        """Put an intent into every empty place of the desired count. Raises StateLost, Failed."""
        if self._post.ruled:
            self._post.change(lambda record: filled(self._post, record))

    def step(self, replica: ReplicaRecord, vitals: Vitals | None, *, now: timedelta) -> None:
        """Take one replica a step further, up to its warm-up. Raises StateLost."""
        if replica.process is None:
            self._launch(replica, now=now)
            return
        began = self._since.setdefault(replica.name, now)  # what passed while the daemon was down does not count
        if not alive(replica.process):
            self._give_up(replica, "exited before it served", now=now)
        elif now - began >= self.deadline(replica):
            self._give_up(replica, f"did not serve within {self.deadline(replica).total_seconds():.0f} s", now=now)
        elif replica.phase is Phase.STARTING and vitals is not None and vitals.health is Health.OK:
            self._post.put(replica, replace(replica, phase=Phase.WARMING))
        elif replica.phase is Phase.WARMING:
            self._warm(replica)
        else:
            self._say_why(replica, loading=now - began)

    def join(self, replica: ReplicaRecord, listed: frozenset[str], *, now: timedelta) -> None:
        """A warm replica serves once the router lists it. That has no deadline: a broken router is no fault of an engine."""
        began = self._since.setdefault(replica.name, now)
        if replica.process is None or not alive(replica.process):
            self._give_up(replica, "exited before it served", now=now)
        elif replica.url in listed or replica.cordoned:
            seconds = self._load_seconds(replica, began=began, now=now)
            serving = replace(replica, phase=Phase.SERVING, load_seconds=seconds)
            self._since.pop(replica.name, None)
            self._post.change(lambda record: _served(record, replica, serving, seconds))

    def deadline(self, replica: ReplicaRecord) -> timedelta:
        """Twice the p99 of the measured start-up times of its template; p99 of at most twenty is the longest."""
        times = self._post.options.times
        measured = self._post.record.loads_of(replica.template)
        seconds = max(times.start_at_least, 2 * max(measured)) if measured else times.start_unknown
        return timedelta(seconds=seconds)

    def _say_why(self, replica: ReplicaRecord, *, loading: timedelta) -> None:
        """Show the end of its log once it loads longer than any before it: a policy may give it up before this backend does."""
        longest = max(self._post.record.loads_of(replica.template), default=self._post.options.times.start_at_least)
        if not replica.message and loading >= timedelta(seconds=longest):
            self._post.put(replica, replace(replica, message=f"still loading; the end of its log:\n{tail(replica.mark.log)}"))

    def _launch(self, replica: ReplicaRecord, *, now: timedelta) -> None:
        """Fork what was intended, unless a former life of the daemon already did."""
        found = leader(marked(replica.mark))
        if found is None and not self._post.ruled:
            return
        if found is None:
            placed = self._with_gpus(replica)
            if placed is None:
                return
            replica = placed
            line = command_line(self._post.fleet.engine, host="127.0.0.1", port=replica.port)
            env = _environment(line.env, replica.gpus)
            try:
                found = start(Launch((*self._post.options.launch, *line.argv), env, replica.mark))
            except OSError as error:
                self._setbacks.failed(replica, f"{self._post.options.launch[0]}: cannot be started ({error.strerror})", now=now)
                return
            self._launched.add(replica.name)
        self._since[replica.name] = now
        self._post.put(replica, replace(replica, process=found, message=""))

    def _with_gpus(self, replica: ReplicaRecord) -> ReplicaRecord | None:
        """The replica with its GPUs, None while too few are free. They are held from the record on."""
        needed = self._post.fleet.gpus_per_replica if self._post.options.gpus else 0
        if len(replica.gpus) >= needed:
            return replica
        with self._post.ledger.lock:
            free = free_gpus(self._post.ledger.records, self._post.options.gpus)
            taken = free[:needed] if len(free) >= needed else ()
            waits = "" if taken else f"waits for {needed} GPUs, {len(free)} are free"
            placed = replace(replica, gpus=taken, message=waits)
            self._post.put(replica, placed)
        return placed if taken else None

    def _warm(self, replica: ReplicaRecord) -> None:
        """Begin the warm-up, or take its result in; one that was not answered is begun again until the deadline."""
        engine, warm_up = self._post.engine(replica), self._post.fleet.warm_up
        warmed = self._warming.fetch(replica.name)
        if warmed is None or not warmed.done:
            self._warming.begin(replica.name, lambda: engine.warm(warm_up))
        else:
            self._post.put(replica, replace(replica, phase=Phase.JOINING, message=warmed.note))

    def _load_seconds(self, replica: ReplicaRecord, *, began: timedelta, now: timedelta) -> float:
        """From the fork on. Where a former life of the daemon saw that, by the wall clock: rather too long than too short."""
        seen = (now - began).total_seconds()
        if replica.name in self._launched:
            return seen
        return max(seen, (self._post.clock.wall() - replica.asked).total_seconds())

    def _give_up(self, replica: ReplicaRecord, why: str, *, now: timedelta) -> None:
        self._since.pop(replica.name, None)
        self._warming.drop(replica.name)
        self._setbacks.failed(replica, f"{why}; the end of its log:\n{tail(replica.mark.log)}", now=now)


def filled(post: Post, record: FleetRecord) -> FleetRecord:
    """The record with an intent in every empty place of its count, under names never used before. Raises Failed."""
    while len(record.counted) < record.desired:
        sequence = record.sequence + 1
        name = f"{record.name}-{sequence}"
        intent = ReplicaRecord(
            name=name,
            template=template_hash(post.fleet.engine),
            mark=Mark(secrets.token_hex(16), post.folder.log(name)),
            port=free_port([*post.ledger.records, record], post.options.ports),
            asked=post.clock.wall(),
            drain_seconds=post.fleet.engine.drain_seconds,
        )
        record = replace(record, sequence=sequence, replicas=(*record.replicas, intent))
    return record


def _served(record: FleetRecord, seen: ReplicaRecord, serving: ReplicaRecord, seconds: float) -> FleetRecord:
    """The record with the replica in traffic and its start-up time kept, unless it was asked to go meanwhile."""
    if record.replica(seen.name) != seen:
        return record
    return record.with_replica(serving).with_load(serving.template, seconds)


def _environment(of_spec: Mapping[str, str], gpus: tuple[int, ...]) -> dict[str, str]:
    """The whole environment of an engine: ours without what is the daemon's own, the template's, its GPUs."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    visible = {"CUDA_VISIBLE_DEVICES": ",".join(str(gpu) for gpu in gpus)} if gpus else {}
    return {**inherited, **of_spec, **visible}
