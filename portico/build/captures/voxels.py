"""Which voxels a capture fills: each Gaussian's extent by its opacity, with the exact part of every voxel that is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.errors import ImportFailed
from portico.geometry import Floats
from portico.world import Gaussians

#: A Gaussian reaches as far as it would hide this share of what lies behind it.
SOLID_ALPHA = 0.3
#: Gaussians larger than this are sky and haze rather than things; smaller islands of voxels are floaters.
_MOST_EXTENT_M, _LEAST_ISLAND_M3 = 1.5, 0.0015
_SNAP = 0.2
_FINEST_M, _COARSEST_M = 0.005, 0.5
#: Of the opaque Gaussians at least this share must be small enough to be things, or the scale is wrong.
_LEAST_SOLID = 0.2
_MOST_VOXELS, _MOST_SLOTS, _CHUNK = 30_000_000, 1 << 26, 200_000
_SHIFT, _OFFSET = 21, 1 << 20
#: Voxels from the origin, along an axis, that a key can hold with room for one Gaussian.
_FARTHEST = _OFFSET - 1024


Watch = Callable[[int, int], None]


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


def voxelise(gaussians: Gaussians, *, size_m: float = 0.05, watch: Watch = lambda *_: None) -> Voxels:
    """Voxels that Gaussians reach into with an opacity of 0.3 or more, floaters removed; ``watch`` is told (done, wanted) as it goes.

    Raises:
        ImportFailed: nothing is solid, the capture is far too large for the voxels, or their size makes no sense.
    """
    if not _FINEST_M <= size_m <= _COARSEST_M:
        raise ImportFailed(
            f"voxels of {size_m:g} m are unfit", where="--voxel", why=f"{_FINEST_M:g} to {_COARSEST_M:g} m make sense", next_step="leave it out for 0.05 m"
        )
    solid = gaussians.opacity > SOLID_ALPHA
    reach = np.sqrt(2.0 * np.log(np.maximum(gaussians.opacity, SOLID_ALPHA) / SOLID_ALPHA))
    huge = solid & (gaussians.scales_m.max(axis=1) * reach > _MOST_EXTENT_M)
    far = solid & ~huge & (np.abs(gaussians.means).max(axis=1) > _FARTHEST * size_m)
    dropped = {"too transparent": int((~solid).sum()), "larger than 3 m": int(huge.sum()), f"farther than {_FARTHEST * size_m / 1000.0:.3g} km": int(far.sum())}
    kept = np.flatnonzero(solid & ~huge & ~far)
    if len(kept) < _LEAST_SOLID * solid.sum() or not len(kept):
        what = "nothing in the capture is solid" if not len(kept) else "nearly everything in the capture is too large or too far away"
        raise ImportFailed(what, why=_account(dropped, len(gaussians)), next_step="check opacity and scale of the file")
    half = gaussians.scales_m[kept].astype(np.float64) * reach[kept, None]
    parts = _Parts.empty()
    for some in np.array_split(np.arange(len(kept)), max(1, len(kept) // _CHUNK)):
        axes, means = _axes(gaussians.rotations_wxyz[kept[some]].astype(np.float64)), gaussians.means[kept[some]].astype(np.float64)
        at = 0
        while at < len(some):
            at = _visit(means, axes, half[some], size_m, at, parts.keys, parts.bounds, parts.used)
            if parts.used[0] > _MOST_VOXELS or (at < len(some) and len(parts.keys) >= _MOST_SLOTS):
                raise ImportFailed(
                    "the capture is too large for its voxels",
                    why=f"it may fill more than {_MOST_VOXELS:,} voxels of {size_m:g} m",
                    next_step="check the scale of the capture, or give a larger --voxel",
                )
            parts = parts.grown() if at < len(some) else parts
        watch(int(some[-1]) + 1, len(kept))
    return _without_floaters(_in_order(parts, size_m, dropped))


class _Parts(NamedTuple):
    """A hash table with open addressing: what is taken of every voxel.

    Attributes:
        keys: (S,) int64, -1 where free; S is a power of two. bounds: (S, 6) float32, low and high corner. used: (1,) int64.
    """

    keys: NDArray[np.int64]
    bounds: NDArray[np.float32]
    used: NDArray[np.int64]

    @staticmethod
    def empty(slots: int = 1 << 16) -> _Parts:
        return _Parts(np.full(slots, -1, np.int64), np.empty((slots, 6), np.float32), np.zeros(1, np.int64))

    def grown(self) -> _Parts:
        """The same entries with four times the slots."""
        larger = _Parts.empty(4 * len(self.keys))
        _move(self.keys, self.bounds, larger.keys, larger.bounds)
        larger.used[0] = self.used[0]
        return larger


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


@njit(cache=True, nogil=True)
def _visit(means, axes, half, size, first, keys, bounds, used):  # type: ignore[no-untyped-def]
    """Widen the entry of every voxel that Gaussians from ``first`` on reach into; the first one that the table has no room for.

    A voxel counts when along none of the ellipsoid's own axes it lies beyond it; boxes that only graze a corner count too.
    """
    room = keys.size - keys.size // 3
    for n in range(first, len(means)):
        m0, m1, m2 = means[n, 0], means[n, 1], means[n, 2]
        e0, e1, e2 = _extent(axes, half, n, 0), _extent(axes, half, n, 1), _extent(axes, half, n, 2)
        i0, i1 = int(np.floor((m0 - e0) / size)), int(np.floor((m0 + e0) / size))
        j0, j1 = int(np.floor((m1 - e1) / size)), int(np.floor((m1 + e1) / size))
        k0, k1 = int(np.floor((m2 - e2) / size)), int(np.floor((m2 + e2) / size))
        if used[0] + (i1 - i0 + 1) * (j1 - j0 + 1) * (k1 - k0 + 1) > room:
            return n
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                for k in range(k0, k1 + 1):
                    gap = 0.0
                    for a in range(3):
                        u, v, w = axes[n, 0, a], axes[n, 1, a], axes[n, 2, a]
                        along = abs(u * ((i + 0.5) * size - m0) + v * ((j + 0.5) * size - m1) + w * ((k + 0.5) * size - m2))
                        beyond = max(along - 0.5 * size * (abs(u) + abs(v) + abs(w)), 0.0) / half[n, a]
                        gap += beyond * beyond
                    if gap > 1.0:
                        continue
                    at = _slot(keys, (((i + _OFFSET) << _SHIFT) + (j + _OFFSET) << _SHIFT) + k + _OFFSET)
                    if keys[at] < 0:
                        keys[at] = (((i + _OFFSET) << _SHIFT) + (j + _OFFSET) << _SHIFT) + k + _OFFSET
                        used[0] += 1
                        bounds[at, 0], bounds[at, 1], bounds[at, 2] = np.inf, np.inf, np.inf
                        bounds[at, 3], bounds[at, 4], bounds[at, 5] = -np.inf, -np.inf, -np.inf
                    bounds[at, 0], bounds[at, 3] = min(bounds[at, 0], max(m0 - e0, i * size)), max(bounds[at, 3], min(m0 + e0, (i + 1) * size))
                    bounds[at, 1], bounds[at, 4] = min(bounds[at, 1], max(m1 - e1, j * size)), max(bounds[at, 4], min(m1 + e1, (j + 1) * size))
                    bounds[at, 2], bounds[at, 5] = min(bounds[at, 2], max(m2 - e2, k * size)), max(bounds[at, 5], min(m2 + e2, (k + 1) * size))
    return len(means)


@njit(cache=True, nogil=True, inline="always")
def _slot(keys, key):  # type: ignore[no-untyped-def]
    """Where a key is, or the free slot that it would take."""
    mask = keys.size - 1
    at = ((key ^ (key >> 29)) * 0x9E3779B97F4A7C1 >> 20) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _move(keys, bounds, new_keys, new_bounds):  # type: ignore[no-untyped-def]
    for n in range(keys.size):
        if keys[n] >= 0:
            at = _slot(new_keys, keys[n])
            new_keys[at] = keys[n]
            new_bounds[at] = bounds[n]


@njit(cache=True, inline="always")
def _extent(axes, half, n, d):  # type: ignore[no-untyped-def]
    """Half of the ellipsoid's extent along world axis d."""
    return np.sqrt((axes[n, d, 0] * half[n, 0]) ** 2 + (axes[n, d, 1] * half[n, 1]) ** 2 + (axes[n, d, 2] * half[n, 2]) ** 2)


