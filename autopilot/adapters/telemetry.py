"""Our own metrics, in a registry of our own: the only importer of prometheus_client.

What belongs to a fleet stops when the fleet is gone. Values that are not known are series that are not there.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias, assert_never

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from autopilot.adapters.scheduler import Trouble
from autopilot.domain.alerts import Alert, AlertState
from autopilot.domain.decisions import Act, Decision, Hold
from autopilot.domain.remediations import Verdict
from autopilot.domain.reports import Taken
from autopilot.domain.signals import Gap
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_OF_FLEET = ("namespace", "fleet")
_STATES = {AlertState.INACTIVE: 0, AlertState.PENDING: 1, AlertState.FIRING: 2}
_TICK_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # a tick ends well inside 5 s

_Metric: TypeAlias = Gauge | Counter


class Telemetry:
    """Every metric, one method per thing that happens; safe to use from several threads.

    `tick_age` is asked at every scrape: how long ago the last tick was completed.
    """

    def __init__(self, tick_age: Callable[[], timedelta]) -> None:
        self._registry = CollectorRegistry()
        self._fleets, self._policies, self._ruling = _SeriesByRef(), _SeriesByRef(), _SeriesByRef()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        self._add_loop(tick_age)
        self._add_fleets()
        self._add_rim()

    def render(self) -> bytes:
        """All metrics in the text format of CONTENT_TYPE."""
        return generate_latest(self._registry)

    def ticked(self, took: timedelta) -> None:
        """A tick went through."""
        self._ticks.inc()
        self._tick_duration.observe(took.total_seconds())

    def desired(self, fleet: FleetRef, pool: str, replicas: int) -> None:
        """How many replicas are wanted. Not called while that is unknown, it stays what it was."""
        self._fleets.series(self._desired, fleet, pool).set(replicas)

    def decided(self, fleet: FleetRef, decision: Decision) -> None:
        """A decision was made."""
        match decision:
            case Act(operation=operation):
                self._decision(fleet, operation.verb, outcome="act", reason="")
            case Hold(verb=verb, reason=reason):
                self._decision(fleet, verb, outcome="hold", reason=reason.value)
            case _:
                assert_never(decision)

    def alert(self, fleet: FleetRef, alert: Alert) -> None:
        """An alert was evaluated."""
        self._fleets.series(self._alert_state, fleet, alert.name).set(_STATES[alert.state])
        self._fleets.series(self._blind, fleet, alert.name).set(alert.blind)

    def alerts_of(self, fleet: FleetRef, names: frozenset[str]) -> None:
        """These are all the alerts that the fleet has: the series of others stop."""
        for metric in (self._alert_state, self._blind, self._alert_inert):
            self._fleets.keep(metric, fleet, names)

    def budget_left(self, fleet: FleetRef, slo: str, *, at_least: float | None, at_most: float | None) -> None:
        """What is left of an SLO's budget, as a share."""
        self._fleets.put(self._slo_left, fleet, (slo, "at_least"), at_least)
        self._fleets.put(self._slo_left, fleet, (slo, "at_most"), at_most)

    def burn_rate(self, fleet: FleetRef, slo: str, window: str, *, at_least: float | None, at_most: float | None) -> None:
        """How fast it burned over a window, as Prometheus writes one."""
        self._fleets.put(self._slo_burn, fleet, (slo, window, "at_least"), at_least)
        self._fleets.put(self._slo_burn, fleet, (slo, window, "at_most"), at_most)

    def slos_of(self, fleet: FleetRef, names: frozenset[str]) -> None:
        """These are all the SLOs that the fleet has: the series of others stop."""
        for metric in (self._slo_left, self._slo_burn):
            self._fleets.keep(metric, fleet, names)

    def alert_inert(self, fleet: FleetRef, alert: str, *, inert: bool) -> None:
        """Whether an alert asks for what was never there."""
        self._fleets.series(self._alert_inert, fleet, alert).set(inert)

    def policies_inert(self, policies: Mapping[FleetRef, bool]) -> None:
        """Every policy there is, and whether it does nothing, or not all it says; the series of others stop."""
        self._ruling.keep_fleets(frozenset(policies))
        for ref, inert in policies.items():
            self._ruling.series(self._policy_inert, ref).set(inert)

    def verdict(self, fleet: FleetRef, verb: Verb, verdict: Verdict) -> None:
        """A step was judged."""
        self._fleets.series(self._verdicts, fleet, verb.value, verdict.value).inc()

    def fleets_are(self, fleets: frozenset[FleetRef]) -> None:
        """These are all the fleets there are: every series of others stops."""
        self._fleets.keep_fleets(fleets)

    def query_failed(self, source: str, gap: Gap) -> None:
        """A query to a source gave nothing to work with."""
        self._query_failures.labels(source, gap.value).inc()

    def config_reloaded(self, *, ok: bool) -> None:
        """The policy files were read; whether all of them could be."""
        self._reload.set(ok)

    def policies_are(self, hashes: Mapping[FleetRef, str]) -> None:
        """These policies are in force, by the hash of their content; the series of others stop."""
        self._policies.keep_fleets(frozenset(hashes))
        for ref, content in hashes.items():
            self._policies.keep(self._policy, ref, frozenset({content}))
            self._policies.series(self._policy, ref, content).set(1)

    def webhook_answered(self, status: int) -> None:
        """A webhook was answered with this status code."""
        self._webhooks.labels(str(status)).inc()

    def reports_taken(self, counts: Mapping[Taken, int]) -> None:
        """So many reported alerts came to what."""
        for taken, count in counts.items():
            self._reports.labels(taken.value).inc(count)

    def journal_failed(self) -> None:
        """A record could not be kept."""
        self._journal_failures.inc()

    def state_saved(self, *, ok: bool) -> None:
        """Memory was to be saved; whether it was."""
        self._state_saved.set(ok)

    def scheduler_trouble(self, trouble: Trouble) -> None:
        """APScheduler missed, skipped or failed a job."""
        self._scheduler_troubles.labels(trouble.value).inc()

    def notification_undelivered(self, receiver: str) -> None:
        """A notification was given up."""
        self._undelivered.labels(receiver).inc()

    def _decision(self, fleet: FleetRef, verb: Verb, *, outcome: str, reason: str) -> None:
        self._fleets.series(self._decisions, fleet, verb.value, outcome, reason).inc()

    def _add_loop(self, tick_age: Callable[[], timedelta]) -> None:
        own = self._registry
        self._ticks = Counter("autopilot_ticks", "Completed ticks.", registry=own)
        self._tick_duration = Histogram("autopilot_tick_duration_seconds", "How long a tick took.", buckets=_TICK_SECONDS, registry=own)
        age = Gauge("autopilot_last_tick_age_seconds", "Time since the last tick was completed, by the monotonic clock.", registry=own)
        age.set_function(lambda: tick_age().total_seconds())
        self._scheduler_troubles = Counter(
            "autopilot_scheduler_troubles", "Jobs that the scheduler missed, skipped or failed.", ["trouble"], registry=own
        )

    def _add_fleets(self) -> None:
        own = self._registry
        self._desired = Gauge(
            "autopilot_desired_replicas",
            "Replicas wanted, in every mode. While that is unknown, the last known number.",
            [*_OF_FLEET, "pool"],
            registry=own,
        )
        self._decisions = Counter(
            "autopilot_decisions", "Decisions to act or to hold, and why.", [*_OF_FLEET, "verb", "outcome", "reason"], registry=own
        )
        self._alert_state = Gauge("autopilot_alert_state", "0 inactive, 1 pending, 2 firing.", [*_OF_FLEET, "alert"], registry=own)
        self._blind = Gauge(
            "autopilot_slo_blind", "1 while an alert cannot be evaluated and keeps its state.", [*_OF_FLEET, "alert"], registry=own
        )
        self._slo_left = Gauge(
            "autopilot_slo_budget_left_ratio",
            "Share of the error budget left over the SLO's window, below 0 overdrawn.",
            [*_OF_FLEET, "slo", "bound"],
            registry=own,
        )
        self._slo_burn = Gauge(
            "autopilot_slo_burn_rate",
            "How many times faster than allowed the error budget was spent over a window.",
            [*_OF_FLEET, "slo", "window", "bound"],
            registry=own,
        )
        self._alert_inert = Gauge(
            "autopilot_alert_inert", "1 while nothing that an alert asks for was ever seen.", [*_OF_FLEET, "alert"], registry=own
        )
        self._verdicts = Counter("autopilot_verdicts", "Steps judged.", [*_OF_FLEET, "verb", "verdict"], registry=own)

    def _add_rim(self) -> None:
        own = self._registry
        self._query_failures = Counter("autopilot_query_failures", "Queries without a usable answer.", ["source", "gap"], registry=own)
        self._reload = Gauge(
            "autopilot_config_last_reload_successful", "1 when every policy file could be read the last time.", registry=own
        )
        self._policy = Gauge("autopilot_policy_info", "Policies in force.", ["namespace", "policy", "hash"], registry=own)
        self._policy_inert = Gauge(
            "autopilot_policy_inert",
            "1 for a policy that matches no fleet, or an alert of which asks for what was never seen.",
            ["namespace", "policy"],
            registry=own,
        )
        self._webhooks = Counter(
            "autopilot_webhook_requests", "Alertmanager webhooks, by the status code answered.", ["code"], registry=own
        )
        self._reports = Counter("autopilot_webhook_alerts", "Alerts reported by webhooks, by what they came to.", ["taken"], registry=own)
        self._journal_failures = Counter("autopilot_journal_failures", "Records that could not be kept.", registry=own)
        self._state_saved = Gauge("autopilot_state_saved", "1 when Memory could be saved the last time.", registry=own)
        self._undelivered = Counter("autopilot_notifications_undelivered", "Notifications given up.", ["receiver"], registry=own)


