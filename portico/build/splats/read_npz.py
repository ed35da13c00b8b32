"""Coloured points in an NPZ, as structure-from-motion tools leave them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from portico.build.splats.capture import Columns
from portico.build.splats.read_ply import points_as_gaussians
from portico.errors import ImportFailed

_POINTS, _COLOURS = ("means3d", "points", "xyz", "positions"), ("colors", "rgb")


def read_npz_points(path: Path) -> Columns:
    """Columns of an NPZ with points (N, 3) and, if it has them, colours (N, 3), as bytes or 0 to 1.

    Raises:
        ImportFailed: no such array, another shape, or a damaged file.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files if name in (*_POINTS, *_COLOURS)}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ImportFailed("the NPZ is damaged", where=str(path), why=str(error), next_step="download or export it again") from error
    name = next((name for name in _POINTS if name in arrays), None)
    if name is None or arrays[name].ndim != 2 or arrays[name].shape[1] != 3:
        raise ImportFailed(
            "the NPZ holds no points", where=str(path), why=f"an (N, 3) array called {', '.join(_POINTS)} is needed", next_step="rename the array"
        )
    points = arrays[name].astype(np.float32)
    found = next((name for name in _COLOURS if name in arrays and arrays[name].shape == points.shape), None)
    if found is None:
        return points_as_gaussians(points, np.full(points.shape, 0.5), "grey for want of colours")
    colour = arrays[found].astype(np.float64) / (255.0 if arrays[found].dtype.kind in "iu" else 1.0)
    return points_as_gaussians(points, colour, f"coloured by {found}")
