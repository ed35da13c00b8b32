"""Planning over a surface grid: clearance, cost of standing, shortest paths over several heights, steering by moves.

``g`` is a ``SurfaceGrid``; costs are (K, R, C), sheets first. Neighbouring columns are joined where two surfaces differ
by no more than the climb.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.grids.surface_grid import GROUND, SEEN, cell_of, find_surface, lean, on_grid

#: Obstacles keep a body away whose feet are at most this much higher or lower.
_BODY_BAND_M = 0.6
_DIAGONAL = np.sqrt(2.0)
#: A short step is taken when a longer one is worse by more than what heading errors cost.
_SHORT_MARGIN_M = 0.2
#: Width of a bucket of similar costs: no more than the cheapest step, so that nothing in a bucket improves another. The
#: last one takes whatever costs more.
_BUCKET_M, _BUCKETS = 0.1, 16384


@njit(cache=True)
def clearance_map(g, reach):  # type: ignore[no-untyped-def]
    """Distance from every surface to the centre of the nearest blocked cell at its level, capped at ``reach``: (K, R, C) float32."""
    height, odds, cell = g.height, g.odds, g.cell_m
    sheets, rows, cols = height.shape
    out = np.full((sheets, rows, cols), np.float32(reach), np.float32)
    span = int(np.ceil(reach / cell))
    far = np.empty((2 * span + 1, 2 * span + 1), np.float32)
    for di in range(-span, span + 1):
        for dj in range(-span, span + 1):
            far[di + span, dj + span] = cell * np.sqrt(float(di * di + dj * dj))
    for k in range(sheets):
        for i in range(rows):
            for j in range(cols):
                if odds[k, i, j] <= 0 or np.isnan(height[k, i, j]):
                    continue
                z = height[k, i, j]
                for q in range(sheets):
                    for a in range(max(i - span, 0), min(i + span + 1, rows)):
                        for b in range(max(j - span, 0), min(j + span + 1, cols)):
                            d = far[a - i + span, b - j + span]
                            if d < out[q, a, b] and abs(height[q, a, b] - z) <= _BODY_BAND_M:
                                out[q, a, b] = d
    return out


@njit(cache=True)
def standing_cost(g, clearance, radius, comfort, near_weight):  # type: ignore[no-untyped-def]
    """Cost per metre of standing on a surface: 1 in the open, more towards obstacles, inf where no body fits: (K, R, C) float32."""
    sheets, rows, cols = g.height.shape
    out = np.full((sheets, rows, cols), np.float32(np.inf), np.float32)
    for k in range(sheets):
        for i in range(rows):
            for j in range(cols):
                if not g.flags[k, i, j] & GROUND or g.odds[k, i, j] > 0:
                    continue
                d = clearance[k, i, j]
                if d >= radius:
                    t = max(0.0, (comfort - d) / max(comfort - radius, 1e-6))
                    out[k, i, j] = np.float32(1.0 + near_weight * t * t)
    return out


@lean
def _wait(first, keys, items, after, size, cost, item):  # type: ignore[no-untyped-def]
    """Put an entry at the head of the list of its bucket: first[bucket], after[that], after[that], ..., -1."""
    bucket = min(int(cost / _BUCKET_M), len(first) - 1)
    keys[size], items[size], after[size] = cost, item, first[bucket]
    first[bucket] = size


@njit(cache=True)
def travel_cost(g, weight, seeds, seed_costs, climb, guess_climb, limit):  # type: ignore[no-untyped-def]
    """Cheapest way from seed surfaces over 8-connected columns: (K, R, C) float32 of path costs, inf where not reached.

    Surfaces wait in buckets of similar cost, which is faster than a heap, and are taken up again when a cheaper way is found.

    Args:
        weight: cost per metre of standing, inf where impassable. Seeds themselves may be impassable: they are left freely.
        seeds: (N, 3) int, sheet, row and column. seed_costs: (N,) what reaching a seed costs already.
        climb: greatest height difference between neighbours that were both seen; ``guess_climb`` where one of them was not.
        limit: nothing is looked for beyond surfaces that cost more.
    """
    height, flags, cell = g.height, g.flags, g.cell_m
    sheets, rows, cols = height.shape
    out = np.full((sheets, rows, cols), np.float32(np.inf), np.float32)
    first, size = np.full(_BUCKETS, -1, np.int32), 0
    capacity = 4096 + len(seeds)
    keys, items, after = np.empty(capacity, np.float32), np.empty(capacity, np.int64), np.empty(capacity, np.int32)
    for n in range(len(seeds)):
        k, i, j = seeds[n, 0], seeds[n, 1], seeds[n, 2]
        cost = np.float32(seed_costs[n])
        if cost < out[k, i, j]:
            out[k, i, j] = cost
            _wait(first, keys, items, after, size, cost, (k * rows + i) * cols + j)
            size += 1
    for bucket in range(_BUCKETS):
        while first[bucket] >= 0:
            cost, item = keys[first[bucket]], items[first[bucket]]
            first[bucket] = after[first[bucket]]
            j, i, k = item % cols, (item // cols) % rows, item // (rows * cols)
            if cost > out[k, i, j] or cost > limit:
                continue
            own = weight[k, i, j] if np.isfinite(weight[k, i, j]) else np.float32(1.0)
            if size + 8 * sheets > len(keys):
                keys, items, after = np.append(keys, keys), np.append(items, items), np.append(after, after)
            for a in range(max(i - 1, 0), min(i + 2, rows)):
                for b in range(max(j - 1, 0), min(j + 2, cols)):
                    half = 0.5 * cell * (_DIAGONAL if a != i and b != j else 1.0)
                    for q in range(sheets):
                        total = np.float32(cost + half * (own + weight[q, a, b]))
                        if not total < out[q, a, b] or (a == i and b == j):
                            continue
                        reach = climb if flags[k, i, j] & flags[q, a, b] & SEEN else guess_climb
                        if abs(height[q, a, b] - height[k, i, j]) <= reach:
                            out[q, a, b] = total
                            _wait(first, keys, items, after, size, total, (q * rows + a) * cols + b)
                            size += 1
    return out


@lean
def best_heading(g, weight, cost, pose, turn, step, climb, turn_cost, kept, kept_bonus, least_steps, most_steps, forbidden):  # type: ignore[no-untyped-def]
    """The turn, in whole multiples of ``turn``, after which going straight saves most of the cost to the goal.

    Args:
        cost: cost from every surface to the goal. weight: cost per metre of standing.
        pose: (4,) x, y, z and yaw of the body. turn, step: amounts of the moves.
        turn_cost: price of one turn in metres. kept: heading chosen last time; it gets ``kept_bonus`` metres of credit. NaN: none.
        least_steps, most_steps: how many steps straight ahead are looked at; fewer only where that leads on much better.
        forbidden: (N,) headings not to take.

    Returns:
        turns: signed number of turns, positive to the left. steps: of straight motion after them, 0 when there is no way.
        score: cost of that way to the goal, inf when there is none.
    """
    half = int(np.floor(np.pi / turn + 1e-9))
    best_turns, best_steps, best_score = 0, 0, np.inf
    short_turns, short_steps, short_score = 0, 0, np.inf
    for n in range(-half, half + 1):
        heading = pose[3] + n * turn
        if _among(heading, forbidden, 0.5 * turn):
            continue
        spent, z = abs(n) * turn_cost, pose[2]
        if abs((heading - kept + np.pi) % (2.0 * np.pi) - np.pi) < 0.5 * turn:
            spent -= kept_bonus
        for m in range(1, most_steps + 1):
            walked, z = _walk(g, weight, cost, pose, heading, (m - 1) * step, step, z, climb)
            spent += walked
            if not np.isfinite(walked):
                break
            score = spent + _between(g, cost, pose[0] + m * step * np.cos(heading), pose[1] + m * step * np.sin(heading), z, climb)
            if m < least_steps and score < short_score - 1e-6:
                short_turns, short_steps, short_score = n, m, score
            elif m >= least_steps and score < best_score - 1e-6:
                best_turns, best_steps, best_score = n, m, score
    if best_steps == 0 or short_score < best_score - _SHORT_MARGIN_M:
        return short_turns, short_steps, short_score
    return best_turns, best_steps, best_score


@lean
def _among(heading, forbidden, tolerance):  # type: ignore[no-untyped-def]
    for n in range(len(forbidden)):
        if abs((heading - forbidden[n] + np.pi) % (2.0 * np.pi) - np.pi) < tolerance:
            return True
    return False


@lean
def _walk(g, weight, cost, pose, heading, start, length, z, climb):  # type: ignore[no-untyped-def]
    """Cost of walking straight from ``start`` to ``start + length`` metres ahead, inf when blocked, and the height reached."""
    c, s, spent = np.cos(heading), np.sin(heading), 0.0
    for part in range(1, 6):
        r = start + 0.2 * part * length
        i, j = cell_of(g, pose[0] + r * c, pose[1] + r * s)
        k = _way_on(g, weight, cost, i, j, z, climb) if on_grid(g, i, j) else -1
        if k < 0:
            return np.inf, z
        z = g.height[k, i, j]
        spent += 0.2 * length * weight[k, i, j]
    return spent, z


@lean
def _way_on(g, weight, cost, i, j, z, climb):  # type: ignore[no-untyped-def]
    """Of the surfaces of a column that can be stepped on from height z, the sheet of the one nearest to the goal, or -1."""
    best, found = np.inf, -1
    for k in range(g.height.shape[0]):
        if abs(g.height[k, i, j] - z) <= climb and np.isfinite(weight[k, i, j]) and cost[k, i, j] < best:
            best, found = cost[k, i, j], k
    return found


@lean
def _between(g, cost, x, y, z, climb):  # type: ignore[no-untyped-def]
    """Cost at a point between cell centres, bilinear over the neighbours that have one."""
    fi, fj = (y - g.y0) / g.cell_m - 0.5, (x - g.x0) / g.cell_m - 0.5
    i0, j0 = int(np.floor(fi)), int(np.floor(fj))
    total, share = 0.0, 0.0
    for di in range(2):
        for dj in range(2):
            i, j = i0 + di, j0 + dj
            k = find_surface(g, i, j, z, climb) if on_grid(g, i, j) else -1
            if k >= 0 and np.isfinite(cost[k, i, j]):
                w = (1.0 - abs(fi - i)) * (1.0 - abs(fj - j)) + 1e-6
                total += w * cost[k, i, j]
                share += w
    return total / share if share > 0.0 else np.inf


@njit(cache=True)
def nearest_sample(samples, rows, cols, x0, y0, cell, reach):  # type: ignore[no-untyped-def]
    """Planar distance from every column of a window to the nearest of the samples, capped at ``reach``, and its height.

    Args:
        samples: (N, 3) float64. rows, cols: size of the window. x0, y0: its outer corner.

    Returns:
        (rows, cols) float32 distances, (rows, cols) float32 heights, NaN where no sample is within reach.
    """
    gaps = np.full((rows, cols), np.float32(reach), np.float32)
    heights = np.full((rows, cols), np.float32(np.nan), np.float32)
    span = int(np.ceil(reach / cell))
    for n in range(len(samples)):
        x, y, z = samples[n, 0], samples[n, 1], samples[n, 2]
        ci, cj = int(np.floor((y - y0) / cell)), int(np.floor((x - x0) / cell))
        for i in range(max(ci - span, 0), min(ci + span + 1, rows)):
            for j in range(max(cj - span, 0), min(cj + span + 1, cols)):
                d = np.float32(np.hypot(x0 + (j + 0.5) * cell - x, y0 + (i + 0.5) * cell - y))
                if d < gaps[i, j]:
                    gaps[i, j], heights[i, j] = d, np.float32(z)
    return gaps, heights
