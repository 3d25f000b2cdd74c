"""Commands are called as from a clean shell."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests are told by their environment is not for the commands that they call."""
    for name in [name for name in os.environ if name.startswith("AUTOPILOT_")]:
        monkeypatch.delenv(name)
