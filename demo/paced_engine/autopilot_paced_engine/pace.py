"""How long a forward pass takes, and who else must wait meanwhile. Imports nothing of vLLM."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STEP_KEY = "paced_step_seconds"
TOKEN_KEY = "paced_token_seconds"  # noqa: S105 - a token of text, not a secret
LOCK_KEY = "paced_lock_path"
LOCK_VARIABLE = "PACED_ENGINE_LOCK"  # wins over the config, so that one model serves both kinds of engine
OWNER_ONLY = 0o600  # an engine of another user is on another "GPU"


@dataclass(frozen=True)
class Pace:
    """The time a forward pass takes: a fixed part per step and a part per token computed in it.

    Both are seconds and not negative. `lock_path` names the file that stands for the one device which
    all engines with the same path share; None means that every engine has a device of its own.
    """

    step_seconds: float
    token_seconds: float
    lock_path: str | None = None

    def __post_init__(self) -> None:
        """Refuse a pace that would run backwards."""
        if self.step_seconds < 0 or self.token_seconds < 0:
            message = f"a pace cannot be negative: step {self.step_seconds} s, token {self.token_seconds} s"
            raise ValueError(message)

    def seconds(self, tokens: int) -> float:
        """Duration of one forward pass over this many tokens; tokens found in the prefix cache are not among them."""
        return self.step_seconds + self.token_seconds * tokens


def pace_of(config: object, environ: Mapping[str, str]) -> Pace:
    """Read the pace from a model's config (its attributes) and the lock from the environment or else the config.

    Raises ValueError when a number is missing: an engine that silently runs unpaced would spoil a measurement.
    """
    lock = environ.get(LOCK_VARIABLE) or getattr(config, LOCK_KEY, None)
    return Pace(_number(config, STEP_KEY), _number(config, TOKEN_KEY), str(lock) if lock else None)


def _number(config: object, key: str) -> float:
    value: Any = getattr(config, key, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"config.json: {key}: {value!r} is not a number of seconds, write it as 0.02"
        raise ValueError(message)  # noqa: TRY004 - a bad file, not a bad call
    return float(value)


class Device:
    """What a forward pass occupies: nothing shared, or the one device behind a lock file."""

    def __init__(self, pace: Pace) -> None:
        """Open the lock file, if there is one; the kernel drops the lock when the process ends, however it ends."""
        self._pace = pace
        self._lock = None if pace.lock_path is None else os.open(pace.lock_path, os.O_CREAT | os.O_RDWR, OWNER_ONLY)

    def compute(self, tokens: int) -> None:
        """Take as long as a forward pass over these tokens takes, alone on the device when it is shared."""
        seconds = self._pace.seconds(tokens)
        if self._lock is None:
            time.sleep(seconds)
            return
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            time.sleep(seconds)
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
