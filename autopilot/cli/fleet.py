"""`autopilot fleet`: fleets of this machine, up and down. While a daemon runs it owns them, and does this by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from autopilot.cli.run import DEFAULT_CONFIG, ConfigPath

if TYPE_CHECKING:
    from autopilot.adapters.local.backend import LocalBackend
    from autopilot.domain.workloads import FleetRef

fleet_app = typer.Typer(help="Fleets of this machine: bring them up, take them down.", no_args_is_help=True)

FleetName = Annotated[str, typer.Argument(help="namespace/name")]
Within = Annotated[int, typer.Option(help="Seconds to wait.", min=1)]


@fleet_app.command()
def up(fleet: FleetName, config: ConfigPath = DEFAULT_CONFIG, within: Within = 600) -> None:
    """Start a fleet with its minimum of replicas and wait until they serve. They go on without this command."""
    with _backend(config, fleet) as (backend, ref):
        backend.bring_up(ref)
        if not _serves(backend, ref, within=within):
            typer.echo(f"{ref}: not serving within {within} s; it goes on starting, look with autopilot status", err=True)
            raise typer.Exit(1)
        typer.echo(f"{ref}: serving at {backend.router_url(ref)}")


@fleet_app.command()
def down(fleet: FleetName, config: ConfigPath = DEFAULT_CONFIG, within: Within = 120) -> None:
    """Drain and stop every replica of a fleet, and its router."""
    with _backend(config, fleet) as (backend, ref):
        if not backend.take_down(ref, within=timedelta(seconds=within)):
            typer.echo(f"{ref}: not all gone within {within} s; run it again to go on waiting", err=True)
            raise typer.Exit(1)
        typer.echo(f"{ref}: down")


def _serves(backend: "LocalBackend", ref: "FleetRef", *, within: int) -> bool:
    """Wait, telling what is being waited for, until as many replicas serve as are asked for."""
    import threading

    from autopilot.domain.workloads import Workload

    told, pause = "", threading.Event()
    for _ in range(2 * within):
        workload = backend.observe(ref)
        if isinstance(workload, Workload) and workload.desired:
            states = ", ".join(f"{replica.name} {replica.state}" for replica in workload.replicas)
            if states != told:
                typer.echo(states, err=True)
                told = states
            if len(workload.serving) >= workload.desired:
                return True
        pause.wait(0.5)
    return False


@contextmanager
def _backend(config: ConfigPath, fleet: str) -> "Iterator[tuple[LocalBackend, FleetRef]]":
    from autopilot.adapters.clock import SystemClock
    from autopilot.adapters.engine_version import installed_version
    from autopilot.adapters.http import HttpClient, HttpOptions
    from autopilot.adapters.local.backend import LocalBackend
    from autopilot.adapters.logging import log_json
    from autopilot.cli.configured import checked_documents, configured
    from autopilot.daemon.local_fleets import local_fleets, local_options
    from autopilot.domain.workloads import FleetRef
    from autopilot.ports import PortError

    log_json("error")
    settings = configured(config)
    loaded = checked_documents(settings)
    if settings.local is None:
        typer.echo(
            f"{config}: has no local section, so no fleet can run on this machine; add local: {{launch: […], router: […]}}", err=True
        )
        raise typer.Exit(1)
    backend = LocalBackend(local_options(settings.local), clock=SystemClock(), http=HttpClient(HttpOptions()))
    try:
        ref = FleetRef.parse(fleet)
        backend.start(local_fleets(((pair.fleet, pair.policy) for pair in loaded.pairs), version=installed_version(settings.local.launch)))
        yield backend, ref
    except (PortError, ValueError) as error:
        typer.echo(f"autopilot fleet: {error}", err=True)
        raise typer.Exit(1) from error
    finally:
        backend.close()
