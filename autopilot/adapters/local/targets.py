"""The file that tells Prometheus whom to scrape (file_sd, JSON)."""

import json
from collections.abc import Iterable
from pathlib import Path

from autopilot.adapters.local.record import SCRAPED, FleetRecord, write_atomically


def targets(records: Iterable[FleetRecord]) -> bytes:
    """Every replica that serves, drains or is unhealthy; `instance` is its name, so a restart is a new series."""
    groups = [
        {"targets": [f"127.0.0.1:{replica.port}"], "labels": {**dict(record.labels), "instance": replica.name}}
        for record in sorted(records, key=lambda each: each.ref)
        for replica in record.replicas
        if replica.phase in SCRAPED
    ]
    return json.dumps(groups, indent=1).encode() + b"\n"


def publish(path: Path, content: bytes) -> None:
    """Write the file if it says something else. Raises OSError."""
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        pass
    write_atomically(path, content)
