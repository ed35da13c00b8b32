"""How closely the executed path follows the reference: route completion, dynamic time warping, coverage weighted by length."""

from __future__ import annotations

import numpy as np

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value, path_length_m
from portico.evaluate.measures.warping import metric, nearest_m
from portico.geometry import polyline_length, project_on_polyline

_NO_REFERENCE = Unscored("no_reference")


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

    Both are sampled alike, see ``portico.evaluate.measures.warping``.
    """
    return _NO_REFERENCE if e.warped is None else e.warped[0]


def ndtw(e: Evaluation) -> Value:
    """exp(-DTW / (n · d_th)), n points of the reference as sampled for DTW, d_th the success radius [NA, P]."""
    if e.warped is None:
        return _NO_REFERENCE
    cost, points = e.warped
    return float(np.exp(-cost / (points * e.goal.tolerance_m)))


def sdtw(e: Evaluation) -> Value:
    """success · nDTW."""
    value = ndtw(e)
    return value if isinstance(value, Unscored) else float(e.success) * value


def cls(e: Evaluation) -> Value:
    """Coverage weighted by length score: PC · EPL / (EPL + |EPL - P|), PC the mean of exp(-d(reference point, path) / d_th), EPL = PC · L."""
    if e.reference_path is None or len(e.reference_path) < 2:
        return _NO_REFERENCE
    nearest = nearest_m(metric(e.reference_path, e.protocol), metric(e.positions, e.protocol), e.protocol == "satnav")
    coverage = float(np.exp(-nearest / e.goal.tolerance_m).mean())
    expected = coverage * path_length_m(e.reference_path, e.protocol, e.geodesy)
    spread = expected + abs(expected - e.path_length_m)
    return coverage * (expected / spread if spread > 0.0 else 1.0)
