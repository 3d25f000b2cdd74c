"""One tick of the loop, as a function of values: propose for each fleet, arbitrate once, conclude for each fleet.

The same functions run in the daemon, in `plan`, in replay and in the simulator: what was tested is what acts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.control.alerting import Alerting, evaluate
from autopilot.control.arbitrate import Growth, arbitrate
from autopilot.control.backoff import take_failures
from autopilot.control.decide import Wants, decide
from autopilot.control.judgement import Look, latency_truth
from autopilot.control.ladder import Telling
from autopilot.control.landing import note_hold
from autopilot.control.level import Grow, Level, advance_level
from autopilot.control.load import LevelView, number, whole
from autopilot.control.ownership import notice
from autopilot.control.pending import start_within
from autopilot.control.refusals import newly_refused, rested_verb, take_refusals
from autopilot.control.remedies import advance_remediations
from autopilot.control.removal import Outlook, after_outcomes, resume_removal
from autopilot.control.scale_in import unobserved
from autopilot.control.seen import Case, Settled
from autopilot.control.settle import settle
from autopilot.control.stand import Carried, Stand
from autopilot.domain.budgets import GpuBudget
from autopilot.domain.conditions import Truth
from autopilot.domain.decisions import Act, Decision, Hold
from autopilot.domain.memory import Memory
from autopilot.domain.operations import SetReplicas, Tell
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bound, Bounds
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef, Workload
from autopilot.policy.values import Policy, Pool

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one fleet wants, before fleets are weighed against each other."""

    case: Case
    memory: Memory
    level: Level | None = None
    outlook: Outlook | None = None
    tellings: tuple[Telling, ...] = ()
    held: Hold | None = None

    @property
    def growth(self) -> Growth:
        """What it asks of a GPU budget."""
        workload = self.case.workload
        gpus = self.case.fleet.pool.gpus
        if gpus is None:
            gpus = 1  # `auto` is resolved when the fleet is rendered; until then one is what a replica takes at least
        # What cannot be seen is not free, and neither is what is asked for at this moment.
        desired = workload.desired if workload is not None else self.memory.accepted or self.memory.level.count or 0
        asked = [one.operation.effect.count for one in self.memory.intents if isinstance(one.operation.effect, SetReplicas)]
        held = max(desired, *asked, 0)
        more = self.level.move.to - held if self.level is not None and isinstance(self.level.move, Grow) else 0
        return Growth(self.case.fleet.ref, held=held * gpus, replicas=max(0, more), gpus=gpus)


@dataclass(frozen=True, slots=True)
class Cycled:
    """One fleet after one tick. `wanted` is the scaling level's result, None while there is none."""

    memory: Memory
    decisions: tuple[Decision, ...]
    wanted: int | None = None

    @property
    def acts(self) -> tuple[Act, ...]:
        """What is to be carried out now."""
        return tuple(decision for decision in self.decisions if isinstance(decision, Act))

    def unsaved(self, before: Memory) -> "Cycled":
        """The same tick when its memory could not be saved: nothing is done, and what was only seen is remembered all the same.

        People are told what no later tick would tell them: an alert begins to fire only once.
        """
        kept = tuple(
            Hold(decision.operation.verb, Reason.STATE_UNSAVED) if isinstance(decision, Act) and not _only_now(decision) else decision
            for decision in self.decisions
        )
        removal = before.removal
        if removal is not None and self.memory.removal == replace(removal, returning=True):
            removal = self.memory.removal  # a victim that is to come back still is
        seen = replace(before, now=self.memory.now, alerts=self.memory.alerts, level=self.memory.level)
        return Cycled(replace(seen, removal=removal, sequence=self.memory.sequence), kept, self.wanted)


def _only_now(act: Act) -> bool:
    """A message that no ladder stands behind: a ladder tells again."""
    return isinstance(act.operation.effect, Tell) and not act.remediation


def run_all(cases: Sequence[Case], budgets: Sequence[GpuBudget]) -> dict[FleetRef, tuple[Cycled, int | None]]:
    """One tick of all fleets. With each result comes what the budgets granted it (None where none binds)."""
    proposals = [propose(case) for case in cases]
    bound = {claim.fleet for budget in budgets for claim in budget.claims}
    granted = arbitrate([proposal.growth for proposal in proposals], budgets)
    results = {}
    for proposal in proposals:
        ref = proposal.case.fleet.ref
        grant = granted[ref] if ref in bound else None
        results[ref] = (conclude(proposal, granted=grant), grant)
    return results


