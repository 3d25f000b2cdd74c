"""Which policies do nothing, and why: noticed from what a tick has read already, said in log, metrics and status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from autopilot.control.audit import Record
from autopilot.control.inert import Ear, Rules, inert_alerts, listen
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry

log = structlog.get_logger()


@dataclass(frozen=True)
class Inert:
    """`policies` and why each of them does nothing, or not all it says; `alerts` by fleet; `others` work."""

    policies: Mapping[FleetRef, str] = field(default_factory=dict)
    alerts: Mapping[FleetRef, tuple[str, ...]] = field(default_factory=dict)
    others: frozenset[FleetRef] = frozenset()

    @property
    def lines(self) -> tuple[str, ...]:
        """For people, one for each policy."""
        return tuple(f"policy {policy}: {why}" for policy, why in sorted(self.policies.items()))


class Listener:
    """Remembers what was ever heard of each fleet since the process started."""

    def __init__(self) -> None:
        self._ears: dict[FleetRef, Ear] = {}
        self._told: Mapping[FleetRef, str] = {}

    def take(self, book: Book, records: Sequence[Record], backends: frozenset[str]) -> Inert:
        """Take a tick in, and say what is inert now. `backends` are those that this daemon has."""
        alerts = {record.fleet: self._alerts(book.by_fleet[record.fleet], record) for record in records}
        self._ears = {ref: ear for ref, ear in self._ears.items() if ref in book.by_fleet}
        policies = dict.fromkeys(book.strays, "matches no fleet")
        for entry in book.entries:
            why = _why(entry, alerts.get(entry.fleet.ref, ()), backends)
            if entry.policy is not None and why:
                policies[entry.policy.ref] = "; ".join(filter(None, (policies.get(entry.policy.ref), why)))
        self._tell(policies)
        ruling = frozenset(entry.policy.ref for entry in book.entries if entry.policy is not None)
        return Inert(policies, {ref: names for ref, names in alerts.items() if names}, ruling - policies.keys())

    def _alerts(self, entry: Entry, record: Record) -> tuple[str, ...]:
        rules = Rules(entry.policy.alerts, entry.policy.slos) if entry.policy is not None else Rules()
        ear = self._ears[record.fleet] = listen(self._ears.get(record.fleet, Ear()), record.seen, rules, documents=record.documents)
        return inert_alerts(ear, record.seen, rules)

    def _tell(self, policies: Mapping[FleetRef, str]) -> None:
        for policy, why in policies.items():
            if self._told.get(policy) != why:
                log.warning("policy_inert", policy=str(policy), why=why)
        for policy in self._told.keys() - policies.keys():
            log.info("policy_inert_no_more", policy=str(policy))
        self._told = policies


def _why(entry: Entry, alerts: tuple[str, ...], backends: frozenset[str]) -> str:
    if entry.fleet.backend not in backends:
        return f"this daemon has no {entry.fleet.backend} backend for {entry.fleet.ref}"
    if alerts:
        return f"nothing that {', '.join(alerts)} asks for was ever seen of {entry.fleet.ref}; ask autopilot doctor"
    return ""
