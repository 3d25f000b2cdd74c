from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autopilot.actions import Diagnose, Notify, Relocate, Retune, Scale
from autopilot.actions.retune import MaxModelLen
from autopilot.domain.alerts import Severity
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Comparison, Condition, Leaf, Not, Per, Truth, leaves
from autopilot.domain.scaling import Bound, Demand, ScaleInLaw, ScalingLaw
from autopilot.domain.slos import Slo
from autopilot.domain.verbs import Mode, Verb
from autopilot.domain.windows import CronWindow, SpanWindow
from autopilot.policy.load import load_documents
from autopilot.policy.values import Engine, Fleet, Limits, Policy, Pool, Verify, WarmUp

from .documents import FLEET, LOCAL, POLICY, changed, load

EXAMPLE = Path(__file__).parent / "data" / "design-example.yaml"
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def example() -> tuple[Fleet, Policy]:
    (pair,) = load_documents({"example.yaml": EXAMPLE.read_bytes()}).pairs
    assert pair.policy is not None
    return pair.fleet, pair.policy


def test_the_examples_fleet(example: tuple[Fleet, Policy]) -> None:
    fleet, _ = example

    assert (fleet.backend, fleet.source, fleet.replica_label, fleet.service) == ("kubernetes", "default", "pod", "chat-70b")
    assert fleet.identity == (("fleet", "chat-70b"), ("namespace", "llm"))
    assert fleet.pool == Pool(
        name="h100",
        minimum=2,
        maximum=8,
        engine=Engine(
            model="/models/llama-3-70b",
            served_names=("chat-70b",),
            image="vllm/vllm-openai:v0.32.0",
            args=(("max-model-len", 16384), ("max-num-seqs", 16), ("gpu-memory-utilization", 0.88)),
        ),
        gpu_type="H100",
        gpus=None,
        warm_up=WarmUp(8, None),
        warm_pool=1,
        max_pods_per_node=2,
        memory_factor=1.2,
    )


def test_the_examples_modes(example: tuple[Fleet, Policy]) -> None:
    _, policy = example

    assert {verb: policy.modes.of(verb) for verb in Verb} == {
        Verb.SCALE_OUT: Mode.ADVISE,
        Verb.SCALE_IN: Mode.ADVISE,
        Verb.RELOCATE: Mode.APPROVE,
        Verb.RETUNE: Mode.DISABLED,
        Verb.TRAFFIC: Mode.ADVISE,
        Verb.DIAGNOSE: Mode.ACT,
        Verb.NOTIFY: Mode.ACT,
    }


def test_the_examples_scaling_windows_and_limits(example: tuple[Fleet, Policy]) -> None:
    _, policy = example

    assert policy.scaling == ScalingLaw(
        bounds=(Bound(2, 8), Bound(minimum=4, during="office")),
        start_within=None,
        scale_in=ScaleInLaw(10 * MINUTE, MINUTE, 2 * MINUTE),
        demand=(Demand("prompt_token_rate", 9000, MINUTE),),
        headroom=0.1,
    )
    office, stop = dict(policy.windows)["office"], dict(policy.windows)["release-stop"]
    assert office == CronWindow("30 7 * * 1-5", timedelta(hours=12), "Europe/Berlin")
    assert isinstance(stop, SpanWindow)
    assert stop.begins == datetime(2026, 12, 18, 17, tzinfo=UTC)
    assert policy.limits == Limits(3, timedelta(hours=1), MINUTE, ("release-stop",))


def test_the_examples_alerts(example: tuple[Fleet, Policy]) -> None:
    _, policy = example
    slow = Leaf("ttft", Comparison.ABOVE, 0.5, over=MINUTE, quantile=0.99, symptom=True, latency=True)
    starved = Leaf("bandwidth_utilization", Comparison.BELOW, 0.6, over=MINUTE, on_unknown=Truth.YES)

    queued, starving, page = policy.alerts
    assert queued.condition == Leaf("waiting_per_replica", Comparison.ABOVE, 1.0, symptom=True)
    assert starving.condition == All((slow, starved))
    assert (starving.hold, starving.keep_firing_for, starving.severity) == (MINUTE, 2 * MINUTE, Severity.TICKET)
    assert (page.severity, page.keep_firing_for) == (Severity.PAGE, timedelta(0))


def test_the_examples_ladders_and_schedule(example: tuple[Fleet, Policy]) -> None:
    _, policy = example
    ladder = policy.remedies[1].steps

    assert [(step.do, step.repeat, step.verify) for step in ladder] == [
        (Scale(by="shortfall"), 3, Verify(2 * MINUTE)),
        (Relocate(), 1, Verify(10 * MINUTE)),
        (Notify(receivers=("oncall",)), 1, None),
    ]
    assert policy.remedies[2].steps[0].do == Diagnose(collect=("engine-logs", "gpu-state", "metrics"))
    assert policy.schedule[0].do == Retune(max_model_len=MaxModelLen(quantile=0.9, factor=1.2, max_refused=0.001))
    assert policy.slos == (Slo("first-token", "ttft", 0.5, 0.99, timedelta(days=28), ("server_errors", "rejected")),)
    assert (policy.notify_on, policy.receivers) == (("page", "handed-over", "harmful"), ("oncall",))