def run_one(case: Case, *, granted: int | None) -> Cycled:
    """One tick of one fleet whose grant is known."""
    return conclude(propose(case), granted=granted)


def propose(case: Case) -> Proposal:
    """Settle what was begun, judge the alerts, carry the ladders on, compute the level."""
    seen = case.seen
    intents, settled = settle(case.memory.intents, seen)
    memory = after_outcomes(replace(case.memory, intents=intents), settled)
    memory = take_refusals(memory, settled, now=seen.now)
    memory = take_failures(memory, settled, now=seen.now)
    workload = case.workload
    if workload is not None:
        memory = notice(memory, workload, settled, now=seen.now)
    memory = resume_removal(replace(case, memory=memory), settled)
    policy = case.policy
    if policy is None:
        return _without_policy(replace(case, memory=memory), settled)
    alerting = evaluate(replace(case, memory=memory))
    memory = replace(memory, alerts=alerting.alerts)
    bounds = bounds_now(policy, case.fleet.pool, seen.windows)
    stands = _stands(replace(case, memory=memory), policy, alerting, bounds, settled)
    remedied = advance_remediations(memory, stands, now=seen.now)
    tellings = (*_pages(case, policy, alerting), *_refusals(case, policy, settled), *_retold(settled), *remedied.tellings)
    return _with_level(Proposal(case, remedied.memory, tellings=tellings), policy, alerting, bounds)


def _without_policy(case: Case, settled: tuple[Settled, ...]) -> Proposal:
    """Nothing is judged, and nothing stays open: alerts are forgotten, ladders end, replicas on their way out come back."""
    remedied = advance_remediations(replace(case.memory, alerts=()), (), now=case.seen.now)
    held = Hold(Verb.SCALE_OUT, Reason.NO_POLICY)
    return Proposal(case, replace(remedied.memory, now=case.seen.now), tellings=_retold(settled), held=held)


def bounds_now(policy: Policy, pool: Pool, windows: tuple[str, ...]) -> Bounds:
    """The bounds in force: later entries win, inside what the fleet's own file allows.

    Crossed bounds (a window's minimum over another's maximum) give way to the fleet's own maximum.
    """
    low, high = pool.minimum, pool.maximum
    entries: tuple[Bound, ...] = policy.scaling.bounds if policy.scaling is not None else ()
    for entry in entries:
        if entry.during is None or entry.during in windows:
            low = entry.minimum if entry.minimum is not None else low
            high = entry.maximum if entry.maximum is not None else high
    low = min(max(low, pool.minimum), pool.maximum)
    return Bounds(low, min(max(high, low), pool.maximum))


def _stands(case: Case, policy: Policy, alerting: Alerting, bounds: Bounds, settled: tuple[Settled, ...]) -> tuple[Stand, ...]:
    alerts = {alert.name: alert for alert in alerting.alerts}
    rules = {rule.name: rule for rule in policy.alerts}
    readings, workload = case.seen.readings, case.workload
    proven = case.memory.level.of(workload.template if workload is not None else "")
    growth, rate = whole(readings.of("in_flight_growth", over=MINUTE)), whole(readings.of("request_rate", over=MINUTE))
    carried = Carried(
        in_flight=number(readings.of("in_flight")),
        good=proven.good,
        arrivals=None if growth is None or rate is None else max(0.0, growth + rate),
    )
    foreign = any(write.at == case.seen.now for write in case.memory.foreign)
    refused = next(
        (one.detail or "refused" for one in settled if one.permanent and rested_verb(one.intent.operation.effect) is Verb.SCALE_OUT), ""
    )
    limit = start_within(policy.scaling, proven) if policy.scaling is not None else timedelta(minutes=10)
    return tuple(
        Stand(case, alerts[remedy.alert], rules[remedy.alert], remedy, bounds, carried, limit, foreign, refused)
        for remedy in policy.remedies
        if remedy.alert in alerts
    )


