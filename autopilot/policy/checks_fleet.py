"""What is wrong within one fleet or one GPU pool."""

from collections.abc import Iterator, Mapping

from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_fleet import FleetSpec, PoolShape, Render
from autopilot.policy.schema_gpupool import GpuPoolSpec
from autopilot.policy.surroundings import Surroundings

# Arguments that follow from the rest of the file, with what to write instead.
_OURS = {
    "model": "write model.source",
    "served-model-name": "write model.servedName",
    "host": "the backend gives each replica its address, remove it",
    "port": "the backend gives each replica its port, remove it",
    "api-key": "secrets are not kept in files like this one, put VLLM_API_KEY into the engine's environment",
}


def fleet_complaints(spec: FleetSpec, around: Surroundings) -> tuple[Complaint, ...]:
    """Everything that keeps a fleet from loading."""
    found = list(_local(spec) if spec.backend == "local" else _kubernetes(spec))
    if len(spec.pools) > 1:
        found.append(Complaint(("spec", "pools", 1), "one pool per fleet is all there is yet, remove it"))
    for index, pool in enumerate(spec.pools):
        if pool.workload.render is not None:
            found += _engine(pool.workload.render, ("spec", "pools", index, "workload", "render"))
    known = around.scrape_intervals
    if known is not None and spec.metrics.source not in known:
        source = spec.metrics.source
        found.append(
            Complaint(("spec", "metrics", "source"), f"the daemon's file has no source {quoted(source)}, {did_you_mean(source, known)}")
        )
    return tuple(found)


def fleet_cautions(spec: FleetSpec, around: Surroundings) -> tuple[Complaint, ...]:
    """What a person should know of a fleet that loads."""
    found = [
        Complaint(("spec", "pools", index, "warmPool"), "not supported yet: it will be shown as Hold(not_supported)")
        for index, pool in enumerate(spec.pools)
        if pool.warm_pool.size or pool.warm_pool.asleep
    ]
    if spec.backend == "local" and around.local is False:
        found.append(Complaint(("spec", "backend"), "the daemon's file has no local: {launch, router}, so nothing can be started"))
    return tuple(found)


def _local(spec: FleetSpec) -> Iterator[Complaint]:
    if spec.traffic is not None:
        yield Complaint(("spec", "traffic"), "a local fleet has a router of its own, remove it")
    for index, pool in enumerate(spec.pools):
        path: Path = ("spec", "pools", index)
        if pool.workload.ref is not None:
            yield Complaint((*path, "workload", "ref"), "a local fleet is started by the autopilot, write render instead")
        if pool.workload.render is not None and pool.workload.render.engine.image is not None:
            yield Complaint((*path, "workload", "render", "engine", "image"), "a local fleet runs processes, remove it")
        yield from _writers(pool, (*path, "writers"))


def _writers(pool: PoolShape, path: Path) -> Iterator[Complaint]:
    for key, writer in (("replicas", pool.writers.replicas), ("template", pool.writers.template)):
        if writer != "autopilot":
            yield Complaint((*path, key), "nobody else starts the processes of a local fleet, write autopilot")


def _kubernetes(spec: FleetSpec) -> Iterator[Complaint]:
    if spec.traffic is None:
        yield Complaint(("spec",), "traffic is required on Kubernetes, write it as traffic: {service: NAME}", ("spec", "traffic"))
    for index, pool in enumerate(spec.pools):
        if pool.workload.render is not None and pool.workload.render.engine.image is None:
            path: Path = ("spec", "pools", index, "workload", "render", "engine")
            yield Complaint(path, "image is required on Kubernetes, write the engine's image with its tag or digest")


def _engine(render: Render, path: Path) -> Iterator[Complaint]:
    for name in render.engine.args:
        if name in _OURS:
            yield Complaint((*path, "engine", "args", name), f"this follows from the rest of the file: {_OURS[name]}")


def gpu_pool_complaints(spec: GpuPoolSpec) -> tuple[Complaint, ...]:
    """Everything that keeps a GPU pool from loading."""
    found: list[Complaint] = []
    seen: set[str] = set()
    for index, claim in enumerate(spec.claims):
        path: Path = ("spec", "claims", index)
        if claim.fleet in seen:
            found.append(Complaint((*path, "fleet"), f"{claim.fleet} has a claim already, write each fleet once"))
        if claim.guaranteed > claim.max:
            found.append(Complaint((*path, "guaranteed"), f"{claim.guaranteed} is above max {claim.max}, write max or less"))
        seen.add(claim.fleet)
    guaranteed = sum(claim.guaranteed for claim in spec.claims)
    if guaranteed > spec.gpus:
        found.append(Complaint(("spec", "claims"), f"{guaranteed} GPUs are guaranteed and there are {spec.gpus}, guarantee less"))
    return tuple(found)


def gpu_pool_cautions(spec: GpuPoolSpec) -> tuple[Complaint, ...]:
    """What a person should know of a GPU pool that loads."""
    if not spec.nodes.match_labels:
        return ()
    return (Complaint(("spec", "nodes"), "not supported yet: the budget counts what its fleets ask for, wherever that runs"),)


def labels_match(wanted: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether every wanted label is there."""
    return all(labels.get(name) == value for name, value in wanted.items())
