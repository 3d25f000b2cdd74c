"""`autopilot check --online` against real Prometheus: a past of which it is known when an alert would have fired."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.doctor.wards import GOOD, PAST, written
from tests.support.prometheus import PrometheusServer, free_port
from tests.unit.cli.running import called

DAYS = "0.16"  # somewhat less than four hours: all of the past
SLOW_SECONDS = PAST.slow[0] - PAST.slow[1]
GONE_SECONDS = PAST.gone[0] - PAST.gone[1]
STEP = 60.0


@pytest.fixture(scope="module")
def told(server: PrometheusServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("past")
    path = written(folder, server.url, PAST)
    result = called("check", str(folder / "policies"), "--config", str(path), "--online", "--days", DAYS, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)["online"][0]
    return found


def alert(told: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in told["alerts"] if one["alert"] == name)


def test_the_one_breach_fires_once_for_about_as_long_as_it_lasted(told: dict[str, Any]) -> None:
    slow = alert(told, "slow")

    assert slow["fired"] == 1
    assert slow["firingSeconds"] == pytest.approx(SLOW_SECONDS, abs=3 * STEP)  # `for` later, and a window longer


def test_what_was_not_scraped_is_unknown_and_not_calm(told: dict[str, Any]) -> None:
    slow = alert(told, "slow")

    assert slow["blind"] * STEP == pytest.approx(GONE_SECONDS, abs=5 * STEP)


def test_an_alert_whose_limit_was_never_passed_would_not_have_fired(told: dict[str, Any]) -> None:
    full = alert(told, "full")

    assert (full["fired"], full["pending"]) == (0, 0)
    assert full["looks"] == pytest.approx(float(DAYS) * 86_400 / STEP, abs=2)


def test_every_question_of_the_past_was_answered(told: dict[str, Any]) -> None:
    assert told["failures"] == []
    assert told["span"]["until"] == told["span"]["to"]


def test_time_that_is_up_ends_it_with_what_there_is(server: PrometheusServer, tmp_path: Path) -> None:
    path = written(tmp_path, server.url, GOOD)
    arguments = ("--online", "--days", "30", "--step", "10s", "--within", "1s", "--json")
    result = called("check", str(tmp_path / "policies"), "--config", str(path), *arguments)

    span = json.loads(result.stdout)["online"][0]["span"]
    assert span["until"] < span["to"]


def test_a_source_that_does_not_answer_leaves_everything_unknown(tmp_path: Path) -> None:
    path = written(tmp_path, f"http://127.0.0.1:{free_port()}", GOOD)
    result = called("check", str(tmp_path / "policies"), "--config", str(path), "--online", "--days", "0.02", "--json")

    found = json.loads(result.stdout)["online"][0]
    assert result.exit_code == 1
    assert found["failures"]
    assert all(one["blind"] == one["looks"] > 0 for one in found["alerts"])


@pytest.mark.parametrize(
    "arguments", [("--online",), ("--online", "--config", "CONFIG", "--step", "1 minute")], ids=["without-config", "no-duration"]
)
def test_wrong_usage_exits_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = written(tmp_path, "http://127.0.0.1:9", GOOD)

    assert called("check", str(tmp_path / "policies"), *(one.replace("CONFIG", str(path)) for one in arguments)).exit_code == 2
