"""The router of one fleet: vllm-router's command line, and its list of workers kept true."""

import json
from dataclasses import dataclass
from urllib.parse import quote

from autopilot.adapters.http import HttpClient, HttpError, HttpRefused

_ADD_SECONDS = 5.0  # the router asks the worker's /health before it takes it in, and tries again for as long as it was told to
_WORKER_WAIT_SECONDS = 4  # so it gives up before we do: no worker comes in after we have stopped looking


class RouterSilentError(Exception):
    """The router did not answer as it should. The message says what was asked and what came back."""


class RouterAbsentError(RouterSilentError):
    """Nothing listens on the router's port: nothing sends anything to anybody."""


def router_argv(prefix: tuple[str, ...], *, port: int, metrics_port: int) -> tuple[str, ...]:
    """The command line of a router without workers; its own metrics stay on loopback, on a port of their own."""
    return (
        *prefix,
        *("--policy", "round_robin", "--host", "127.0.0.1", "--port", str(port)),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", str(metrics_port)),
        *("--worker-startup-timeout-secs", str(_WORKER_WAIT_SECONDS), "--worker-startup-check-interval", "1"),
    )


@dataclass(frozen=True, slots=True)
class Router:
    """A running router."""

    url: str
    http: HttpClient
    answer_seconds: float

    def workers(self) -> frozenset[str]:
        """Who gets traffic. Raises RouterSilentError."""
        answer = self._ask("GET", "/list_workers", self.answer_seconds)
        try:
            return frozenset(str(url).rstrip("/") for url in json.loads(answer)["urls"])
        except (ValueError, LookupError, TypeError) as error:
            message = f"GET {self.url}/list_workers: answered {answer[:80]!r}, not a list of workers; is this a vllm-router?"
            raise RouterSilentError(message) from error

    def settle(self, wanted: frozenset[str]) -> None:
        """Make its list exactly `wanted`; who must go goes first. Raises RouterSilentError for the last that failed, after all were tried."""
        there = self.workers()
        failure: RouterSilentError | None = None
        calls = [("remove_worker", url, self.answer_seconds) for url in sorted(there - wanted)]
        calls += [("add_worker", url, _ADD_SECONDS) for url in sorted(wanted - there)]
        for call, url, seconds in calls:
            try:
                self._ask("POST", f"/{call}?url={quote(url, safe='')}", seconds)
            except RouterSilentError as error:
                failure = error
        if failure is not None:
            raise failure

    def _ask(self, method: str, path: str, deadline_seconds: float) -> bytes:
        try:
            answer = self.http.request(method, f"{self.url}{path}", deadline_seconds=deadline_seconds)
        except HttpError as error:
            message = f"{method} {path}: {error}"
            absent = isinstance(error, HttpRefused)
            raise (RouterAbsentError if absent else RouterSilentError)(message) from error
        if answer.status != 200 and b"already exists" not in answer.body:
            message = f"{method} {self.url}{path}: answered {answer.status} {answer.body[:80]!r}"
            raise RouterSilentError(message)
        return answer.body
