"""Where directions may lead: many guesses of every waypoint, kept where the map and what was seen bear them out.

Words leave turns and distances open by so much that the end of five legs may be anywhere within ten metres. A particle filter over the
legs narrows that: a guess dies where its leg runs through walls, ends where nobody can stand, or lacks the landmark that is named there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from portico.geometry import Floats, Pose
from portico.policies.directions import Side, Step
from portico.policies.distances import Range

_GUESSES, _MODE_M = 400, 1.0
#: What a leg may be where the words do not say.
_ANY_M: Range = (2.0, 15.0)
_SPACING_M = 0.2
#: Spans of turns at least this wide are not drawn evenly; their peak is so far from the smaller end [P].
_WIDE_RAD, _CORNER = float(np.deg2rad(70.0)), 0.2
#: Logarithms: per sample inside something solid and at most; for an end where nobody can stand; for a door that is named; for a
#: landmark where it should be.
_SOLID, _SOLID_MOST, _NO_STAND, _DOOR, _LANDMARK = -1.5, -6.0, -2.0, 1.0, 2.0
#: A landmark stands within this of its waypoint [P].
_BESIDE_M = 4.0
_AHEAD_RAD, _BEHIND_RAD = float(np.deg2rad(40.0)), float(np.deg2rad(140.0))
_SIDES: dict[Side | None, Range] = {
    None: (-np.pi, np.pi),
    "left": (0.0, np.pi),
    "right": (-np.pi, 0.0),
    "ahead": (-_AHEAD_RAD, _AHEAD_RAD),
    "behind": (_BEHIND_RAD, -_BEHIND_RAD),
}


@dataclass(frozen=True)
class Ground:
    """What the map knows at one level: arrays (R, C) of cells.

    Attributes:
        x0, y0, cell_m: outer corner and edge of the cells. solid: something blocks. stand: a body can stand. known: anything was seen. lintel: an edge hangs over it, as in doors.
    """

    x0: float
    y0: float
    cell_m: float
    solid: NDArray[np.bool_]
    stand: NDArray[np.bool_]
    known: NDArray[np.bool_]
    lintel: NDArray[np.bool_]

    def at(self, layer: NDArray[np.bool_], points: Floats) -> NDArray[np.bool_]:
        """(...,) a layer's value at points (..., 2); False off the map."""
        i = np.floor((points[..., 1] - self.y0) / self.cell_m).astype(np.int64)
        j = np.floor((points[..., 0] - self.x0) / self.cell_m).astype(np.int64)
        inside = (i >= 0) & (j >= 0) & (i < layer.shape[0]) & (j < layer.shape[1])
        value: NDArray[np.bool_] = inside & layer[np.where(inside, i, 0), np.where(inside, j, 0)]
        return value


@dataclass(frozen=True)
class Belief:
    """Guesses of where every leg ends, (K, N, 2), and of the heading there, (K, N)."""

    ends: Floats
    headings: Floats

    def mode(self, leg: int) -> tuple[float, float]:
        """Where the guesses of a leg's end are densest."""
        points = self.ends[leg]
        counts = cKDTree(points).query_ball_point(points, _MODE_M, return_length=True)
        x, y = points[int(np.argmax(counts))]
        near = points[np.hypot(points[:, 0] - x, points[:, 1] - y) <= _MODE_M].mean(axis=0)
        return float(near[0]), float(near[1])

    def share_near(self, leg: int, x: float, y: float, radius_m: float) -> float:
        """Share of the guesses of a leg's end within a radius of a point."""
        points = self.ends[leg]
        return float(np.mean(np.hypot(points[:, 0] - x, points[:, 1] - y) <= radius_m))


def believe(steps: Sequence[Step], start: Pose, rng: np.random.Generator, ground: Ground, seen: Callable[[str], Floats]) -> Belief:
    """Guess every leg anew from the start, keeping in proportion to what speaks for a guess.

    Args:
        steps: at least one. seen: (M, 2) middles of all things of a category that were seen.
    """
    ends, headings = np.zeros((len(steps), _GUESSES, 2)), np.zeros((len(steps), _GUESSES))
    at, heading = np.tile([start.x, start.y], (_GUESSES, 1)), np.full(_GUESSES, start.yaw_rad)
    for k, step in enumerate(steps):
        heading = heading + _turns(step.turn_rad, rng)
        length = rng.uniform(*(step.distance_m or _ANY_M), _GUESSES)
        end = at + length[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        odds = _passable(ground, at, end, through_door=step.doors > 0)
        if step.landmark is not None:
            odds += _LANDMARK * _beside(end, heading, seen(step.landmark), step.side, _BESIDE_M)
        kept = _drawn(odds, rng)
        ends[:k], headings[:k] = ends[:k, kept], headings[:k, kept]
        at, heading = end[kept], heading[kept]
        ends[k], headings[k] = at, heading
    return Belief(ends, headings)


def _turns(span: Range, rng: np.random.Generator) -> Floats:
    """(N,) turns that words allow; of plain ones those below a right angle are likelier, as ways that keep short cut corners."""
    low, high = span
    if high - low < _WIDE_RAD or low * high <= 0.0:
        return rng.uniform(low, high, _GUESSES)
    near, far = sorted((low, high), key=abs)
    drawn = rng.triangular(abs(near), abs(near) + _CORNER * abs(far - near), abs(far), _GUESSES)
    turned: Floats = np.copysign(drawn, low)
    return turned


def _passable(ground: Ground, a: Floats, b: Floats, *, through_door: bool) -> Floats:
    """(N,) logarithms: how much the map speaks for or against straight legs from a to b, (N, 2) each."""
    longest = float(np.max(np.hypot(*(b - a).T)))
    t = np.linspace(0.0, 1.0, max(2, int(longest / _SPACING_M)))
    samples = a[:, None] + t[None, :, None] * (b - a)[:, None]
    hits = ground.at(ground.solid, samples).mean(axis=1) * np.hypot(*(b - a).T) / _SPACING_M
    no_stand = ground.at(ground.known, b) & ~ground.at(ground.stand, b)
    odds: Floats = np.maximum(_SOLID * hits, _SOLID_MOST) + np.where(no_stand, _NO_STAND, 0.0)
    if through_door:
        odds += _DOOR * ground.at(ground.lintel, samples).any(axis=1)
    return odds


def _beside(ends: Floats, headings: Floats, things: Floats, side: Side | None, reach_m: float) -> NDArray[np.bool_]:
    """(N,) whether any of some things (M, 2) is within reach of an end, on the side that is named."""
    if not len(things):
        return np.zeros(len(ends), np.bool_)
    offset = things[None] - ends[:, None]
    near = np.hypot(offset[..., 0], offset[..., 1]) <= reach_m
    bearing = np.angle(np.exp(1j * (np.arctan2(offset[..., 1], offset[..., 0]) - headings[:, None])))
    low, high = _SIDES[side]
    fits = (np.abs(bearing) >= _BEHIND_RAD) if side == "behind" else (bearing >= low) & (bearing <= high)
    found: NDArray[np.bool_] = (near & fits).any(axis=1)
    return found


def _drawn(odds: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices drawn in proportion to exp(odds), evenly spread."""
    weight = np.exp(odds - odds.max())
    steps = (np.arange(len(odds)) + rng.random()) / len(odds)
    drawn: NDArray[np.int64] = np.minimum(np.searchsorted(np.cumsum(weight / weight.sum()), steps), len(odds) - 1)
    return drawn
