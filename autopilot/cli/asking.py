"""Questions to a running daemon."""

import json
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlencode

import typer

from autopilot.adapters.http import HttpClient, HttpError, HttpOptions, HttpRefused, Response
from autopilot.domain.workloads import FleetRef

DEFAULT_SERVER = "http://127.0.0.1:9797"
SECONDS = 10.0  # for a whole answer; a daemon on the same machine takes milliseconds
BODY_LIMIT = 64 * 2**20  # bytes; 1,000 fleets of ten replicas take some 5 MB

Server = Annotated[str, typer.Option("--server", envvar="AUTOPILOT_SERVER", help="The daemon's address.")]


class NoAnswer(Exception):  # noqa: N818  # as the ports' errors: it reads as what it says
    """The daemon did not answer, or not with what was asked for."""


def ask(server: str, path: str, query: Mapping[str, str | int]) -> str:
    """The JSON text of an answer. Raises NoAnswer, which says what to do."""
    url = f"{server.rstrip('/')}{path}{'?' + urlencode(query) if query else ''}"
    try:
        response = HttpClient(HttpOptions(body_limit=BODY_LIMIT)).request("GET", url, deadline_seconds=SECONDS)
    except HttpRefused as error:
        message = f"{server}: nobody listens there; start it with autopilot run, or name another with --server"
        raise NoAnswer(message) from error
    except HttpError as error:
        message = f"{error}; name another daemon with --server"
        raise NoAnswer(message) from error
    if response.status != 200:
        message = f"{server}: {_complaint(response)}"
        raise NoAnswer(message)
    return response.body.decode("utf-8", "replace")


def no_autopilot(server: str) -> NoAnswer:
    """What answers there speaks another language."""
    return NoAnswer(f"{server}: what answers there is no autopilot of this version; name another with --server")


def fleet_named(text: str) -> FleetRef:
    """A fleet as an argument. A usage error for anything else."""
    try:
        return FleetRef.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _complaint(response: Response) -> str:
    try:
        told = json.loads(response.body)
        detail, known = str(told["detail"]), [str(name) for name in told.get("known", ())]
    except (ValueError, TypeError, KeyError, AttributeError):
        return f"answered {response.status}: {response.excerpt}"
    if response.status == 404 and "known" in told:
        return f"{detail}; there are: {', '.join(known) or 'none yet'}"
    return f"answered {response.status}: {detail}"
