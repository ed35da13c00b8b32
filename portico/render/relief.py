"""Relief on maps: what lies lower than its surroundings is darker, and every step has a sharp foot."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

_REACH_M, _SHADE_PER_M, _MOST_SHADE = 0.25, 0.35, 0.32
_STEP_M, _STEP_SHADE = 0.04, 0.78


def add_relief(image: NDArray[np.uint8], height: NDArray[np.float32], px_per_m: float) -> None:
    """Darken a picture (H, W, 3) of heights (H, W), metres, in place; NaN heights are left alone.

    Flat light from above would leave a table and the floor beside it the same.
    """
    known = np.isfinite(height)
    lowest = height[known].min() if known.any() else np.float32(0.0)
    surroundings = gaussian_filter(np.where(known, height, lowest), _REACH_M * px_per_m, truncate=2.5)
    _darken(image, height, surroundings, lowest)


@njit(cache=True)
def _darken(image: NDArray[np.uint8], height: NDArray[np.float32], surroundings: NDArray[np.float32], lowest: np.float32) -> None:
    rows, cols = height.shape
    for i in range(rows):
        for j in range(cols):
            z = height[i, j]
            if not np.isfinite(z):
                continue
            shade = 1.0 - min(max(_SHADE_PER_M * (surroundings[i, j] - z), 0.0), _MOST_SHADE)
            top = lowest
            for a in range(max(i - 1, 0), min(i + 2, rows)):
                for b in range(max(j - 1, 0), min(j + 2, cols)):
                    if height[a, b] > top:
                        top = height[a, b]
            if top - z > _STEP_M:
                shade *= _STEP_SHADE
            for channel in range(3):
                image[i, j, channel] = np.uint8(np.rint(image[i, j, channel] * shade))
