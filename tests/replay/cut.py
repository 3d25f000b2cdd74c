"""Cuts a recorded story out of a journal, so that its decisions are made again in every run of the tests.

    python -m tests.replay.cut .demo/run/state.journal.sqlite tests/replay/stories/NAME.jsonl.gz

Only notable records are kept: those in which a state, a reason or a decision changed. When a decision is changed on
purpose, the story that shows the old one is cut anew, and the change is seen in review.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from autopilot.adapters.journal import JournalReader, open_journal_to_read
from autopilot.control.audit import Record
from autopilot.control.codec import decode

MOST = 100_000  # records of one story


def main() -> None:
    """Cut one story."""
    parser = argparse.ArgumentParser(description="cut a recorded story out of a journal")
    parser.add_argument("journal", type=Path)
    parser.add_argument("story", type=Path)
    asked = parser.parse_args()
    journal = open_journal_to_read(asked.journal)
    rows = list(_rows(journal))
    asked.story.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(asked.story, "wb", mtime=0) as packed:  # the same story is the same file
        packed.writelines(json.dumps(row).encode() + b"\n" for row in rows)
    sys.stdout.write(f"{asked.story}: {len(rows)} rows\n")


def _rows(journal: JournalReader) -> Iterator[dict[str, str]]:
    """The documents first, each once, then the records."""
    lines = [line for line in journal.read(last=MOST) if line.notable]
    for name in dict.fromkeys(decode(line.body, Record).documents for line in lines):
        text = journal.policy(name)
        if text is not None:
            yield {"hash": name, "documents": text}
    for line in lines:
        yield {"record": line.body}


if __name__ == "__main__":
    main()
