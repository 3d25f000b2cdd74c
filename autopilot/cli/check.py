"""`autopilot check`: whether files would load, what is wrong with them if not, and how often their alerts would have fired."""

import json
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from autopilot.cli.check_online import Online, lines, looked_back, plain
from autopilot.policy.load import load_documents
from autopilot.policy.load_daemon import load_daemon, surroundings
from autopilot.policy.loaded import Loaded
from autopilot.policy.problems import Problem
from autopilot.policy.sources import read_source, read_sources
from autopilot.policy.surroundings import Surroundings
from autopilot.policy.units import format_duration, parse_duration

Files = Annotated[
    list[Path],
    typer.Argument(help="Files, and directories with YAML files, of Fleet, Policy and GpuPool documents.", exists=True),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="The daemon's own file: checks it too, and names, receivers and windows against it.", exists=True),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AskPast = Annotated[bool, typer.Option("--online", help="Ask the sources how often each alert would have fired; needs --config.")]
Days = Annotated[float, typer.Option(help="With --online: how far to look back.", min=0.01, max=366)]
Step = Annotated[str, typer.Option(help="With --online: from one look to the next. The daemon looks more often.")]
Within = Annotated[str, typer.Option(help="With --online: how long the whole may take.")]

_WORDS = (
    ("files", "file", "files"),
    ("fleets", "fleet", "fleets"),
    ("policies", "policy", "policies"),
    ("gpuPools", "GPU pool", "GPU pools"),
    ("problems", "problem", "problems"),
    ("warnings", "warning", "warnings"),
)


def check(  # noqa: PLR0913, PLR0917 - a command has as many options as it has
    files: Files,
    config: Config = None,
    as_json: AsJson = False,
    online: AskPast = False,
    days: Days = 7.0,
    step: Step = "1m",
    within: Within = "10m",
) -> None:
    """Check files offline; exit 0 when they would load, 1 with one line per problem when not.

    With --online also tell how often each alert would have fired over the last days. Nothing is changed.
    """
    past = _past(config, days, step, within) if online else None
    around, own_problems, own_warnings = _around(config)
    sources = read_sources(files)
    loaded = load_documents(sources, around)
    empty = () if sources else tuple(Problem(str(path), 1, 1, "", "no YAML file is in this directory") for path in files)
    problems = own_problems + empty + loaded.problems
    warnings = own_warnings + loaded.warnings
    summary = _summary(len(sources), loaded, problems, warnings)
    told: dict[str, Any] = {"problems": _plain(problems), "warnings": _plain(warnings), "summary": summary}
    if not as_json:
        _print(problems, warnings, summary)
    if past is not None and config is not None and not problems:
        told |= {"online": _online(config, loaded, past, as_json=as_json)}
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    unanswered = any(one["failures"] for one in told.get("online", ()))
    raise typer.Exit(code=1 if problems or unanswered else 0)


def _past(config: Path | None, days: float, step: str, within: str) -> Online:
    """The options of --online. A usage error for what cannot be."""
    if config is None:
        message = "--online needs --config: the daemon's own file says which sources to ask"
        raise typer.BadParameter(message)
    try:
        return Online(days, max(timedelta(seconds=1), parse_duration(step)), parse_duration(within))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _online(config: Path, loaded: Loaded, past: Online, *, as_json: bool) -> list[dict[str, Any]]:
    """Ask, and print fleet by fleet. The files are good by now."""
    own = load_daemon(read_source(config), str(config), os.environ).config
    found = []
    for result in looked_back(own, loaded, past) if own is not None else ():
        found.append(plain(result))
        if not as_json:
            typer.echo("\n".join(lines(result)))
    if not as_json:
        every = format_duration(past.step)
        typer.echo(
            f"looked every {every}, where the daemon looks at every tick: what lasted less may be missed; no action was played through"
        )
    return found


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
