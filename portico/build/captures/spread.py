"""Points spread over triangles: rows and columns of equal spacing on wide ones, an even sequence on slivers and for samples."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.seeding import generator

#: Points of the plane that fill it evenly however many are taken (Roberts 2018, the R2 sequence).
_R2 = np.array([0.7548776662466927, 0.5698402909980532])
#: Multiples of it fill an interval evenly however many are taken.
_GOLDEN = 0.6180339887498949
#: Twice the area over the square of the longest edge, below which some angle is less than about 40 degrees.
_SHARP = 0.42
#: A triangle less than so many spacings high is a sliver.
_SLIVER = 2.0


def cover(triangles: Floats, spacing_m: float) -> tuple[NDArray[np.int64], Floats]:
    """Points on triangles (F, 3, 3) about ``spacing_m`` apart: which triangle (N,), and the weights (N, 3) of its corners.

    Two halves of a rectangle share one lattice, which keeps half a spacing from its edges. A row along the longest edge reaches into
    sharp tips that a lattice misses. Slivers get two points per ``spacing_m`` of their length, in a zigzag.
    """
    corner = _widest_corner(triangles)
    turned = np.take_along_axis(triangles, ((corner[:, None] + np.arange(3)) % 3)[:, :, None], axis=1)
    frames = _frames(turned)
    longest = np.linalg.norm(turned[:, 2] - turned[:, 1], axis=1)
    double_area = frames[:, 0] * frames[:, 2]
    sliver = (double_area < _SLIVER * spacing_m * longest) & (double_area > 0.0)
    thin = np.where(sliver, np.ceil(2.0 * longest / spacing_m), 0).astype(np.int64)
    wide = np.flatnonzero((double_area > 0.0) & ~sliver)
    lattice = np.zeros(len(triangles), np.int64)
    lattice[wide] = _lattice(frames[wide], spacing_m, np.zeros(0, np.int64), np.zeros((0, 3)))
    starts = np.cumsum(lattice[wide]) - lattice[wide]
    weights = np.empty((int(lattice.sum()), 3))
    _lattice(frames[wide], spacing_m, starts, weights)
    sharp = (double_area < _SHARP * longest**2) & ~sliver & (double_area > 0.0)
    edge = np.where(sharp, np.ceil(longest / spacing_m), 0).astype(np.int64)
    face = np.concatenate([np.repeat(np.arange(len(triangles)), n) for n in (lattice, thin, edge)])
    weights = np.concatenate([weights, _zigzag(turned, longest, thin), _row(edge)])
    # Back from the order in which the widest corner comes first.
    return face, np.take_along_axis(weights, (np.arange(3) - corner[face, None]) % 3, axis=1)


def _row(counts: NDArray[np.int64]) -> Floats:
    """(N, 3) weights of points at even steps along the edge that lies opposite of the first corner."""
    step = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    along = (step + 0.5) / np.repeat(counts, counts)
    return np.stack([np.zeros_like(along), 1.0 - along, along], axis=1)


def _zigzag(turned: Floats, longest: Floats, counts: NDArray[np.int64]) -> Floats:
    """(N, 3) weights of points at even steps along each longest edge, and at places across it that fill the width evenly."""
    face = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(len(face)) - np.repeat(np.cumsum(counts) - counts, counts)
    along = (step + 0.5) / np.maximum(counts, 1)[face]
    edge = turned[:, 2] - turned[:, 1]
    foot = np.einsum("ij,ij->i", turned[:, 0] - turned[:, 1], edge) / np.maximum(longest, 1e-12) ** 2
    foot = np.clip(foot, 1e-9, 1.0 - 1e-9)[face]
    room = np.minimum(along / foot, (1.0 - along) / (1.0 - foot))
    top = ((0.5 + step * _GOLDEN) % 1.0) * room
    end = along - top * foot
    return np.stack([top, 1.0 - top - end, end], axis=1)


def sample(name: str, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """As many points on each triangle as ``counts`` (F,) says, from an offset of its own that ``name`` decides; as ``cover`` returns them."""
    face = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(face)) - np.repeat(np.cumsum(counts) - counts, counts)
    offset = generator("capture", name).random((len(counts), 2))
    u, v = ((offset[face] + turn[:, None] * _R2) % 1.0).T
    folded = u + v > 1.0
    u, v = np.where(folded, 1.0 - u, u), np.where(folded, 1.0 - v, v)
    return face, np.stack([1.0 - u - v, u, v], axis=1)


def _widest_corner(triangles: Floats) -> NDArray[np.int64]:
    """(F,) the corner opposite of the longest edge: the right angle of half a rectangle."""
    edges = np.linalg.norm(np.roll(triangles, -2, axis=1) - np.roll(triangles, -1, axis=1), axis=2)
    return np.asarray(np.argmax(np.round(edges, 9), axis=1))


def _frames(turned: Floats) -> Floats:
    """(F, 3): length of the first leg, and the second leg along and across the first."""
    first, second = turned[:, 1] - turned[:, 0], turned[:, 2] - turned[:, 0]
    length = np.maximum(np.linalg.norm(first, axis=1), 1e-12)
    along = np.einsum("ij,ij->i", first, second) / length
    across = np.linalg.norm(np.cross(first, second), axis=1) / length
    return np.stack([length, along, across], axis=1)


@njit(cache=True)
def _lattice(frames, spacing, starts, weights):  # type: ignore[no-untyped-def]
    """(F,) how many lattice points lie in each triangle; their weights are written from ``starts`` on when there are any."""
    counts = np.zeros(len(frames), np.int64)
    for f in range(len(frames)):
        length, along, across = frames[f]
        du, dv = length / np.ceil(length / spacing), across / np.ceil(across / spacing)
        for i in range(int(np.floor(min(0.0, along) / du)), int(np.ceil(max(length, along) / du))):
            for j in range(int(np.ceil(across / dv))):
                third = (j + 0.5) * dv / across
                second = ((i + 0.5) * du - third * along) / length
                if second < 0.0 or third > 1.0 or second + third > 1.0 + 1e-9:
                    continue
                if len(starts):
                    at = starts[f] + counts[f]
                    weights[at, 0], weights[at, 1], weights[at, 2] = 1.0 - second - third, second, third
                counts[f] += 1
    return counts
