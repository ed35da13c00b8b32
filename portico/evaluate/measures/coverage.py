"""New ground per metre travelled, over a whole episode and on both sides of the exit [NV]."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value, path_length_m
from portico.geometry import Floats
from portico.tasks.polygons import Ints

_EPSILON_M = 1e-6


def coverage_efficiency(e: Evaluation) -> Value:
    """Unique 1 m cells visited / max(P, 1e-6 m); segments are traced, not only sampled at their ends [NV, P]."""
    return _efficiency(e, 0, len(e.positions))


def coverage_efficiency_before_exit(e: Evaluation) -> Value:
    """Coverage efficiency up to the first state outdoors, of an episode that starts in a building."""
    exit_state = first_outdoors(e)
    return exit_state if isinstance(exit_state, Unscored) else _efficiency(e, 0, exit_state + 1)


def coverage_efficiency_after_exit(e: Evaluation) -> Value:
    """Coverage efficiency from the first state outdoors on, of an episode that starts in a building."""
    exit_state = first_outdoors(e)
    return exit_state if isinstance(exit_state, Unscored) else _efficiency(e, exit_state, len(e.positions))


def reached_outdoors(e: Evaluation) -> Value:
    """1 if an episode that starts in a building ever got out of it [NV 4.3]."""
    exit_state = first_outdoors(e)
    if isinstance(exit_state, Unscored):
        return 0.0 if exit_state.reason == "never_outdoors" else exit_state
    return 1.0


def first_outdoors(e: Evaluation) -> int | Unscored:
    """Index of the exit step: the first state outdoors."""
    if e.protocol == "satnav":
        return Unscored("satellite_world")
    if e.inside[0] < 0:
        return Unscored("starts_outdoors")
    outdoors = np.flatnonzero(e.inside < 0)
    return int(outdoors[0]) if len(outdoors) else Unscored("never_outdoors")


def cells_visited(points: Floats) -> Ints:
    """(M, 2) unique cells floor(x), floor(y) that a polyline (N, 2+) passes through; touching a corner does not count."""
    planar = np.ascontiguousarray(points[:, :2], dtype=np.float64)
    return np.unique(_trace(planar), axis=0)


def _efficiency(e: Evaluation, start: int, stop: int) -> Value:
    if e.protocol == "satnav":
        return Unscored("satellite_world")
    points = e.positions[start:stop]
    return len(cells_visited(points)) / max(path_length_m(points, e.protocol), _EPSILON_M)


@njit(cache=True)
def _trace(points: Floats) -> Ints:
    cells = [(int(np.floor(points[0, 0])), int(np.floor(points[0, 1])))]
    for n in range(1, len(points)):
        x, y = points[n - 1, 0], points[n - 1, 1]
        dx, dy = points[n, 0] - x, points[n, 1] - y
        length = np.hypot(dx, dy)
        line_x = np.floor(x) + 1.0 if dx > 0.0 else np.ceil(x) - 1.0
        line_y = np.floor(y) + 1.0 if dy > 0.0 else np.ceil(y) - 1.0
        t = 0.0
        while t < 1.0:
            t_x = (line_x - x) / dx if dx != 0.0 else 2.0
            t_y = (line_y - y) / dy if dy != 0.0 else 2.0
            t_next = min(t_x, t_y, 1.0)
            # Rounding turns a pass through a corner into a sliver of a neighbour; a nanometre is no visit.
            if (t_next - t) * length > 1e-9:
                middle = 0.5 * (t + t_next)
                cells.append((int(np.floor(x + middle * dx)), int(np.floor(y + middle * dy))))
            if t_x <= t_next:
                line_x += 1.0 if dx > 0.0 else -1.0
            if t_y <= t_next:
                line_y += 1.0 if dy > 0.0 else -1.0
            t = t_next
        cells.append((int(np.floor(points[n, 0])), int(np.floor(points[n, 1]))))
    return np.array(cells, dtype=np.int64)
