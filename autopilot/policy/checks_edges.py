"""SLOs whose threshold lies between two edges of an engine that the autopilot does not start."""

from collections.abc import Iterator

from autopilot.fleet.edges import next_edges
from autopilot.policy.problems import Complaint
from autopilot.policy.schema_fleet import FleetDocument
from autopilot.policy.values import Policy


def undecided(policy: Policy, fleet: FleetDocument) -> Iterator[Complaint]:
    """The thresholds that vLLM has no edge for. Engines that are rendered here get one; what others have only `doctor` sees."""
    if all(pool.workload.render is not None for pool in fleet.spec.pools):
        return
    for index, slo in enumerate(policy.slos):
        found = next_edges(slo.signal, slo.threshold)
        if found is not None:
            low, high = found
            what = (
                f"between the edges {low:g}s and {high:g}s of {slo.signal} that vLLM has by itself requests are neither good nor bad; "
                f"write one of them, or give the engines of fleet {fleet.metadata.name} the edge (--custom-histogram-buckets, docs/slos.md)"
            )
            yield Complaint(("spec", "slos", index, "threshold"), what)
