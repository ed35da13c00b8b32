"""Is there anything like a sign in view? A cheap look before an expensive reading."""

from __future__ import annotations

from dataclasses import dataclass
from math import tan

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from portico.interface import Camera

#: Signs hang well above a robot's eyes: what is less above the horizon than this, as a slope, is none that can be read.
_LOWEST_SLOPE = 0.03
_TILE_PX = 8
#: Levels of green that make an edge, and the share of a tile's pixels that are edges where there is lettering.
_EDGE, _DENSE = 22, 0.16
_LEAST_TILES, _MARGIN_PX = 3, 16
#: Signs beyond some 12 m are less than this above the horizon, as a slope; the parts overlap by half a sign.
_FAR_SLOPE, _OVERLAP_SLOPE = 0.26, 0.08
_FAR_SCALE, _NEAR_SCALE = 1.25, 0.5


@dataclass(frozen=True)
class Part:
    """Rows and columns of a picture that are worth reading, and at which scale."""

    rows: slice
    cols: slice
    scale: float


def sign_like(rgb: NDArray[np.uint8], camera: Camera) -> list[Part]:
    """Parts that hold all that is as dense in upright edges as lettering is, with a margin; none where nothing is.

    Signs far off are small and near the horizon, signs near by are large and above it: the former are read enlarged, the latter reduced.

    Args:
        rgb: (H, W, 3).
    """
    height, width = rgb.shape[:2]
    horizon = 0.5 * height - camera.focal_px * tan(camera.pitch_rad)
    rows = int(min(max(horizon - _LOWEST_SLOPE * camera.focal_px, 0.0), height)) // _TILE_PX * _TILE_PX
    cols = width // _TILE_PX * _TILE_PX
    if rows == 0 or cols == 0:
        return []
    grey = np.ascontiguousarray(rgb[:rows, :cols, 1]).astype(np.int16)
    edges = np.zeros(grey.shape, np.float32)
    edges[:, 1:] = np.abs(np.diff(grey, axis=1)) > _EDGE
    dense = edges.reshape(rows // _TILE_PX, _TILE_PX, cols // _TILE_PX, _TILE_PX).mean(axis=(1, 3)) >= _DENSE
    far = int(max(horizon - _FAR_SLOPE * camera.focal_px, 0.0))
    overlap = int(_OVERLAP_SLOPE * camera.focal_px)
    parts = [_part(dense, far, rows, width, _FAR_SCALE), _part(dense, 0, min(far + overlap, rows), width, _NEAR_SCALE)]
    return [part for part in parts if part is not None]


def _part(dense: NDArray[np.bool_], top: int, bottom: int, width: int, scale: float) -> Part | None:
    """The box around what is dense between two rows of pixels."""
    first, last = top // _TILE_PX, -(-bottom // _TILE_PX)
    if last <= first:
        return None
    joined, _ = ndimage.label(ndimage.binary_dilation(dense[first:last], structure=np.ones((1, 3))))
    boxes = [box for box in ndimage.find_objects(joined) if box[1].stop - box[1].start >= _LEAST_TILES]
    if not boxes:
        return None
    high, left = (min(box[a].start for box in boxes) * _TILE_PX - _MARGIN_PX for a in (0, 1))
    low, right = (max(box[a].stop for box in boxes) * _TILE_PX + _MARGIN_PX for a in (0, 1))
    begin = first * _TILE_PX
    rows = slice(max(begin + high, top), min(begin + low, bottom))
    return Part(rows, slice(max(left, 0), min(right, width)), scale) if rows.stop > rows.start else None
