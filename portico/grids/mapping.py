"""Entering depth images into a surface grid: where a body can stand, where it is blocked, what lies overhead.

Ground is followed from the robot's feet outwards along every image column: what rises by no more than the body climbs
stays ground, what rises further is an obstacle, what lies above the body's height is overhead, and ground out of reach
below is a drop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from portico.geometry import Floats
from portico.grids.surface_grid import (
    MERGE_M,
    ROOF_LIMIT,
    SEEN,
    cell_of,
    find_surface,
    guess_ground,
    lean,
    lean_inline,
    mark_ground,
    mark_roof,
    mark_solid,
    mark_tall,
    nearest_surface,
    on_grid,
    touch_surface,
)

_CEILING_LOW_M, _CEILING_HIGH_M, _LINTEL_HIGH_M = 1.8, 5.0, 3.2
_SKY_LOW_M, _SKY_HIGH_M = 4.5, 7.0
_FOLLOW_M = 0.25
#: Treads hidden behind an edge are taken for granted over this much of a flight, no steeper than stairs.
_FLIGHT_M, _STAIR_SLOPE = 1.2, 0.62
#: Ground is taken for granted between the feet and the first ground in view when it is no farther than this.
_BLIND_M = 3.6
_LONG_VIEW_M = 15.0
#: Rays that rise or fall by less per metre look along the horizon.
_HORIZON = 0.2
#: Hits of one column on one cell of ground that differ by no more are one hit.
_SAME_HIT_M = 0.02

# How a pixel of an image column was read.
_START, _ON_GROUND, _ON_FACE, _ON_SOLID, _ON_VOID, _OVERHEAD = 0, 1, 2, 3, 4, 5


class View(NamedTuple):
    """Where an image was taken, and by what body. Metres, radians, the map's frame.

    Attributes:
        origin: (3,) the camera. feet: (3,) the robot's foot point. yaw_rad: its heading.
        climb_m: highest step. body_m: headroom needed. slope: steepest ground, rise over run.
        ground_m, solid_m: range up to which ground and obstacles are entered.
    """

    origin: Floats
    feet: Floats
    yaw_rad: float
    climb_m: float
    body_m: float
    slope: float
    ground_m: float
    solid_m: float


@njit(cache=True)
def integrate_depth(g, view, depth, rays, frame, columns):  # type: ignore[no-untyped-def]
    """Enter one depth image into a SurfaceGrid.

    Args:
        g: the grid. view: a View. depth: (H, W) float32, z-depth.
        rays: (H, W, 3), the point at depth 1 relative to the camera, base frame. frame: number of the image, from 1.
        columns: (W, 7) float64, written: range of the first obstacle, of the farthest ground, of the farthest hit near
            the horizon, 1 when sky is seen, height above the feet of the topmost hit (inf for sky), ceiling pixels,
            height of the lowest hit.
    """
    rows, cols = depth.shape
    ground = np.empty((rows + 2, 2))
    for u in range(cols):
        gx, gy, gz = _enter_column(g, view, depth, rays, frame, columns[u], ground, u)
        _enter_glow(g, columns[u], gx, gy, gz)


@lean
def _enter_column(g, view, depth, rays, frame, column, ground, u):  # type: ignore[no-untyped-def]
    """One image column, from the bottom up; returns the farthest ground.

    What every pixel needs is spelled out here: handing the grid or an array to a helper costs more than the helper does.
    """
    rows = depth.shape[0]
    c, s, feet, origin = np.cos(view.yaw_rad), np.sin(view.yaw_rad), view.feet, view.origin
    ox, oy, oz, floor = origin[0], origin[1], origin[2], feet[2]
    x0, y0, cell, climb = g.x0, g.y0, g.cell_m, view.climb_m
    pixel = abs(rays[1, 0, 2] - rays[0, 0, 2])
    row_gap = pixel / max(oz - floor, 0.1)
    state, count = _START, 1
    ground[0, 0], ground[0, 1] = 0.0, floor
    r_last, x_last, y_last, z_last = 0.0, feet[0], feet[1], floor
    gx, gy, gz, g_range, gi, gj = feet[0], feet[1], floor, 0.0, -1, -1
    solid_m, far_m, lowest = np.inf, 0.0, 0.0
    column[:] = 0.0
    for v in range(rows - 1, -1, -1):
        d = depth[v, u]
        dx, dy, dz = rays[v, u, 0], rays[v, u, 1], rays[v, u, 2]
        if not np.isfinite(d):
            state = _enter_nothing(column, dz, state)
            far_m = np.inf if abs(dz) < _HORIZON else far_m
            continue
        x, y, z = ox + d * (c * dx - s * dy), oy + d * (s * dx + c * dy), oz + d * dz
        r = np.sqrt((x - ox) ** 2 + (y - oy) ** 2)
        dr, rise = r - r_last, z - z_last
        column[4] = z - floor
        lowest = min(lowest, z - floor)
        far_m = max(far_m, r) if abs(dz) < _HORIZON else far_m
        # Whatever occludes ground stands in front of it.
        m = count - 1
        while m > 0 and ground[m, 0] > r + 0.02:
            m -= 1
        base = ground[m, 1]
        if z - base > view.body_m and z - floor > view.body_m - climb:
            ceiling = state == _OVERHEAD and _is_level_above(dr, rise, r_last, z - oz, pixel)
            column[0], column[2] = solid_m, far_m
            _enter_overhead(g, view, column, state, ceiling, r, x, y, z, x_last, y_last, base)
            state = _OVERHEAD
            r_last, x_last, y_last, z_last = r, x, y, z
            continue
        i, j = int(np.floor((y - y0) / cell)), int(np.floor((x - x0) / cell))
        previous = state
        if state == _START:
            state, base = _first(g, view, i, j, r, z, base)
            ground[count, 0], ground[count, 1] = r, base
            count += 1
        else:
            state = _next(state, dr, rise, z, base, climb, view.slope)
        if state == _ON_GROUND:
            if r <= view.ground_m:
                if i != gi or j != gj or abs(z - gz) > _SAME_HIT_M:
                    mark_ground(g, i, j, z, frame)
                    gi, gj = i, j
                if _joined(previous, r - g_range, dr, r, gz, z, base, climb, row_gap, g_range == 0.0):
                    _fill_ground(g, gx, gy, gz, x, y, z)
                gx, gy, gz, g_range = x, y, z, r
            while count > 1 and ground[count - 1, 0] >= r:
                count -= 1
            ground[count, 0], ground[count, 1] = r, z
            count += 1
        elif state == _ON_SOLID:
            solid_m = min(solid_m, r)
            if r <= view.solid_m:
                mark_solid(g, i, j, base, z, frame)
        r_last, x_last, y_last, z_last = r, x, y, z
    column[0], column[1], column[2], column[6] = solid_m, g_range, far_m, lowest
    return gx, gy, gz


@lean
def _first(g, view, i, j, r, z, base):  # type: ignore[no-untyped-def]
    """How to read the lowest hit of a column, and the height of the ground it stands on or is."""
    if abs(z - base) > view.climb_m + view.slope * r:
        return (_ON_SOLID if z > base else _ON_VOID), base
    if on_grid(g, i, j):
        k = find_surface(g, i, j, base, MERGE_M)
        if k >= 0 and g.flags[k, i, j] & SEEN:
            base = g.height[k, i, j]
            return (_ON_SOLID if z - base > view.climb_m + 0.01 else _ON_FACE), base
    return _ON_FACE, z


@lean_inline
def _next(state, dr, rise, z, base, climb, slope):  # type: ignore[no-untyped-def]
    """How to read a hit, given how the one below it in the image was read.

    A face of no more than the climb is undecided until level ground follows it: then it was a step.
    """
    if state in (_ON_GROUND, _ON_FACE):
        if dr > 0.01 and abs(rise) <= slope * dr + 0.01 and abs(z - base) <= climb + slope * dr:
            return _ON_GROUND
        if rise < -0.01 and dr > 0.0:
            return _ON_GROUND if base - z <= climb + slope * dr else _ON_VOID
        if z - base > climb + 0.01:
            return _ON_SOLID
        return _ON_VOID if base - z > climb + 0.01 else _ON_FACE
    if abs(z - base) <= climb + 0.01 and dr > -0.05:
        return _ON_FACE
    return _ON_SOLID if z > base else _ON_VOID


@lean_inline
def _joined(previous, gap, dr, r, gz, z, base, climb, row_gap, from_feet):  # type: ignore[no-untyped-def]
    """Whether ground reaches from the last ground hit of a column to this one."""
    if base - z > climb + 0.01 and (dr > _FLIGHT_M or base - z > _STAIR_SLOPE * dr + 0.2):
        return False
    near = gap <= 1.5 * r * r * row_gap + 0.15 and (previous == _ON_GROUND or gap < 0.45)
    stairs = previous == _ON_GROUND and gz - z > climb and gap <= _FLIGHT_M
    blind = from_feet and r < _BLIND_M and previous != _ON_SOLID and previous != _ON_VOID
    return near or stairs or blind


@lean
def _fill_ground(g, xa, ya, za, xb, yb, zb):  # type: ignore[no-untyped-def]
    """Ground reaches from one hit to the next: along what was seen before, and evenly towards the far end elsewhere."""
    height, flags, x0, y0, cell = g.height, g.flags, g.x0, g.y0, g.cell_m
    steps = int(np.ceil(np.hypot(xb - xa, yb - ya) / (0.7 * cell)))
    h = za
    for n in range(1, steps):
        t = n / steps
        i, j = int(np.floor((ya + t * (yb - ya) - y0) / cell)), int(np.floor((xa + t * (xb - xa) - x0) / cell))
        if i < 0 or j < 0 or i >= height.shape[1] or j >= height.shape[2]:
            return
        k = nearest_surface(height, i, j, h, _FOLLOW_M)
        if k >= 0 and flags[k, i, j] & SEEN:
            h = height[k, i, j]
            continue
        h += (zb - h) / (steps - n + 1)
        guess_ground(g, i, j, h)


@lean_inline
def _is_level_above(dr, rise, r_last, above, pixel):  # type: ignore[no-untyped-def]
    """Whether two hits overhead, one above the other in the image, lie on one ceiling: level, nearer, and no jump."""
    return abs(rise) < 0.03 + 0.05 * abs(dr) and dr < -0.02 and -dr < min(1.5 * r_last * r_last * pixel / max(above, 0.1) + 0.1, 1.5)


@lean
def _enter_overhead(g, view, column, state, ceiling, r, x, y, z, x_last, y_last, base):  # type: ignore[no-untyped-def]
    """A hit above the body: ceiling, lintel with open space behind, or the upper part of something tall."""
    if r >= view.solid_m:
        return
    i, j = cell_of(g, x, y)
    above = z - base
    if ceiling and _CEILING_LOW_M < above < _CEILING_HIGH_M:
        column[5] += 1.0
        mark_roof(g, i, j, base, 2, False)
        steps = int(np.ceil(np.hypot(x - x_last, y - y_last) / (0.7 * g.cell_m)))
        for n in range(1, steps):
            a, b = cell_of(g, x_last + n / steps * (x - x_last), y_last + n / steps * (y - y_last))
            mark_roof(g, a, b, base, 1, False)
    elif state == _OVERHEAD and not ceiling and _CEILING_LOW_M < above < _LINTEL_HIGH_M and column[0] > r + 1.5 and column[2] > r + 1.5:
        mark_roof(g, i, j, base, 1, True)
    elif above > 2.5:
        mark_tall(g, i, j, base)


@lean_inline
def _enter_nothing(column, dz, state):  # type: ignore[no-untyped-def]
    """A ray without a hit: sky above the horizon, a bottomless drop below it."""
    column[4] = np.inf
    if dz > 0.05:
        column[3] = 1.0
    return _ON_VOID if dz < 0.0 else state


@lean
def _enter_glow(g, column, gx, gy, gz):  # type: ignore[no-untyped-def]
    """Open sky or a long view across the farthest ground of a column speaks for outdoors."""
    solid, reach, far, sky = column[0], column[1], column[2], column[3]
    value = 0
    if solid > reach + 1.5 and sky > 0.0:
        value = 3
    elif far > _LONG_VIEW_M and solid > 0.8 * _LONG_VIEW_M:
        value = 1
    if reach > 1.0 and value > 0:
        i, j = cell_of(g, gx, gy)
        k = touch_surface(g, i, j, gz, False)
        if k >= 0:
            g.glow[k, i, j] = min(g.glow[k, i, j] + value, 1000)


@lean
def integrate_sky(g, view, depth, rays, reach):  # type: ignore[no-untyped-def]
    """Columns that a ray crosses high above the ground without a hit are open to the sky. Arguments as above."""
    rows, cols = depth.shape
    c, s, origin = np.cos(view.yaw_rad), np.sin(view.yaw_rad), view.origin
    low, high = view.feet[2] + _SKY_LOW_M - origin[2], view.feet[2] + _SKY_HIGH_M - origin[2]
    for u in range(0, cols, 4):
        for v in range(0, rows, 3):
            dx, dy, dz = rays[v, u, 0], rays[v, u, 1], rays[v, u, 2]
            run = np.hypot(dx, dy)
            if dz < 0.05 or run < 1e-6:
                continue
            end = min(reach, high * run / dz, depth[v, u] * run - 0.3)
            r = low * run / dz
            while r < end:
                i, j = cell_of(g, origin[0] + r / run * (c * dx - s * dy), origin[1] + r / run * (s * dx + c * dy))
                k = find_surface(g, i, j, view.feet[2], 0.8) if on_grid(g, i, j) else -1
                if k >= 0:
                    g.roof[k, i, j] = max(g.roof[k, i, j] - 1, -ROOF_LIMIT)
                r += g.cell_m
