"""Chance that tells the same story every time."""

from random import Random


def seeded(seed: int) -> Random:
    """A generator for a story."""
    return Random(seed)  # a story holds no secrets
