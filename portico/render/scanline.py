"""Scan conversion: the pixels whose centres a projected triangle covers.

Edges are stepped from their upper end by the same arithmetic in both triangles that share them: no cracks, no double
cover. Equal nearness goes to the triangle that comes later in the world, as a painter would have it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.render.projection import DX, DY, FACE, LEAST, LONG_IS_LEFT, MOST, ROW0, ROW1, S01, S02, S12, TILE, X0, X1, Y0, Y1, C, first_center
from portico.render.views import View


@njit(cache=True, error_model="numpy", forceinline=True)
def fill_shape(
    shapes: Floats, marks: NDArray[np.int32], at: int, view: View, nearness: NDArray[np.float32], faces: NDArray[np.int32], slot: int, threads: int
) -> None:
    """Draw the rows of a shape that lie in the bands b with b % threads == slot."""
    row0, row1 = marks[at, ROW0], marks[at, ROW1]
    for band in range(row0 // TILE, (row1 - 1) // TILE + 1):
        if band % threads == slot:
            for row in range(max(row0, band * TILE), min(row1, (band + 1) * TILE)):
                _fill_row(shapes, marks, at, row, view, nearness, faces)


@njit(cache=True, error_model="numpy", forceinline=True)
def _fill_row(shapes: Floats, marks: NDArray[np.int32], at: int, row: int, view: View, nearness: NDArray[np.float32], faces: NDArray[np.int32]) -> None:
    y = row + 0.5
    on_long = shapes[at, X0] + (y - shapes[at, Y0]) * shapes[at, S02]
    x0, y0, slope = (X0, Y0, S01) if y < shapes[at, Y1] else (X1, Y1, S12)
    on_short = shapes[at, x0] + (y - shapes[at, y0]) * shapes[at, slope]
    left, right = (on_long, on_short) if marks[at, LONG_IS_LEFT] else (on_short, on_long)
    first, last = first_center(left, view.width), first_center(right, view.width)
    start = np.float32(shapes[at, C] + shapes[at, DX] * (first + 0.5 - view.cx) + shapes[at, DY] * (y - view.cy))
    step = np.float32(shapes[at, DX])
    least, most = np.float32(shapes[at, LEAST]), np.float32(shapes[at, MOST])
    face = marks[at, FACE]
    for x in range(first, last):
        # Seen almost edge-on the plane is steep: its value stays within that of the triangle's corners.
        value = min(max(start + step * np.float32(x - first), least), most)
        if value > nearness[row, x] or (value == nearness[row, x] and face > faces[row, x]):
            nearness[row, x] = value
            faces[row, x] = face
