"""Where it is worth looking: what has been seen, weighed by what it says about the goal, on a coarse map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from portico.geometry import Floats
from portico.interface import Frame
from portico.policies.detectors import Labels

_CELL_M, _HALF_M = 1.0, 150.0
_SPREAD_M = 2.0
_SEEN_MOST, _DOUBT = 8.0, 1.5
_EVERY_PX, _RANGE_M = 4, 25.0


class ValueMap:
    """Evidence about the goal around where the map began, by square metres.

    Args:
        affinity: of a category that was seen, -1 to 1.
        x, y: middle of the map, metres.
    """

    def __init__(self, affinity: Callable[[str], float], x: float, y: float) -> None:
        self._affinity, self._x0, self._y0 = affinity, x - _HALF_M, y - _HALF_M
        n = round(2.0 * _HALF_M / _CELL_M)
        self._sum: Floats = np.zeros((n, n))
        self._seen: Floats = np.zeros((n, n))
        self._value: Floats | None = None

    def see(self, frame: Frame, labels: Labels, T_map_camera: Floats) -> None:
        """Enter what a detector names in a frame with depth."""
        assert frame.depth is not None
        n = max(1, frame.camera.width // 160) * _EVERY_PX
        depth, ids = frame.depth[n // 2 :: n, n // 2 :: n], labels.ids[n // 2 :: n, n // 2 :: n]
        good = (depth < _RANGE_M) & (ids > 0)
        if not good.any():
            return
        points = back_project(frame, good, n) @ T_map_camera[:3, :3].T + T_map_camera[:3, 3]
        numbers, which = np.unique(ids[good], return_inverse=True)
        weights = np.array([self._affinity(labels.names.get(int(number), "")) for number in numbers])[which]
        i = np.floor((points[:, 1] - self._y0) / _CELL_M).astype(int)
        j = np.floor((points[:, 0] - self._x0) / _CELL_M).astype(int)
        inside = (i >= 0) & (j >= 0) & (i < self._sum.shape[0]) & (j < self._sum.shape[1]) & (weights != 0.0)
        np.add.at(self._sum, (i[inside], j[inside]), 0.1 * weights[inside])
        np.add.at(self._seen, (i[inside], j[inside]), 0.1)
        over = np.maximum(self._seen / _SEEN_MOST, 1.0)
        self._sum, self._seen = self._sum / over, self._seen / over
        self._value = None

    def at(self, x: float, y: float) -> float:
        """-1 to 1: what the surroundings of a place promise."""
        if self._value is None:
            spread = _SPREAD_M / _CELL_M
            total, seen = ndimage.gaussian_filter(self._sum, spread, truncate=2.5), ndimage.gaussian_filter(self._seen, spread, truncate=2.5)
            self._value = total / (seen + _DOUBT / (2.0 * np.pi * spread**2))
        i, j = int((y - self._y0) // _CELL_M), int((x - self._x0) // _CELL_M)
        if not (0 <= i < self._value.shape[0] and 0 <= j < self._value.shape[1]):
            return 0.0
        return float(self._value[i, j])


def back_project(frame: Frame, mask: NDArray[np.bool_], every: int = 1) -> Floats:
    """(N, 3) points in the camera's frame of the masked pixels of a frame, or of every n-th of its rows and columns from the middle of the first n on."""
    assert frame.depth is not None
    v, u = (n * every + every // 2 for n in np.nonzero(mask))
    d, f = frame.depth[v, u].astype(np.float64), frame.camera.focal_px
    return np.stack([(u + 0.5 - 0.5 * frame.camera.width) / f * d, (v + 0.5 - 0.5 * frame.camera.height) / f * d, d], axis=1)
