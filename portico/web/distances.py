"""How far a robot was from what its stage asked for, state by state: the curve above the time line."""

from __future__ import annotations

import numpy as np

from portico.errors import UserError
from portico.geometry import Floats
from portico.tasks.predicates import Ground, predicate
from portico.web.scene import Track
from portico.web.timeline import Axis, stretches

#: Points of a curve; more than a screen has pixels would be carried for nothing.
_MOST_POINTS = 500


def goal_distances_m(track: Track) -> Floats:
    """(T,) distance to the goal of the stage that was active, as its measures count it; NaN where that is not known."""
    distances = np.full(track.states, np.nan)
    annotations = track.site.annotations
    if track.trajectory is None or track.episode is None or annotations is None:
        return distances
    ground = Ground(annotations, track.body)
    for number, stretch in enumerate(stretches(track)[: len(track.episode.stages)]):
        span = track.trajectory.position[stretch.first : stretch.last + 1]
        if not len(span):
            continue
        try:
            distances[stretch.first : stretch.last + 1] = predicate(track.episode.stages[number], span[0], ground).distance_m(span)
        except UserError:
            continue
    distances[~np.isfinite(distances)] = np.nan
    return distances


def curve(track: Track, axis: Axis, distances_m: Floats, longest_m: float) -> str:
    """SVG path data of the distances on a field of 1000 by 100, 0 m at its foot and ``longest_m`` at its head; "" when nothing is known.

    Of states that fall on one point the nearest to the goal is drawn, so that a moment beside it is not lost.
    """
    known = np.flatnonzero(np.isfinite(distances_m))
    if not len(known) or longest_m <= 0.0:
        return ""
    places = np.array([axis.place(track, int(state)) for state in known])
    columns = (places * min(1.0, _MOST_POINTS / axis.count)).astype(int)
    first = np.flatnonzero(np.append(True, np.diff(columns) > 0))
    nearest = np.minimum.reduceat(distances_m[known], first)
    x = 1000.0 * places[first] / max(1, axis.count - 1)
    y = 100.0 * (1.0 - nearest / longest_m)
    # A gap between stages that are known is a gap in the curve.
    breaks = np.append(True, np.diff(known[first]) > 2 * max(1, axis.count // _MOST_POINTS + 1))
    return "".join(f"{'M' if new else 'L'}{a:.1f} {b:.1f}" for a, b, new in zip(x, y, breaks, strict=True))
