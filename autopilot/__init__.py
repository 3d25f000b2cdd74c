"""The SLO autopilot for fleets of vLLM servers."""

__version__ = "0.1.0"
