from pathlib import Path

import pytest

from autopilot.domain.workloads import FleetRef
from autopilot.policy.load import LARGEST, Unreadable, load_documents
from autopilot.policy.loaded import Loaded, book_of, carried_over

from .documents import FLEET, POLICY, SEPARATOR, changed, load, paths

CHAT = FleetRef("llm", "chat")
EXAMPLE = Path(__file__).parent / "data" / "design-example.yaml"
OTHER = changed(changed(FLEET, "name: chat,", "name: code,"), "{fleet: chat}", "{fleet: code}")
OTHER_POLICY = changed(changed(POLICY, "name: chat,", "name: code,"), "names: [chat]", "names: [code]")


def test_the_designs_example_loads_with_a_warning_for_every_verb_that_is_not_built() -> None:
    loaded = load_documents({"example.yaml": EXAMPLE.read_bytes()})

    assert loaded.problems == ()
    assert [warning.path for warning in loaded.warnings] == [
        "spec.pools.0.warmPool",
        "spec.remedies.1.steps.1.do.relocate",
        "spec.remedies.2.steps.0.do.diagnose",
        "spec.schedule.0.do.retune",
    ]


def test_a_problem_is_written_as_compilers_write_theirs() -> None:
    (problem,) = load(FLEET, changed(POLICY, "for: 1m", "for: 1min")).problems

    assert str(problem).startswith("b.yaml:15:7: spec.alerts.0.for: ")


BROKEN: list[tuple[str, bytes | Unreadable, int, int]] = [
    ("empty", b"", 1, 1),
    ("only-comments", b"# later\n", 1, 1),
    ("half-written", b"kind: Fleet\nmetadata: {name: x, na", 2, 23),
    ("not-utf-8", FLEET.encode() + b"\xff", 12, 1),
    ("utf-16", FLEET.encode("utf-16"), 1, 1),
    ("too-large", b"#" * (LARGEST + 1), 1, 1),
    ("tabs", b"kind: Fleet\n\tmetadata: {}\n", 2, 1),
    ("duplicate-key", FLEET.encode() + b"kind: Fleet\n", 12, 1),
    ("nul", b"kind: \x00", 1, 7),
    ("a-list", b"[1, 2]", 1, 1),
    ("a-word", b"hello", 1, 1),
    ("unreadable", Unreadable("permission denied"), 1, 1),
]


