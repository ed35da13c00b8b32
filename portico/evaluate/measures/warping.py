"""Two ways held against each other, point by point: how they are sampled, and what it costs to warp one onto the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.geometry import Floats
from portico.tasks.sphere import EARTH_RADIUS_M

#: Positions nearer to each other than this are one. No reference is divided into pieces shorter than the second.
_SAME_M, _FINEST_M = 1e-6, 0.02


def warped(path: Floats, reference: Floats, protocol: str) -> tuple[float, int]:
    """Dynamic time warping cost between two ways, metres, and of how many points the reference was.

    A reference of few corners is divided into pieces as long as the usual step of the path. Otherwise somebody who walks exactly along it
    would be charged for every point between its corners, the more the oftener a body is recorded [P]. Repeats of a position count once.
    """
    path, reference = _alike(metric(path, protocol), metric(reference, protocol))
    return float(dtw_m(path, reference, protocol == "satnav")), len(reference)


def metric(points: Floats, protocol: str) -> Floats:
    """(N, 2 or 3) metres, in which the protocol's distance is Euclidean, or a chord of the sphere for SatNav."""
    match protocol:
        case "satnav":
            lon, lat = np.deg2rad(points[:, 0]), np.deg2rad(points[:, 1])
            return EARTH_RADIUS_M * np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
        case "navverse":
            return np.ascontiguousarray(points)
        case _:
            return np.ascontiguousarray(points[:, :2])


def _alike(path: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """The path without repeats, and the reference with points as close together as those of the path usually are."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    moved = steps > _SAME_M
    path = path[np.concatenate([[True], moved])]
    if not moved.any() or len(reference) < 2:
        return path, reference
    legs = np.linalg.norm(np.diff(reference, axis=0), axis=1)
    usual = max(float(np.median(steps[moved])), _FINEST_M)
    pieces = np.maximum(np.rint(legs / usual), 1).astype(int)
    at = np.concatenate([n + np.arange(count) / count for n, count in enumerate(pieces)] + [[len(legs)]])
    corners = np.arange(len(reference))
    return path, np.stack([np.interp(at, corners, column) for column in reference.T], axis=1)


@njit(cache=True)
def _distance(a: Floats, i: int, b: Floats, j: int, arc: bool) -> float:
    squared = 0.0
    for d in range(a.shape[1]):
        squared += (a[i, d] - b[j, d]) ** 2
    chord = np.sqrt(squared)
    return float(2.0 * EARTH_RADIUS_M * np.arcsin(min(1.0, chord / (2.0 * EARTH_RADIUS_M))) if arc else chord)


@njit(cache=True)
def dtw_m(path: Floats, reference: Floats, arc: bool) -> float:
    """Cost of the cheapest warping between two sequences of points, (N, D) and (M, D); one row of its table at a time."""
    row = np.full(len(reference) + 1, np.inf)
    row[0] = 0.0
    for i in range(len(path)):
        diagonal, row[0] = row[0], np.inf
        for j in range(len(reference)):
            above = row[j + 1]
            row[j + 1] = _distance(path, i, reference, j, arc) + min(diagonal, above, row[j])
            diagonal = above
    return float(row[-1])


@njit(cache=True)
def nearest_m(points: Floats, path: Floats, arc: bool) -> Floats:
    """(N,) distance of each of some points to the nearest of a path's."""
    nearest = np.full(len(points), np.inf)
    for i in range(len(points)):
        for j in range(len(path)):
            nearest[i] = min(nearest[i], _distance(points, i, path, j, arc))
    return nearest
