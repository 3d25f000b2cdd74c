"""The alerts of one fleet on one tick."""

from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.control.judgement import Look, judge
from autopilot.control.seen import Case
from autopilot.domain.alerts import Alert, AlertRule, AlertState, advance
from autopilot.domain.conditions import Per, Truth, leaves, symptoms
from autopilot.domain.logical_time import ZERO
from autopilot.domain.workloads import Replica

FIRST_SCRAPES = 3


@dataclass(frozen=True, slots=True)
class Alerting:
    """Every alert after this tick, with what changed."""

    alerts: tuple[Alert, ...]
    began: tuple[str, ...]  # names of the alerts that began to fire on this tick
    symptom_began: bool  # one with a symptom is among them
    symptom_present: bool  # an alert whose symptom is yes is pending or firing
    symptom_blind: bool  # an alert on what users feel cannot see


def evaluate(case: Case) -> Alerting:
    """Judge and advance every alert of the fleet's policy. Alerts that the policy no longer has are forgotten."""
    rules = case.policy.alerts if case.policy is not None else ()
    remembered = {alert.name: alert for alert in case.memory.alerts}
    names = _telling(case) if any(leaf.per is Per.REPLICA for rule in rules for leaf in leaves(rule.condition)) else ()
    alerts = tuple(_one(rule, remembered.get(rule.name) or Alert(rule.name), case, names) for rule in rules)
    began = tuple(alert.name for alert in alerts if alert.firing and not _was_firing(alert, remembered))
    present = any(_present(alert, rule) for alert, rule in zip(alerts, rules, strict=True))
    symptom_began = any(rule.name in began and symptoms(rule.condition) for rule in rules)
    blind = any(alert.blind and symptoms(rule.condition) for alert, rule in zip(alerts, rules, strict=True))
    return Alerting(alerts, began, symptom_began, present, blind)


def _one(rule: AlertRule, alert: Alert, case: Case, names: tuple[str, ...]) -> Alert:
    seen, slos = case.seen, case.policy.slos if case.policy is not None else ()
    look = Look(readings=seen.readings, now=seen.now, firing=alert.firing, calm=alert.calm, replicas=names, slos=slos)
    judgement = judge(rule.condition, look)
    advanced = advance(alert, rule, judgement.truth, now=seen.now)
    if (advanced.calm, advanced.undecided) == (judgement.calm, judgement.undecided):
        return advanced
    return replace(advanced, calm=judgement.calm, undecided=judgement.undecided)


def _telling(case: Case) -> tuple[str, ...]:
    """The replicas whose silence is a gap: not those that have only just become ready (acceptance.md, R-6)."""
    if case.workload is None:
        return ()
    first = FIRST_SCRAPES * case.seen.scrape_interval
    return tuple(replica.name for replica in case.workload.serving if replica.age - _loading(replica) > first)


def _loading(replica: Replica) -> timedelta:
    return timedelta(seconds=replica.load_seconds) if replica.load_seconds is not None else ZERO


def _was_firing(alert: Alert, remembered: dict[str, Alert]) -> bool:
    return alert.name in remembered and remembered[alert.name].firing


def _present(alert: Alert, rule: AlertRule) -> bool:
    """A symptom that is yes, or that was when we went blind, is there."""
    active = alert.state is not AlertState.INACTIVE
    return active and alert.truth is not Truth.NO and bool(symptoms(rule.condition))
