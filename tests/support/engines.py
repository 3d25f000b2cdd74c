"""A stand-in for a vLLM server: the same doors, none of the arithmetic, and every bad habit on demand.

Run as a program: `python tests/support/engines.py --model M --host H --port P [--start-seconds S] …`. What it
does while it runs is changed by POST /control with a JSON object of the fields of `Mood`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROGRAM = (sys.executable, "-E", "-S", os.path.abspath(__file__))  # noqa: PTH100 - the child imports nothing but what it needs
LONG = 3600.0


@dataclass
class Mood:
    """What the stand-in does now."""

    health: int = 200
    health_seconds: float = 0.0
    metrics: bool = True
    stalled: bool = False
    waiting: int = 0
    completions: int = 200
    die: bool = False


class Engine:
    def __init__(self, window: int) -> None:
        self.window = window
        self.mood = Mood()
        self.steps = 0
        self.served: list[int] = []  # prompt lengths
        self.released = threading.Event()

    def metrics(self) -> str:
        rows = {"iteration_tokens_total_count": self.steps, "num_requests_running": 0, "num_requests_waiting": self.mood.waiting}
        return "".join(f'vllm:{name}{{engine="0",model_name="fake"}} {float(value)}\n' for name, value in rows.items())

    def change(self, wanted: dict[str, Any]) -> None:
        for field in fields(Mood):
            if field.name in wanted:
                setattr(self.mood, field.name, wanted[field.name])
        if self.mood.die:
            os._exit(3)
        if not self.mood.stalled:
            self.released.set()

    def complete(self, prompt: list[int]) -> tuple[int, dict[str, Any]]:
        if self.mood.stalled:
            self.released.clear()
            self.released.wait(LONG)
        if len(prompt) >= self.window:
            return 400, {"error": "maximum context length"}
        self.steps += 1
        self.served.append(len(prompt))
        return self.mood.completions, {"choices": [{"text": "x"}], "pid": os.getpid()}


class Handler(BaseHTTPRequestHandler):
    engine: Engine

    def do_GET(self) -> None:
        mood = self.engine.mood
        if self.path == "/health":
            threading.Event().wait(mood.health_seconds)
            self._answer(mood.health, "")
        elif self.path == "/metrics" and mood.metrics:
            self._answer(200, self.engine.metrics())
        elif self.path == "/v1/models":
            self._answer(200, json.dumps({"data": [{"id": "fake", "max_model_len": self.engine.window}]}))
        elif self.path == "/served":
            self._answer(200, json.dumps({"prompts": self.engine.served, "env": dict(os.environ), "argv": sys.argv}))
        else:
            self._answer(404, "")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        if self.path == "/control":
            self.engine.change(body)
            self._answer(200, "")
        elif self.path == "/v1/completions":
            prompt = body.get("prompt", [])
            status, answer = self.engine.complete(prompt if isinstance(prompt, list) else list(prompt.encode()))
            self._answer(status, json.dumps(answer))
        else:
            self._answer(404, "")

    def _answer(self, status: int, body: str) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing: the log of a stand-in holds only what a test looks for."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--max-model-len", type=int, default=2048)
    parser.add_argument("--start-seconds", type=float, default=0.0)
    parser.add_argument("--crash", default=None, help="say this and exit instead of serving")
    parser.add_argument("--ignore-sigterm", action="store_true")
    parser.add_argument("--orphan", action="store_true", help="have a child that ends with nobody, as an engine core does")
    return parser


def main() -> None:
    asked, _ = _parser().parse_known_args()
    if asked.orphan:
        # No environment: an engine core renames itself, and /proc then shows none of it.
        sleeper = f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep({LONG})"
        subprocess.Popen([sys.executable, "-E", "-S", "-c", sleeper], env={})
    if asked.crash is not None:
        print("\n".join(f"line {number}" for number in range(30)), asked.crash, sep="\n", flush=True)  # noqa: T201 - its log
        sys.exit(1)
    if asked.ignore_sigterm:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait(asked.start_seconds)
    Handler.engine = Engine(asked.max_model_len)
    with ThreadingHTTPServer(("127.0.0.1", asked.port), Handler) as server:
        server.daemon_threads = True
        server.serve_forever()


if __name__ == "__main__":
    main()
