"""The doctor's own words on a fleet that is well and on those that are not: `python -m tests.integration.doctor.show`."""

import tempfile
from pathlib import Path

from autopilot.adapters.clock import SystemClock
from tests.integration.doctor.wards import GOOD, ILL, WELL, in_history, written
from tests.support.openmetrics import openmetrics
from tests.support.prometheus import PrometheusServer, free_port, in_bin_dir, on_path
from tests.unit.cli.running import called


def main() -> None:
    """Print what it says of each fleet, under each Prometheus that is there."""
    now = SystemClock().wall().timestamp()
    for binaries in filter(None, (on_path(), in_bin_dir())):
        with PrometheusServer(binaries, history=openmetrics(in_history(now))) as server, tempfile.TemporaryDirectory() as folder:
            for ward in (*WELL, *ILL):
                _show(ward.name, folder, written(Path(folder) / ward.name, server.url, ward))
            _show("source-down", folder, written(Path(folder) / "down", f"http://127.0.0.1:{free_port()}", GOOD))


def _show(name: str, folder: str, config: Path) -> None:
    result = called("doctor", "--config", str(config))
    print(f"\n$ autopilot doctor   # {name}\n{result.output.replace(folder, '.')}exit {result.exit_code}")  # noqa: T201


if __name__ == "__main__":
    main()
