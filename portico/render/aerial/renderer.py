"""``AerialRenderer``: what a camera that looks straight down from a height sees, heading up."""

from __future__ import annotations

from collections.abc import Collection
from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera, Channel, Frame
from portico.render.aerial.kernel import sample_tiles
from portico.render.renderer import average_samples
from portico.world.raster import TILE_PX
from portico.world.raster_tiles import CAPACITY, RasterTiles
from portico.world.world import World

CHANNELS: tuple[Channel, ...] = ("rgb", "depth")


class AerialRenderer:
    """Renders the raster of an aerial world; the interface of ``Renderer``. Ground is flat, at height 0.

    Camera poses hold longitude and latitude in degrees and height above ground in metres. Whatever the camera's mount, it looks straight
    down, and the top of its picture is the way that it heads.

    Args:
        capacity: tiles that are kept in memory.

    Raises:
        WorldError: the world has no raster.
    """

    def __init__(self, world: World, capacity: int = CAPACITY) -> None:
        self.world, self.raster = world, world.raster
        self.tiles = RasterTiles(self.raster, capacity)

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[Channel]) -> Frame:
        """One frame: rgb (H, W, 3) uint8, black beyond the raster and where it has no data; depth (H, W) float32, the height.

        Raises:
            UnknownName: a channel that does not exist, or that a picture of the ground does not have.
        """
        for channel in channels:
            if channel not in CHANNELS:
                raise UnknownName("channel of an aerial world", channel, CHANNELS)
        rgb = self._crop(T_world_camera, camera) if "rgb" in channels else None
        depth = np.full((camera.height, camera.width), T_world_camera[2, 3], np.float32) if "depth" in channels else None
        return Frame(camera, rgb, depth)

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 for people, anti-aliased by 2 x 2 samples a pixel."""
        return average_samples(self._crop(T_world_camera, camera.resized(2 * camera.width, 2 * camera.height)), 2)

    def _crop(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        lon, lat, height_m = T_world_camera[:3, 3].tolist()
        # Up in the picture is -y of the camera's axes.
        east, north = (-T_world_camera[:2, 1]).tolist()
        per_px = height_m / camera.focal_px
        right = per_px * np.array([[north, east], [-east, north]])  # columns: metres east and north per pixel right, per pixel up
        at, slopes = self.raster.grid.around(lon, lat)
        step = slopes @ right * np.array([1.0, -1.0])
        affine = np.column_stack([step, at - step @ [0.5 * camera.width, 0.5 * camera.height]])
        return self.sample(affine, camera.width, camera.height)

    def sample(self, affine: Floats, width: int, height: int) -> NDArray[np.uint8]:
        """(height, width, 3): the picture whose pixel (u, v) lies at ``affine @ (u, v, 1)``, column and row of the raster, (2, 3)."""
        finest = float(np.sqrt(abs(np.linalg.det(affine[:, :2]))))
        level = min(max(0, floor(log2(max(finest, 1e-9)) + 0.25)), self.raster.info.levels - 1)
        scale = self._scale(level)
        affine = affine / scale[:, None]
        corners = affine @ np.array([[0, width, 0, width], [0, 0, height, height], [1, 1, 1, 1]])
        first, last = np.floor((corners.min(axis=1) - 1.0) / TILE_PX), np.floor((corners.max(axis=1) + 1.0) / TILE_PX)
        out = np.empty((height, width, 3), np.uint8)
        pages = self.tiles.need(level, (int(first[1]), int(last[1])), (int(first[0]), int(last[0])))
        sample_tiles(self.tiles.slots, pages, affine, self._size(level), out)
        return out

    def _size(self, level: int) -> tuple[int, int]:
        """Height and width of a level."""
        info = self.raster.info
        return -(-info.height // 2**level), -(-info.width // 2**level)

    def _scale(self, level: int) -> Floats:
        """(2,) pixels of the full picture per pixel of a level, across and down."""
        height, width = self._size(level)
        return np.array([self.raster.info.width / width, self.raster.info.height / height])
