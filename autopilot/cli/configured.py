"""Reading the daemon's own file for a command, with all problems in one go."""

import os
from pathlib import Path
from typing import NoReturn

import typer

from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.load import load_documents
from autopilot.policy.load_daemon import load_daemon, surroundings
from autopilot.policy.loaded import Loaded
from autopilot.policy.sources import read_source, read_sources


def configured(path: Path) -> DaemonConfig:
    """The configuration; relative paths in it are taken from the working directory. Exits with 1 and every problem."""
    loaded = load_daemon(read_source(path), str(path), os.environ)
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if loaded.config is None:
        _give_up([str(problem) for problem in loaded.problems])
    return loaded.config


def checked_documents(config: DaemonConfig) -> Loaded:
    """Every document of the configured folders. Exits with 1 and every problem."""
    loaded = load_documents(read_sources([Path(path) for path in config.policies]), surroundings(config))
    if loaded.problems:
        _give_up([str(problem) for problem in loaded.problems])
    return loaded


def _give_up(problems: list[str]) -> NoReturn:
    for problem in problems:
        typer.echo(problem, err=True)
    raise typer.Exit(1)
