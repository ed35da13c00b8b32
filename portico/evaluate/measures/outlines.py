"""How much of an outline was followed, and with it on the side that was asked for: what SatNav's end-point measures cannot see [P]."""

from __future__ import annotations

import numpy as np
from numba import njit

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value
from portico.geometry import Floats

#: An outline is followed from no farther than this many success radii.
_REACH_RADII = 2.0
#: So near to the line it is on neither side, and either will do.
_ON_IT_M = 1.0
_SPACING_M = 2.0


def outline_followed(e: Evaluation) -> Value:
    """Share of the asked stretch of an outline that was passed within two success radii with it on the stated side, looking the way of travel.

    Points of the outline every 2 m count once each, seen from the nearest stretch of the executed path that has them on that side.
    """
    flight = e.episode.flight
    if flight is None or len(flight.outline) < 2 or flight.side is None:
        return Unscored("no_outline")
    origin = e.positions[0]
    path = np.ascontiguousarray(e.geodesy.offset_m(origin, e.positions))
    outline = _every(e.geodesy.offset_m(origin, np.array(flight.outline)), _SPACING_M)
    return float(_passed(path, outline, flight.side == "left", _REACH_RADII * e.goal.tolerance_m).mean())


def rejected_moves(e: Evaluation) -> Value:
    """Forward moves that led too near to the border of the map and were not carried out; each cost an action."""
    if e.protocol != "satnav":
        return Unscored("no_map_border")
    return float((e.trajectory.moved & e.trajectory.collided).sum())


def _every(line: Floats, spacing_m: float) -> Floats:
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.arange(0.0, s[-1] + 1e-9, spacing_m)
    return np.stack([np.interp(at, s, line[:, 0]), np.interp(at, s, line[:, 1])], axis=1)


@njit(cache=True)
def _passed(path: Floats, outline: Floats, left: bool, reach_m: float) -> Floats:
    """(M,) 1 for each outline point that some segment of the path passes near enough, on the right side."""
    passed = np.zeros(len(outline))
    for m in range(len(outline)):
        for n in range(len(path) - 1):
            dx, dy = path[n + 1, 0] - path[n, 0], path[n + 1, 1] - path[n, 1]
            squared = dx * dx + dy * dy
            if squared == 0.0:
                continue
            ox, oy = outline[m, 0] - path[n, 0], outline[m, 1] - path[n, 1]
            t = min(1.0, max(0.0, (ox * dx + oy * dy) / squared))
            if np.hypot(ox - t * dx, oy - t * dy) > reach_m:
                continue
            aside = (dx * oy - dy * ox) / np.sqrt(squared)
            if abs(aside) <= _ON_IT_M or (aside > 0.0) == left:
                passed[m] = 1.0
                break
    return passed
