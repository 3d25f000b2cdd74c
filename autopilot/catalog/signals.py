"""Every signal: its meaning, its unit, which direction is worse, and the series it is made of.

A new signal is one row here and one recipe in `recipes.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["seconds", "ratio", "requests", "per_second", "tokens", "replicas", "steps"]
Form: TypeAlias = Literal["histogram", "gauge", "rate", "ratio"]
Worse: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class SignalKind:
    """What a signal is.

    `metrics` are the series it is made of, as Prometheus shows them, the newest name first; a histogram is
    named without `_bucket`. `form` says how its window is read: a histogram and a rate need one, a gauge
    without one is its newest value. `symptom`: users feel it. `latency`: users feel it as time.
    """

    name: str
    meaning: str
    unit: Unit
    form: Form
    metrics: tuple[str, ...]
    latency: bool = False
    symptom: bool = False
    worse: Worse = "higher"


RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
FINISHED = "vllm:request_success_total"
PROMPT_TOKENS = "vllm:prompt_tokens_total"
GENERATION_TOKENS = "vllm:generation_tokens_total"
STEPS = "vllm:iteration_tokens_total"  # a histogram, whatever its name says
READ_BYTES = "vllm:estimated_read_bytes_per_gpu_total"
WRITE_BYTES = "vllm:estimated_write_bytes_per_gpu_total"
HTTP_REQUESTS = "http_requests_total"
REJECTIONS = "vllm:admission_rejections_total"


def _latency(name: str, meaning: str, metric: str) -> SignalKind:
    """A histogram of seconds that users feel."""
    return SignalKind(name, meaning, "seconds", "histogram", (metric,), latency=True, symptom=True)


_ROWS = (
    _latency("ttft", "time to first token, tokenizing and queue included", "vllm:time_to_first_token_seconds"),
    _latency("queue_time", "from queued to first scheduled", "vllm:request_queue_time_seconds"),
    _latency("prefill_time", "from first scheduled to first token", "vllm:request_prefill_time_seconds"),
    _latency("itl", "gap between two output tokens", "vllm:inter_token_latency_seconds"),
    _latency("tpot", "mean time per output token of a request", "vllm:request_time_per_output_token_seconds"),
    _latency("e2e_latency", "from arrival to last token", "vllm:e2e_request_latency_seconds"),
    SignalKind("input_length", "prompt length of finished requests", "tokens", "histogram", ("vllm:request_prompt_tokens",)),
    SignalKind("output_length", "output length of finished requests", "tokens", "histogram", ("vllm:request_generation_tokens",)),
    SignalKind("up", "the scrape of a replica works: 1 or 0; the fleet's is the share of them", "ratio", "gauge", ("up",), worse="lower"),
    SignalKind("running", "requests in the running batch", "requests", "gauge", (RUNNING,)),
    SignalKind("waiting", "requests queued in the engine", "requests", "gauge", (WAITING,), symptom=True),
    SignalKind("waiting_per_replica", "waiting requests per replica that reports", "requests", "gauge", (WAITING,), symptom=True),
    SignalKind("in_flight", "running and waiting requests", "requests", "gauge", (RUNNING, WAITING)),
    SignalKind("in_flight_growth", "change of in_flight per second; may be negative", "per_second", "rate", (RUNNING, WAITING)),
    SignalKind(
        "engine_steps", "engine steps made in the window", "steps", "rate", (STEPS, PROMPT_TOKENS, GENERATION_TOKENS), worse="lower"
    ),
    SignalKind(
        "stalled_replicas",
        "replicas that have requests and made no engine step for 60 s",
        "replicas",
        "gauge",
        (STEPS, RUNNING, WAITING),
        symptom=True,
    ),
    SignalKind("request_rate", "requests finished per second", "per_second", "rate", (FINISHED,)),
    SignalKind("prompt_token_rate", "prompt tokens per second", "per_second", "rate", (PROMPT_TOKENS,)),
    SignalKind("generation_token_rate", "output tokens per second", "per_second", "rate", (GENERATION_TOKENS,)),
    SignalKind("error_ratio", "share of requests that ended in an error", "ratio", "ratio", (HTTP_REQUESTS, FINISHED), symptom=True),
    SignalKind("rejected", "requests turned away by a queue limit", "per_second", "rate", (REJECTIONS,), symptom=True),
    SignalKind(
        "server_errors",
        "requests for tokens answered with 5xx; those that a queue limit turned away are not among them",
        "per_second",
        "rate",
        (HTTP_REQUESTS, REJECTIONS),
        symptom=True,
    ),
    SignalKind(
        "refused",
        "requests for tokens answered with 4xx (a prompt that is too long, say), and those that a queue limit turned away",
        "per_second",
        "rate",
        (HTTP_REQUESTS, REJECTIONS),
        symptom=True,
    ),
    SignalKind("preemptions", "requests put back for lack of KV cache", "per_second", "rate", ("vllm:num_preemptions_total",)),
    SignalKind(
        "prefix_hit_ratio",
        "share of prompt tokens found in the prefix cache",
        "ratio",
        "ratio",
        ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
        worse="lower",
    ),
    SignalKind("kv_usage", "share of KV cache blocks in use; the fleet's is the mean", "ratio", "gauge", ("vllm:kv_cache_usage_perc",)),
    SignalKind(
        "bandwidth_utilization",
        "estimated memory traffic per GPU against the card's peak",
        "ratio",
        "ratio",
        (READ_BYTES, WRITE_BYTES),
    ),
)

SIGNALS: Mapping[str, SignalKind] = MappingProxyType({kind.name: kind for kind in _ROWS})
