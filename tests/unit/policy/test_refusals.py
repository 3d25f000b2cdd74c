"""One thing wrong at a time, and where it is said to be."""

import pytest

from autopilot.policy.load_daemon import load_daemon, surroundings
from autopilot.policy.surroundings import Surroundings

from .documents import FLEET, LOCAL, POLICY, SEPARATOR, changed, load, paths

WRONG_POLICY = [
    ("kind: Policy", "kind: Polcy", "kind"),
    ("v1alpha1", "v1", "apiVersion"),
    ("names: [chat]", "names: [chat], matchLabels: {a: b}", "spec.fleets"),
    ("names: [chat]", "names: []", "spec.fleets"),
    ("name: chat,", "name: Chat,", "metadata.name"),
    ("  windows:", "  modes: {default: off}\n  windows:", "spec.modes.default"),
    ("  windows:", "  modes: {scaleDown: act}\n  windows:", "spec.modes.scaleDown"),
    ('"30 7 * * 1-5"', '"30 7 * *"', "spec.windows.office.cron"),
    ('"30 7 * * 1-5"', '"61 7 * * 1-5"', "spec.windows.office.cron"),
    ("Europe/Berlin", "Europe/Bonn", "spec.windows.office.timeZone"),
    (", timeZone: Europe/Berlin", "", "spec.windows.office"),
    ("lasts: 12h", "lasts: 12hours", "spec.windows.office.lasts"),
    ("during: office", "during: offic", "spec.scaling.bounds.1.during"),
    ("{during: office, min: 4}", "{during: office, min: 9}", "spec.scaling.bounds"),
    ("{min: 2, max: 8}", "{min: 2}", "spec.scaling.bounds"),
    ("{min: 2, max: 8}", "{min: 2, max: '8'}", "spec.scaling.bounds.0.max"),
    ("{min: 2, max: 8}", "{min: 2, max: 9}", "spec.scaling.bounds"),
    (", drainWithin: 2m", "", "spec.scaling.in.drainWithin"),
    ("every: 1m", "every: 0s", "spec.scaling.in.every"),
    ("stableFor: 10m", "stableFor: 10min", "spec.scaling.in.stableFor"),
    ("  alerts:", "    headroom: 1.1\n  alerts:", "spec.scaling.headroom"),
    ("  alerts:", "    demand: [{signal: prompt_token_rate, perReplica: 9000}]\n  alerts:", "spec.scaling.demand.0"),
    ("  alerts:", "    demand: [{signal: ttft, perReplica: 1, over: 1m}]\n  alerts:", "spec.scaling.demand.0.signal"),
    ("  alerts:", "    demand: [{signal: prompt_rate, perReplica: 1, over: 1m}]\n  alerts:", "spec.scaling.demand.0.signal"),
    ("  alerts:", "    demand: [{signal: waiting, perReplica: 0}]\n  alerts:", "spec.scaling.demand.0.perReplica"),
    ("signal: ttft", "signal: tfft", "spec.alerts.0.when.signal"),
    ("signal: ttft", "signl: ttft", "spec.alerts.0.when"),
    ("above: 500ms", "above: 500", "spec.alerts.0.when.above"),
    ("above: 500ms", "above: 60%", "spec.alerts.0.when.above"),
    ("above: 500ms", "above: 500ms, below: 1s", "spec.alerts.0.when"),
    (", above: 500ms", "", "spec.alerts.0.when"),
    ("above: 500ms", "above: 500ms, clear: 1s", "spec.alerts.0.when.clear"),
    ("above: 500ms", "above: 500ms, onUnknown: maybe", "spec.alerts.0.when.onUnknown"),
    ("above: 500ms", 'above: 500ms, onUnknown: "true"', "spec.alerts.0.when.onUnknown"),
    ("above: 500ms", "above: 500ms, onUnknown: 1", "spec.alerts.0.when.onUnknown"),
    (", over: 1m}", "}", "spec.alerts.0.when"),
    ("quantile: 99%, ", "", "spec.alerts.0.when"),
    ("quantile: 99%", "quantile: 99", "spec.alerts.0.when.quantile"),
    ("quantile: 99%", "quantile: 100%", "spec.alerts.0.when.quantile"),
    ("signal: ttft, quantile: 99%, above: 500ms", "signal: waiting, quantile: 99%, above: 1", "spec.alerts.0.when.quantile"),
    ("signal: ttft, quantile: 99%, above: 500ms", "signal: waiting, minSamples: 5, above: 1", "spec.alerts.0.when.minSamples"),
    ("      for: 1m\n", "", "spec.alerts.0.for"),
    ("for: 1m", "for: 2d", "spec.alerts.0.for"),
    ("severity: page", "severity: critical", "spec.alerts.0.severity"),
    ("alert: slow", "alert: slo", "spec.remedies.0.alert"),
    ("by: shortfall", "by: 0", "spec.remedies.0.steps.0.do.scale.by"),
    ("by: shortfall", "by: true", "spec.remedies.0.steps.0.do.scale.by"),
    ("by: shortfall", "by: many", "spec.remedies.0.steps.0.do.scale.by"),
    ("{scale: {by: shortfall}}", "{scal: {by: shortfall}}", "spec.remedies.0.steps.0.do.scal"),
    ("{scale: {by: shortfall}}", "{scale: {}, notify: {receivers: [a]}}", "spec.remedies.0.steps.0.do"),
    ("{scale: {by: shortfall}}, repeat: 3", "{notify: {receivers: [a]}}", "spec.remedies.0.steps.0.verify"),
    (", verify: {within: 2m}", "", "spec.remedies.0.steps.0"),
    ("{within: 2m}", "{heldFor: 2m}", "spec.remedies.0.steps.0.verify.within"),
    ("{within: 2m}", "{within: 2m, when: {signal: wait, above: 1}}", "spec.remedies.0.steps.0.verify.when.signal"),
    ("repeat: 3", "repeat: 0", "spec.remedies.0.steps.0.repeat"),
    ("  remedies:", "  schedule: [{name: a, every: 1h, do: {scale: {by: 1}}}]\n  remedies:", "spec.schedule.0.do.scale"),
    ("  remedies:", "  limits: {freeze: [{during: xmas}]}\n  remedies:", "spec.limits.freeze.0.during"),
    ("  remedies:", "  slos: [{name: a, signal: ttft, threshold: 1s, objective: 100%, window: 28d}]\n  remedies:", "spec.slos.0.objective"),
    ("  remedies:", "  slos: [{name: a, signal: waiting, threshold: 1, objective: 99%, window: 28d}]\n  remedies:", "spec.slos.0.signal"),
    ("  remedies:", "  slos: [{name: a, signal: ttft, threshold: 1, objective: 99%, window: 28d}]\n  remedies:", "spec.slos.0.threshold"),
    ("  remedies:", "  signals: {ttft: {gauge: 'up{$identity}', unit: seconds}}\n  remedies:", "spec.signals.ttft"),
    ("  remedies:", "  signals: {mine: {gauge: up, unit: seconds}}\n  remedies:", "spec.signals.mine.gauge"),
    ("  remedies:", "  signals: {mine: {counter: 'x_total{$identity}', unit: per_second}}\n  remedies:", "spec.signals.mine.counter"),
    ("  remedies:", "  signals: {mine: {gauge: up, counter: up, unit: seconds}}\n  remedies:", "spec.signals.mine"),
    ("  remedies:", "  notify: {on: [pages], receivers: [a]}\n  remedies:", "spec.notify.on.0"),
    ("  remedies:", "  remedys: []\n  remedies:", "spec.remedys"),
]


