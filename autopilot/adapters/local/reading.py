"""Fleets of this machine as their records say, for whoever may look and not touch, beside the daemon that owns them."""

from pathlib import Path
from typing import NoReturn

from autopilot.adapters.local.fleets import LocalFleet
from autopilot.adapters.local.record import Folder
from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.workloads import FleetRef, Observation, Unobserved
from autopilot.fleet.template import template_hash
from autopilot.ports import Clock, Refused, StateLost


class RecordedFleets:
    """Port `Backend` that observes records and refuses every change."""

    def __init__(self, state_dir: Path, fleets: tuple[LocalFleet, ...], clock: Clock) -> None:
        self._state_dir = state_dir
        self._fleets = {fleet.ref: fleet for fleet in fleets}
        self._clock = clock

    def observe(self, fleet: FleetRef) -> Observation:
        """What the record says."""
        document = self._fleets.get(fleet)
        if document is None:
            return Unobserved(f"{fleet}: is not a fleet of this machine")
        try:
            record = Folder(self._state_dir, fleet).load()
        except StateLost as error:
            return Unobserved(str(error))
        if record is None:
            return Unobserved(f"{fleet}: was never brought up; start the daemon, or run autopilot fleet up")
        return record.as_workload(template_hash(document.with_edges(record.edges).engine), now=self._clock.wall())

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        """Refuse."""
        _refuse(fleet, effect)

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        """Refuse."""
        _refuse(fleet, effect)

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        """Refuse."""
        _refuse(fleet, effect)


def _refuse(fleet: FleetRef, effect: object) -> NoReturn:
    message = f"{fleet}: {effect} by a reader"
    raise Refused(message)
