"""Fleet documents of this machine as the local backend takes them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from autopilot.adapters.local.fleets import LocalFleet, LocalOptions, LocalTimes, WarmUp
from autopilot.fleet.edges import edges_of
from autopilot.fleet.engine import EngineSpec
from autopilot.policy.daemon import Local
from autopilot.policy.values import Fleet, Policy

UNKNOWN_PROMPT = 512  # tokens of a warm-up prompt while the fleet's own lengths are not known (design.md §6)


def local_fleets(fleets: Iterable[tuple[Fleet, Policy | None]], *, version: str) -> Iterator[LocalFleet]:
    """The fleets that run as processes here, with their policies. `version` is vLLM's, "" while it is not known."""
    for fleet, policy in fleets:
        pool = fleet.pool
        if fleet.backend == "local" and pool.engine is not None:
            engine = EngineSpec(pool.engine.model, pool.engine.served_names, dict(pool.engine.args), dict(pool.engine.env), version)
            warm_up = WarmUp(pool.warm_up.requests, (pool.warm_up.prompt_tokens or UNKNOWN_PROMPT,))
            yield LocalFleet(
                ref=fleet.ref,
                engine=engine,
                minimum=pool.minimum,
                maximum=pool.maximum,
                gpus_per_replica=pool.gpus or 0,
                warm_up=warm_up,
                labels=fleet.identity,
                edges=edges_of((slo.signal, slo.threshold) for slo in (policy.slos if policy is not None else ())),
            )


def local_options(local: Local) -> LocalOptions:
    """How this machine's engines and routers are started."""
    state_dir = Path(local.state_dir).absolute()
    return LocalOptions(
        launch=local.launch,
        router=local.router,
        state_dir=state_dir,
        file_sd=Path(local.file_sd).absolute() if local.file_sd is not None else state_dir / "targets.json",
        gpus=tuple(range(local.gpus or 0)),
        times=LocalTimes(start_unknown=local.start_within.total_seconds()),
    )