@pytest.mark.parametrize(("old", "new", "path"), WRONG_POLICY, ids=[f"{path}-{index}" for index, (_, _, path) in enumerate(WRONG_POLICY)])
def test_a_mistake_in_a_policy_is_found_where_it_is(old: str, new: str, path: str) -> None:
    loaded = load(FLEET + SEPARATOR + changed(POLICY, old, new))

    assert set(paths(loaded)) == {path}


WRONG_FLEET = [
    (FLEET, "  traffic: {service: chat}\n", "", "spec"),
    (FLEET, "backend: kubernetes", "backend: kubernets", "spec.backend"),
    (FLEET, "{fleet: chat}", "{}", "spec.metrics.identity"),
    (FLEET, "{fleet: chat}", "{fleet-name: chat}", "spec.metrics.identity.fleet-name"),
    (FLEET, "{min: 1, max: 8}", "{min: 9, max: 8}", "spec.pools.0.replicas"),
    (FLEET, "{min: 1, max: 8}", "{min: -1, max: 8}", "spec.pools.0.replicas.min"),
    (FLEET, "{min: 1, max: 8}", "{max: 8}", "spec.pools.0.replicas.min"),
    (FLEET, "{ref: {kind: Deployment, name: chat}}", "{}", "spec.pools.0.workload"),
    (FLEET, "kind: Deployment", "kind: DaemonSet", "spec.pools.0.workload.ref.kind"),
    (FLEET, "name: h100", "name: h100\n      role: prefill", "spec.pools.0.role"),
    (FLEET, "{ref: {kind: Deployment, name: chat}}", "{render: {model: {source: /m}}}", "spec.pools.0.workload.render.engine"),
    (LOCAL, "  pools:", "  traffic: {service: chat}\n  pools:", "spec.traffic"),
    (LOCAL, "engine: {", "engine: {image: x, ", "spec.pools.0.workload.render.engine.image"),
    (LOCAL, "replicas: {min", "writers: {replicas: hpa}\n      replicas: {min", "spec.pools.0.writers.replicas"),
    (LOCAL, "max-model-len: 4096", "port: 8000", "spec.pools.0.workload.render.engine.args.port"),
    (LOCAL, "max-model-len: 4096", "maxModelLen: [1]", "spec.pools.0.workload.render.engine.args.maxModelLen"),
    (LOCAL, "max-model-len: 4096", "--max-model-len: 1", "spec.pools.0.workload.render.engine.args.--max-model-len"),
]


