"""Verification: whether a landed step helped, judged on the symptom alone."""

from dataclasses import dataclass

from autopilot.domain.conditions import All, AnyOf, Condition, Leaf, Not
from autopilot.domain.remediations import Gauged, Verdict
from autopilot.domain.verbs import REVERSIBLE, Verb

BETTER = 0.8  # one measure fell by 20 %
WORSE = 1.2  # all measures rose by 20 %
LOAD_ROSE = 1.1  # arrivals are 10 % above the window before the intent
SAME_LOAD = 0.25  # harm is believed only while the request rate is within 25 %


def symptom_of(condition: Condition) -> Condition | None:
    """The condition with only its symptom leaves left, None when it has none.

    Bandwidth, cache or GPU use may help to choose a remedy; whether it helped is told by what users feel.
    """
    match condition:
        case Leaf():
            return condition if condition.symptom else None
        case All(conditions=parts):
            return _combined(All, parts)
        case AnyOf(conditions=parts):
            return _combined(AnyOf, parts)
        case Not(condition=part):
            kept = symptom_of(part)
            return None if kept is None else Not(kept)
        case _:
            return None


def _combined(form: type[All] | type[AnyOf], parts: tuple[Condition, ...]) -> Condition | None:
    kept = tuple(part for one in parts if (part := symptom_of(one)) is not None)
    if len(kept) <= 1:
        return kept[0] if kept else None
    return form(kept)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two windows of the same symptom, and what the load did in between."""

    better: bool
    worse: bool
    load_rose: bool
    same_load: bool


def compare(before: Gauged, after: Gauged) -> Comparison:
    """Compare the shares certainly above the threshold and the means. What is unknown on a side is no evidence."""
    olds, news = (*before.shares, *before.means), (*after.shares, *after.means)
    # Windows of two different conditions (a policy was edited in between) cannot be compared.
    paired = zip(olds, news, strict=True) if len(olds) == len(news) else ()
    pairs = [(old, new) for old, new in paired if old is not None and new is not None]
    rates = (before.arrivals, after.arrivals)
    ratio = rates[1] / rates[0] if rates[0] and rates[1] is not None else None
    return Comparison(
        better=any(old > 0 and new <= BETTER * old for old, new in pairs),
        worse=bool(pairs) and all(new > 0 and new >= WORSE * old for old, new in pairs),
        load_rose=ratio is not None and ratio >= LOAD_ROSE,
        same_load=ratio is not None and abs(ratio - 1.0) <= SAME_LOAD,
    )


def verdict_at_deadline(verb: Verb, comparison: Comparison) -> Verdict:
    """The verdict on a step whose symptom is still there when its time is up.

    Only what can be undone can be harmful: capacity that was added stays, whatever happened meanwhile (law 13).
    """
    if verb in REVERSIBLE and comparison.worse and comparison.same_load:
        return Verdict.HARMFUL
    if comparison.better or comparison.load_rose:
        return Verdict.INSUFFICIENT
    return Verdict.INEFFECTIVE
