"""The key under which what was learned of a kind of replica is kept."""

import hashlib

from autopilot.fleet.engine import EngineSpec, json_text

_LENGTH = 10  # hex digits, 40 bits: a fleet sees a few dozen templates in its life


def template_hash(spec: EngineSpec) -> str:
    """The same text for the same model, names, arguments, environment and version, whatever their order."""
    template = {
        "model": spec.model,
        "served": spec.served_names,
        "args": spec.flags,
        "env": spec.env,
        "version": spec.version,
    }
    return hashlib.sha256(json_text(template).encode()).hexdigest()[:_LENGTH]
