"""Training and evaluation in different worlds: which worlds a family of suites has in which split, and that none is in two [NV 9.1]."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from portico.errors import SuiteError
from portico.suites.suite import Suite, WorldEntry


@dataclass(frozen=True)
class Placed:
    """A world of a suite in its split. ``marks`` are what tells that another entry is the same world."""

    suite: str
    split: str
    source: str
    marks: frozenset[str]


def placed(suite: Suite, base: Path) -> list[Placed]:
    """Every world of a suite with its split; world paths are relative to ``base``.

    A generated world is known by recipe and seed, whatever its parameters; one on disk by its id, its content and what generated it.
    """
    return [Placed(suite.name, entry.split or suite.split, entry.source, _marks(entry, base)) for entry in suite.worlds]


def check_disjoint(worlds: Iterable[Placed]) -> None:
    """Refuse a world that is in two splits.

    Raises:
        SuiteError: naming the world, both splits and the suites they belong to.
    """
    seen: dict[str, Placed] = {}
    for world in worlds:
        for mark in sorted(world.marks):
            other = seen.setdefault(mark, world)
            if other.split != world.split:
                raise SuiteError(
                    "a world is in two splits",
                    where=f"{other.source} in {other.split} of {other.suite}, {world.source} in {world.split} of {world.suite}",
                    why=f"both are {mark}: policies would be evaluated where they were trained",
                    next_step="give one of the splits another seed or another world",
                )


def _marks(entry: WorldEntry, base: Path) -> frozenset[str]:
    if entry.path is None:
        return frozenset({entry.source})
    file = base / entry.path / "world.json"
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SuiteError("a world of the suite cannot be read", where=str(file), why=str(error), next_step="mend its path") from error
    marks = {f"world {manifest.get('id')}", f"content {str(manifest.get('content_hash'))[:12]}"}
    generator, seed = (manifest.get("recipe") or {}).get("generator"), manifest.get("seed")
    return frozenset(marks | ({f"{generator} seed {seed}"} if generator and seed is not None else set()))
