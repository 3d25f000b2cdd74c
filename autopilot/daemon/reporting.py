"""What a tick says about itself in our own metrics."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from autopilot.adapters.telemetry import Telemetry
from autopilot.control.audit import Record
from autopilot.control.slo_status import slos_of
from autopilot.daemon.inert import Inert
from autopilot.daemon.looking import Sight
from autopilot.domain.remediations import Attempt, Phase, Remediation
from autopilot.policy.book import Book
from autopilot.policy.units import format_duration
from autopilot.policy.values import Policy


def report(telemetry: Telemetry, book: Book, records: Sequence[Record], sight: Sight, inert: Inert) -> None:
    """Put one tick into the metrics."""
    telemetry.config_reloaded(ok=not book.problems)
    telemetry.policies_are({entry.policy.ref: entry.policy.hash for entry in book.entries if entry.policy is not None})
    telemetry.fleets_are(frozenset(book.by_fleet))
    for source, gap, _ in sight.failures:
        telemetry.query_failed(source, gap)
    telemetry.policies_inert({**dict.fromkeys(inert.others, False), **dict.fromkeys(inert.policies, True)})
    for record in records:
        _fleet(telemetry, book, record)
        for alert in record.after.alerts:
            telemetry.alert_inert(record.fleet, alert.name, inert=alert.name in inert.alerts.get(record.fleet, ()))


def _fleet(telemetry: Telemetry, book: Book, record: Record) -> None:
    ref = record.fleet
    if record.wanted is not None:
        telemetry.desired(ref, book.by_fleet[ref].fleet.pool.name, record.wanted)
    for decision in record.decisions:
        telemetry.decided(ref, decision)
    telemetry.alerts_of(ref, frozenset(alert.name for alert in record.after.alerts))
    for alert in record.after.alerts:
        telemetry.alert(ref, alert)
    _slos(telemetry, record, book.policy_of(ref))
    for attempt in _judged(record):
        telemetry.verdict(ref, attempt.verb, attempt.verdict)


def _slos(telemetry: Telemetry, record: Record, policy: Policy | None) -> None:
    found = slos_of(policy, record.seen.readings)
    telemetry.slos_of(record.fleet, frozenset(slo.name for slo in found))
    for slo in found:
        telemetry.budget_left(record.fleet, slo.name, at_least=slo.left_low, at_most=slo.left_high)
        for rate in slo.rates:
            window = format_duration(timedelta(seconds=rate.over_seconds))
            telemetry.burn_rate(record.fleet, slo.name, window, at_least=rate.low, at_most=rate.high)


def _judged(record: Record) -> Iterator[Attempt]:
    """The attempts that ended on this tick."""
    already = {(one.id, index) for one in _all(record, after=False) for index, attempt in _ended(one)}
    for one in _all(record, after=True):
        yield from (attempt for index, attempt in _ended(one) if (one.id, index) not in already)


def _all(record: Record, *, after: bool) -> tuple[Remediation, ...]:
    memory = record.after if after else record.before
    return tuple(one for one in (*memory.finished, memory.remediation, *memory.talks) if one is not None)


def _ended(remediation: Remediation) -> Iterator[tuple[int, Attempt]]:
    return ((index, attempt) for index, attempt in enumerate(remediation.attempts) if attempt.phase is Phase.ENDED)