@pytest.mark.parametrize(("text", "old", "new", "path"), WRONG_FLEET, ids=[f"{case[3]}-{index}" for index, case in enumerate(WRONG_FLEET)])
def test_a_mistake_in_a_fleet_is_found_where_it_is(text: str, old: str, new: str, path: str) -> None:
    loaded = load(changed(text, old, new))

    assert set(paths(loaded)) == {path}


GPU_POOL = """\
apiVersion: autopilot.dev/v1alpha1
kind: GpuPool
metadata: {name: shared}
spec: {gpus: 8, claims: [{fleet: llm/chat, priority: 100, guaranteed: 4, max: 8}]}
"""


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("fleet: llm/chat", "fleet: chat", "spec.claims.0.fleet"),
        ("guaranteed: 4", "guaranteed: 9", "spec.claims.0.guaranteed"),
        ("gpus: 8", "gpus: 3", "spec.claims"),
        ("[{fleet", "[{fleet: llm/chat, max: 1}, {fleet", "spec.claims.1.fleet"),
        ("gpus: 8", "gpus: eight", "spec.gpus"),
    ],
)
def test_a_mistake_in_a_gpu_pool_is_found_where_it_is(old: str, new: str, path: str) -> None:
    loaded = load(FLEET, changed(GPU_POOL, old, new))

    assert path in paths(loaded)


def test_every_problem_of_a_file_is_told_at_once_with_its_line() -> None:
    text = POLICY
    for old, new in [
        ("names: [chat]", "name: chat"),  # line 5: the schema's business
        ("Europe/Berlin", "Europe/Bonn"),  # 7
        ("stableFor: 10m", "stableFor: 10min"),  # 10
        ("signal: ttft", "signal: tfft"),  # 14: only meaning shows it
        ("for: 1m", "fro: 1m"),  # 15, and missing in 12
        ("alert: slow", "alert: slo"),  # 17
        ("by: shortfall", "by: 0"),  # 19
    ]:
        text = changed(text, old, new)
    loaded = load(FLEET, text)

    assert {problem.line for problem in loaded.problems} == {5, 7, 10, 12, 14, 15, 17, 19}


def test_nothing_is_complained_of_that_only_stems_from_another_mistake() -> None:
    text = changed(POLICY, "severity: page", "severity: pager")

    assert paths(load(FLEET, text)) == ["spec.alerts.0.severity"]


@pytest.mark.parametrize(
    "when", ["{signal: input_length, quantile: 50%, above: 1000, over: 1m}", "{not: {signal: ttft, quantile: 99%, above: 1s, over: 1m}}"]
)
def test_an_alert_on_nothing_that_users_feel_needs_a_test_in_its_steps(when: str) -> None:
    blunt = changed(POLICY, "{signal: ttft, quantile: 99%, above: 500ms, over: 1m}", when)
    tested = changed(blunt, "{within: 2m}", "{within: 2m, when: {signal: waiting, above: 1}}")

    assert paths(load(FLEET, blunt)) == ["spec.remedies.0.steps.0.verify"]
    assert paths(load(FLEET, tested)) == []


def own_file(text: str) -> Surroundings:
    config = load_daemon(text.encode(), "autopilot.yaml", {}).config
    assert config is not None
    return surroundings(config)


@pytest.mark.parametrize(("scrape", "expected"), [("15s", []), ("16s", ["spec.alerts.0.when.over"])], ids=["four-scrapes", "fewer"])
def test_a_window_holds_four_scrapes_of_the_fleets_source(scrape: str, expected: list[str]) -> None:
    around = own_file(f"sources: {{default: {{url: 'http://p', scrapeInterval: {scrape}}}, slow: {{url: 'http://q', scrapeInterval: 5m}}}}")

    assert paths(load(FLEET, POLICY, around=around)) == expected


def test_names_of_the_daemons_own_file_are_checked_where_it_is_given() -> None:
    around = own_file("sources: {main: {url: 'http://p'}}\nreceivers: {oncall: {log: {}}}")
    policy = changed(POLICY, "  remedies:", "  notify: {on: [page], receivers: [oncal]}\n  remedies:")

    assert paths(load(FLEET, policy, around=around)) == ["spec.metrics.source", "spec.notify.receivers.0"]
    assert paths(load(FLEET, policy)) == []