def _in_order(parts: _Parts, size_m: float, dropped: dict[str, int]) -> Voxels:
    taken = np.flatnonzero(parts.keys >= 0)
    taken = taken[np.argsort(parts.keys[taken])]
    low, high = parts.bounds[taken, :3], parts.bounds[taken, 3:]
    unique, mask = parts.keys[taken], (1 << _SHIFT) - 1
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
    steps = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) > (0, 0, 0)]
    offsets = np.array([((((a << _SHIFT) + b) << _SHIFT) + c) for a, b, c in steps])
    island = _islands(keys_of(voxels.index), offsets)
    small = np.bincount(island)[island] * voxels.size_m**3 < _LEAST_ISLAND_M3
    dropped = voxels.dropped | {"voxels of floaters": int(small.sum())}
    return Voxels(voxels.size_m, voxels.index[~small], voxels.low[~small], voxels.high[~small], dropped)


@njit(cache=True, nogil=True)
def _islands(keys, offsets):  # type: ignore[no-untyped-def]
    """(V,) the first member of each voxel's island; keys ascend, and neighbours lie ``offsets`` apart."""
    home = np.arange(keys.size)
    for offset in offsets:
        other = 0
        for n in range(keys.size):
            while other < keys.size and keys[other] < keys[n] + offset:
                other += 1
            if other < keys.size and keys[other] == keys[n] + offset:
                a, b = _first(home, n), _first(home, other)
                home[max(a, b)] = min(a, b)
    for n in range(keys.size):
        home[n] = _first(home, n)
    return home


@njit(cache=True, nogil=True, inline="always")
def _first(home, n):  # type: ignore[no-untyped-def]
    """The member that stands for an island (Tarjan 1975, with path halving)."""
    while home[n] != n:
        home[n] = home[home[n]]
        n = home[n]
    return n