def _pages(case: Case, policy: Policy, alerting: Alerting) -> tuple[Telling, ...]:
    """People are told when an alert of a severity that the policy names begins to fire."""
    pages = [rule for rule in policy.alerts if rule.name in alerting.began and rule.severity in policy.notify_on]
    fleet = case.fleet.ref
    return tuple(
        Telling(
            "",
            policy.receivers,
            f"{fleet}/{rule.name}/{rule.severity}/{case.seen.now.total_seconds():.0f}",
            f"{fleet}: {rule.name} is firing",
            "",
        )
        for rule in pages
    )


def _refusals(case: Case, policy: Policy, settled: tuple[Settled, ...]) -> tuple[Telling, ...]:
    """A change that will never be accepted is told once, with what was said."""
    fleet = case.fleet.ref
    return tuple(
        Telling("", policy.receivers, f"{fleet}/refused/{one.intent.operation.id}", f"{fleet}: a change was refused", one.detail)
        for one in newly_refused(case.memory, settled)
    )


def _retold(settled: tuple[Settled, ...]) -> tuple[Telling, ...]:
    """Nobody knows whether a message went out before a crash: it goes out again, under the same key."""
    lost = [(one.intent, one.intent.operation.effect) for one in settled if not one.happened and not one.permanent]
    return tuple(
        Telling(intent.remediation, effect.receivers, effect.key, effect.title, effect.text)
        for intent, effect in lost
        if isinstance(effect, Tell)
    )


def _with_level(proposal: Proposal, policy: Policy, alerting: Alerting, bounds: Bounds) -> Proposal:
    case, memory = proposal.case, proposal.memory
    workload, law = case.workload, policy.scaling
    if law is None:
        held = Hold(Verb.SCALE_OUT, Reason.NO_POLICY, "the policy has no scaling")
        return replace(proposal, memory=replace(memory, now=case.seen.now, level=unobserved(memory.level)), held=held)
    if workload is None:
        # Nothing can be seen: the level repeats its last result, its clocks stand.
        memory = replace(memory, now=case.seen.now, level=unobserved(memory.level))
        return replace(proposal, memory=memory, held=Hold(Verb.SCALE_OUT, Reason.UNOBSERVED))
    names = tuple(replica.name for replica in workload.serving)
    look = Look(readings=case.seen.readings, now=case.seen.now, replicas=names)
    latency = latency_truth(policy.alerts, look, alerts=alerting.alerts)
    remediation = memory.remediation
    view = LevelView(
        now=case.seen.now,
        readings=case.seen.readings,
        workload=_without_leaving(workload, memory),
        law=law,
        bounds=bounds,
        latency=latency,
        symptom_yes=alerting.symptom_present,
        symptom_blind=alerting.symptom_blind,
        began_firing=alerting.symptom_began,
        floor=remediation.floor if remediation is not None else None,
        remediation_open=remediation is not None,
        foreign_zero=memory.zeroed_elsewhere,
    )
    level = advance_level(memory.level, view)
    drain = law.scale_in.drain_within if law.scale_in is not None else None
    grown = level.move.to if isinstance(level.move, Grow) else 0
    quiet = not (alerting.symptom_present or alerting.symptom_blind) and latency is not Truth.YES and remediation is None
    calm = quiet and level.needed is not None
    outlook = Outlook(wanted=max(level.needed or 0, grown), calm=calm, drain_within=drain)
    return replace(proposal, memory=replace(memory, level=level.state, now=case.seen.now), level=level, outlook=outlook)


def _without_leaving(workload: Workload, memory: Memory) -> Workload:
    """Replicas on their way out are not counted on; if more are wanted again, they are the first to come back."""
    victims = memory.removal.victims if memory.removal is not None else ()
    here = sum(workload.named(name) is not None for name in victims)
    return replace(workload, desired=max(0, workload.desired - here))


def conclude(proposal: Proposal, *, granted: int | None) -> Cycled:
    """Pass what is wanted through the guards; the intents of what is done are in the memory that comes out."""
    case = replace(proposal.case, memory=proposal.memory)
    wants = Wants(proposal.level, proposal.outlook, proposal.tellings, proposal.held)
    decided = decide(case, wants, granted=granted)
    return Cycled(note_hold(decided.memory, decided.decisions), decided.decisions, decided.memory.level.wanted)
