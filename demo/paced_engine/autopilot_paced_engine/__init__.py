"""A vLLM plugin: an architecture whose forward pass takes a chosen time."""

ARCHITECTURE = "PacedLlamaForCausalLM"  # what config.json names in "architectures"


def register() -> None:
    """Make vLLM know the architecture; vLLM calls this once in each of its processes.

    The class is given by name, not imported: vLLM calls plugins before it has chosen its platform,
    and importing a model that early would choose it too soon.
    """
    from vllm import ModelRegistry

    ModelRegistry.register_model(ARCHITECTURE, f"{__name__}.architecture:{ARCHITECTURE}")
