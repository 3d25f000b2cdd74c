"""The command line, one file per command. A command's file is imported when it is called, so that `--help` comes at once."""

from typing import Annotated

import typer

from autopilot import __version__
from autopilot.cli.mounting import Commands


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)]

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: rich alone would take longer to import than everything else
    pretty_exceptions_enable=False,  # its tracebacks can show locals, and credentials with them
)


@app.callback()
def _autopilot(version: Version = False) -> None:
    """The SLO autopilot for fleets of vLLM servers: watches, decides, acts, verifies.

    Exit codes: 0 good, 1 the input or the world is wrong, 2 usage.
    """
