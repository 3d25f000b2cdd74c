"""The command line of one vLLM server, for the vLLM version in use.

An argument that the version would refuse is an engine that never starts, so what a version does not
know is left out and named, never passed on. Sources: vLLM 0.32's own --help; vllm PR 21739 (0.11,
--disable-log-requests), PR 26315 (0.13, --attention-backend), PR 34730 (0.18, --shutdown-timeout).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

Scalar: TypeAlias = str | int | float | bool
ArgValue: TypeAlias = Scalar | Mapping[str, Any] | list[Any] | tuple[Any, ...]
Version: TypeAlias = tuple[int, int]

DRAIN_SECONDS = 30.0  # an answer of 1,000 tokens at 30 ms each; an operator's own shutdown-timeout replaces it

OURS = frozenset({"model", "served-model-name", "host", "port", "uds"})  # where a server listens, and under which names
_SWITCHES = frozenset({"disable-log-stats", "disable-log-requests", "headless"})  # there is no --no-… of these
_SEVERAL_WORDS = frozenset(  # their values are separate words; every other list is JSON text
    {
        "allowed-media-domains",
        "api-key",
        "collect-detailed-traces",
        "cpu-offload-params",
        "cudagraph-capture-sizes",
        "ignore-patterns",
        "kv-cache-dtype-skip-layers",
        "logits-processors",
        "lora-modules",
        "lora-target-modules",
        "numa-bind-cpus",
        "numa-bind-nodes",
        "offload-params",
        "sleep-preserve-parameter-names",
    }
)


@dataclass(frozen=True, slots=True)
class _Span:
    """The versions that know a flag: from `since`, up to but without `until`."""

    since: Version = (0, 0)
    until: Version = (10_000, 0)

    def holds(self, version: Version) -> bool:
        return self.since <= version < self.until


# Where the exact version is not known the later one stands: a flag too few costs a feature, one too many the engine.
_KNOWN_IN: Mapping[str, _Span] = MappingProxyType(
    {
        "attention-backend": _Span(since=(0, 13)),
        "custom-histogram-buckets": _Span(since=(0, 32)),
        "disable-log-requests": _Span(until=(0, 11)),
        "enable-log-requests": _Span(since=(0, 11)),
        "enable-mfu-metrics": _Span(since=(0, 15)),
        "max-num-queued-reqs": _Span(since=(0, 29)),
        "max-num-queued-tokens": _Span(since=(0, 29)),
        "shutdown-timeout": _Span(since=(0, 18)),
    }
)


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """What a replica runs: a model, the names it is asked for by, arguments in vLLM's own spelling, environment.

    `version` is vLLM's, as `0.32.0`; "" while it is not known. Raises ValueError for arguments that are ours to set.
    """

    model: str
    served_names: tuple[str, ...] = ()
    args: Mapping[str, ArgValue] = field(default_factory=lambda: MappingProxyType({}))
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    version: str = ""

    def __post_init__(self) -> None:
        """Refuse what could not be started."""
        if not self.model:
            message = "an engine needs the path of a model"
            raise ValueError(message)
        if taken := sorted(OURS & set(self.flags)):
            message = f"engine arguments {', '.join(taken)} are set by the autopilot, leave them out"
            raise ValueError(message)

    @property
    def flags(self) -> dict[str, ArgValue]:
        """The arguments in one spelling: vLLM takes `max_model_len` and `--max-model-len` as well."""
        return {name.removeprefix("--").replace("_", "-"): value for name, value in self.args.items()}

    @property
    def drain_seconds(self) -> float:
        """How long this engine goes on answering after SIGTERM; 0 where the version aborts at once."""
        asked = self.flags.get("shutdown-timeout", DRAIN_SECONDS)
        known = _knows(parse_version(self.version), "shutdown-timeout", by_us="shutdown-timeout" not in self.flags)
        return float(asked) if known and isinstance(asked, int | float | str) else 0.0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An argument that this vLLM version would refuse."""

    flag: str
    why: str


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The arguments after the program, the environment on top of the daemon's, and what was left out of them."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    left_out: tuple[LeftOut, ...] = ()


def command_line(spec: EngineSpec, *, host: str, port: int) -> CommandLine:
    """The command line that serves `spec` on an address, in an order that depends on nothing but the spec."""
    version = parse_version(spec.version)
    args = spec.flags
    if "shutdown-timeout" not in args and _knows(version, "shutdown-timeout", by_us=True):
        args["shutdown-timeout"] = int(DRAIN_SECONDS)  # the default of 0 aborts every request at SIGTERM
    refused = tuple(name for name in sorted(args) if not _knows(version, name, by_us=False))
    flags = [word for name in sorted(args) if name not in refused for word in _words(name, args[name])]
    names = ["--served-model-name", *spec.served_names] if spec.served_names else []
    backend = args.get("attention-backend") if "attention-backend" in refused else None
    env = dict(spec.env) if backend is None else {"VLLM_ATTENTION_BACKEND": str(backend), **spec.env}
    left_out = tuple(LeftOut(f"--{name}", f"vLLM {spec.version} does not know it") for name in refused)
    return CommandLine(("--model", spec.model, *names, "--host", host, "--port", str(port), *flags), MappingProxyType(env), left_out)


def parse_version(text: str) -> Version | None:
    """Major and minor of `v0.32.0+cpu` and the like, None for anything else."""
    found = re.match(r"v?(\d+)\.(\d+)", text)
    return None if found is None else (int(found[1]), int(found[2]))


def knows_custom_edges(spec: EngineSpec) -> bool:
    """Whether this engine takes edges of our own for its histograms; not while its version is unknown."""
    return _knows(parse_version(spec.version), "custom-histogram-buckets", by_us=True)


def _knows(version: Version | None, flag: str, *, by_us: bool) -> bool:
    """Whether a version takes a flag. While the version is unknown operators are believed, and we add nothing."""
    if version is None:
        return not by_us
    return _KNOWN_IN.get(flag, _Span()).holds(version)


def _words(name: str, value: ArgValue) -> Iterator[str]:
    if isinstance(value, bool):
        if value:
            yield f"--{name}"
        elif name not in _SWITCHES:
            yield f"--no-{name}"
        return
    yield f"--{name}"
    if isinstance(value, list | tuple) and name in _SEVERAL_WORDS:
        yield from (_text(item) for item in value)
    else:
        yield _text(value)


def _text(value: ArgValue) -> str:
    if isinstance(value, str):
        return value
    return json_text(value)


def json_text(value: Any) -> str:
    """A value as JSON, always the same text for the same value, frozen mappings and tuples included."""
    return json.dumps(_thawed(value), sort_keys=True, separators=(",", ":"))


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list | tuple) else value
