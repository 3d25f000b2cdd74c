"""The architecture itself: Llama, with a wait in front of every forward pass. Imported by vLLM only."""

from __future__ import annotations

import os
from typing import Any

from vllm.model_executor.models.llama import LlamaForCausalLM

from .pace import Device, pace_of


class PacedLlamaForCausalLM(LlamaForCausalLM):  # type: ignore[misc]  # vLLM is not installed where mypy runs
    """Llama whose arithmetic takes a chosen time; scheduler, cache, queue, API and metrics stay vLLM's own."""

    def __init__(self, *, vllm_config: Any, prefix: str = "", **rest: Any) -> None:
        """Build the model and read its pace from the same config."""
        super().__init__(vllm_config=vllm_config, prefix=prefix, **rest)
        self._device = Device(pace_of(vllm_config.model_config.hf_config, os.environ))

    def forward(self, input_ids: Any, positions: Any, *rest: Any, **named: Any) -> Any:
        """Wait as long as a device would compute, then compute."""
        # positions is (tokens,) or, for some position encodings, (3, tokens): the last axis counts tokens either way.
        self._device.compute(positions.shape[-1])
        return super().forward(input_ids, positions, *rest, **named)
