import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import structlog

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.logging import log_for_people, log_json


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, config = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:], root.level = handlers, level
    structlog.configure(**config)
    structlog.contextvars.clear_contextvars()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_event_is_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")

    structlog.get_logger("autopilot.daemon").info("change_applied", workload="llm/chat", replicas_after=3)

    (line,) = lines(capsys)
    assert {name: line[name] for name in ("event", "level", "logger", "workload", "replicas_after")} == {
        "event": "change_applied",
        "level": "info",
        "logger": "autopilot.daemon",
        "workload": "llm/chat",
        "replicas_after": 3,
    }


def test_an_event_is_stamped_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")

    structlog.get_logger().info("tick")

    at = datetime.fromisoformat(str(lines(capsys)[0]["at"]))
    assert at.tzinfo == UTC
    assert abs(SystemClock().wall() - at) < timedelta(minutes=1)


def test_what_is_bound_to_the_context_is_on_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")
    structlog.contextvars.bind_contextvars(tick=7)

    structlog.get_logger().info("ours")
    logging.getLogger("theirs").warning("at %s", "noon")

    assert [(line["event"], line["tick"]) for line in lines(capsys)] == [("ours", 7), ("at noon", 7)]


def fail_with_a_secret() -> None:
    secret = "hunter2" + "hunter2"
    raise ValueError(len(secret))


def test_a_traceback_shows_no_locals(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")
    try:
        fail_with_a_secret()
    except ValueError:
        structlog.get_logger().exception("broken")

    text = capsys.readouterr().out
    assert "fail_with_a_secret" in text
    assert "hunter2hunter2" not in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(("level", "events"), [("debug", ["d", "i", "w"]), ("info", ["i", "w"]), ("WARNING", ["w"])])
def test_what_is_below_the_level_is_left_out(level: str, events: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    log_json(level)
    log = structlog.get_logger()

    log.debug("d")
    log.info("i")
    log.warning("w")

    assert [line["event"] for line in lines(capsys)] == events


def test_chatty_libraries_are_kept_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")

    logging.getLogger("apscheduler.scheduler").info("Running job")
    logging.getLogger("apscheduler.scheduler").warning("missed")

    assert [line["event"] for line in lines(capsys)] == ["missed"]


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="loud"):
        log_json("loud")


def test_what_is_no_json_does_not_stop_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    log_json("info")

    structlog.get_logger().info("odd", value=object(), text="\ud800")

    assert lines(capsys)[0]["event"] == "odd"


def test_people_get_lines_that_are_not_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_for_people("info")

    structlog.get_logger().info("change_applied", replicas_after=3)

    text = capsys.readouterr().out
    assert "change_applied" in text
    assert "{" not in text
