"""A triangle on the image: taken to the view, cut at the near plane, and reduced to what scan conversion needs."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.render.views import View

Triple = tuple[float, float, float]

#: Side of the tiles whose least nearness is known, pixels.
TILE = 16
#: Fields of a shape. Corners run downwards: 0 is the uppermost. S* are columns per row along the edges; nearness is
#: C + DX (x - cx) + DY (y - cy), within LEAST and MOST.
X0, Y0, X1, Y1, S02, S01, S12, DX, DY, C, LEAST, MOST = range(12)
FIELDS = 12
#: Fields of a mark: triangle, first row, row after the last, whether the edge 02 bounds the shape on the left.
FACE, ROW0, ROW1, LONG_IS_LEFT = range(4)
MARKS = 4


@njit(cache=True, error_model="numpy", forceinline=True)
def project_triangle(
    corners: NDArray[np.float32],
    plane: Floats,
    t: int,
    face: int,
    view: View,
    tiles: NDArray[np.float32],
    shapes: Floats,
    marks: NDArray[np.int32],
    at: int,
) -> int:
    """Write 0, 1 or 2 shapes from place ``at`` on; returns the next free place."""
    a = _to_view(corners, t, 0, view)
    b = _to_view(corners, t, 1, view)
    c = _to_view(corners, t, 2, view)
    near = view.near
    if (a[2] < near and b[2] < near and c[2] < near) or _outside(a, b, c, view):
        return at
    dx, dy, level, seen = _nearness_plane(plane, t, view)
    if not seen:
        return at
    # Turn the triangle until a corner alone on its side of the near plane comes first.
    in_a, in_b, in_c = a[2] >= near, b[2] >= near, c[2] >= near
    if in_b != in_a and in_b != in_c:
        a, b, c = b, c, a
    elif in_c != in_a and in_c != in_b:
        a, b, c = c, a, b
    pieces = 1
    if in_a and in_b and in_c:
        d = c
    elif a[2] >= near:
        b, c = _cut(a, b, near), _cut(a, c, near)
        d = c
    else:
        a, d, pieces = _cut(b, a, near), _cut(c, a, near), 2
    a, b, c, d = _to_image(a, view), _to_image(b, view), _to_image(c, view), _to_image(d, view)
    for _ in range(pieces):
        at = _write(a, b, c, dx, dy, level, face, view, tiles, shapes, marks, at)
        b, c = c, d
    return at


@njit(cache=True, error_model="numpy", forceinline=True)
def _to_view(corners: NDArray[np.float32], t: int, corner: int, view: View) -> Triple:
    px, py, pz = corners[t, corner, 0] - view.ox, corners[t, corner, 1] - view.oy, corners[t, corner, 2] - view.oz
    return (
        view.xx * px + view.xy * py + view.xz * pz,
        view.yx * px + view.yy * py + view.yz * pz,
        view.zx * px + view.zy * py + view.zz * pz,
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _cut(inside: Triple, outside: Triple, near: float) -> Triple:
    """Where the edge crosses the near plane; always taken from the inner end, so that neighbours agree to the bit."""
    t = (inside[2] - near) / (inside[2] - outside[2])
    return inside[0] + t * (outside[0] - inside[0]), inside[1] + t * (outside[1] - inside[1]), near


@njit(cache=True, error_model="numpy", forceinline=True)
def _to_image(p: Triple, view: View) -> Triple:
    """Pixel coordinates and nearness."""
    if view.perspective:
        nearness = 1.0 / p[2]
        return p[0] * view.scale * nearness + view.cx, p[1] * view.scale * nearness + view.cy, nearness
    return p[0] * view.scale + view.cx, p[1] * view.scale + view.cy, view.far - p[2]


@njit(cache=True, error_model="numpy", forceinline=True)
def _outside(a: Triple, b: Triple, c: Triple, view: View) -> bool:
    """Whether all three corners lie beyond the same side of the image."""
    ra, rb, rc = (a[2], b[2], c[2]) if view.perspective else (1.0, 1.0, 1.0)
    left, right = -view.cx / view.scale, (view.width - view.cx) / view.scale
    top, bottom = -view.cy / view.scale, (view.height - view.cy) / view.scale
    return (
        (a[0] < left * ra and b[0] < left * rb and c[0] < left * rc)
        or (a[0] > right * ra and b[0] > right * rb and c[0] > right * rc)
        or (a[1] < top * ra and b[1] < top * rb and c[1] < top * rc)
        or (a[1] > bottom * ra and b[1] > bottom * rb and c[1] > bottom * rc)
    )


@njit(cache=True, error_model="numpy", forceinline=True)
def _nearness_plane(plane: Floats, t: int, view: View) -> tuple[float, float, float, bool]:
    """DX, DY and C of the nearness over the image, from the triangle's plane n . p = d; the flag is off when it is seen edge-on.

    Perspective: 1/z = (n . ray) / d. Orthographic: far - z. Taken from the plane rather than the corners, nearness stays
    exact on triangles that reach far out of the image, and is equal to the bit on coplanar ones.
    """
    px, py, pz = plane[t, 0], plane[t, 1], plane[t, 2]
    nx = view.xx * px + view.xy * py + view.xz * pz
    ny = view.yx * px + view.yy * py + view.yz * pz
    nz = view.zx * px + view.zy * py + view.zz * pz
    d = plane[t, 3] - (px * view.ox + py * view.oy + pz * view.oz)
    if view.perspective:
        if abs(d) < 1e-9:
            return 0.0, 0.0, 0.0, False
        return nx / (d * view.scale), ny / (d * view.scale), nz / d, True
    if abs(nz) < 1e-6:
        return 0.0, 0.0, 0.0, False
    return nx / (nz * view.scale), ny / (nz * view.scale), view.far - d / nz, True


@njit(cache=True, error_model="numpy")
def _write(
    a: Triple,
    b: Triple,
    c: Triple,
    dx: float,
    dy: float,
    level: float,
    face: int,
    view: View,
    tiles: NDArray[np.float32],
    shapes: Floats,
    marks: NDArray[np.int32],
    at: int,
) -> int:
    """Store a shape unless it covers no pixel centre or is hidden already."""
    if b[1] < a[1]:
        a, b = b, a
    if c[1] < b[1]:
        b, c = c, b
        if b[1] < a[1]:
            a, b = b, a
    row0, row1 = first_center(a[1], view.height), first_center(c[1], view.height)
    column0, column1 = first_center(min(a[0], b[0], c[0]), view.width), first_center(max(a[0], b[0], c[0]), view.width)
    if row0 >= row1 or column0 >= column1:
        return at
    most = max(a[2], b[2], c[2])
    if _covered(tiles, row0, row1, column0, column1, most):
        return at
    long_slope = (c[0] - a[0]) / (c[1] - a[1])
    shapes[at, X0], shapes[at, Y0], shapes[at, X1], shapes[at, Y1] = a[0], a[1], b[0], b[1]
    shapes[at, S02] = long_slope
    shapes[at, S01] = (b[0] - a[0]) / (b[1] - a[1]) if b[1] > a[1] else 0.0
    shapes[at, S12] = (c[0] - b[0]) / (c[1] - b[1]) if c[1] > b[1] else 0.0
    shapes[at, DX], shapes[at, DY], shapes[at, C] = dx, dy, level
    shapes[at, LEAST], shapes[at, MOST] = min(a[2], b[2], c[2]), most
    marks[at, FACE], marks[at, ROW0], marks[at, ROW1] = face, row0, row1
    marks[at, LONG_IS_LEFT] = a[0] + (b[1] - a[1]) * long_slope < b[0]
    return at + 1


@njit(cache=True, error_model="numpy", forceinline=True)
def first_center(coordinate: float, size: int) -> int:
    """Index of the first of ``size`` pixels whose centre is not before a coordinate."""
    return int(np.ceil(min(max(coordinate, 0.0), float(size)) - 0.5))


@njit(cache=True, error_model="numpy", forceinline=True)
def _covered(tiles: NDArray[np.float32], row0: int, row1: int, column0: int, column1: int, most: float) -> bool:
    for row in range(row0 // TILE, (row1 - 1) // TILE + 1):
        for column in range(column0 // TILE, (column1 - 1) // TILE + 1):
            if tiles[row, column] <= most * 1.00001:
                return False
    return True
