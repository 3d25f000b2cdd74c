"""Find Prometheus and Alertmanager on this machine, or take them from Debian's packages.

The packages are unpacked into the cache, not installed: no service is started now or at the next boot, nothing outside
the cache changes, and no root is needed. Their binaries need nothing but the C library.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

FOLDER_VARIABLE = "PROMETHEUS_BIN_DIR"
PACKAGES = ("prometheus", "prometheus-alertmanager")
NAMES = {  # first the upstream name, then Debian's
    "prometheus": ("prometheus",),
    "promtool": ("promtool",),
    "alertmanager": ("alertmanager", "prometheus-alertmanager"),
    "amtool": ("amtool",),
}
ADVICE = f"install Prometheus and Alertmanager with their tools (Debian: {' '.join(PACKAGES)}) and put them on PATH or name their folder in {FOLDER_VARIABLE}"


@dataclass(frozen=True)
class Binaries:
    """The four programs, by path."""

    prometheus: Path
    promtool: Path
    alertmanager: Path
    amtool: Path


def find(cache: Path) -> Binaries | None:
    """Look in the folder the user names, then on PATH, then in the cache; all four in one of them, or None."""
    named = os.environ.get(FOLDER_VARIABLE)
    for path in (named, os.environ.get("PATH"), str(unpacked(cache) / "usr" / "bin")):
        found = _all_in(path) if path else None
        if found is not None:
            return found
    return None


def unpacked(cache: Path) -> Path:
    """Give the folder into which the packages are unpacked."""
    return cache / "prometheus"


def _all_in(path: str) -> Binaries | None:
    found: dict[str, Path] = {}
    for program, names in NAMES.items():
        hit = next((hit for name in names if (hit := shutil.which(name, path=path))), None)
        if hit is None:
            return None
        found[program] = Path(hit)
    return Binaries(**found)
