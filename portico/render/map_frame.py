"""Where a world point lies on a map picture, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from portico.geometry import Floats


@dataclass(frozen=True)
class MapFrame:
    """A north-up map: column 0 begins at ``x_min``, row 0 at ``y_max``.

    Attributes:
        x_min, y_max: metres, world frame. px_per_m: scale. width, height: of the picture.
        level: the floor whose rooms are shown, None when nothing was cut open.
    """

    x_min: float
    y_max: float
    px_per_m: float
    width: int
    height: int
    level: int | None = None

    def to_pixels(self, points: ArrayLike) -> Floats:
        """(N, 2) columns and rows, pixel centres at half integers, of points (N, 2+), metres."""
        xy = np.asarray(points, np.float64)[..., :2]
        return (xy - [self.x_min, self.y_max]) * [self.px_per_m, -self.px_per_m]

    def to_world(self, pixels: ArrayLike) -> Floats:
        """(N, 2) metres of columns and rows (N, 2)."""
        return np.asarray(pixels, np.float64) / [self.px_per_m, -self.px_per_m] + [self.x_min, self.y_max]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north edge, metres."""
        return self.x_min, self.y_max - self.height / self.px_per_m, self.x_min + self.width / self.px_per_m, self.y_max


def fit(bounds: tuple[float, float, float, float], size_px: int, level: int | None = None) -> MapFrame:
    """The frame that shows (west, south, east, north), its longer side ``size_px`` pixels."""
    west, south, east, north = bounds
    span_x, span_y = max(east - west, 1e-3), max(north - south, 1e-3)
    px_per_m = size_px / max(span_x, span_y)
    width, height = max(1, round(span_x * px_per_m)), max(1, round(span_y * px_per_m))
    return MapFrame(west, north, px_per_m, width, height, level)
