"""Which vLLM runs, as its engines say, and whether they all say the same."""

from collections import Counter
from collections.abc import Iterator

from autopilot.doctor.doors import Subject
from autopilot.doctor.findings import Check, Finding, ok, warn

OLDEST = (0, 8)  # of the versions whose metric names the catalogue knows (vllm-facts.md §1.3)
NEWEST = (0, 33)


def judge_versions(subject: Subject) -> Iterator[Finding]:
    """One finding for the whole fleet; none where no engine could be asked."""
    counted = Counter(subject.versions.values())
    if not counted:
        return
    said = "vLLM " + ", ".join(f"{version} on {count}" for version, count in sorted(counted.items()))
    strange = [version for version in counted if not OLDEST <= _numbers(version) <= NEWEST]
    if strange:
        todo = f"its metric names were never checked: run {_text(OLDEST)} to {_text(NEWEST)}, or see signal-exists below"
        yield warn(Check.ENGINE_VERSION, subject.about, said, todo)
    elif len(counted) > 1:
        yield warn(Check.ENGINE_VERSION, subject.about, f"{said}: a mixed fleet", "finish the rollout; names are resolved target by target")
    else:
        yield ok(Check.ENGINE_VERSION, subject.about, said)


def _numbers(version: str) -> tuple[int, int]:
    parts = [part for part in version.split(".")[:2] if part.isdecimal()]
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 else (-1, -1)


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
