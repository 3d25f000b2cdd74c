"""Make the tiny model that the paced engine serves, without a download.

Runs with the engine environment's Python (it has transformers and tokenizers), as `python -m demo.model OUT`
or `python demo/model.py OUT`; imports nothing of the product. Takes a few seconds, most of them imports.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ARCHITECTURE = "PacedLlamaForCausalLM"  # the name that demo/paced_engine registers
HIDDEN = 64  # as small as vLLM's CPU attention takes: 2 heads of 32
LAYERS = 2
HEADS = 2
KV_HEADS = 1  # 1 KV head: a token's cache is tiny, so 1 GiB holds any load of the demo
VOCABULARY = 512  # 256 bytes, a few marks, and some merges, so that a word is more than one token
WINDOW_TOKENS = 4096  # more than any engine of the demo is started with
MARKS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}  # ids 0, 1, 2 in this order
CHAT_TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
CORPUS = (  # enough text for the tokenizer to learn its merges from
    "the engine reads the prompt and writes the answer one token after the other",
    "a replica that waits too long gets help from another replica",
    "prometheus asks every server for its numbers and keeps them for a while",
)


@dataclass(frozen=True)
class PacedModel:
    """What to write: where, and the pace in seconds; the lock is for engines that share one device."""

    folder: Path
    step_seconds: float
    token_seconds: float
    lock_path: str | None = None

    def keys(self) -> dict[str, float | str]:
        """Give the keys that the paced architecture reads from config.json."""
        pace: dict[str, float | str] = {
            "paced_step_seconds": self.step_seconds,
            "paced_token_seconds": self.token_seconds,
        }
        return pace if self.lock_path is None else {**pace, "paced_lock_path": self.lock_path}


def write(model: PacedModel) -> None:
    """Write weights, tokenizer and config into the folder; the same arguments give the same tokenizer and shape."""
    model.folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(model.folder)
    _write_weights(model.folder)
    _name_architecture(model)


def _write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()  # every byte has a token, so any prompt can be read
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=list(MARKS.values()), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer=trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **MARKS)
    wrapped.chat_template = CHAT_TEMPLATE
    wrapped.save_pretrained(folder)


def _write_weights(folder: Path) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)  # the same weights each time, so that all replicas are one model
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=WINDOW_TOKENS,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def _name_architecture(model: PacedModel) -> None:
    """Put the paced architecture and its numbers into config.json, as text: transformers need not know them."""
    path = model.folder / "config.json"
    config: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "architectures": [ARCHITECTURE], **model.keys()}, indent=2) + "\n")


def main() -> None:
    """Read the command line and write the model."""
    parser = argparse.ArgumentParser(prog="demo.model", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step-seconds", type=float, required=True, help="fixed part of a forward pass")
    parser.add_argument("--token-seconds", type=float, required=True, help="part per token computed in it")
    parser.add_argument("--lock", default=None, help="lock file of the one device that several engines share")
    asked = parser.parse_args()
    write(PacedModel(asked.folder, asked.step_seconds, asked.token_seconds, asked.lock))


if __name__ == "__main__":
    main()