class _SeriesByRef:
    """The series that belong to a fleet, or a policy, so that they can be removed. Prometheus's client keeps no such list."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._series: dict[FleetRef, dict[tuple[_Metric, tuple[str, ...]], Any]] = {}

    def series(self, metric: _Metric, ref: FleetRef, *labels: str) -> Any:
        """The series of these labels, after the two that name the fleet."""
        with self._turn:
            mine = self._series.setdefault(ref, {})
            if (metric, labels) not in mine:
                mine[metric, labels] = metric.labels(ref.namespace, ref.name, *labels)
            return mine[metric, labels]

    def put(self, metric: Gauge, ref: FleetRef, labels: tuple[str, ...], value: float | None) -> None:
        """Set the series of these labels, or remove it where the value is not known."""
        if value is not None:
            self.series(metric, ref, *labels).set(value)
            return
        with self._turn:
            if (metric, labels) in self._series.get(ref, {}):
                self._remove(ref, (metric, labels))

    def keep(self, metric: _Metric, ref: FleetRef, firsts: frozenset[str]) -> None:
        """Remove this fleet's series of one metric, but those whose first own label is one of these."""
        with self._turn:
            mine = self._series.get(ref, {})
            for key in [key for key in mine if key[0] is metric and key[1][0] not in firsts]:
                self._remove(ref, key)

    def keep_fleets(self, refs: frozenset[FleetRef]) -> None:
        """Remove every series of all but these fleets."""
        with self._turn:
            for ref in [ref for ref in self._series if ref not in refs]:
                for key in list(self._series[ref]):
                    self._remove(ref, key)
                del self._series[ref]

    def _remove(self, ref: FleetRef, key: tuple[_Metric, tuple[str, ...]]) -> None:
        metric, labels = key
        metric.remove(ref.namespace, ref.name, *labels)
        del self._series[ref][key]
