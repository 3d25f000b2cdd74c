"""`autopilot plan`: what would be done now. The same look and the same decisions as the daemon's, and no effect."""

from typing import TYPE_CHECKING, Annotated

import typer

from autopilot.cli.run import DEFAULT_CONFIG, ConfigPath

if TYPE_CHECKING:
    from autopilot.daemon.planning import Planned


def plan(
    config: ConfigPath = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Print what would be done now, and do nothing.

    It reads the daemon's memory, so alerts that are pending or firing there are pending or firing here.
    """
    from autopilot.adapters.logging import log_json
    from autopilot.cli.configured import checked_documents, configured
    from autopilot.control.codec import encode
    from autopilot.daemon.planning import Planned, planned
    from autopilot.policy.loaded import book_of
    from autopilot.ports import PortError

    log_json("error")
    settings = configured(config)
    book = book_of(checked_documents(settings))
    try:
        plans = planned(settings, book)
    except PortError as error:
        typer.echo(f"autopilot plan: {error}", err=True)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(encode(plans, tuple[Planned, ...]))
        return
    for one in plans:
        _print(one)


def _print(plan: "Planned") -> None:
    typer.echo(plan.fleet)
    for act in plan.acts or ("nothing",):
        typer.echo(f"  would do: {act}")
    for hold in plan.holds:
        typer.echo(f"  why not more: {hold}")
    for gap in plan.gaps:
        typer.echo(f"  cannot see: {gap}")
