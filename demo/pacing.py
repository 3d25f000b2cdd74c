"""The numbers of the demo, chosen by measurement on two cores, and what each is for.

TTFT at the client, Poisson arrivals through vllm-router (round robin), one run of 30 to 40 s each. Other work kept both
cores fully busy meanwhile, so an idle machine does better; an engine itself used 0.15 of a core.

| replicas | slots each | requests/s | p50 | p90 | p90 of the second half |
|---|---|---|---|---|---|
| 1 | 12 | 2 | 0.18 s | 0.24 s | 0.22 s |
| 1 | 12 | 2, while another engine starts | 0.17 s | 0.23 s | 0.22 s |
| 1 | 12 | 6 | 3.90 s | 7.77 s | 7.94 s, growing |
| 2 | 12 | 6 | 0.19 s | 0.26 s | 0.33 s |
| 2 | 12 | 8 | 0.21 s | 0.95 s | 0.59 s |
| 1 on a shared device | 12 | 6 | 4.80 s | 8.87 s | 9.05 s, growing |
| 2 on a shared device | 12 | 6 | 2.96 s | 6.04 s | 6.31 s, growing: no help |
| 1 on a shared device | 32 | 6 | 0.22 s | 0.34 s | 0.35 s |
"""

from __future__ import annotations

import json
from pathlib import Path

STEP_SECONDS = 0.07  # long against the 6 ms a step really costs here, so that replicas do not slow each other down
TOKEN_SECONDS = 0.0001  # a 400-character prompt adds 40 ms: a prefix cache hit shows, a prefill does not stall the others
MAX_NUM_SEQS = 12  # slots: few enough that one replica ends at about 4.6 requests/s, enough to even out Poisson arrivals
MORE_NUM_SEQS = 32  # the other way out when replicas share a device: more requests in each of its steps
PROMPT_CHARS = 400  # about 380 tokens: random letters hardly merge
OUTPUT_TOKENS = 24  # 24 steps of 70 ms and more: an answer takes about 2 s
MAX_MODEL_LEN = 2048  # more than any prompt of the demo
KV_CACHE_BYTES = 4 * 2**20  # 16,384 tokens: 12 full slots use 30 %, so the usage moves; the default gigabyte shows nothing

EASY_RATE = 2.0  # requests/s that one replica carries with room to spare, also while another one starts beside it
HARD_RATE = 6.0  # requests/s that one cannot carry and two can; 20 s of it are 120 samples, enough for a p90
SLO_SECONDS = 0.5  # TTFT: an idle engine needs 0.15 s, so it is met with room or clearly missed
TTFT_BUCKETS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 20.0)  # 0.5 is an edge

START_BOUND_SECONDS = 180.0  # start to healthy: 23 s alone, 27 s beside a serving one, 70 s on busy cores
SHUTDOWN_SECONDS = 10  # an answer takes 2 s; idle or not, the processes are gone about 6 s after SIGTERM
STOP_BOUND_SECONDS = 30.0  # the time to drain and to end, and as much again

# OMP: one thread, since the arithmetic is nothing. The hub is never asked: the model is on disk. PACED_ENGINE_LOCK is apart.
ENGINE_ENVIRONMENT = {
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
# By its class and not as "uni", which vLLM turns back into a worker process on a CPU: one process less is 600 MB less and
# a start 12 s shorter, because each process imports torch and vLLM anew.
EXECUTOR = "vllm.v1.executor.uniproc_executor.UniProcExecutor"
ROUTER_FLAGS = (
    "--policy", "round_robin",  # power_of_two refuses to start with fewer than two replicas
    "--health-check-interval-secs", "2",  # default 60: a dead replica would stay in the rotation for minutes
    "--worker-startup-check-interval", "1",  # default 30: add_worker would look that seldom
)  # fmt: skip


def engine_flags(model: Path, *, port: int, max_num_seqs: int = MAX_NUM_SEQS) -> tuple[str, ...]:
    """Give the arguments of `python -m vllm.entrypoints.openai.api_server` for one replica on loopback."""
    buckets = json.dumps({"time_to_first_token": TTFT_BUCKETS})
    return (
        "--model", str(model), "--served-model-name", "demo", "--host", "127.0.0.1", "--port", str(port),
        "--enforce-eager", "--distributed-executor-backend", EXECUTOR, "--max-model-len", str(MAX_MODEL_LEN),
        "--max-num-seqs", str(max_num_seqs), "--kv-cache-memory-bytes", str(KV_CACHE_BYTES),
        "--shutdown-timeout", str(SHUTDOWN_SECONDS), "--custom-histogram-buckets", buckets,
    )  # fmt: skip
