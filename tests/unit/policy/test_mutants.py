"""Thousands of mutated policy files: each loads or is refused at a place; AUTOPILOT_DEEP=1 tries ten thousand."""

import os
import random
from collections.abc import Callable
from pathlib import Path

from autopilot.adapters.clock import SystemClock
from autopilot.policy.load import load_documents
from tests.unit.policy.test_fuzz import EXAMPLE, sound

MANY = 10_000 if os.environ.get("AUTOPILOT_DEEP") else 1_000
SHIPPED = sorted((Path(__file__).parents[3] / "policies").glob("*.yaml"))
SEEDS = [*(path.read_text(encoding="utf-8") for path in SHIPPED), EXAMPLE]
PIECES = [
    "\t",
    "\n",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!python/object:os.system ",
    "|",
    ">",
    "'",
    '"',
    "%",
    "---\n",
    "\x00",
    "é",
    "0x",
    "~",
    "1e999",
    "<<: *a",
]


def mutant(dice: random.Random) -> str:
    """A fragment of a seed, so that a mutant costs milliseconds, with one to three wounds."""
    documents = dice.choice(SEEDS).split("\n---\n")
    text = dice.choice(documents)
    for _ in range(dice.randint(1, 3)):
        text = dice.choice((_cut, _pasted, _swapped, _doubled))(text, dice)
    return text


def _cut(text: str, dice: random.Random) -> str:
    start = dice.randrange(len(text) + 1)
    return text[:start] + text[start + dice.choice((1, 5, 40, len(text))) :]


def _pasted(text: str, dice: random.Random) -> str:
    start = dice.randrange(len(text) + 1)
    return text[:start] + dice.choice(PIECES) + text[start:]


def _swapped(text: str, dice: random.Random) -> str:
    words = text.split(" ")
    one, other = dice.randrange(len(words)), dice.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _doubled(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    start = dice.randrange(len(lines))
    return "\n".join([*lines[: start + 1], *lines[start:]])


def test_r_19_no_mutated_file_raises_and_every_refusal_has_a_place(record_property: Callable[[str, object], None]) -> None:
    dice, clock, refused, slowest = random.Random(4), SystemClock(), 0, 0.0
    for _ in range(MANY):
        began = clock.running()
        loaded = load_documents({"a.yaml": mutant(dice).encode("utf-8", "surrogatepass")})
        slowest = max(slowest, (clock.running() - began).total_seconds())
        sound(loaded)
        refused += bool(loaded.problems)

    record_property("files", MANY)
    record_property("refused", refused)
    record_property("slowest_seconds", slowest)
    record_property("seconds", clock.running().total_seconds())
    assert MANY // 10 < refused < MANY
