"""Town blocks that several test files look at, built once."""

from functools import cache

from portico.build import build_composite
from portico.world import World


@cache
def block(seed: int) -> World:
    return build_composite(seed)
