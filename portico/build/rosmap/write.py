"""Writes a map as map_saver does: a binary PGM and its YAML file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from portico.build.rosmap.occupancy_map import MapGrid, OccupancyMap
from portico.world.whole_file import whole_file

#: Greys of occupied, unknown and free cells, and thresholds that tell the three apart for every reader.
_BLACK, _GREY, _WHITE = 0, 205, 254
_OCCUPIED_THRESH, _FREE_THRESH = 0.65, 0.196


def write_rosmap(occupancy: OccupancyMap, folder: Path | str, name: str = "map") -> tuple[Path, Path]:
    """Write ``<name>.pgm`` and ``<name>.yaml``; costs become free. Returns both paths.

    Raises:
        StorageError: the folder cannot be written.
    """
    greys = np.where(occupancy.occupied, _BLACK, np.where(occupancy.free, _WHITE, _GREY)).astype(np.uint8)
    image, file = Path(folder) / f"{name}.pgm", Path(folder) / f"{name}.yaml"
    write_pgm(greys, image)
    write_yaml(image.name, occupancy.grid, file, occupied_thresh=_OCCUPIED_THRESH, free_thresh=_FREE_THRESH)
    return image, file


def write_pgm(greys: NDArray[np.uint8], path: Path) -> None:
    """Write greys (H, W) as a binary PGM."""
    with whole_file(path) as file:
        file.write(f"P5\n{greys.shape[1]} {greys.shape[0]}\n255\n".encode("ascii"))
        file.write(np.ascontiguousarray(greys).tobytes())


def write_yaml(image: str, grid: MapGrid, path: Path, *, occupied_thresh: float, free_thresh: float) -> None:
    """Write the YAML file of a trinary map; numbers keep all their digits."""
    lines = [
        f"image: {image}",
        "mode: trinary",
        f"resolution: {grid.resolution_m!r}",
        f"origin: [{grid.x_m!r}, {grid.y_m!r}, {grid.yaw_rad!r}]",
        "negate: 0",
        f"occupied_thresh: {occupied_thresh!r}",
        f"free_thresh: {free_thresh!r}",
    ]
    with whole_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode("ascii"))
