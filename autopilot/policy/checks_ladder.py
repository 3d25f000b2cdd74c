"""What is wrong with alerts, remedies, their steps and the schedule."""

from collections.abc import Iterator

from autopilot.actions import NOT_SUPPORTED, Diagnose, Notify, Scale
from autopilot.domain.conditions import symptoms
from autopilot.domain.verbs import TALKING
from autopilot.policy.checks_conditions import Signals, burn_cautions, condition_complaints
from autopilot.policy.compile_conditions import compiled
from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_policy import AlertShape, Do, PolicySpec, StepShape, conditions, steps

UNBUILT = "not supported yet: it will be shown as Hold(not_supported)"


def ladder_complaints(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    """Everything that is wrong with alerts, remedies and schedule."""
    slos = tuple(slo.name for slo in spec.slos)
    names = [alert.name for alert in spec.alerts]
    for path, condition in conditions(spec):
        yield from condition_complaints(condition, path, signals=signals, slos=slos)
    for index, remedy in enumerate(spec.remedies):
        if remedy.alert not in names:
            what = f"no alert is called {quoted(remedy.alert)}, {did_you_mean(remedy.alert, names)}"
            yield Complaint(("spec", "remedies", index, "alert"), what, ("spec", "alerts"))
    for path, step in steps(spec):
        yield from _step(step, path, spec)
    yield from _schedule(spec)


def needs_own_test(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    """The steps that nothing could verify: their alert has no symptom, and they bring no test of their own.

    Only for a spec without complaints: its conditions are compiled.
    """
    blunt = {alert.name for alert in spec.alerts if not _has_symptom(alert, signals)}
    for index, remedy in enumerate(spec.remedies):
        for number, step in enumerate(remedy.steps):
            if remedy.alert in blunt and step.verify is not None and step.verify.when is None:
                yield Complaint(
                    ("spec", "remedies", index, "steps", number, "verify"),
                    f"the alert {remedy.alert} has no leaf on what users feel (latency, waiting, errors); write when: and the condition that is to end",
                )


def _has_symptom(alert: AlertShape, signals: Signals) -> bool:
    return bool(symptoms(compiled(alert.when, signals)))


def _step(step: StepShape, path: Path, spec: PolicySpec) -> Iterator[Complaint]:
    (action,) = step.do.written
    if action.verb in TALKING:
        if step.verify is not None:
            yield Complaint((*path, "verify"), f"{action.verb} changes nothing that could be verified, remove it")
        if step.repeat != 1:
            yield Complaint((*path, "repeat"), f"{action.verb} is done once, remove it")
        return
    if step.verify is None:
        yield Complaint(path, "verify is required for a step that changes something, write it as verify: {within: 2m}")
    if isinstance(action, Scale) and spec.scaling is None:
        yield Complaint(
            (*path, "do", "scale"), "a scale step needs limits, write spec.scaling.bounds: [{min: 1, max: 4}]", ("spec", "scaling")
        )


def _schedule(spec: PolicySpec) -> Iterator[Complaint]:
    for index, scheduled in enumerate(spec.schedule):
        (action,) = scheduled.do.written
        path: Path = ("spec", "schedule", index, "do")
        if isinstance(action, Scale):
            yield Complaint((*path, "scale"), "capacity follows the calendar by scaling.bounds with during:, write it there")
        if isinstance(action, Notify | Diagnose):
            yield Complaint(path, f"{action.verb} answers an alert, write it as a step of a remedy")


def ladder_cautions(spec: PolicySpec) -> Iterator[Complaint]:
    """What is written well and not built yet."""
    for path, condition in conditions(spec):
        yield from burn_cautions(condition, path, {slo.name: slo.objective for slo in spec.slos})
    for path, step in steps(spec):
        yield from _unbuilt(step.do, (*path, "do"))
        if step.when is not None:
            yield Complaint((*path, "when", "cause"), UNBUILT)
    for index, scheduled in enumerate(spec.schedule):
        yield from _unbuilt(scheduled.do, ("spec", "schedule", index, "do"))


def _unbuilt(do: Do, path: Path) -> Iterator[Complaint]:
    (action,) = do.written
    if type(action) in NOT_SUPPORTED:
        yield Complaint((*path, str(action.verb)), UNBUILT)