def condition(text: str) -> Condition:
    loaded = load(
        FLEET,
        changed(
            changed(POLICY, "{signal: ttft, quantile: 99%, above: 500ms, over: 1m}", text),
            "{within: 2m}",
            "{within: 2m, when: {signal: waiting, above: 1}}",
        ),
    )
    assert loaded.problems == ()
    return loaded.policies[0].alerts[0].condition


def test_conditions_nest() -> None:
    nested = condition("{any: [{not: {signal: waiting, below: 1}}, {all: [{signal: up, below: 1, per: replica, over: 1m, clear: 1}]}]}")

    assert nested == AnyOf(
        (
            Not(Leaf("waiting", Comparison.BELOW, 1.0)),
            All((Leaf("up", Comparison.BELOW, 1.0, over=MINUTE, per=Per.REPLICA, clear=1.0),)),
        )
    )


@pytest.mark.parametrize(
    ("text", "symptom", "latency"),
    [
        ("{signal: ttft, quantile: 99%, above: 1s, over: 1m}", True, True),
        ("{signal: ttft, quantile: 99%, below: 1s, over: 1m}", False, False),
        ("{not: {signal: ttft, quantile: 99%, above: 1s, over: 1m}}", False, False),
        ("{signal: error_ratio, above: 1%, over: 1m}", True, False),
        ("{signal: in_flight, above: 10}", False, False),
    ],
    ids=["slow", "fast", "not-slow", "errors", "load"],
)
def test_a_symptom_is_what_users_feel_on_the_side_that_hurts(text: str, *, symptom: bool, latency: bool) -> None:
    (leaf,) = leaves(condition(text))

    assert (leaf.symptom, leaf.latency) == (symptom, latency)


@pytest.mark.parametrize(("word", "truth"), [("hold", None), ("true", Truth.YES), ("false", Truth.NO)])
def test_a_missing_source_is_taken_for_what_the_leaf_says(word: str, truth: Truth | None) -> None:
    (leaf,) = leaves(condition(f"{{signal: waiting, above: 1, onUnknown: {word}}}"))

    assert leaf.on_unknown is truth


def test_leaves_on_the_judgement_of_others_are_values() -> None:
    slos = "  slos: [{name: fast, signal: ttft, threshold: 1s, objective: 99%, window: 28d}]\n  alerts:"
    when = "{any: [{alertmanager: Down}, {slo: fast, burnRateAbove: 14.4, over: 1h}, {signal: waiting, above: 1}]}"
    loaded = load(FLEET, changed(changed(POLICY, "  alerts:", slos), "{signal: ttft, quantile: 99%, above: 500ms, over: 1m}", when))

    judged = loaded.policies[0].alerts[0].condition
    assert isinstance(judged, AnyOf)
    assert judged.conditions[:2] == (AlertmanagerLeaf("Down"), BurnRateLeaf("fast", 14.4, timedelta(hours=1)))
    assert "spec.alerts.0.when.any.0.alertmanager" not in [warning.path for warning in loaded.warnings]


def test_a_local_fleet_is_told_by_instance_and_keeps_vllms_spelling() -> None:
    fleet = load(LOCAL).fleets[0]

    assert (fleet.backend, fleet.replica_label, fleet.service) == ("local", "instance", "")
    assert fleet.pool.engine == Engine("/models/chat", args=(("max-model-len", 4096),))


def test_the_types_of_engine_arguments_stay_as_written() -> None:
    args = "args: {a: 1, b: 1.0, c: true, d: '1', e: float16, f: 010}"
    engine = load(changed(LOCAL, "args: {max-model-len: 4096}", args)).fleets[0].pool.engine

    assert engine is not None
    assert [(name, type(value), value) for name, value in engine.args] == [
        ("a", int, 1),
        ("b", float, 1.0),
        ("c", bool, True),
        ("d", str, "1"),
        ("e", str, "float16"),
        ("f", str, "010"),
    ]


def test_an_adopted_workload_is_known_by_kind_and_name() -> None:
    assert load(FLEET).fleets[0].pool.adopted == ("apps/v1", "Deployment", "chat")


def test_without_in_nothing_shrinks_and_without_limits_the_usual_ones_hold() -> None:
    policy = load(FLEET, changed(POLICY, "    in: {stableFor: 10m, every: 1m, drainWithin: 2m}\n", "")).policies[0]

    assert policy.scaling is not None
    assert (policy.scaling.scale_in, policy.limits) == (None, Limits())


def test_shrinking_without_a_latency_to_judge_is_warned_of() -> None:
    loaded = load(FLEET, changed(POLICY, "{signal: ttft, quantile: 99%, above: 500ms, over: 1m}", "{signal: waiting, above: 1}"))

    assert [warning.path for warning in loaded.warnings] == ["spec.scaling.in"]
