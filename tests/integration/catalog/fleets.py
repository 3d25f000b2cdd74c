"""The fleets of the history: each of them shows one thing."""

from datetime import timedelta
from math import inf, nan

from autopilot.catalog.queries import Need
from tests.integration.catalog.scenes import MINUTE, NOW, Pod, Scene


def resting(name: str) -> Pod:
    """A replica with nothing to do."""
    return Pod(name, running=0.0, waiting=0.0, finished=0.0, steps=0.0)


EVERYTHING = frozenset(
    Need(signal, MINUTE)
    for signal in ("kv_usage", "error_ratio", "prefix_hit_ratio", "prompt_token_rate", "generation_token_rate", "preemptions")
)
RANDOM = tuple(
    Scene(f"random-{number}", tuple(Pod(f"random-{number}-{pod}", finished=0.2 + 0.37 * number) for pod in range(2)))
    for number in range(24)
)

BUSY = Scene("busy", tuple(Pod(f"busy-{number}") for number in range(3)), needs=EVERYTHING)
IDLE = Scene("idle", tuple(resting(f"idle-{number}") for number in range(2)), needs=frozenset({Need("ttft", timedelta(minutes=5))}))
LONG = Scene("long-generation", (Pod("long-0", running=1.0, waiting=0.0, finished=0.0), resting("long-1")))
STALLED = Scene("stalled", (Pod("stalled-0", steps=0.0, finished=0.0), Pod("stalled-1"), Pod("stalled-2")))
ENGINES = Scene("engines", (Pod("engines-0", engines=("0", "1")), Pod("engines-1"), Pod("engines-2", engines=("0", "1"), stuck=("1",))))
GHOST = Scene("ghost", (Pod("ghost-0"), Pod("ghost-1", running=50.0, until=NOW - 30)), live=("ghost-0",))
STALE = Scene("stale", (*(Pod(f"stale-{number}") for number in range(5)), Pod("stale-old", until=NOW - 90)))
DOWN = Scene("down", (Pod("down-0"), Pod("down-1", up=0.0)))
SILENT_ONE = Scene(
    "one-silent", (Pod("kv-0", kv=None), Pod("kv-1"), Pod("kv-2")), needs=frozenset({Need("kv_usage"), Need("kv_usage", MINUTE)})
)
SILENT_TWO = Scene("two-silent", (Pod("two-0", kv=None), Pod("two-1", kv=None), Pod("two-2")), needs=frozenset({Need("kv_usage")}))
RESTARTED = Scene("restarted", (Pod("again-0", restarts_at=NOW - 30), Pod("again-1")))
MIXED = Scene("mixed-edges", (Pod("mixed-0", edges=(0.1, 0.25, 1.0)), Pod("mixed-1", edges=(0.1, 0.5, 1.0))))
NO_HISTOGRAM = Scene("no-histogram", (Pod("none-0", ttft=None), Pod("none-1", ttft=None)))
ODD = tuple(
    Scene(name, (Pod("odd-0", running=3.0),))
    for name in ('quo"te', "back\\slash", "new\nline", 'br{ace}="x"', "a|b", "a.*", "$by", "ünïcode�", "\\n", "plus+", "(", "[a-z]")
)
PLAIN = tuple(Scene(name, (Pod("plain-0", running=7.0),)) for name in ("a", "b", "ab", "newline", "backslash", "n", "c"))
ERRORS = Scene(
    "errors",
    (
        Pod(
            "errors-0",
            extra={
                "vllm:prefix_cache_hits_total": 30.0,
                "vllm:prefix_cache_queries_total": 40.0,
                "vllm:prompt_tokens_total": 40.0,
                "vllm:estimated_read_bytes_per_gpu_total": 4e11,
                "vllm:estimated_write_bytes_per_gpu_total": 1e11,
            },
        ),
    ),
    needs=frozenset(Need(signal, MINUTE) for signal in ("prefix_hit_ratio", "prompt_token_rate", "bandwidth_utilization", "error_ratio")),
    peak_bandwidth=1e12,
)

SPARSE = Scene("sparse", (Pod("sparse-0", finished=1 / 240, ttft=lambda _: 12.0), Pod("sparse-1", finished=1 / 240, ttft=lambda _: 0.2)))
OVER_THE_TOP = Scene("over-the-top", (Pod("top-0", finished=500 / 240, ttft=lambda source: 200.0 if source.random() < 0.03 else 0.2),))
AMBIGUOUS = Scene("ambiguous", (Pod("between-0", finished=500 / 240, ttft=lambda source: 0.35 if source.random() < 0.1 else 0.2),))
NOT_FINITE = tuple(
    Scene(name, (Pod(f"{name}-0", kv=value),), needs=frozenset({Need("kv_usage"), Need("kv_usage", MINUTE)}))
    for name, value in (("nan", nan), ("inf", inf), ("minus-inf", -inf))
)

SCENES = (
    *(SPARSE, OVER_THE_TOP, AMBIGUOUS),
    *NOT_FINITE,
    *RANDOM,
    *(BUSY, IDLE, LONG, STALLED, ENGINES, GHOST, STALE, DOWN, SILENT_ONE, SILENT_TWO, RESTARTED, MIXED, NO_HISTOGRAM, ERRORS),
    *ODD,
    *PLAIN,
)
