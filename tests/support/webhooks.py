"""Alertmanager's webhook messages, as it writes them."""

import json
from typing import Any

STARTS = "2026-11-03T10:00:00.123456789Z"
NEVER = "0001-01-01T00:00:00Z"


def alert(fingerprint: str = "c0ffee", *, status: str = "firing", starts: str = STARTS, ends: str = NEVER, **labels: str) -> dict[str, Any]:
    """One alert of a message."""
    named = {"alertname": "SlowFirstToken", **labels}
    return {"status": status, "labels": named, "annotations": {}, "startsAt": starts, "endsAt": ends, "fingerprint": fingerprint}


def message(*alerts: dict[str, Any], **changed: Any) -> bytes:
    """A whole message."""
    whole = {
        "version": "4",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "autopilot",
        "groupLabels": {},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager:9093",
        "notification_reason": "first_notification",
        "alerts": list(alerts),
    }
    return json.dumps({**whole, **changed}).encode()
