"""A local map from depth images: on which surfaces a body can stand, where it is blocked, and what lies overhead.

The map is a grid of columns, each holding up to ``SHEETS`` surfaces at different heights, so a room, the room above it
and the stairs between them share one map without any notion of floors. Ground is followed from the robot's feet
outwards along every image column: what rises by no more than the body climbs stays ground, what rises further is an
obstacle, what lies above the body's height is overhead, and ground out of reach below is a drop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

SHEETS = 3

#: Bits of ``SurfaceGrid.flags``.
GROUND, SEEN, LINTEL, SPENT, FACADE = 1, 2, 4, 8, 16

#: Surfaces of one column that are closer than this are the same surface. Less than any headroom, more than any climb.
MERGE_M = 0.45
_HEADROOM_M = 0.9
_STAIR_SLOPE, _FOLLOW_M = 0.62, 0.25
#: Treads hidden behind an edge are taken for granted over this much of a flight.
_FLIGHT_M = 1.2
#: Ground is taken for granted between the feet and the first ground in view when it is no farther than this.
_BLIND_M = 3.6
_ODDS_HIT, _ODDS_MAX, _ODDS_MIN = 4, 12, -6
_ROOF_LIMIT = 20
_CEILING_LOW_M, _CEILING_HIGH_M = 1.8, 5.0
_SKY_LOW_M, _SKY_HIGH_M = 4.5, 7.0

# How the last pixel of an image column was read.
_START, _ON_GROUND, _ON_FACE, _ON_SOLID, _ON_VOID, _OVERHEAD = 0, 1, 2, 3, 4, 5


@dataclass(frozen=True)
class SurfaceGrid:
    """Arrays of the map; sheets first, then rows (y) and columns (x). Absent surfaces have NaN height.

    Attributes:
        height: (K, R, C) float32, metres in the map's frame.
        odds: (K, R, C) int8, blocked when positive.
        flags: (K, R, C) uint8. GROUND: the surface exists, else only its height is guessed from what lies around it.
            SEEN: hit by a ray, else filled in between two hits. LINTEL: an edge hangs over it. SPENT: no frontier any more.
            FACADE: something taller than 2.5 m stands on it.
        roof: (K, R, C) int8, positive when a ceiling hangs above, negative when open to the sky.
        glow: (K, R, C) int16, how often a long view or open sky was seen across this surface.
        stamp: (K, R, C) int32, the last frame that touched it, for one vote per frame.
        x0, y0: position of the outer corner of cell (0, 0). cell_m: edge of a cell.
    """

    height: NDArray[np.float32]
    odds: NDArray[np.int8]
    flags: NDArray[np.uint8]
    roof: NDArray[np.int8]
    glow: NDArray[np.int16]
    stamp: NDArray[np.int32]
    x0: float
    y0: float
    cell_m: float

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.height.shape[1], self.height.shape[2]


def empty_grid(x_min: float, y_min: float, x_max: float, y_max: float, cell_m: float) -> SurfaceGrid:
    """A map of nothing that covers the box; corners are snapped to multiples of the cell."""
    i0, j0 = int(np.floor(y_min / cell_m)), int(np.floor(x_min / cell_m))
    shape = (SHEETS, int(np.ceil(y_max / cell_m)) - i0, int(np.ceil(x_max / cell_m)) - j0)
    return SurfaceGrid(
        height=np.full(shape, np.nan, np.float32),
        odds=np.zeros(shape, np.int8),
        flags=np.zeros(shape, np.uint8),
        roof=np.zeros(shape, np.int8),
        glow=np.zeros(shape, np.int16),
        stamp=np.zeros(shape, np.int32),
        x0=j0 * cell_m,
        y0=i0 * cell_m,
        cell_m=cell_m,
    )


def grown(grid: SurfaceGrid, x_min: float, y_min: float, x_max: float, y_max: float) -> SurfaceGrid:
    """The same map, enlarged to cover the box as well; the map itself when it already does."""
    rows, cols = grid.shape
    x_end, y_end = grid.x0 + cols * grid.cell_m, grid.y0 + rows * grid.cell_m
    if x_min >= grid.x0 and y_min >= grid.y0 and x_max <= x_end and y_max <= y_end:
        return grid
    larger = empty_grid(min(x_min, grid.x0), min(y_min, grid.y0), max(x_max, x_end), max(y_max, y_end), grid.cell_m)
    i, j = round((grid.y0 - larger.y0) / grid.cell_m), round((grid.x0 - larger.x0) / grid.cell_m)
    for name in ("height", "odds", "flags", "roof", "glow", "stamp"):
        getattr(larger, name)[:, i : i + rows, j : j + cols] = getattr(grid, name)
    return larger


@njit(cache=True)
def find_surface(height, i, j, z, tolerance):  # type: ignore[no-untyped-def]
    """Sheet of the surface of column (i, j) nearest to height z within the tolerance, or -1."""
    best, found = tolerance, -1
    for k in range(height.shape[0]):
        gap = abs(height[k, i, j] - z)
        if gap <= best:
            best, found = gap, k
    return found


@njit(cache=True)
def _touch(height, flags, i, j, z, seen):  # type: ignore[no-untyped-def]
    """Sheet of the surface at height z, a new one when there is none; -1 when the column is full or off the map.

    What is seen displaces a guess in a full column. What was not seen itself (``seen`` False) belongs to a surface that was, when that is too near for a body to pass between.
    """
    if i < 0 or j < 0 or i >= height.shape[1] or j >= height.shape[2]:
        return -1
    k = find_surface(height, i, j, z, MERGE_M)
    if k >= 0:
        return k
    if not seen:
        k = find_surface(height, i, j, z, _HEADROOM_M)
        if k >= 0 and flags[k, i, j] & SEEN:
            return k
    worst, spare = 0.0, -1
    for k in range(height.shape[0]):
        if np.isnan(height[k, i, j]):
            height[k, i, j] = z
            return k
        if seen and not flags[k, i, j] & SEEN and abs(height[k, i, j] - z) > worst:
            worst, spare = abs(height[k, i, j] - z), k
    if spare >= 0:
        height[spare, i, j] = z
    return spare


@njit(cache=True)
def _absorb(height, odds, flags, roof, glow, k, i, j):  # type: ignore[no-untyped-def]
    """A surface that was seen takes over those that were only guessed within a headroom of it."""
    for q in range(height.shape[0]):
        if q == k or flags[q, i, j] & SEEN or not abs(height[q, i, j] - height[k, i, j]) <= _HEADROOM_M:
            continue
        odds[k, i, j] = max(odds[k, i, j], odds[q, i, j])
        flags[k, i, j] |= flags[q, i, j] & (LINTEL | FACADE)
        roof[k, i, j] = min(max(roof[k, i, j] + roof[q, i, j], -_ROOF_LIMIT), _ROOF_LIMIT)
        glow[k, i, j] += glow[q, i, j]
        height[q, i, j], odds[q, i, j], flags[q, i, j], roof[q, i, j], glow[q, i, j] = np.nan, 0, 0, 0, 0


@njit(cache=True)
def _mark_ground(height, odds, flags, roof, glow, stamp, i, j, z, seen, frame):  # type: ignore[no-untyped-def]
    k = _touch(height, flags, i, j, z, seen)
    if k < 0:
        return
    first = abs(stamp[k, i, j]) != frame
    if seen:
        if not flags[k, i, j] & SEEN:
            height[k, i, j] = z
        elif first:
            height[k, i, j] += np.float32(0.25) * (np.float32(z) - height[k, i, j])
        flags[k, i, j] |= GROUND | SEEN
        if first:
            _absorb(height, odds, flags, roof, glow, k, i, j)
            odds[k, i, j] = max(odds[k, i, j] - 1, _ODDS_MIN)
            stamp[k, i, j] = frame
    else:
        if not flags[k, i, j] & (GROUND | SEEN):
            height[k, i, j] = z
        elif not flags[k, i, j] & SEEN:
            height[k, i, j] += np.float32(0.5) * (np.float32(z) - height[k, i, j])
        flags[k, i, j] |= GROUND


@njit(cache=True)
def stand_on(height, odds, flags, roof, glow, x0, y0, cell, x, y, z, radius):  # type: ignore[no-untyped-def]
    """A body stands at (x, y, z): there is ground under it, free of obstacles."""
    span = int(np.ceil(radius / cell))
    i0, j0 = int(np.floor((y - y0) / cell)), int(np.floor((x - x0) / cell))
    for i in range(i0 - span, i0 + span + 1):
        for j in range(j0 - span, j0 + span + 1):
            distance = np.hypot(x0 + (j + 0.5) * cell - x, y0 + (i + 0.5) * cell - y)
            if distance > radius:
                continue
            k = _touch(height, flags, i, j, z, True)
            if k < 0:
                continue
            if distance < cell:
                height[k, i, j] = z
                flags[k, i, j] |= SEEN
            flags[k, i, j] |= GROUND
            _absorb(height, odds, flags, roof, glow, k, i, j)
            odds[k, i, j] = min(odds[k, i, j], 0)


@njit(cache=True)
def _mark_solid(height, odds, flags, stamp, i, j, base, z, frame):  # type: ignore[no-untyped-def]
    """A hit above the ground ``base``: one vote per frame, taking back the same frame's vote for ground."""
    k = _touch(height, flags, i, j, base, False)
    if k < 0:
        return
    if z - base > 2.5:
        flags[k, i, j] |= FACADE
    if stamp[k, i, j] == -frame:
        return
    if stamp[k, i, j] == frame:
        odds[k, i, j] += 1
    odds[k, i, j] = min(max(odds[k, i, j], 0) + _ODDS_HIT, _ODDS_MAX)
    stamp[k, i, j] = -frame


