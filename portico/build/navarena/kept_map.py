"""The cells of a map as a short text, row by row from the top: runs of ``.`` free, ``#`` occupied, ``?`` unknown, each after its length."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from portico.build.rosmap import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMap
from portico.world import World

_SIGNS = {FREE: ".", OCCUPIED: "#", UNKNOWN: "?"}
_RUN = re.compile(r"(\d+)([.#?])")


def written(cells: NDArray[np.int8]) -> str:
    """Cells (H, W) of three values as text; costs become free."""
    flat = np.where((cells > FREE) & (cells < OCCUPIED), FREE, cells).ravel()
    starts = np.flatnonzero(np.concatenate([[True], np.diff(flat) != 0]))
    lengths = np.diff(np.append(starts, len(flat)))
    return "".join(f"{n}{_SIGNS[int(value)]}" for n, value in zip(lengths, flat[starts], strict=True))


def kept_map(world: World, grid: MapGrid) -> OccupancyMap | None:
    """The map that a world was imported with, when it was and lies on this grid."""
    text = world.manifest.recipe.get("navarena", {}).get("cells")
    if text is None:
        return None
    values = {sign: value for value, sign in _SIGNS.items()}
    runs = [(int(n), values[sign]) for n, sign in _RUN.findall(text)]
    flat = np.repeat(np.array([value for _, value in runs], np.int8), [n for n, _ in runs])
    if len(flat) != grid.width * grid.height:
        return None
    return OccupancyMap(grid, flat.reshape(grid.height, grid.width))
