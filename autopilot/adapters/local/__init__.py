"""Fleets of vLLM servers as processes of this machine: port `Backend` without a cluster.

A count is only recorded; a supervisor thread makes it so. Engines and routers live in sessions of
their own and outlive the daemon, which finds them again by what it recorded before it started them.
"""

from autopilot.adapters.local.backend import LocalBackend
from autopilot.adapters.local.fleets import LocalFleet, LocalOptions, LocalTimes, WarmUp

__all__ = ["LocalBackend", "LocalFleet", "LocalOptions", "LocalTimes", "WarmUp"]
