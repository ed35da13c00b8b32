"""Captured worlds as cameras and maps see them: their Gaussians; the triangles that stand for them are only touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import atan2

import numpy as np
from numpy.typing import NDArray

from portico.errors import UnknownName, WorldError
from portico.geometry import Floats, transform
from portico.interface import Camera, Channel, Frame
from portico.render.aerial.renderer import AerialRenderer
from portico.render.map_frame import MapFrame
from portico.render.renderer import CHANNELS, Renderer, WorldRenderer, average_samples, semantic_table
from portico.render.splats import SplatRenderer, choose_renderer
from portico.world import Gaussians, World

#: East, south and down, as columns: a map seen from above with north at the top.
_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
#: From this many times the map's size away, perspective moves nothing by a pixel.
_FAR, _BELOW_M = 200.0, 0.4
_PAPER = (0.957, 0.949, 0.929)


def renderer_of(world: World) -> WorldRenderer:
    """What renders a world: its raster where it is seen from the air, its Gaussians where it is a capture, else its triangles."""
    if world.appearance.raster is not None:
        return AerialRenderer(world)
    return Renderer(world) if world.appearance.gaussians is None else CaptureRenderer(world)


class CaptureRenderer:
    """Renders the Gaussians of a captured world; the interface of ``Renderer``.

    Raises:
        WorldError: the world holds no Gaussians.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        gaussians = _gaussians(world)
        chosen = choose_renderer(gaussians).renderer
        self._pictures = chosen
        self._labels = chosen if isinstance(chosen, SplatRenderer) else SplatRenderer(gaussians)
        self._semantic = semantic_table(world)

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[Channel]) -> Frame:
        """One frame, see ``Renderer.render``. Depth and labels as ``SplatRenderer.render`` says; normal is 0, since Gaussians have none.

        Raises:
            UnknownName: a channel that does not exist.
        """
        for channel in channels:
            if channel not in CHANNELS:
                raise UnknownName("channel", channel, CHANNELS)
        wanted = {c for c in channels if c in ("rgb", "depth", "instance")} | ({"instance"} if "semantic" in channels else set())
        renderer = self._pictures if wanted <= {"rgb"} else self._labels
        seen = renderer.render(T_world_camera, camera, wanted)  # type: ignore[arg-type]
        semantic = self._semantic[seen.instance] if "semantic" in channels and seen.instance is not None else None
        normal = np.zeros((camera.height, camera.width, 3), np.float32) if "normal" in channels else None
        return Frame(camera, seen.rgb, seen.depth, seen.instance if "instance" in channels else None, semantic, normal)

    def render_many(self, poses: Iterable[Floats], cameras: Iterable[Camera], channels: Collection[Channel]) -> list[Frame]:
        """One frame per pair of ``T_world_camera`` and camera, in order."""
        return [self.render(T, camera, channels) for T, camera in zip(poses, cameras, strict=True)]

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 for people: like the rgb channel, but anti-aliased by 2 x 2 samples a pixel."""
        rgb = self._pictures.render(T_world_camera, camera.resized(2 * camera.width, 2 * camera.height), ["rgb"]).rgb
        assert rgb is not None
        return average_samples(rgb, 2)


def capture_overview(world: World, frame: MapFrame, floor_z: float, cut_m: float) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 sRGB, a captured storey from straight above, everything over ``cut_m`` taken away."""
    gaussians = _gaussians(world)
    z = gaussians.means[:, 2]
    shown = gaussians.chosen((z > floor_z - _BELOW_M) & (z < floor_z + cut_m))
    west, south, east, north = frame.bounds
    away_m = _FAR * max(east - west, north - south)
    camera = Camera("map", frame.width, frame.height, 2.0 * atan2(0.5 * (east - west), away_m))
    T_world_camera = transform(_DOWN, np.array([0.5 * (west + east), 0.5 * (south + north), floor_z + away_m]))
    rgb = SplatRenderer(shown, background=_PAPER).render(T_world_camera, camera, ["rgb"]).rgb
    assert rgb is not None
    return rgb


def _gaussians(world: World) -> Gaussians:
    if world.appearance.gaussians is None:
        raise WorldError("the world is no capture", where=world.id, why="it holds triangles and no Gaussians", next_step="use Renderer")
    return world.appearance.gaussians
