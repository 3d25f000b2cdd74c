"""Where notifications go. Each kind is a function that makes a `Deliver`; one delivery is one call."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import structlog

from autopilot.adapters.http import HttpClient, HttpError, HttpOptions, origin
from autopilot.domain.operations import Tell
from autopilot.ports import DeliveryFailed

Deliver: TypeAlias = Callable[[Tell, datetime], None]
"""Hands a message, told at that wall time, to a receiver. Raises DeliveryFailed, or Undeliverable."""

_DEADLINE = 5.0  # seconds; receivers are served one after the other
_ANOTHER_TIME = {401, 403, 404, 408, 425, 429}  # refusals of the place, the moment or the token, not of this message

_log = structlog.get_logger(__name__)


class Undeliverable(DeliveryFailed):
    """The receiver does not want this message, today or tomorrow."""


def to_file(path: Path) -> Deliver:
    """Append one JSON line per message. Two processes may share the file."""

    def deliver(message: Tell, told: datetime) -> None:
        line = _as_json(message, told) + b"\n"
        try:
            with path.open("ab", buffering=0) as file:
                written = file.write(line)
        except OSError as error:
            problem = f"{path}: cannot be written: {error}"
            raise DeliveryFailed(problem) from error
        if written != len(line):
            problem = f"{path}: {written} of {len(line)} bytes fitted; make room on the disk"
            raise DeliveryFailed(problem)

    return deliver


def to_log(name: str) -> Deliver:
    """Write the message as a warning in our own log, under the receiver's name."""

    def deliver(message: Tell, told: datetime) -> None:
        _log.warning("notification", receiver=name, key=message.key, title=message.title, text=message.text, told=told.isoformat())

    return deliver


def to_webhook(url: str, options: HttpOptions) -> Deliver:
    """POST the message as JSON: `{key, title, text, told}`. A 2xx answer is delivery."""
    client = HttpClient(options)

    def deliver(message: Tell, told: datetime) -> None:
        try:
            status = client.request("POST", url, body=_as_json(message, told), deadline_seconds=_DEADLINE).status
        except HttpError as error:
            raise DeliveryFailed(str(error)) from error
        if not 200 <= status < 300:
            final = 400 <= status < 500 and status not in _ANOTHER_TIME
            problem = f"POST {origin(url)}: it answers {status}; look at the receiver's address and token"
            raise (Undeliverable if final else DeliveryFailed)(problem)

    return deliver


def _as_json(message: Tell, told: datetime) -> bytes:
    return json.dumps({"key": message.key, "title": message.title, "text": message.text, "told": told.isoformat()}).encode()
