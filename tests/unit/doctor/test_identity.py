from collections.abc import Mapping

import pytest

from autopilot.doctor.findings import Level
from autopilot.doctor.identity import Matched, Pair, joined, judge_match, judge_nothing, judge_overlap, judge_pairs, judge_replicas
from autopilot.doctor.sources import Spread, judge_clusters
from tests.unit.doctor.subjects import levels, serving, subject

ONE = {"fleet": "chat", "pod": "chat-0"}


def of(*targets: Mapping[str, str], engines: tuple[Mapping[str, str], ...] = ()) -> Matched:
    return Matched(targets, engines or targets)


@pytest.mark.parametrize(
    ("seen", "level"),
    [(of(ONE), Level.OK), (Matched((), (ONE,)), Level.FAIL), (Matched((ONE,), ()), Level.FAIL)],
    ids=["targets-and-engines", "engines-alone", "targets-alone"],
)
def test_an_identity_matches_targets_and_engines(seen: Matched, level: Level) -> None:
    assert judge_match(subject(), seen).level is level


@pytest.mark.parametrize(
    ("pairs", "hint", "absent"),
    [
        ([Pair("model", "Chat", ("chat",), ("chat", "code"))], '"chat"', '"code"'),
        ([Pair("model", "Chat", (), ("chat", "zebra"))], '"chat"', '"zebra"'),
        ([Pair("fleet", "chat", (), ("chat",)), Pair("model", "b", ("b-rank-0",), ("b", "b-rank-0"))], '"b-rank-0"', "fleet="),
        ([Pair("fleet", "chat", ("code",), ("chat", "code")), Pair("model", "b", ("b-rank-0",), ("b",))], '"b-rank-0"', "fleet="),
    ],
    ids=["the-values-beside-the-other-pairs", "any-engine's-values", "the-pair-to-blame-alone", "the-pair-that-is-nearly-right"],
)
def test_what_does_not_match_is_named_with_the_nearest_that_exists(pairs: list[Pair], hint: str, absent: str) -> None:
    finding = judge_nothing(subject(), pairs, ())

    assert finding.level is Level.FAIL
    assert hint in finding.said
    assert absent not in finding.said.partition(";")[2]


def test_a_label_that_no_engine_has_is_named_with_the_nearest_label() -> None:
    finding = judge_nothing(subject(), [Pair("modelname", "x")], ("model_name", "engine"))

    assert '"model_name"' in finding.said


@pytest.mark.parametrize(
    ("second", "level"),
    [
        ({**ONE, "prometheus_replica": "b"}, Level.FAIL),
        ({**ONE, "pod": "chat-1", "prometheus_replica": "a"}, Level.OK),
        ({**ONE, "engine": "1", "prometheus_replica": "a"}, Level.OK),
    ],
    ids=["the-other-half-of-a-pair", "another-replica", "another-engine"],
)
def test_the_same_series_twice_is_refused_and_two_series_are_not(second: Mapping[str, str], level: Level) -> None:
    seen = of({**ONE, "prometheus_replica": "a"}, second)

    assert levels(list(judge_pairs(subject(), seen))) == [level]


@pytest.mark.parametrize("label", ["prometheus", "__replica__", "prometheus_replica", "receive_replica", "monitor", "replica"])
def test_the_field_s_names_for_a_pair_are_known(label: str) -> None:
    seen = of({**ONE, label: "a"}, {**ONE, label: "b"})

    assert levels(list(judge_pairs(subject(), seen))) == [Level.FAIL]


@pytest.mark.parametrize(
    ("identity", "values", "level"),
    [
        ((("fleet", "chat"),), ("east", "west"), Level.FAIL),
        ((("cluster", "east"), ("fleet", "chat")), ("east", "west"), Level.OK),
        ((("fleet", "chat"),), ("east",), Level.OK),
    ],
    ids=["two-and-not-named", "two-and-named", "one"],
)
def test_a_source_with_several_clusters_wants_the_cluster_in_the_identity(
    identity: tuple[tuple[str, str], ...], values: tuple[str, ...], level: Level
) -> None:
    found = list(judge_clusters("default", [subject(identity=identity)], [Spread("cluster", values)]))

    assert levels(found) == [level]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ((("fleet", "a"),), (("fleet", "b"),), None),
        ((("fleet", "a"),), (("job", "vllm"),), (("fleet", "a"), ("job", "vllm"))),
        ((("fleet", "a"),), (("fleet", "a"), ("pool", "x")), (("fleet", "a"), ("pool", "x"))),
    ],
    ids=["contradict", "nothing-in-common", "one-inside-the-other"],
)
def test_identities_that_contradict_each_other_share_no_series(
    one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...], both: tuple[tuple[str, str], ...] | None
) -> None:
    assert joined(one, other) == both


@pytest.mark.parametrize(("series", "level"), [(3, Level.FAIL), (0, Level.WARN)], ids=["shared-now", "could-be-shared"])
def test_fleets_that_count_each_other_s_load_are_refused(series: int, level: Level) -> None:
    assert judge_overlap(subject(name="a"), subject(name="b"), series).level is level


@pytest.mark.parametrize(
    ("label", "there", "level"),
    [
        ("pod", serving("chat-0"), Level.OK),
        ("pod", serving("chat-0", "chat-1"), Level.FAIL),
        ("instance", serving("chat-0"), Level.FAIL),
    ],
    ids=["the-same", "one-is-no-target", "another-label"],
)
def test_replicas_are_the_targets_of_the_source(label: str, there: object, level: Level) -> None:
    assert judge_replicas(subject(replica_label=label, workload=there), of(ONE)).level is level
