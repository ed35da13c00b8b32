"""What it touched, how close it came, where it drove: contacts, clearance, surfaces, allowed ground."""

from __future__ import annotations

import numpy as np

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value, segment_lengths_m
from portico.geometry import Floats
from portico.tasks.annotations import FLOOR_MARGIN_M, Annotations
from portico.tasks.polygons import Ints


def collision(e: Evaluation) -> Value:
    """1 if any non-ground contact [NV]."""
    return float(e.trajectory.collided.any())


def collision_rate(e: Evaluation) -> Value:
    """Actions cut short by contact / actions that were asked to translate [NA]."""
    attempted = np.unique(e.trajectory.action[e.trajectory.moved])
    rejected = np.unique(e.trajectory.action[e.trajectory.moved & e.trajectory.collided])
    return len(rejected) / len(attempted) if len(attempted) else Unscored("no_attempted_motion")


def obstacle_distance_m(e: Evaluation) -> Value:
    """Mean over time of the distance from the base to the nearest obstacle or non-traversable geometry [NV]."""
    if e.context.clearance_m is None:
        return Unscored("no_geometry")
    value = _mean_over_time(e, np.asarray(e.context.clearance_m(e.positions), dtype=np.float64))
    return value if np.isfinite(value) else Unscored("no_obstacle")


def navigable_ratio(e: Evaluation) -> Value:
    """Mean over time of "base on a valid or preferred surface" [NV]."""
    if e.context.navigable is None:
        return Unscored("no_geometry")
    return _mean_over_time(e, np.asarray(e.context.navigable(e.positions), dtype=np.float64))


def distance_compliance(e: Evaluation) -> Value:
    """DCR: length travelled in allowed regions / eligible outdoor length; segments are split at every border [I2 3.5, P]."""
    if e.protocol == "satnav":
        return Unscored("satellite_world")
    pieces, segment = split_at_borders(e.positions, e.context.annotations)
    shares = segment_lengths_m(e.positions, e.protocol)[segment] * (pieces[:, 1] - pieces[:, 0])
    starts, steps = e.positions[:-1][segment], np.diff(e.positions, axis=0)[segment]
    middles = starts + 0.5 * pieces.sum(axis=1, keepdims=True) * steps
    outdoors = e.context.annotations.inside(middles) < 0
    eligible = float(shares[outdoors].sum())
    if eligible <= 0.0:
        return Unscored("no_outdoor_travel")
    return float(shares[outdoors & e.context.annotations.allowed(middles)].sum()) / eligible


def split_at_borders(points: Floats, annotations: Annotations) -> tuple[Floats, Ints]:
    """Pieces of a polyline (N, 3) that lie in one building or region each: (M, 2) fractions along their segment, (M,) its index."""
    count = max(0, len(points) - 1)
    starts, ends = points[:-1], points[1:]
    found = [annotations.footprints.crossings(starts, ends), annotations.region_polygons.crossings(starts, ends), _height_crossings(starts, ends, annotations)]
    rows = np.arange(count)
    segment = np.concatenate([rows, *(s for s, _ in found), rows])
    fraction = np.concatenate([np.zeros(count), *(f for _, f in found), np.ones(count)])
    order = np.lexsort((fraction, segment))
    segment, fraction = segment[order], fraction[order]
    within = segment[1:] == segment[:-1]
    return np.stack([fraction[:-1][within], fraction[1:][within]], axis=1), segment[1:][within]


def _height_crossings(starts: Floats, ends: Floats, annotations: Annotations) -> tuple[Ints, Floats]:
    """Where segments pass the lower or upper end of a floor's interval."""
    levels = np.unique([z for f in annotations.floors for z in (f.z_m - FLOOR_MARGIN_M, f.z_m + f.height_m)])
    rise = ends[:, 2] - starts[:, 2]
    # A rise of almost nothing reaches a level at infinity, which is no crossing.
    with np.errstate(over="ignore"):
        t = (levels[None, :] - starts[:, 2:3]) / np.where(rise == 0.0, 1.0, rise)[:, None]
    segment, level = np.nonzero((t > 0.0) & (t < 1.0) & (rise != 0.0)[:, None])
    return segment, t[segment, level]


def _mean_over_time(e: Evaluation, values: Floats) -> float:
    """Trapezoidal mean of (T,) values, so that it does not depend on how densely an episode was recorded."""
    durations = np.diff(e.trajectory.time_s)
    total = float(durations.sum())
    if total <= 0.0:
        return float(values.mean())
    return float((0.5 * (values[1:] + values[:-1]) * durations).sum()) / total