@pytest.mark.parametrize(("content", "line", "column"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_file_that_is_no_good_is_a_problem_with_a_place_and_hides_nothing_else(
    content: bytes | Unreadable, line: int, column: int
) -> None:
    loaded = load_documents({"bad.yaml": content, "good.yaml": (OTHER + SEPARATOR + OTHER_POLICY).encode()})

    problem = loaded.problems[0]
    assert (problem.file, problem.line, problem.column) == ("bad.yaml", line, column)
    assert [str(document.ref) for document in loaded.documents if document.good] == ["llm/code", "llm/code"]


def test_a_document_that_does_not_load_is_still_known_by_name() -> None:
    loaded = load(changed(FLEET, "backend: kubernetes", "backend: cloud") + SEPARATOR + POLICY[:200])

    assert [(one.kind, str(one.ref), one.good, one.certain) for one in loaded.documents] == [
        ("Fleet", "llm/chat", False, True),
        ("Policy", "llm/chat", False, False),
    ]


def test_comments_spacing_and_order_are_no_change() -> None:
    plain = load(FLEET).fleets[0]
    dressed = load("# note\n" + changed(FLEET, "{name: chat, namespace: llm,", "{namespace: llm,   name: chat,")).fleets[0]

    assert dressed.hash == plain.hash


def test_a_changed_value_is_a_change() -> None:
    assert load(FLEET).fleets[0].hash != load(changed(FLEET, "max: 8", "max: 7")).fleets[0].hash


def test_a_fleet_without_a_policy_is_observed_with_a_warning() -> None:
    loaded = load(FLEET)

    assert (loaded.pairs[0].policy, loaded.pairs[0].settled, len(loaded.warnings)) == (None, True, 1)


def test_two_policies_for_one_fleet_are_a_problem_and_neither_rules() -> None:
    loaded = load(FLEET, POLICY, changed(POLICY, "name: chat,", "name: second,"))

    assert paths(loaded) == ["metadata.name"]
    assert (loaded.pairs[0].policy, loaded.pairs[0].settled) == (None, False)


def test_a_policy_rules_by_labels_and_only_its_own_namespace() -> None:
    labelled = changed(POLICY, "names: [chat]", "matchLabels: {class: chat}")
    elsewhere = changed(labelled, "namespace: llm", "namespace: lab")

    assert load(FLEET, labelled).pairs[0].policy is not None
    assert load(FLEET, elsewhere).pairs[0].policy is None


def test_a_policy_that_does_not_fit_one_fleet_still_rules_its_others() -> None:
    both = changed(POLICY, "names: [chat]", "names: [chat, code]")
    loaded = load(changed(FLEET, "max: 8", "max: 6"), OTHER, both)

    assert paths(loaded) == ["spec.scaling.bounds"]
    assert [(pair.fleet.ref.name, pair.policy is not None) for pair in loaded.pairs] == [("chat", False), ("code", True)]


@pytest.mark.parametrize(
    ("texts", "path"),
    [
        ((FLEET, FLEET), "metadata.name"),
        ((FLEET, POLICY, POLICY), "metadata.name"),
        ((FLEET, changed(FLEET, "name: chat,", "name: code,")), "spec.metrics.identity"),
    ],
    ids=["fleet-twice", "policy-twice", "identity-twice"],
)
def test_what_is_there_twice_loads_neither_time(texts: tuple[str, ...], path: str) -> None:
    loaded = load(*texts)

    assert paths(loaded) == [path, path]
    assert sum(document.good for document in loaded.documents) == len(texts) - 2


def kept(before: Loaded, now: Loaded) -> dict[str, tuple[int, str]]:
    """Fleet, its max and its policy's name, after carrying over."""
    after = carried_over(before, now)
    return {str(pair.fleet.ref): (pair.fleet.pool.maximum, pair.policy.ref.name if pair.policy else "") for pair in after.pairs}


BEFORE = load(FLEET + SEPARATOR + POLICY, OTHER + SEPARATOR + OTHER_POLICY)
NEWER = changed(OTHER, "max: 8", "max: 16") + SEPARATOR + OTHER_POLICY
BOTH_RULED = {"llm/chat": (8, "chat"), "llm/code": (16, "code")}


@pytest.mark.parametrize(
    "first",
    [
        "",
        "a: [",
        FLEET[:150],
        FLEET + SEPARATOR + POLICY[:300],
        FLEET + SEPARATOR + changed(POLICY, "for: 1m", "for: 1min"),
        changed(FLEET, "max: 8", "max: eight") + SEPARATOR + POLICY,
        changed(FLEET, "max: 8", "max: 4") + SEPARATOR + POLICY,
        changed(FLEET, "{min: 1, max: 8}", "{min: 9, max: 8}") + SEPARATOR + changed(POLICY, "for: 1m", "for: 1min"),
        FLEET + SEPARATOR + POLICY + SEPARATOR + changed(POLICY, "name: chat,", "name: second,"),
    ],
    ids=["empty", "no-yaml", "half-a-fleet", "half-a-policy", "bad-policy", "bad-fleet", "misfit", "both-bad", "two-policies"],
)
def test_the_last_good_version_stays_where_a_document_does_not_load_and_others_move_on(first: str) -> None:
    now = load(first, NEWER)

    assert now.problems
    assert kept(BEFORE, now) == BOTH_RULED


def test_what_was_kept_once_is_kept_again() -> None:
    once = carried_over(BEFORE, load("a: [", NEWER))

    assert kept(once, load("a: {", NEWER)) == BOTH_RULED


def test_a_document_that_is_taken_away_is_gone() -> None:
    assert kept(BEFORE, load_documents({"b.yaml": NEWER.encode()})) == {"llm/code": (16, "code")}


def test_a_policy_that_is_taken_away_leaves_its_fleet_observed() -> None:
    assert kept(BEFORE, load(FLEET, NEWER)) == {"llm/chat": (8, ""), "llm/code": (16, "code")}


def test_a_repaired_document_replaces_the_one_that_was_kept() -> None:
    once = carried_over(BEFORE, load("a: [", NEWER))
    repaired = load(changed(FLEET, "max: 8", "max: 12") + SEPARATOR + POLICY, NEWER)

    assert kept(once, repaired) == {"llm/chat": (12, "chat"), "llm/code": (16, "code")}


def test_a_new_fleet_whose_policy_does_not_load_is_only_observed() -> None:
    now = load(FLEET + SEPARATOR + changed(POLICY, "for: 1m", "for: 1min"))

    assert kept(Loaded(), now) == {"llm/chat": (8, "")}


def test_a_gpu_pool_that_does_not_load_keeps_its_last_good_version() -> None:
    pool = "apiVersion: autopilot.dev/v1alpha1\nkind: GpuPool\nmetadata: {name: shared}\nspec: {gpus: 8, claims: [{fleet: llm/chat, max: 8}]}\n"
    after = carried_over(load(FLEET, pool), load(FLEET, changed(pool, "gpus: 8", "gpus: x")))

    assert [(budget.name, budget.gpus) for budget in after.pools] == [("shared", 8)]


def test_what_is_in_force_is_a_book_for_the_daemon() -> None:
    book = book_of(load(FLEET, POLICY))

    policy = book.policy_of(CHAT)
    assert policy is not None
    assert (policy.ref, book.problems) == (CHAT, ())
