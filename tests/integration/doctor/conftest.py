"""One server for each version of Prometheus, with every fleet in its history around now."""

from collections.abc import Iterator

import pytest

from autopilot.adapters.clock import SystemClock
from tests.integration.doctor.wards import in_history
from tests.support.openmetrics import openmetrics
from tests.support.prometheus import Binaries, PrometheusServer, binaries

__all__ = ["binaries"]


@pytest.fixture(scope="session")
def server(binaries: Binaries) -> Iterator[PrometheusServer]:
    now = SystemClock().wall().timestamp()
    with PrometheusServer(binaries, history=openmetrics(in_history(now))) as running:
        yield running
