"""`autopilot schema`: the JSON Schema of every kind of document, for editors."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from autopilot.policy.schema import SCHEMAS, json_schema


class Kind(StrEnum):
    """The kinds of files."""

    FLEET = "fleet"
    POLICY = "policy"
    GPUPOOL = "gpupool"
    AUTOPILOT = "autopilot"


OneKind = Annotated[Kind | None, typer.Argument(help="One kind only; without it an object of all by name.")]
Write = Annotated[Path | None, typer.Option("--write", help="Write each into this directory as KIND.json instead.", file_okay=False)]


def schema(kind: OneKind = None, write: Write = None) -> None:
    """Print the JSON Schema of Fleet, Policy, GpuPool and of the daemon's own file."""
    names = list(SCHEMAS) if kind is None else [str(kind)]
    if write is None:
        shown = json_schema(names[0]) if kind is not None else {name: json_schema(name) for name in names}
        typer.echo(as_text(shown), nl=False)
        return
    write.mkdir(parents=True, exist_ok=True)
    for name in names:
        (write / f"{name}.json").write_text(as_text(json_schema(name)), encoding="utf-8")
        typer.echo(str(write / f"{name}.json"))


def as_text(value: object) -> str:
    """JSON as it is kept in deploy/schema."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
