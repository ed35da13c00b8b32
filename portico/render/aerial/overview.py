"""A north-up map of an aerial world, in metres around its origin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from portico.render.aerial.renderer import AerialRenderer
from portico.render.map_frame import MapFrame, fit
from portico.world.world import World


def aerial_overview(world: World, size_px: int, bounds: tuple[float, float, float, float] | None) -> tuple[NDArray[np.uint8], MapFrame]:
    """(H, W, 3) uint8 and its frame.

    Args:
        size_px: length of the longer side. bounds: west, south, east, north in metres of the world's local frame; all of it by default.
    """
    local = world.local_frame
    raster = world.raster
    if bounds is None:
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * [raster.info.width, raster.info.height]
        lonlat = raster.grid.to_degrees(corners)
        xy = local.to_local(lonlat[:, 0], lonlat[:, 1])
        bounds = (*xy.min(axis=0).tolist(), *xy.max(axis=0).tolist())
    frame = fit(bounds, size_px)
    # An affine map through the picture's corners: over a few kilometres the earth bends away from it by less than a pixel.
    px = np.array([[0.0, 0.0], [frame.width, 0.0], [0.0, frame.height]])
    at = raster.grid.to_pixels(local.to_geographic(frame.to_world(px)))
    affine = np.column_stack([(at[1] - at[0]) / frame.width, (at[2] - at[0]) / frame.height, at[0]])
    return AerialRenderer(world).sample(affine, frame.width, frame.height), frame
