import json
import subprocess
import sys

import pytest

from autopilot import __version__
from autopilot.cli.mounting import COMMANDS, real_command
from tests.unit.cli.running import called, told

HEAVY = ("rich", "pydantic", "fastapi", "uvicorn", "requests", "ruamel", "prometheus_client", "apscheduler", "sqlite3", "structlog")


def imported_by(code: str) -> set[str]:
    """The packages that a fresh interpreter has imported after this."""
    script = f"import sys\n{code}\nimport json; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_overview_imports_nothing_that_takes_its_time() -> None:
    loaded = imported_by(
        "from autopilot.cli import app\nimport contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    app(['--help'])"
    )

    assert loaded.isdisjoint(HEAVY)


def test_the_overview_names_every_command() -> None:
    shown = told("--help")

    assert [name for name in COMMANDS if f"  {name} " not in shown] == []


def test_without_arguments_the_overview_is_shown() -> None:
    result = called()

    assert result.exit_code == 2
    assert "explain" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_explains_itself(name: str) -> None:
    command = real_command(name)
    shown = told(name, "--help")

    assert command.name == name
    assert "--help" in shown


def test_the_version_is_told() -> None:
    assert told("--version").strip() == __version__


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("status", "--nonsense"),
        ("status", "chat"),
        ("explain",),
        ("explain", "a/b/c"),
        ("replay", "--last", "0"),
        ("replay", "--fleet", "x"),
    ],
    ids=" ".join,
)
def test_a_call_that_makes_no_sense_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    result = called(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
