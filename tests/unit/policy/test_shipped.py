from pathlib import Path

import pytest

from autopilot.domain.verbs import Mode, Verb
from autopilot.policy.load import load_documents
from autopilot.policy.loaded import Loaded
from autopilot.policy.sources import read_sources

POLICIES = Path(__file__).parents[3] / "policies"


def shipped(name: str) -> Loaded:
    return load_documents(read_sources([POLICIES / name]))


@pytest.mark.parametrize("name", ["closed-loop.yaml", "local.yaml", "chat.yaml", "code-completion.yaml", "summarize.yaml"])
def test_a_shipped_file_loads_and_rules_its_fleet(name: str) -> None:
    loaded = shipped(name)

    assert loaded.problems == ()
    assert [pair.policy is not None for pair in loaded.pairs] == [True]


def test_everything_shipped_loads_together() -> None:
    assert load_documents(read_sources([POLICIES])).problems == ()


@pytest.mark.parametrize(("name", "mode"), [("closed-loop.yaml", Mode.ADVISE), ("local.yaml", Mode.ACT)])
def test_only_the_local_example_acts_by_itself(name: str, mode: Mode) -> None:
    (policy,) = shipped(name).policies

    assert {policy.modes.of(verb) for verb in (Verb.SCALE_OUT, Verb.SCALE_IN)} == {mode}


def test_the_local_example_warns_of_nothing() -> None:
    assert shipped("local.yaml").warnings == ()
