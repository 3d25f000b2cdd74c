"""Which commands there are, and where each is: its file is imported when it is called."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


@dataclass(frozen=True, slots=True)
class Mounted:
    """A command: `attribute` of `module`, a function or a typer app, and the line that the overview shows of it."""

    module: str
    attribute: str
    help: str


COMMANDS = {
    "run": Mounted("autopilot.cli.run", "run", "The daemon, until SIGTERM."),
    "check": Mounted("autopilot.cli.check", "check", "Would these files load? What is wrong where?"),
    "schema": Mounted("autopilot.cli.schema", "schema", "The JSON Schema of every kind of file."),
    "doctor": Mounted("autopilot.cli.doctor", "doctor", "Would it work in this world? What is wrong, and what to do."),
    "plan": Mounted("autopilot.cli.plan", "plan", "What would be done now, without doing it."),
    "status": Mounted("autopilot.cli.status", "status", "Every fleet as of the daemon's last tick."),
    "explain": Mounted("autopilot.cli.explain", "explain", "What was seen, done and held back, and why."),
    "replay": Mounted("autopilot.cli.replay", "replay", "Recorded decisions made again and compared."),
    "fleet": Mounted("autopilot.cli.fleet", "fleet_app", "Fleets of this machine, up and down."),
}


class Commands(TyperGroup):
    """The commands of COMMANDS, each as a stand-in until it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: _StandIn(name, help=mounted.help) for name, mounted in COMMANDS.items()})


class _StandIn(TyperCommand):
    """Enough of a command for the overview; once called, the real one takes its place."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return real_command(str(self.name)).make_context(info_name, args, parent, **extra)


def real_command(name: str) -> TyperCommand | TyperGroup:
    """The command itself, imported."""
    mounted = COMMANDS[name]
    found = getattr(import_module(mounted.module), mounted.attribute)
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = None
        group = get_group(found)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(found)
    command = get_command(alone)
    assert isinstance(command, TyperCommand)  # noqa: S101 - one function makes one command
    return command
