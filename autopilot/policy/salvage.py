"""The sound rest of a document that does not fit its schema, so that everything wrong is told at once.

What the schema refuses is left out, or replaced where it must be there; the rest is then checked for
what no schema can say. A complaint that may only stem from what was left out is dropped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from autopilot.policy.problems import Complaint, Path
from autopilot.policy.wording import validated

Model = TypeVar("Model", bound=BaseModel)

ROUNDS = 12  # each leaves out at least one more thing; files that need more are hopeless
_STAND_INS: Mapping[str | int, Any] = {
    "metadata": {"name": "x"},
    "identity": {"x": "x"},
    "fleets": {"names": ["x"]},
    "severity": "ticket",
    "for": "1m",
    "within": "1m",
    "every": "1m",
    "stableFor": "1m",
    "drainWithin": "1m",
    "window": "1d",
    "objective": 0.5,
    "min": 0,
    "max": 1,
    "perReplica": 1,
}


@dataclass(frozen=True)
class Salvage(Generic[Model]):
    """What could be saved, and the paths of what could not."""

    model: Model
    value: Any
    lost: frozenset[Path]
    replaced: frozenset[Path]

    def kept(self, complaints: Iterable[Complaint]) -> tuple[Complaint, ...]:
        """The complaints that hold whatever stood in the lost places, with the paths of the whole document."""
        return tuple(Complaint(self._whole(one.path), one.what) for one in complaints if not self._doubtful(one))

    def _doubtful(self, complaint: Complaint) -> bool:
        """Whether something was lost where the complaint comes from: below its path, or a name in what it looked at."""
        own, seen = self._whole(complaint.path), self._whole(complaint.looked_at)
        return any(path[: len(own)] == own or (seen and _named(path, seen)) for path in self.lost)

    def _whole(self, path: Path) -> Path:
        return _original(path, self.value, self.lost - self.replaced)


def _named(path: Path, seen: Path) -> bool:
    """Whether a lost path is a mapping or list itself, an entry of it, or the name of an entry."""
    inside = path[len(seen) :]
    return path[: len(seen)] == seen and (len(inside) <= 1 or inside[1:] == ("name",))


@dataclass
class _Cut:
    """What is left out and replaced so far."""

    lost: set[Path] = field(default_factory=set)
    replaced: dict[Path, Any] = field(default_factory=dict)


def salvaged(model: type[Model], value: Any) -> Salvage[Model] | None:
    """The largest part that fits the schema and is found by leaving out what is refused. None where nothing is left."""
    cut = _Cut()
    for _ in range(ROUNDS):
        found = validated(model, _without(value, cut, ()))
        if not isinstance(found, tuple):
            return Salvage(found, value, frozenset(cut.lost), frozenset(cut.replaced))
        for complaint in found:
            if not _leave_out(_original(complaint.path, value, cut.lost - cut.replaced.keys()), value, cut):
                return None
    return None


def _leave_out(path: Path, value: Any, cut: _Cut) -> bool:
    """Leave out what is at a path; what must be there is replaced, else goes with what it is in. False at the root."""
    if not path:
        return False
    first_time = path not in cut.lost
    cut.lost.add(path)
    if path[-1] in _STAND_INS and first_time:
        cut.replaced[path] = _STAND_INS[path[-1]]
        return True
    cut.replaced.pop(path, None)
    there = _holds(value, path)
    return True if there and first_time else _leave_out(path[:-1], value, cut)


def _holds(value: Any, path: Path) -> bool:
    for part in path:
        inside = part in value if isinstance(value, Mapping) else isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not inside:
            return False
        value = value[part]
    return True


def _without(value: Any, cut: _Cut, path: Path) -> Any:
    """A copy without what is lost."""
    if path in cut.replaced:
        return cut.replaced[path]
    if isinstance(value, Mapping):
        there = {key: _without(inner, cut, (*path, key)) for key, inner in value.items() if _stays((*path, key), cut)}
        added = {str(lost[-1]): stand_in for lost, stand_in in cut.replaced.items() if lost[:-1] == path}
        return there | added
    if isinstance(value, list):
        return [_without(inner, cut, (*path, index)) for index, inner in enumerate(value) if _stays((*path, index), cut)]
    return value


def _stays(path: Path, cut: _Cut) -> bool:
    return path not in cut.lost or path in cut.replaced


def _original(path: Path, value: Any, lost: Iterable[Path]) -> Path:
    """A path of the copy as a path of the whole: items of lists that were left out are counted again."""
    gone = set(lost)
    old: Path = ()
    for part in path:
        here: str | int = part
        if isinstance(value, list) and isinstance(part, int):
            alive = [index for index in range(len(value)) if (*old, index) not in gone]
            here = alive[part] if part < len(alive) else part
        old = (*old, here)
        value = value[here] if _holds(value, (here,)) else None
    return old
