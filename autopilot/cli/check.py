"""`autopilot check`: whether files would load, and what is wrong with them if not."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autopilot.policy.load import load_documents
from autopilot.policy.load_daemon import load_daemon, surroundings
from autopilot.policy.loaded import Loaded
from autopilot.policy.problems import Problem
from autopilot.policy.sources import read_source, read_sources
from autopilot.policy.surroundings import Surroundings

Files = Annotated[
    list[Path],
    typer.Argument(help="Files, and directories with YAML files, of Fleet, Policy and GpuPool documents.", exists=True),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="The daemon's own file: checks it too, and names, receivers and windows against it.", exists=True),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_WORDS = (
    ("files", "file", "files"),
    ("fleets", "fleet", "fleets"),
    ("policies", "policy", "policies"),
    ("gpuPools", "GPU pool", "GPU pools"),
    ("problems", "problem", "problems"),
    ("warnings", "warning", "warnings"),
)


def check(files: Files, config: Config = None, as_json: AsJson = False) -> None:
    """Check files offline; exit 0 when they would load, 1 with one line per problem when not."""
    around, own_problems, own_warnings = _around(config)
    sources = read_sources(files)
    loaded = load_documents(sources, around)
    empty = () if sources else tuple(Problem(str(path), 1, 1, "", "no YAML file is in this directory") for path in files)
    problems = own_problems + empty + loaded.problems
    warnings = own_warnings + loaded.warnings
    summary = _summary(len(sources), loaded, problems, warnings)
    if as_json:
        typer.echo(json.dumps({"problems": _plain(problems), "warnings": _plain(warnings), "summary": summary}, indent=2))
    else:
        _print(problems, warnings, summary)
    raise typer.Exit(code=1 if problems else 0)


def _around(config: Path | None) -> tuple[Surroundings, tuple[Problem, ...], tuple[Problem, ...]]:
    if config is None:
        return Surroundings(), (), ()
    own = load_daemon(read_source(config), str(config), os.environ)
    return (surroundings(own.config) if own.config is not None else Surroundings()), own.problems, own.warnings


def _summary(files: int, loaded: Loaded, problems: Sequence[Problem], warnings: Sequence[Problem]) -> dict[str, int]:
    return {
        "files": files,
        "fleets": len(loaded.fleets),
        "policies": len(loaded.policies),
        "gpuPools": len(loaded.pools),
        "problems": len(problems),
        "warnings": len(warnings),
    }


def _plain(problems: Sequence[Problem]) -> list[dict[str, str | int]]:
    return [{"file": one.file, "line": one.line, "column": one.column, "path": one.path, "what": one.what} for one in problems]


def _print(problems: Sequence[Problem], warnings: Sequence[Problem], summary: dict[str, int]) -> None:
    for problem in problems:
        typer.echo(str(problem))
    for warning in warnings:
        typer.echo(f"warning: {warning}")
    verdict = "would not load as it is" if problems else "good"
    counted = ", ".join(f"{summary[key]} {one if summary[key] == 1 else many}" for key, one, many in _WORDS)
    typer.echo(f"{verdict}: {counted}")
