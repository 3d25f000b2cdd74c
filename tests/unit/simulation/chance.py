"""Chance that tells the same story every time."""

from random import Random


def seeded(seed: int) -> Random:
    """A generator for a story."""
    return Random(seed)  # noqa: S311  # a story holds no secrets
