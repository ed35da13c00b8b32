"""Which voxels a capture fills: each Gaussian's extent by its opacity, with the exact part of every voxel that is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.world import Gaussians

#: A Gaussian reaches as far as it would hide this share of what lies behind it.
SOLID_ALPHA = 0.3
#: Gaussians larger than this are sky and haze rather than things; smaller islands of voxels are floaters.
_MOST_EXTENT_M, _LEAST_ISLAND_M3 = 1.5, 0.0015
_SNAP = 0.2
_MOST_ENTRIES = 60_000_000
_SHIFT, _OFFSET = 21, 1 << 20


@dataclass(frozen=True)
class Voxels:
    """Filled voxels, column by column and upwards.

    Attributes:
        size_m: edge. index: (V, 3) int64, floor of position over edge: x, y, z.
        low, high: (V, 3) float32, what is taken of each, metres.
        dropped: how many Gaussians or voxels each filter removed, by its name.
    """

    size_m: float
    index: NDArray[np.int64]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    dropped: dict[str, int]

    def __len__(self) -> int:
        return len(self.index)

    def chosen(self, which: NDArray[np.bool_]) -> Voxels:
        """Some of them."""
        return Voxels(self.size_m, self.index[which], self.low[which], self.high[which], self.dropped)


def voxelise(gaussians: Gaussians, *, size_m: float = 0.05) -> Voxels:
    """Voxels that Gaussians reach into with an opacity of 0.3 or more, floaters removed.

    Raises:
        ImportFailed: nothing is solid, or the capture is far too large for the voxels.
    """
    solid = gaussians.opacity > SOLID_ALPHA
    reach = np.sqrt(2.0 * np.log(np.maximum(gaussians.opacity, SOLID_ALPHA) / SOLID_ALPHA))
    huge = solid & (gaussians.scales_m.max(axis=1) * reach > _MOST_EXTENT_M)
    dropped = {"too transparent": int((~solid).sum()), "larger than 3 m": int(huge.sum())}
    kept = np.flatnonzero(solid & ~huge)
    if not len(kept):
        raise ImportFailed("nothing in the capture is solid", why=_account(dropped, len(gaussians)), next_step="check opacity and scale of the file")
    axes = _axes(gaussians.rotations_wxyz[kept].astype(np.float64))
    half = gaussians.scales_m[kept].astype(np.float64) * reach[kept, None]
    means = gaussians.means[kept].astype(np.float64)
    counts = np.zeros(len(kept), np.int64)
    _visit(means, axes, half, size_m, counts, np.zeros(0, np.int64), np.zeros((0, 6), np.float32), False)
    total = int(counts.sum())
    if total > _MOST_ENTRIES:
        raise ImportFailed(
            "the capture is too large for its voxels",
            why=f"{total:,} voxel visits at {size_m:g} m",
            next_step="check the scale of the capture, or give a larger --voxel",
        )
    keys, parts = np.empty(total, np.int64), np.empty((total, 6), np.float32)
    starts = np.cumsum(counts) - counts
    _visit(means, axes, half, size_m, starts, keys, parts, True)
    return _without_floaters(_merged(keys, parts, size_m, dropped))


def _account(dropped: dict[str, int], total: int) -> str:
    return f"of {total:,} Gaussians " + ", ".join(f"{n:,} are {name}" for name, n in dropped.items())


def _axes(q: Floats) -> Floats:
    """(N, 3, 3) rotation matrices of unit quaternions, w first; columns are the Gaussian's axes."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.stack([np.stack(row, axis=1) for row in rows], axis=1))


