"""Every random generator in Portico, derived from names: same names, same stream, on any machine and in any order."""

from __future__ import annotations

import hashlib

import numpy as np


def derive_seed(*names: str | int) -> int:
    """128-bit seed from an ordered list of names, by SHA-256 over their typed, length-prefixed text.

    The type and length keep ("a", "bc") apart from ("ab", "c") and 1 apart from "1".
    """
    digest = hashlib.sha256()
    for name in names:
        text = f"{type(name).__name__}:{name}".encode()
        digest.update(len(text).to_bytes(4, "big") + text)
    return int.from_bytes(digest.digest()[:16], "big")


def generator(*names: str | int) -> np.random.Generator:
    """A generator for one purpose, e.g. ``generator(suite_seed, world_id, episode_id, "start")``."""
    return np.random.Generator(np.random.PCG64(derive_seed(*names)))
