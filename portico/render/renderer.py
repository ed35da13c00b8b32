"""What a camera sees of a world: one visibility pass per frame, then the channels that were asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numba import get_num_threads, njit, set_num_threads
from numpy.typing import NDArray

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera, Channel, Frame
from portico.render.mesh import prepare
from portico.render.paint import Paint, paint, shadow_map, texture_atlas
from portico.render.shading import shade_measures, shade_rgb
from portico.render.textures import Atlas
from portico.render.views import View, perspective_view
from portico.render.visibility import Visibility, buffers, draw
from portico.world.world import World

CHANNELS: tuple[Channel, ...] = ("rgb", "depth", "semantic", "instance", "normal")
# Below this, waking a second thread costs more than it saves.
_WORTH_SHARING_PX = 40_000


class WorldRenderer(Protocol):
    """Whatever turns a world into frames: ``Renderer`` for triangles, ``CaptureRenderer`` for Gaussians."""

    world: World

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[Channel]) -> Frame:
        """One frame with the channels asked for."""

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 for people."""


class Renderer:
    """Renders a world. Preparing it takes a moment; keep it for as long as the world is looked at.

    Frames are the same to the bit from run to run and for any number of threads. One instance serves one thread at a
    time, since frames share its buffers.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._mesh = prepare(world.geometry.triangles)
        self._instance = np.ascontiguousarray(world.geometry.instance, np.int32)
        self._semantic = semantic_labels(world)
        self._paint = paint(world)
        self._for_rgb: tuple[Atlas, View, NDArray[np.float32]] | None = None
        self._buffers: dict[tuple[int, int], Visibility] = {}

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[Channel]) -> Frame:
        """One frame of a camera at ``T_world_camera`` (4, 4), camera axes x right, y down, z forward.

        Only the channels asked for are shaded: rgb (H, W, 3) uint8 sRGB; depth (H, W) float32 metric z-depth, inf for
        sky; instance and semantic (H, W) int32, 0 for sky; normal (H, W, 3) float32 in the world frame, towards the camera.

        Raises:
            UnknownName: a channel that does not exist.
        """
        for channel in channels:
            if channel not in CHANNELS:
                raise UnknownName("channel", channel, CHANNELS)
        view = perspective_view(T_world_camera, camera)
        wanted: dict[str, tuple[int, int]] = {c: (view.height if c in channels else 0, view.width) for c in CHANNELS}
        depth = np.empty(wanted["depth"], np.float32)
        instance, semantic = np.empty(wanted["instance"], np.int32), np.empty(wanted["semantic"], np.int32)
        normal = np.empty((*wanted["normal"], 3), np.float32)
        with _threads_for(view) as threads:
            seen = self._look(view)
            rgb = self._shade(seen, view) if "rgb" in channels else None
            if set(channels) - {"rgb"}:
                labels = (self._instance, self._semantic, self._paint.light)
                shade_measures(seen.nearness, seen.face, view, *labels, depth, instance, semantic, normal, threads)
        return Frame(
            camera,
            rgb,
            depth if len(depth) else None,
            instance if len(instance) else None,
            semantic if len(semantic) else None,
            normal if len(normal) else None,
        )

    def render_many(self, poses: Iterable[Floats], cameras: Iterable[Camera], channels: Collection[Channel]) -> list[Frame]:
        """One frame per pair of ``T_world_camera`` and camera, in order."""
        return [self.render(T, camera, channels) for T, camera in zip(poses, cameras, strict=True)]

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        """(H, W, 3) uint8 for people: like the rgb channel, but anti-aliased by 2 x 2 samples a pixel."""
        view = perspective_view(T_world_camera, camera, samples=2)
        return average_samples(self._shade(self._look(view), view), 2)

    def _shade(self, seen: Visibility, view: View) -> NDArray[np.uint8]:
        if self._for_rgb is None:
            self._for_rgb = (texture_atlas(self.world), *shadow_map(self._mesh, self.world.appearance.light))
        return shade_view(seen, view, self._paint, *self._for_rgb)

    def _look(self, view: View) -> Visibility:
        size = (view.width, view.height)
        if size not in self._buffers:
            self._buffers[size] = buffers(*size)
        draw(self._mesh, view, self._buffers[size], get_num_threads())
        return self._buffers[size]


@contextmanager
def _threads_for(view: View) -> Iterator[int]:
    """How many threads a picture of this size is worth; set for as long as it is drawn."""
    allowed = get_num_threads()
    threads = allowed if view.width * view.height >= _WORTH_SHARING_PX else 1
    set_num_threads(threads)
    try:
        yield threads
    finally:
        set_num_threads(allowed)


def shade_view(seen: Visibility, view: View, colors: Paint, atlas: Atlas, rays: View, lit: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 sRGB of what a view sees; ``rays`` and ``lit`` are the sun's shadow map."""
    rgb = np.empty((view.height, view.width, 3), np.uint8)
    shade_rgb(seen.nearness, seen.face, view, colors, atlas, rays, lit, rgb, get_num_threads())
    return rgb


def semantic_labels(world: World) -> NDArray[np.int32]:
    """(F,) int32: id in ``world.semantics.categories()`` of every triangle, 0 where its instance is not listed."""
    return semantic_table(world)[world.geometry.instance]


def semantic_table(world: World) -> NDArray[np.int32]:
    """Instance -> id in ``world.semantics.categories()``, 0 where it is not listed."""
    ids = {category: number for number, category in world.semantics.categories().items()}
    used = [world.geometry.instance] + ([world.appearance.gaussians.instance] if world.appearance.gaussians is not None else [])
    table = np.zeros(max(int(instance.max(initial=0)) for instance in used) + 1, np.int32)
    for label in world.semantics.instances:
        if label.id < len(table):
            table[label.id] = ids[label.category]
    return table


@njit(cache=True)
def average_samples(image: NDArray[np.uint8], samples: int) -> NDArray[np.uint8]:
    """An image (H, W, 3) reduced by an integer factor, sRGB values averaged."""
    height, width = image.shape[0] // samples, image.shape[1] // samples
    averaged = np.empty((height, width, 3), np.uint8)
    for i in range(height):
        for j in range(width):
            for channel in range(3):
                total = 0
                for a in range(i * samples, (i + 1) * samples):
                    for b in range(j * samples, (j + 1) * samples):
                        total += image[a, b, channel]
                averaged[i, j, channel] = np.uint8(np.rint(total / (samples * samples)))
    return averaged
