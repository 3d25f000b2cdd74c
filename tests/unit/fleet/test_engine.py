import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from autopilot.fleet.engine import DRAIN_SECONDS, EngineSpec, command_line, parse_version
from autopilot.fleet.template import template_hash


def _argv(args: Mapping[str, Any], version: str = "0.32.0") -> tuple[str, ...]:
    return command_line(EngineSpec("/m", args=args, version=version), host="127.0.0.1", port=8000).argv


def _flag(argv: tuple[str, ...], flag: str) -> str | None:
    return argv[argv.index(flag) + 1] if flag in argv else None


def test_the_address_and_the_names_are_there() -> None:
    argv = command_line(EngineSpec("/m", ("a", "b"), version="0.10.0"), host="127.0.0.1", port=8000).argv

    assert argv == ("--model", "/m", "--served-model-name", "a", "b", "--host", "127.0.0.1", "--port", "8000")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"enforce-eager": True}, ("--enforce-eager",)),
        ({"enable-prefix-caching": False}, ("--no-enable-prefix-caching",)),
        ({"disable-log-stats": False}, ()),
        ({"disable-log-stats": True}, ("--disable-log-stats",)),
        ({"max-num-seqs": 4}, ("--max-num-seqs", "4")),
        ({"max_num_seqs": 4}, ("--max-num-seqs", "4")),
        ({"max-model-len": "16k"}, ("--max-model-len", "16k")),
        ({"gpu-memory-utilization": 0.88}, ("--gpu-memory-utilization", "0.88")),
        ({"speculative-config": {"model": "ngram", "n": 3}}, ("--speculative-config", '{"model":"ngram","n":3}')),
        ({"hf-overrides": MappingProxyType({"b": (1,), "a": {}})}, ("--hf-overrides", '{"a":{},"b":[1]}')),
        ({"allowed-origins": ["*"]}, ("--allowed-origins", '["*"]')),
        ({"cudagraph-capture-sizes": [1, 2]}, ("--cudagraph-capture-sizes", "1", "2")),
    ],
    ids=lambda value: json.dumps(value, default=dict) if isinstance(value, dict) else "",
)
def test_arguments_are_spelled_as_vllm_reads_them(args: Mapping[str, Any], words: tuple[str, ...]) -> None:
    argv = _argv(args, version="0.17.0")

    assert argv[6:] == words


@pytest.mark.parametrize(
    ("flag", "version", "emitted"),
    [
        ("disable-log-requests", "0.10.2", True),
        ("disable-log-requests", "0.11.0", False),
        ("enable-log-requests", "0.10.2", False),
        ("enable-log-requests", "0.11.0", True),
        ("shutdown-timeout", "0.17.1", False),
        ("shutdown-timeout", "0.18.0", True),
        ("custom-histogram-buckets", "0.29.0", False),
        ("custom-histogram-buckets", "v0.32.0+cpu", True),
        ("enable-mfu-metrics", "0.10.0", False),
        ("enable-mfu-metrics", "0.32.0", True),
        ("max-num-queued-reqs", "0.28.0", False),
        ("max-num-queued-reqs", "0.29.0", True),
        ("attention-backend", "0.12.0", False),
        ("attention-backend", "0.13.0", True),
        ("disable-log-requests", "", True),
    ],
)
def test_a_flag_that_the_version_refuses_is_left_out_and_named(flag: str, version: str, *, emitted: bool) -> None:
    line = command_line(EngineSpec("/m", args={flag: True}, version=version), host="127.0.0.1", port=1)

    assert (f"--{flag}" in line.argv) is emitted
    assert [each.flag for each in line.left_out] == ([] if emitted else [f"--{flag}"])


def test_an_attention_backend_goes_by_environment_where_there_is_no_flag() -> None:
    line = command_line(EngineSpec("/m", args={"attention-backend": "TRITON_ATTN"}, version="0.12.0"), host="h", port=1)

    assert line.env["VLLM_ATTENTION_BACKEND"] == "TRITON_ATTN"


@pytest.mark.parametrize(
    ("args", "version", "drain"),
    [
        ({}, "0.32.0", DRAIN_SECONDS),
        ({}, "0.17.0", 0.0),
        ({}, "", 0.0),
        ({"shutdown-timeout": 10}, "0.32.0", 10.0),
        ({"shutdown_timeout": "10"}, "", 10.0),
        ({"shutdown-timeout": 10}, "0.17.0", 0.0),
    ],
    ids=["ours", "unknown-to-the-version", "version-unknown", "the-operators", "the-operators-believed", "refused"],
)
def test_the_drain_is_what_the_engine_will_really_do(args: Mapping[str, Any], version: str, drain: float) -> None:
    assert EngineSpec("/m", args=args, version=version).drain_seconds == drain


def test_an_engine_drains_by_default() -> None:
    assert _flag(_argv({}), "--shutdown-timeout") == "30"


@pytest.mark.parametrize("name", ["port", "model", "--host", "served_model_name"])
def test_arguments_that_are_ours_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="leave them out"):
        EngineSpec("/m", args={name: "x"})


def test_an_engine_without_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="model"):
        EngineSpec("")


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.32.0", (0, 32)), ("v0.32.0+cpu", (0, 32)), ("0.33.0rc1", (0, 33)), ("1.2", (1, 2)), ("", None), ("main", None)],
)
def test_versions_are_read(text: str, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version


SPEC = EngineSpec("/m", ("chat",), {"max-num-seqs": 4, "hf-overrides": {"a": 1, "b": 2}}, {"X": "1", "Y": "2"}, "0.32.0")


@pytest.mark.parametrize(
    "same",
    [
        EngineSpec("/m", ("chat",), {"hf-overrides": {"b": 2, "a": 1}, "max-num-seqs": 4}, {"Y": "2", "X": "1"}, "0.32.0"),
        EngineSpec("/m", ("chat",), {"--max_num_seqs": 4, "hf-overrides": MappingProxyType({"a": 1, "b": 2})}, SPEC.env, "0.32.0"),
    ],
    ids=["another-order", "another-spelling"],
)
def test_the_same_template_has_the_same_key(same: EngineSpec) -> None:
    assert template_hash(same) == template_hash(SPEC)


@pytest.mark.parametrize(
    "other",
    [
        EngineSpec("/n", SPEC.served_names, SPEC.args, SPEC.env, SPEC.version),
        EngineSpec("/m", ("code",), SPEC.args, SPEC.env, SPEC.version),
        EngineSpec("/m", SPEC.served_names, {**SPEC.args, "max-num-seqs": 8}, SPEC.env, SPEC.version),
        EngineSpec("/m", SPEC.served_names, SPEC.args, {"X": "1"}, SPEC.version),
        EngineSpec("/m", SPEC.served_names, SPEC.args, SPEC.env, "0.33.0"),
    ],
    ids=["model", "names", "arguments", "environment", "version"],
)
def test_another_template_has_another_key(other: EngineSpec) -> None:
    assert template_hash(other) != template_hash(SPEC)


def test_the_key_stays_the_same_from_release_to_release() -> None:
    assert template_hash(SPEC) == "b9c8a0c3b9"  # learned values are kept under it
