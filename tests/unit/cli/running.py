"""Commands as they are called."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from autopilot.cli import app


def called(*arguments: str) -> Result:
    """One call, and no exception but the one that carries its exit code."""
    result = CliRunner().invoke(app, list(arguments), env={"NO_COLOR": "1", "AUTOPILOT_SERVER": None, "AUTOPILOT_CONFIG": None})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def told(*arguments: str) -> str:
    """The standard output of a call that is good."""
    result = called(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments: str) -> Any:
    """The JSON that a good call prints."""
    return json.loads(told(*arguments))


def refused(*arguments: str) -> str:
    """The one line on standard error of a call that ends with 1."""
    result = called(*arguments)
    lines = result.stderr.splitlines()
    assert (result.exit_code, result.stdout, len(lines)) == (1, "", 1), result.output
    return lines[0]
