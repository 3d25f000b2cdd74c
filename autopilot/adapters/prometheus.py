"""Port `Source` on Prometheus's HTTP API: the only importer of prometheus_api_client.

Also read this way: Thanos, Mimir, VictoriaMetrics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prometheus_api_client import PrometheusConnect
from pydantic_core import from_json

from autopilot.adapters.http import BoundedSession, HttpClient, HttpError, HttpLate, Response, origin
from autopilot.adapters.prometheus_rows import NoSampleError, read_number, read_rows
from autopilot.domain.samples import Answer, NativeSample, Sample
from autopilot.ports import QueryFailed, QueryLate

SERIES_LIMIT = 500  # a query of ours has 50 series a fleet; many more means that it groups by the wrong label
SERIES_BYTES = 250  # of an answer, with labels of ordinary length
LEAST_BYTES = 2**20  # 500 series with labels of 2 kB; a few of these at once are all that a server gone mad may cost
READY_SECONDS = 2.0  # a server that is up answers both questions in milliseconds
_SHOWN = 200  # characters of a query or an error that a message shows
_HINTS: Mapping[int, str] = {
    400: "correct the query",
    401: "check the credentials of this source",
    403: "check the credentials of this source",
    404: "check the path of this source's address",
    422: "correct the query",
    429: "it is asked again next tick; raise the limit of what refused it",
    503: "it may be starting or overloaded; it is asked again next tick",
}


@dataclass(frozen=True, slots=True)
class PrometheusSource:
    """A Prometheus server at `url`, with the path prefix that it may have; safe to use from any number of threads at once.

    A query that gives more than `series_limit` series fails: what is cut off would be missing data.
    """

    url: str
    http: HttpClient = field(default_factory=HttpClient)
    series_limit: int = SERIES_LIMIT

    def limited(self, series: int) -> "PrometheusSource":
        """The same server under another limit of series a query, and of the body that can hold them."""
        options = replace(self.http.options, body_limit=max(LEAST_BYTES, series * SERIES_BYTES))
        return replace(self, series_limit=series, http=replace(self.http, options=options))

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        """The instant vector of `query` at Unix time `at`; a scalar comes back as one sample without labels.

        Ends within `deadline_seconds` (+0.2 s); nothing is tried twice.
        Raises QueryLate, or QueryFailed for everything else that is not a whole instant vector or scalar.
        """
        asked = f"query {_short(query)!r} to {origin(self.url)}"
        try:
            response = self._post(query, at, deadline_seconds)
            return _answer(response, self.series_limit)
        except HttpLate as error:
            message = f"{asked}: no answer within {deadline_seconds:g} s ({error})"
            raise QueryLate(message) from error
        except HttpError as error:
            message = f"{asked}: {error}"
            raise QueryFailed(message) from error
        except _UnusableError as error:
            failure = QueryLate if error.late else QueryFailed
            message = f"{asked}: {error}"
            raise failure(message) from error

    def ready(self) -> bool:
        """Whether it says so and answers a query, within 4 s. Never raises.

        A server without the page /-/ready (404) is judged by the query alone.
        """
        try:
            page = self.http.request("GET", f"{self.url.rstrip('/')}/-/ready", deadline_seconds=READY_SECONDS)
            if page.status not in {200, 404}:
                return False
            now = self.http.clock.wall().timestamp()
            return len(self.instant("vector(1)", at=now, deadline_seconds=READY_SECONDS).samples) == 1
        except (HttpError, QueryFailed):
            return False

    def _post(self, query: str, at: float, deadline_seconds: float) -> Response:
        with self.http.session(deadline_seconds) as session:
            return _Connection(self.url.rstrip("/"), session).query(query, at=at, timeout_seconds=deadline_seconds)


class _UnusableError(Exception):
    """An answer came, and it is no instant vector. The message says what came and what to do."""

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


class _Connection(PrometheusConnect):  # type: ignore[misc]  # the package has no complete types
    """The declared client with one safe query.

    Its own `custom_query` puts the query into the URL, and drops warnings, the type of the result and the error text.
    """

    def __init__(self, url: str, session: BoundedSession) -> None:
        super().__init__(url, session=session)
        self._bounded = session

    def query(self, promql: str, *, at: float, timeout_seconds: float) -> Response:
        """Ask as a form, so that a query may be long; the server gives up when we do. Raises HttpError.

        Without `nocache`, VictoriaMetrics answers for half a minute ago; others do not know the word.
        """
        form = {"query": promql, "time": f"{at:.3f}", "timeout": f"{timeout_seconds:.3f}", "nocache": "1"}
        answer = self._bounded.post(f"{self.url}/api/v1/query", data=form)
        return Response(status=answer.status_code, body=answer.content)


def _answer(response: Response, series_limit: int) -> Answer:
    """The whole answer. Raises _UnusableError."""
    envelope = _envelope(response)
    match envelope.get("data"):
        case {"resultType": "vector", "result": list(rows)}:
            samples, natives = _rows(rows, series_limit)
            return Answer(samples, _warnings(envelope), natives)
        case {"resultType": "scalar", "result": list(point)}:
            return Answer((_scalar(point),), _warnings(envelope))
        case {"resultType": str(kind)}:
            message = f"it gives a {_short(kind)}, and only vectors and scalars can be judged; correct the query"
        case _:
            message = f"it answers without a result: {response.excerpt!r}; is this the address of a Prometheus server?"
    raise _UnusableError(message)


def _envelope(response: Response) -> Mapping[str, Any]:
    """The JSON object of a successful answer. Raises _UnusableError."""
    try:
        envelope = from_json(response.body)  # pydantic's parser: it keeps one copy of a label that comes 100,000 times
    except ValueError:
        envelope = None  # a page of a proxy, or half an answer
    match envelope:
        case {"status": "success"} if response.status == 200:
            return dict(envelope)
        case {"status": "error"}:
            kind, text = _short(envelope.get("errorType", "error")), _short(envelope.get("error", "no reason given"))
            message = f"it answers {response.status} {kind}: {text}; {_hint(response.status)}"
            raise _UnusableError(message, late=kind == "timeout")
        case _:
            message = f"it answers {response.status} with {response.excerpt!r}; {_hint(response.status)}"
            raise _UnusableError(message)


def _hint(status: int) -> str:
    return _HINTS.get(status, "look at the server, at its address and at the proxies before it")


def _warnings(envelope: Mapping[str, Any]) -> tuple[str, ...]:
    """What makes an answer doubtful. `infos` are remarks on style, such as a counter that is not named _total."""
    match envelope.get("warnings"):
        case None:
            return ()
        case list(texts):
            return tuple(str(text) for text in texts)
        case other:
            return (str(other),)


def _rows(rows: Sequence[Any], series_limit: int) -> tuple[tuple[Sample, ...], tuple[NativeSample, ...]]:
    """The rows of a vector, numbers and native histograms apart. Raises _UnusableError."""
    if len(rows) > series_limit:
        message = f"it gives {len(rows)} series and the limit is {series_limit}; group by fewer labels"
        raise _UnusableError(message)
    try:
        return read_rows(rows)
    except NoSampleError as error:
        raise _UnusableError(str(error)) from error


def _scalar(point: Sequence[Any]) -> Sample:
    try:
        return read_number({"metric": {}, "value": point})
    except NoSampleError as error:
        raise _UnusableError(str(error)) from error


def _short(text: object) -> str:
    return " ".join(str(text).split())[:_SHOWN]
