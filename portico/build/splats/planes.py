"""Ground planes in a capture, by RANSAC on its opaque Gaussians: wide, across a given axis, with nearly everything above.

Method: M. Fischler, R. Bolles, "Random Sample Consensus" (1981); a single point with its normal makes a plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from portico.seeding import generator
from portico.world.gaussians import Gaussians

_OPAQUE = 0.5
_SAMPLE, _TRIALS, _NEIGHBOURS = 20_000, 150, 12
#: A Gaussian this much thinner than it is wide lies in a surface and knows its normal.
_FLAT = 0.35
_MOST_LEAN_DEG, _NORMAL_DEG = 30.0, 25.0
#: Of the capture's diagonal: how thick a plane may be, and the cell in which its area is counted.
_THICKNESS, _CELL = 0.005, 0.04
_LEAST_ABOVE, _LEAST_COVER, _FEWEST = 0.9, 0.3, 20


@dataclass(frozen=True)
class Surfaces:
    """``centres`` (M, 3): a sample of the opaque Gaussians. ``points``, ``normals`` (P, 3): those that know their normal, up to sign."""

    centres: NDArray[np.float64]
    points: NDArray[np.float64]
    normals: NDArray[np.float64]

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two corners (3,) of the box that holds the capture but for its outliers."""
        low, high = np.percentile(self.centres, [2.0, 98.0], axis=0)
        return low, high

    @property
    def diagonal(self) -> float:
        low, high = self.bounds
        return float(np.linalg.norm(high - low))


@dataclass(frozen=True)
class Ground:
    """A plane that could be the ground. ``normal`` points up, ``area`` in square units, ``cover``: share of the ground plan it fills,
    ``above``: share of everything outside it that lies above it, ``lean_deg``: against the axis it was looked for along."""

    centre: NDArray[np.float64]
    normal: NDArray[np.float64]
    area: float
    cover: float
    above: float
    lean_deg: float

    @property
    def score(self) -> float:
        """Area counts fully when everything lies above, and not at all when half does; leaning needs half more area at 15 degrees."""
        return self.area * max(0.0, 2.0 * self.above - 1.0) * max(0.0, 1.0 - self.lean_deg / 45.0)


def surfaces(gaussians: Gaussians) -> Surfaces:
    """A sample of the opaque Gaussians, with normals: their shortest axis where enough are flat, otherwise that of their neighbourhood."""
    opaque = np.flatnonzero(gaussians.opacity > _OPAQUE)
    if len(opaque) < _FEWEST:
        opaque = np.arange(len(gaussians))
    if len(opaque) > _SAMPLE:
        opaque = np.sort(generator("splat planes", len(gaussians)).choice(opaque, _SAMPLE, replace=False))
    centres, scales = gaussians.means[opaque].astype(np.float64), gaussians.scales_m[opaque]
    ordered = np.sort(scales, axis=1)
    flat = ordered[:, 0] < _FLAT * ordered[:, 1]
    if flat.mean() >= 0.3:
        return Surfaces(centres, centres[flat], _shortest_axes(gaussians.rotations_wxyz[opaque][flat], scales[flat]))
    if len(centres) <= _NEIGHBOURS:
        return Surfaces(centres, np.zeros((0, 3)), np.zeros((0, 3)))
    return Surfaces(centres, *_neighbourhood_normals(centres))


def _shortest_axes(quaternions: NDArray[np.float32], scales: NDArray[np.float32]) -> NDArray[np.float64]:
    """World direction of each Gaussian's own axis with the smallest scale: (N, 3)."""
    w, x, y, z = quaternions.astype(np.float64).T
    axes = np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1),
            np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], axis=1),
            np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1),
        ],
        axis=1,
    )
    shortest: NDArray[np.float64] = axes[np.arange(len(axes)), scales.argmin(axis=1)]
    return shortest


def _neighbourhood_normals(centres: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres whose neighbours lie in a plane, and its normals."""
    _, nearest = cKDTree(centres).query(centres, k=_NEIGHBOURS)
    around = centres[nearest] - centres[nearest].mean(axis=1, keepdims=True)
    spread, axes = np.linalg.eigh(np.einsum("nki,nkj->nij", around, around))
    planar = spread[:, 0] < _FLAT**2 * spread[:, 1]
    return centres[planar], axes[planar, :, 0]


def best_ground(found: Surfaces, up: NDArray[np.float64]) -> Ground | None:
    """The best plane within 30 degrees of lying across ``up``, None where no plane could be the ground."""
    alignment = found.normals @ up
    level = np.abs(alignment) > np.cos(np.radians(_MOST_LEAN_DEG))
    points, normals = found.points[level], found.normals[level] * np.sign(alignment[level])[:, None]
    thickness = _THICKNESS * found.diagonal
    if len(points) < _FEWEST or thickness <= 0.0:
        return None
    best: Ground | None = None
    for trial in generator("splat planes", "trials", len(points)).choice(len(points), min(_TRIALS, len(points)), replace=False):
        inside = _inliers(points, normals, points[trial], normals[trial], thickness)
        if inside.sum() < _FEWEST:
            continue
        ground = _measured(found, *_fitted(points[inside], up), up, points, normals)
        if ground is not None and (best is None or ground.score > best.score):
            best = ground
    return best


def _inliers(
    points: NDArray[np.float64], normals: NDArray[np.float64], centre: NDArray[np.float64], normal: NDArray[np.float64], thickness: float
) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = np.abs((points - centre) @ normal) < thickness
    near &= normals @ normal > np.cos(np.radians(_NORMAL_DEG))
    return near


def _fitted(points: NDArray[np.float64], up: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre and upward normal of the plane nearest to the points in the sense of least squares."""
    centre = points.mean(axis=0)
    _, axes = np.linalg.eigh((points - centre).T @ (points - centre))
    normal = axes[:, 0]
    return centre, normal * (1.0 if normal @ up >= 0.0 else -1.0)


def _measured(
    found: Surfaces,
    centre: NDArray[np.float64],
    normal: NDArray[np.float64],
    up: NDArray[np.float64],
    points: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> Ground | None:
    """Area, cover and share above of a plane; None where they speak against a ground."""
    thickness, cell = _THICKNESS * found.diagonal, _CELL * found.diagonal
    heights = (found.centres - centre) @ normal
    above, below = int((heights > 2.0 * thickness).sum()), int((heights < -2.0 * thickness).sum())
    share = above / (above + below) if above + below else 0.0
    inside = _inliers(points, normals, centre, normal, thickness)
    if share < _LEAST_ABOVE or inside.sum() < _FEWEST:
        return None
    low, high = found.bounds
    within = ((found.centres >= low) & (found.centres <= high)).all(axis=1)
    own, plan = _filled_cells(points[inside], normal, cell), _filled_cells(found.centres[within], normal, cell)
    cover = min(1.0, own / max(plan, 1))
    return Ground(centre, normal, own * cell * cell, cover, share, angle_deg(normal, up)) if cover >= _LEAST_COVER else None


def angle_deg(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Angle between two directions (3,)."""
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def _filled_cells(points: NDArray[np.float64], normal: NDArray[np.float64], cell: float) -> int:
    """Number of square cells that hold a point, seen along the normal."""
    least = np.eye(3)[np.abs(normal).argmin()]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first)
    cells = np.floor(points @ np.column_stack([first, np.cross(normal, first)]) / cell).astype(np.int64)
    return len(np.unique(cells, axis=0))