@njit(cache=True, parallel=True)
def _visit(means, axes, half, size, cursor, keys, parts, write):  # type: ignore[no-untyped-def]
    """Every (Gaussian, voxel) overlap: counted in ``cursor``, or written from there on.

    A voxel counts when along none of the ellipsoid's own axes it lies beyond it; boxes that only graze a corner count too.
    """
    for n in prange(len(means)):
        m0, m1, m2 = means[n, 0], means[n, 1], means[n, 2]
        e0, e1, e2 = _extent(axes, half, n, 0), _extent(axes, half, n, 1), _extent(axes, half, n, 2)
        at = cursor[n]
        for i in range(int(np.floor((m0 - e0) / size)), int(np.floor((m0 + e0) / size)) + 1):
            for j in range(int(np.floor((m1 - e1) / size)), int(np.floor((m1 + e1) / size)) + 1):
                for k in range(int(np.floor((m2 - e2) / size)), int(np.floor((m2 + e2) / size)) + 1):
                    gap = 0.0
                    for a in range(3):
                        u, v, w = axes[n, 0, a], axes[n, 1, a], axes[n, 2, a]
                        along = abs(u * ((i + 0.5) * size - m0) + v * ((j + 0.5) * size - m1) + w * ((k + 0.5) * size - m2))
                        beyond = max(along - 0.5 * size * (abs(u) + abs(v) + abs(w)), 0.0) / half[n, a]
                        gap += beyond * beyond
                    if gap > 1.0:
                        continue
                    if write:
                        keys[at] = (((i + _OFFSET) << _SHIFT) + (j + _OFFSET) << _SHIFT) + k + _OFFSET
                        parts[at, 0], parts[at, 3] = max(m0 - e0, i * size), min(m0 + e0, (i + 1) * size)
                        parts[at, 1], parts[at, 4] = max(m1 - e1, j * size), min(m1 + e1, (j + 1) * size)
                        parts[at, 2], parts[at, 5] = max(m2 - e2, k * size), min(m2 + e2, (k + 1) * size)
                    at += 1
        if not write:
            cursor[n] = at


@njit(cache=True, inline="always")
def _extent(axes, half, n, d):  # type: ignore[no-untyped-def]
    """Half of the ellipsoid's extent along world axis d."""
    return np.sqrt((axes[n, d, 0] * half[n, 0]) ** 2 + (axes[n, d, 1] * half[n, 1]) ** 2 + (axes[n, d, 2] * half[n, 2]) ** 2)


def _merged(keys: NDArray[np.int64], parts: NDArray[np.float32], size_m: float, dropped: dict[str, int]) -> Voxels:
    order = np.argsort(keys, kind="stable")
    keys, parts = keys[order], parts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    low, high = np.minimum.reduceat(parts[:, :3], first), np.maximum.reduceat(parts[:, 3:], first)
    unique, mask = keys[first], (1 << _SHIFT) - 1
    index = np.stack([unique >> 2 * _SHIFT, (unique >> _SHIFT) & mask, unique & mask], axis=1) - _OFFSET
    # What nearly fills a voxel sideways fills it, so that neighbours meet and can be merged.
    floor, snap = (index[:, :2] * size_m).astype(np.float32), np.float32(_SNAP * size_m)
    low[:, :2] = np.where(low[:, :2] - floor < snap, floor, low[:, :2])
    high[:, :2] = np.where(floor + np.float32(size_m) - high[:, :2] < snap, floor + np.float32(size_m), high[:, :2])
    return Voxels(size_m, index, low, high, dropped)


def keys_of(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """(V,) numbers that order voxels by x, then y, then z."""
    i, j, k = (index + _OFFSET).T
    return np.asarray((((i << _SHIFT) + j) << _SHIFT) + k)


def _without_floaters(voxels: Voxels) -> Voxels:
    """Islands, joined over faces, edges and corners, that are smaller than a fist are dropped."""
    keys = keys_of(voxels.index)
    pairs = []
    for step in [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) > (0, 0, 0)]:
        other = keys + ((((step[0] << _SHIFT) + step[1]) << _SHIFT) + step[2])
        at = np.minimum(np.searchsorted(keys, other), len(keys) - 1)
        hit = keys[at] == other
        pairs.append(np.stack([np.flatnonzero(hit), at[hit]]))
    links = np.concatenate(pairs, axis=1)
    graph = coo_matrix((np.ones(links.shape[1], np.int8), (links[0], links[1])), (len(keys), len(keys)))
    _, island = connected_components(graph, directed=False)
    small = np.bincount(island)[island] * voxels.size_m**3 < _LEAST_ISLAND_M3
    dropped = voxels.dropped | {"voxels of floaters": int(small.sum())}
    return Voxels(voxels.size_m, voxels.index[~small], voxels.low[~small], voxels.high[~small], dropped)
