"""`autopilot run`: the daemon."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

ConfigPath = Annotated[Path, typer.Option("--config", help="The daemon's own file.", envvar="AUTOPILOT_CONFIG")]
DEFAULT_CONFIG = Path("autopilot.yaml")


def run(
    config: ConfigPath = DEFAULT_CONFIG,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    log_format: Annotated[str, typer.Option(help="json for machines, console for people.")] = "json",
) -> None:
    """Run the daemon until SIGTERM; the fleet goes on serving."""
    from autopilot.adapters.logging import log_for_people, log_json
    from autopilot.cli.configured import checked_documents, configured
    from autopilot.daemon.assembly import assemble
    from autopilot.daemon.process import Process
    from autopilot.ports import PortError

    (log_json if log_format == "json" else log_for_people)(log_level)
    settings = configured(config)
    checked_documents(settings)
    try:
        process = Process(assemble(settings), settings, _listening)
        code = process.run()
    except PortError as error:
        typer.echo(f"autopilot run: {error}", err=True)
        raise typer.Exit(1) from error
    sys.stdout.flush()
    os._exit(code)  # a thread that hangs in a call of a library must not keep the process


def _listening(host: str, port: int) -> None:
    import structlog

    structlog.get_logger().info("listening", host=host, port=port)
