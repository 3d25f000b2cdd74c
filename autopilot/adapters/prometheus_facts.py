"""Ports `SourceFacts` and `Past` on Prometheus's HTTP API: what is asked of a server when something is set up.

The loop's own question is in `prometheus.py`. A server is asked for its own clock with `nocache`, or VictoriaMetrics
would answer for a while ago.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from pydantic_core import from_json

from autopilot.adapters.http import HttpClient, HttpError, HttpLate, Response, origin
from autopilot.domain.samples import Build, Track
from autopilot.ports import QueryFailed, QueryLate

BODY_LIMIT = 64 * 2**20  # bytes: six hours of a fleet's histogram are 2 MB, a large server's metric names 5 MB
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_SHOWN = 200  # characters


@dataclass(frozen=True, slots=True)
class PrometheusFacts:
    """A server at `url`, reached as `http` says; safe to use from several threads."""

    url: str
    http: HttpClient = field(default_factory=HttpClient)

    def build(self, *, deadline_seconds: float) -> Build:
        """Its product and version; VictoriaMetrics names itself on its own page of metrics."""
        try:
            told = self._data("GET", "status/buildinfo", {}, deadline_seconds)
        except QueryFailed as error:
            if "answers 404" not in str(error):
                raise
            told = {}  # an old server, or a proxy of queries alone
        version = str(told.get("version", "")) if isinstance(told, Mapping) else ""
        own = self._victoria(deadline_seconds)
        return Build("VictoriaMetrics", own) if own else Build("Prometheus" if version else "", version)

    def now(self, *, deadline_seconds: float) -> float:
        """Its own clock, in Unix seconds."""
        match self._data("POST", "query", {"query": "time()", "nocache": "1"}, deadline_seconds):
            case {"result": [_, str(value)]} | {"result": [{"value": [_, str(value)]}]}:
                return float(value)
            case other:
                message = f"query 'time()' to {origin(self.url)}: it answers {_short(other)}; is this the address of a Prometheus server?"
                raise QueryFailed(message)

    def label_names(self, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        """The labels of the series that a selector matches."""
        return self._words("labels", {"match[]": matching, "start": f"{since:.0f}"}, deadline_seconds)

    def label_values(self, label: str, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        """The values of one label on those series."""
        form = {"match[]": matching, "start": f"{since:.0f}"} if matching else {"start": f"{since:.0f}"}
        return self._words(f"label/{label}/values", form, deadline_seconds)

    def between(self, query: str, *, start: float, end: float, step_seconds: float, deadline_seconds: float) -> tuple[Track, ...]:
        """The query at every step; a scalar is one series without labels."""
        form = {
            "query": query,
            "start": f"{start:.3f}",
            "end": f"{end:.3f}",
            "step": f"{step_seconds:.3f}",
            "timeout": f"{deadline_seconds:.3f}",
            "nocache": "1",
        }
        data = self._data("POST", "query_range", form, deadline_seconds)
        try:
            return tuple(Track(row["metric"], _points(row["values"])) for row in data["result"])
        except (KeyError, TypeError, ValueError):
            message = f"range of {_short(query)!r} from {origin(self.url)}: it answers {_short(data)}; only vectors can be judged"
            raise QueryFailed(message) from None

    def _victoria(self, deadline_seconds: float) -> str:
        """The version that VictoriaMetrics shows of itself, empty where another product answers."""
        try:
            page = self._asking().request("GET", f"{self.url.rstrip('/')}/metrics", deadline_seconds=deadline_seconds)
        except HttpError:
            return ""
        for line in page.body.decode("utf-8", "replace").splitlines():
            if line.startswith("vm_app_version{"):
                return next((part.split('"')[1] for part in line.split(",") if "short_version=" in part), "unknown")
        return ""

    def _words(self, path: str, form: Mapping[str, str], deadline_seconds: float) -> tuple[str, ...]:
        words = self._data("GET", path, form, deadline_seconds)
        return tuple(str(word) for word in words) if isinstance(words, list) else ()

    def _data(self, method: str, path: str, form: Mapping[str, str], deadline_seconds: float) -> Any:
        """What an answer holds. Raises QueryLate or QueryFailed."""
        asked = f"{path} of {origin(self.url)}"
        url = f"{self.url.rstrip('/')}/api/v1/{path}"
        body = urlencode(form).encode() if method == "POST" else None
        try:
            whole = url if body is not None or not form else f"{url}?{urlencode(form)}"
            response = self._asking().request(method, whole, body=body, deadline_seconds=deadline_seconds)
        except HttpLate as error:
            message = f"{asked}: {error}"
            raise QueryLate(message) from error
        except HttpError as error:
            message = f"{asked}: {error}"
            raise QueryFailed(message) from error
        return _opened(response, asked)

    def _asking(self) -> HttpClient:
        options = self.http.options
        return replace(self.http, options=replace(options, headers={**options.headers, **_FORM}, body_limit=BODY_LIMIT))


def _opened(response: Response, asked: str) -> Any:
    try:
        envelope = from_json(response.body)
    except ValueError:
        envelope = None
    match envelope:
        case {"status": "success", "data": data} if response.status == 200:
            return data
        case {"status": "error"}:
            said = _short(envelope.get("error", "no reason given"))
        case _:
            said = repr(response.excerpt)
    message = f"{asked}: it answers {response.status}: {said}"
    raise QueryFailed(message)


def _points(values: list[Any]) -> tuple[tuple[float, float], ...]:
    return tuple((float(at), float(value)) for at, value in values)


def _short(text: object) -> str:
    return " ".join(str(text).split())[:_SHOWN]
