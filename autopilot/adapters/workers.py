"""Act workers: carry operations out, one fleet's in order, several fleets' at once, and report what came of them."""

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from autopilot.domain.operations import Cordon, Operation, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Backend, Conflict, Failed, Notifier, Refused, Unsure

THREADS = 8  # fleets acted on at once; a call may take its whole deadline of 10 s


@dataclass(frozen=True, slots=True)
class Report:
    """What came in since the last report, and what workers hold still, both at one instant."""

    outcomes: Mapping[FleetRef, tuple[Outcome, ...]]
    executing: frozenset[str]


class ActWorkers:
    """A small pool of threads. A fleet's operations are carried out one after the other, in the order taken."""

    def __init__(self, backends: Mapping[str, Backend], notifier: Notifier, *, threads: int = THREADS) -> None:
        self._backends = backends
        self._notifier = notifier
        self._lock = threading.Condition()
        self._queues: dict[FleetRef, deque[tuple[Backend, Operation]]] = defaultdict(deque)
        self._busy: set[FleetRef] = set()
        self._executing: set[str] = set()
        self._outcomes: dict[FleetRef, list[Outcome]] = defaultdict(list)
        self._closing = False
        self._threads = [threading.Thread(target=self._work, name=f"act {number}", daemon=True) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    def take(self, backend: str, operations: Iterable[Operation]) -> None:
        """Queue operations whose intents are saved. Returns at once."""
        with self._lock:
            for operation in operations:
                self._executing.add(operation.id)
                self._queues[operation.fleet].append((self._backends[backend], operation))
            self._lock.notify_all()

    def report(self) -> Report:
        """Take what came in; the next report has only what is newer."""
        with self._lock:
            outcomes = {fleet: tuple(found) for fleet, found in self._outcomes.items()}
            self._outcomes.clear()
            return Report(outcomes, frozenset(self._executing))

    def close(self, *, within_seconds: float) -> bool:
        """Start nothing more, and wait for what is under way. Returns whether it ended in time."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
            return self._lock.wait_for(lambda: not self._busy, timeout=within_seconds)

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            backend, operation = taken
            outcome = self._carry_out(backend, operation)
            with self._lock:
                self._busy.discard(operation.fleet)
                self._executing.discard(operation.id)
                self._outcomes[operation.fleet].append(outcome)
                self._lock.notify_all()

    def _next(self) -> tuple[Backend, Operation] | None:
        with self._lock:
            self._lock.wait_for(lambda: self._closing or self._ready() is not None)
            fleet = self._ready()
            if self._closing or fleet is None:
                return None
            self._busy.add(fleet)
            return self._queues[fleet].popleft()

    def _ready(self) -> FleetRef | None:
        return next((fleet for fleet, queue in self._queues.items() if queue and fleet not in self._busy), None)

    def _carry_out(self, backend: Backend, operation: Operation) -> Outcome:
        try:
            self._apply(backend, operation)
        except Conflict as error:
            return Outcome(operation.id, OutcomeKind.CONFLICT, str(error))
        except Refused as error:
            return Outcome(operation.id, OutcomeKind.REFUSED, str(error))
        except Failed as error:
            return Outcome(operation.id, OutcomeKind.FAILED, str(error))
        except Unsure as error:
            return Outcome(operation.id, OutcomeKind.UNSURE, str(error))
        except Exception as error:  # noqa: BLE001 - a bug in an adapter: nobody knows what happened, so look
            return Outcome(operation.id, OutcomeKind.UNSURE, f"{type(error).__name__}: {error}")
        return Outcome(operation.id, OutcomeKind.DONE)

    def _apply(self, backend: Backend, operation: Operation) -> None:
        match operation.effect:
            case SetReplicas() as effect:
                backend.set_replicas(operation.fleet, effect)
            case Cordon() as effect:
                backend.cordon(operation.fleet, effect)
            case Uncordon() as effect:
                backend.uncordon(operation.fleet, effect)
            case Tell() as message:
                self._notifier.tell(message)
            case _ as never:
                assert_never(never)
