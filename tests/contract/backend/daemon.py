"""A process that runs a local backend until it is killed: `python -m tests.contract.backend.daemon FOLDER POINT`.

At `point` it kills itself: between two of the backend's own steps, where a power cut or an OOM killer could.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autopilot.adapters.local import ending, starting
from autopilot.adapters.local.record import Folder
from autopilot.domain.operations import SetReplicas
from autopilot.domain.workloads import Workload
from tests.contract.backend.rig import CHAT, Rig


def _die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _then_die(effect: Callable[..., object]) -> Callable[..., None]:
    def last(*args: Any) -> None:
        effect(*args)
        _die()

    return last


POINTS: dict[str, tuple[object, str, bool]] = {  # where the effect is, and whether it still happens
    "before-the-record": (Folder, "save", False),
    "after-the-record": (Folder, "save", True),
    "before-the-fork": (starting, "start", False),
    "after-the-fork": (starting, "start", True),
    "before-the-signal": (ending, "send", False),
    "after-the-signal": (ending, "send", True),
}


def main() -> None:
    folder, point, count, victims = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), tuple(sys.argv[4:])
    rig = Rig(folder)
    rig.start()
    if point in POINTS:
        place, name, happens = POINTS[point]
        setattr(place, name, _then_die(getattr(place, name)) if happens else _die)
    now = rig.backend.observe(CHAT)
    assert isinstance(now, Workload)
    rig.backend.set_replicas(CHAT, SetReplicas(count, now.desired, now.version, victims))
    threading.Event().wait(60.0)  # killed before


if __name__ == "__main__":
    main()
