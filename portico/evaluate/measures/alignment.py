"""How closely the executed path follows the reference: route completion, dynamic time warping, coverage weighted by length."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value, path_length_m
from portico.geometry import Floats, polyline_length, project_on_polyline
from portico.tasks.sphere import EARTH_RADIUS_M

_NO_REFERENCE = Unscored("no_reference")
#: Positions nearer to each other than this are one. No reference is divided into pieces shorter than the second.
_SAME_M, _FINEST_M = 1e-6, 0.02


def route_completion(e: Evaluation) -> Value:
    """RC: arc length of the nearest point of the reference polyline to the final position, over its length; horizontal [I2 D.4].

    Of equally near points the earliest along the route counts [P].
    """
    if e.protocol == "satnav":
        return Unscored("satellite_world")
    if e.reference_path is None or len(e.reference_path) < 2:
        return _NO_REFERENCE
    route = e.reference_path[:, :2]
    length = polyline_length(route)
    if length <= 0.0:
        return Unscored("degenerate_reference")
    arc, _ = project_on_polyline(e.positions[-1, :2], route)
    return min(1.0, max(0.0, arc / length))


def dtw(e: Evaluation) -> Value:
    """Dynamic time warping cost between the executed positions and the reference, metres; repeats of a position count once.

    Both are sampled alike: a reference of few corners is divided into pieces as long as the usual step of the path. Otherwise somebody who
    walks exactly along it would be charged for every point between its corners, the more the oftener a body is recorded [P].
    """
    if e.reference_path is None:
        return _NO_REFERENCE
    return _dtw(*_alike(e), e.protocol == "satnav")


def ndtw(e: Evaluation) -> Value:
    """exp(-DTW / (n · d_th)), n points of the reference as sampled for DTW, d_th the success radius [NA, P]."""
    if e.reference_path is None:
        return _NO_REFERENCE
    path, reference = _alike(e)
    cost = _dtw(path, reference, e.protocol == "satnav")
    return float(np.exp(-cost / (len(reference) * e.goal.tolerance_m)))


def sdtw(e: Evaluation) -> Value:
    """success · nDTW."""
    value = ndtw(e)
    return value if isinstance(value, Unscored) else float(e.success) * value


def cls(e: Evaluation) -> Value:
    """Coverage weighted by length score: PC · EPL / (EPL + |EPL - P|), PC the mean of exp(-d(reference point, path) / d_th), EPL = PC · L."""
    if e.reference_path is None or len(e.reference_path) < 2:
        return _NO_REFERENCE
    nearest = _nearest(_metric(e, e.reference_path), _metric(e, e.positions), e.protocol == "satnav")
    coverage = float(np.exp(-nearest / e.goal.tolerance_m).mean())
    expected = coverage * path_length_m(e.reference_path, e.protocol, e.geodesy)
    spread = expected + abs(expected - e.path_length_m)
    return coverage * (expected / spread if spread > 0.0 else 1.0)


def _alike(e: Evaluation) -> tuple[Floats, Floats]:
    """The path without repeats, and the reference with points as close together as those of the path usually are; metric."""
    assert e.reference_path is not None
    path, reference = _metric(e, e.positions), _metric(e, e.reference_path)
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


def _metric(e: Evaluation, points: Floats) -> Floats:
    """(N, 2 or 3) metres, in which the protocol's distance is Euclidean, or a chord of the sphere for SatNav."""
    match e.protocol:
        case "satnav":
            lon, lat = np.deg2rad(points[:, 0]), np.deg2rad(points[:, 1])
            return EARTH_RADIUS_M * np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
        case "navverse":
            return np.ascontiguousarray(points)
        case _:
            return np.ascontiguousarray(points[:, :2])


@njit(cache=True)
def _distance(a: Floats, i: int, b: Floats, j: int, arc: bool) -> float:
    squared = 0.0
    for d in range(a.shape[1]):
        squared += (a[i, d] - b[j, d]) ** 2
    chord = np.sqrt(squared)
    return float(2.0 * EARTH_RADIUS_M * np.arcsin(min(1.0, chord / (2.0 * EARTH_RADIUS_M))) if arc else chord)


@njit(cache=True)
def _dtw(path: Floats, reference: Floats, arc: bool) -> float:
    """One row of the cost table at a time."""
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
def _nearest(points: Floats, path: Floats, arc: bool) -> Floats:
    nearest = np.full(len(points), np.inf)
    for i in range(len(points)):
        for j in range(len(path)):
            nearest[i] = min(nearest[i], _distance(points, i, path, j, arc))
    return nearest