@njit(cache=True)
def _mark_roof(height, flags, roof, i, j, base, vote, lintel):  # type: ignore[no-untyped-def]
    """Something overhead. Remembered on the surface below it; an empty column gets one of guessed height to hold it."""
    if i < 0 or j < 0 or i >= height.shape[1] or j >= height.shape[2]:
        return
    k = find_surface(height, i, j, base, _HEADROOM_M)
    if k < 0:
        if not np.isnan(height[0, i, j]):
            return
        k = 0
        height[k, i, j] = base
    roof[k, i, j] = min(roof[k, i, j] + vote, _ROOF_LIMIT)
    if lintel:
        flags[k, i, j] |= LINTEL


@njit(cache=True)
def _fill_ceiling(height, flags, roof, x0, y0, cell, xa, ya, xb, yb, base):  # type: ignore[no-untyped-def]
    """A ceiling reaches from one hit to the next."""
    steps = int(np.ceil(np.hypot(xb - xa, yb - ya) / (0.7 * cell)))
    for n in range(1, steps):
        t = n / steps
        i, j = int(np.floor((ya + t * (yb - ya) - y0) / cell)), int(np.floor((xa + t * (xb - xa) - x0) / cell))
        _mark_roof(height, flags, roof, i, j, base, 1, False)


