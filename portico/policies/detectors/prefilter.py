"""Is there anything like a sign in view? A cheap look before an expensive reading."""

from __future__ import annotations

from math import tan

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from portico.interface import Camera

#: Signs hang above eye level; so much of the image's height below the horizon is kept for a body that leans.
_BELOW_HORIZON = 0.06
_TILE_PX = 8
#: Levels of green that make an edge, and the share of a tile's pixels that are edges where there is lettering.
_EDGE, _DENSE = 22, 0.16
_LEAST_TILES, _MARGIN_PX = 3, 16


def sign_like(rgb: NDArray[np.uint8], camera: Camera) -> tuple[slice, slice] | None:
    """Rows and columns that hold all that is as dense in upright edges as lettering is, with a margin; None when nothing is.

    Args:
        rgb: (H, W, 3).
    """
    height, width = rgb.shape[:2]
    horizon = 0.5 * height - camera.focal_px * tan(camera.pitch_rad)
    rows = int(min(max(horizon + _BELOW_HORIZON * height, 0.0), height)) // _TILE_PX * _TILE_PX
    cols = width // _TILE_PX * _TILE_PX
    if rows == 0 or cols == 0:
        return None
    grey = np.ascontiguousarray(rgb[:rows, :cols, 1]).astype(np.int16)
    edges = np.zeros(grey.shape, np.float32)
    edges[:, 1:] = np.abs(np.diff(grey, axis=1)) > _EDGE
    dense = edges.reshape(rows // _TILE_PX, _TILE_PX, cols // _TILE_PX, _TILE_PX).mean(axis=(1, 3)) >= _DENSE
    joined, _ = ndimage.label(ndimage.binary_dilation(dense, structure=np.ones((1, 3))))
    boxes = [box for box in ndimage.find_objects(joined) if box[1].stop - box[1].start >= _LEAST_TILES]
    if not boxes:
        return None
    top, left = (min(box[a].start for box in boxes) * _TILE_PX - _MARGIN_PX for a in (0, 1))
    bottom, right = (max(box[a].stop for box in boxes) * _TILE_PX + _MARGIN_PX for a in (0, 1))
    return slice(max(top, 0), min(bottom, rows)), slice(max(left, 0), min(right, width))
