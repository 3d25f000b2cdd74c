"""`python -m autopilot.cli`."""

from autopilot.cli import app

app(prog_name="autopilot")