@njit(cache=True)
def _fill_ground(height, odds, flags, roof, glow, stamp, x0, y0, cell, xa, ya, za, xb, yb, zb, frame):  # type: ignore[no-untyped-def]
    """Ground reaches from one hit to the next: along what was seen before, and evenly towards the far end elsewhere."""
    steps = int(np.ceil(np.hypot(xb - xa, yb - ya) / (0.7 * cell)))
    h = za
    for n in range(1, steps):
        t = n / steps
        i, j = int(np.floor((ya + t * (yb - ya) - y0) / cell)), int(np.floor((xa + t * (xb - xa) - x0) / cell))
        if i < 0 or j < 0 or i >= height.shape[1] or j >= height.shape[2]:
            return
        k = find_surface(height, i, j, h, _FOLLOW_M)
        if k >= 0 and flags[k, i, j] & SEEN:
            h = height[k, i, j]
            continue
        h += (zb - h) / (steps - n + 1)
        _mark_ground(height, odds, flags, roof, glow, stamp, i, j, h, False, frame)


@njit(cache=True)
def integrate_depth(  # type: ignore[no-untyped-def]
    height,
    odds,
    flags,
    roof,
    glow,
    stamp,
    x0,
    y0,
    cell,
    frame,
    depth,
    rays,
    origin,
    base_xyz,
    yaw,
    climb,
    body_height,
    slope,
    ground_range,
    solid_range,
    columns,
):
    """Enter one depth image into the map.

    Args:
        height .. cell: the fields of a SurfaceGrid. frame: number of the image, from 1 upwards.
        depth: (H, W) float32, z-depth. rays: (H, W, 3), the point at depth 1 relative to the camera, base frame.
        origin: (3,) the camera in the map's frame. base_xyz: (3,) the robot's foot point. yaw: its heading.
        climb, body_height, slope: highest step, headroom needed, steepest ground (rise over run).
        ground_range, solid_range: up to where ground and obstacles are entered, metres.
        columns: (W, 7) float64, written: range of the first obstacle, of the farthest ground, of the farthest hit near
            the horizon, 1 when sky is seen, height above ground of the topmost hit (inf for sky), ceiling pixels, height
            of the lowest hit.
    """
    rows, cols = depth.shape
    c, s = np.cos(yaw), np.sin(yaw)
    pixel = abs(rays[1, 0, 2] - rays[0, 0, 2])
    row_gap = pixel / max(origin[2] - base_xyz[2], 0.1)
    for u in range(cols):
        state, base = _START, base_xyz[2]
        r_last, x_last, y_last, z_last = 0.0, base_xyz[0], base_xyz[1], base_xyz[2]
        gx, gy, gz, g_range = base_xyz[0], base_xyz[1], base_xyz[2], 0.0
        first_solid, far, sky, top, ceiling, lowest = np.inf, 0.0, 0.0, 0.0, 0.0, 0.0
        for v in range(rows - 1, -1, -1):
            d = depth[v, u]
            dx, dy, dz = rays[v, u, 0], rays[v, u, 1], rays[v, u, 2]
            level_ray = abs(dz) < 0.2
            if not np.isfinite(d):
                top = np.inf
                if dz > 0.05:
                    sky = 1.0
                elif dz < 0.0:
                    state = _ON_VOID
                if level_ray:
                    far = np.inf
                continue
            x = origin[0] + d * (c * dx - s * dy)
            y = origin[1] + d * (s * dx + c * dy)
            z = origin[2] + d * dz
            r = np.hypot(x - origin[0], y - origin[1])
            top = z - base_xyz[2]
            lowest = min(lowest, top)
            if level_ray and r > far:
                far = r
            dr, rise = r - r_last, z - z_last
            i, j = int(np.floor((y - y0) / cell)), int(np.floor((x - x0) / cell))
            if z - base > body_height and z - base_xyz[2] > body_height - climb:
                flat = abs(rise) < 0.03 + 0.05 * abs(dr) and dr < -0.02 and -dr < min(1.5 * r_last * r_last * pixel / max(z - origin[2], 0.1) + 0.1, 1.5)
                if state == _OVERHEAD and flat and z - base > _CEILING_LOW_M and z - base < _CEILING_HIGH_M and r < solid_range:
                    ceiling += 1.0
                    _mark_roof(height, flags, roof, i, j, base, 2, False)
                    _fill_ceiling(height, flags, roof, x0, y0, cell, x_last, y_last, x, y, base)
                elif (
                    state == _OVERHEAD
                    and not flat
                    and z - base > _CEILING_LOW_M
                    and z - base < 3.2
                    and r < solid_range
                    and first_solid > r + 1.5
                    and far > r + 1.5
                ):
                    _mark_roof(height, flags, roof, i, j, base, 1, True)
                elif r < solid_range and z - base > 2.5 and i >= 0 and j >= 0 and i < height.shape[1] and j < height.shape[2]:
                    k = find_surface(height, i, j, base, MERGE_M)
                    if k >= 0 and odds[k, i, j] > 0:
                        flags[k, i, j] |= FACADE
                state = _OVERHEAD
                r_last, x_last, y_last, z_last = r, x, y, z
                continue
            even = dr > 0.01 and abs(rise) <= slope * dr + 0.01
            previous = state
            if state == _START:
                reach = climb + slope * r
                if abs(z - base) <= reach:
                    state = _ON_FACE
                    if i >= 0 and j >= 0 and i < height.shape[1] and j < height.shape[2]:
                        k = find_surface(height, i, j, base, MERGE_M)
                        if k >= 0 and flags[k, i, j] & SEEN:
                            base = height[k, i, j]
                            if z - base > climb + 0.01:
                                state = _ON_SOLID
                        else:
                            base = z
                else:
                    state = _ON_SOLID if z > base else _ON_VOID
            elif state == _ON_GROUND or state == _ON_FACE:
                if even and abs(z - base) <= climb + slope * dr:
                    state = _ON_GROUND
                elif z < z_last - 0.01 and dr > 0.0:
                    state = _ON_GROUND if base - z <= climb + slope * dr else _ON_VOID
                elif z - base > climb + 0.01:
                    state = _ON_SOLID
                elif base - z > climb + 0.01:
                    state = _ON_VOID
                else:
                    state = _ON_FACE
            elif abs(z - base) <= climb + 0.01 and dr > -0.05:
                state = _ON_FACE
            else:
                state = _ON_SOLID if z > base else _ON_VOID
            if state == _ON_GROUND:
                ledge = base - z > climb + 0.01 and (dr > _FLIGHT_M or base - z > _STAIR_SLOPE * dr + 0.2)
                base = z
                if r <= ground_range:
                    _mark_ground(height, odds, flags, roof, glow, stamp, i, j, z, True, frame)
                    gap = r - g_range
                    near = gap <= 1.5 * r * r * row_gap + 0.15 and (previous == _ON_GROUND or gap < 0.45)
                    stairs = previous == _ON_GROUND and gz - z > climb and gap <= _FLIGHT_M
                    blind = g_range == 0.0 and r < _BLIND_M and previous != _ON_SOLID and previous != _ON_VOID
                    if not ledge and (near or stairs or blind):
                        _fill_ground(height, odds, flags, roof, glow, stamp, x0, y0, cell, gx, gy, gz, x, y, z, frame)
                    gx, gy, gz, g_range = x, y, z, r
            elif state == _ON_SOLID:
                if r < first_solid:
                    first_solid = r
                if r <= solid_range:
                    _mark_solid(height, odds, flags, stamp, i, j, base, z, frame)
            r_last, x_last, y_last, z_last = r, x, y, z
        columns[u, 0], columns[u, 1], columns[u, 2] = first_solid, g_range, far
        columns[u, 3], columns[u, 4], columns[u, 5], columns[u, 6] = sky, top, ceiling, lowest
        if g_range > 1.0:
            value = 0
            if first_solid > g_range + 1.5 and sky > 0.0:
                value = 3
            elif far > 15.0 and first_solid > 12.0:
                value = 1
            if value > 0:
                i, j = int(np.floor((gy - y0) / cell)), int(np.floor((gx - x0) / cell))
                k = _touch(height, flags, i, j, gz, False)
                if k >= 0:
                    glow[k, i, j] = min(glow[k, i, j] + value, 1000)


