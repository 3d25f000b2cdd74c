"""The daemon's own file, and every value of it from the environment: `AUTOPILOT_A__B` is `a.b`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.load import Undecodable, Unreadable, decoded
from autopilot.policy.positions import Place, Read, read_documents
from autopilot.policy.problems import Path, Problem, dotted
from autopilot.policy.surroundings import Surroundings
from autopilot.policy.wording import known_keys, validated

PREFIX = "AUTOPILOT_"
OPTIONS = frozenset({"AUTOPILOT_CONFIG", "AUTOPILOT_SERVER"})  # of the command line; tests and benchmarks have theirs
# Kubernetes puts these into every pod of a namespace that has a Service of our name; they are not for us.
_SERVICE_LINK = re.compile(r"AUTOPILOT_(.*_)?(SERVICE_(HOST|PORT)(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_.*)?)?)")


@dataclass(frozen=True, slots=True)
class DaemonLoaded:
    """The daemon's configuration, None with a problem."""

    config: DaemonConfig | None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Layered:
    """The file's value with the environment's laid over it, and which variable each such path came from."""

    value: Any
    variables: Mapping[Path, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def load_daemon(content: bytes | Unreadable, file: str, environ: Mapping[str, str]) -> DaemonLoaded:
    """The configuration that a file (empty where there is none) and the environment give. Never raises."""
    read = _one_document(content, file)
    if isinstance(read, Problem):
        return DaemonLoaded(None, (read,))
    layered = _layer(read.value if read.value is not None else {}, environ)
    problems = read.problems + layered.problems
    checked = None if read.broken else validated(DaemonConfig, layered.value)
    if isinstance(checked, tuple):
        problems += tuple(_placed(complaint.path, complaint.what, read, layered) for complaint in checked)
    config = checked if isinstance(checked, DaemonConfig) and not problems else None
    return DaemonLoaded(config, problems, layered.warnings)


def _one_document(content: bytes | Unreadable, file: str) -> Read | Problem:
    text = content if isinstance(content, Unreadable) else decoded(content)
    if not isinstance(text, str):
        place = text.place if isinstance(text, Undecodable) else Place(1, 1)
        return Problem(file, place.line, place.column, "", text.why)
    reads = list(read_documents(text, file))
    if len(reads) > 1:
        place = reads[1].start
        return Problem(file, place.line, place.column, "", "the daemon's own file is one document, remove the others")
    return reads[0] if reads else Read(file, Place(1, 1), text)


def _placed(path: Path, what: str, read: Read, layered: _Layered) -> Problem:
    """The problem in the file, or in the variable that the value came from."""
    for end in range(len(path), 0, -1):
        if path[:end] in layered.variables:
            return Problem(f"${layered.variables[path[:end]]}", 1, 1, dotted(path), what)
    return read.problem(path, what)


def _layer(value: Any, environ: Mapping[str, str]) -> _Layered:
    if not isinstance(value, Mapping):
        return _Layered(value)
    merged: dict[str, Any] = _copied(value)
    variables: dict[Path, str] = {}
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in OPTIONS or _is_service_link(name):
            continue
        path = _path(name.removeprefix(PREFIX).split("__"), merged)
        if path is None:
            warnings.append(Problem(f"${name}", 1, 1, "", "no value of the daemon's file is called so: ignored"))
            continue
        parsed = _parsed(name, environ[name])
        problems += parsed.problems
        _put(merged, path, parsed.value)
        variables[path] = name
    return _Layered(merged, variables, tuple(problems), tuple(warnings))


def _is_service_link(name: str) -> bool:
    return "__" not in name and _SERVICE_LINK.fullmatch(name) is not None


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    return value


def _path(words: Iterable[str], value: Any) -> Path | None:
    """The keys that a variable's words spell. None when the first one is no key of the file."""
    path: list[str] = []
    for word in words:
        keys = known_keys(DaemonConfig, path)
        there = list(value) if isinstance(value, Mapping) else []
        key = next((key for key in (*keys, *there) if _folded(key) == _folded(word)), None)
        if key is None and not path:
            return None
        path.append(key or word.lower().replace("_", "-"))
        value = value.get(path[-1]) if isinstance(value, Mapping) else None
    return tuple(path)


def _folded(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()


def _parsed(name: str, text: str) -> Read:
    """A variable's text as YAML would read it: numbers, true, [lists] and {mappings}; anything odd is text."""
    reads = list(read_documents(text, f"${name}"))
    odd = len(reads) != 1 or reads[0].broken
    return Read(f"${name}", Place(1, 1), text, text) if odd else reads[0]


def _put(target: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        inner = target.get(str(key))
        if not isinstance(inner, dict):
            inner = target[str(key)] = {}
        target = inner
    target[str(path[-1])] = value


def surroundings(config: DaemonConfig) -> Surroundings:
    """What the daemon's file adds to the checks of documents."""
    return Surroundings(
        scrape_intervals={name: source.scrape_interval for name, source in config.sources.items()},
        receivers=frozenset(config.receivers),
        local=config.local is not None,
    )
