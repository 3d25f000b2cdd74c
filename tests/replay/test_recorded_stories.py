"""The audit log is a test suite: what was decided for real is decided again."""

import gzip
import json
from pathlib import Path

import pytest

from autopilot.control.audit import Documents, Record, replay
from autopilot.control.codec import decode
from autopilot.domain.decisions import Act
from autopilot.domain.operations import SetReplicas

STORIES = sorted((Path(__file__).parent / "stories").glob("*.jsonl.gz"))


def read(story: Path) -> tuple[list[Record], dict[str, Documents]]:
    rows = [json.loads(line) for line in gzip.decompress(story.read_bytes()).splitlines()]
    documents = {row["hash"]: decode(row["documents"], Documents) for row in rows if "hash" in row}
    return [decode(row["record"], Record) for row in rows if "record" in row], documents


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name.removesuffix(".jsonl.gz"))
def test_every_recorded_decision_comes_out_the_same(story: Path) -> None:
    records, documents = read(story)

    different = [record.seen.now for record in records if not replay(record, documents[record.documents]).same]

    assert different == []


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name.removesuffix(".jsonl.gz"))
def test_a_recorded_story_is_one_in_which_something_was_done(story: Path) -> None:
    records, _ = read(story)
    effects = [act.operation.effect for record in records for act in record.decisions if isinstance(act, Act)]

    assert any(isinstance(effect, SetReplicas) for effect in effects)