@njit(cache=True)
def integrate_sky(height, roof, x0, y0, cell, depth, rays, origin, base_z, yaw, reach):  # type: ignore[no-untyped-def]
    """Columns that a ray crosses high above the ground without a hit are open to the sky. Arguments as above."""
    rows, cols = depth.shape
    c, s = np.cos(yaw), np.sin(yaw)
    low = base_z + _SKY_LOW_M - origin[2]
    high = base_z + _SKY_HIGH_M - origin[2]
    for u in range(0, cols, 3):
        for v in range(0, rows, 2):
            dx, dy, dz = rays[v, u, 0], rays[v, u, 1], rays[v, u, 2]
            run = np.hypot(dx, dy)
            if dz < 0.05 or run < 1e-6:
                continue
            end = min(reach, high * run / dz, depth[v, u] * run - 0.3)
            r = low * run / dz
            while r < end:
                x = origin[0] + r / run * (c * dx - s * dy)
                y = origin[1] + r / run * (s * dx + c * dy)
                i, j = int(np.floor((y - y0) / cell)), int(np.floor((x - x0) / cell))
                if i >= 0 and j >= 0 and i < height.shape[1] and j < height.shape[2]:
                    k = find_surface(height, i, j, base_z, 0.8)
                    if k >= 0:
                        roof[k, i, j] = max(roof[k, i, j] - 1, -_ROOF_LIMIT)
                r += cell
