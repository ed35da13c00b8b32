"""A picture of a world from straight above, for people: shaded, anti-aliased, buildings cut open."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from portico.render.aerial.overview import aerial_overview
from portico.render.captures import capture_overview
from portico.render.cutaway import Cutaway, Patch, cut_open, solid_pixels
from portico.render.map_frame import MapFrame, fit
from portico.render.mesh import prepare
from portico.render.paint import paint, shadow_map, texture_atlas
from portico.render.relief import add_relief
from portico.render.renderer import average_samples, shade_view
from portico.render.textures import to_linear
from portico.render.views import orthographic_view
from portico.render.visibility import buffers, draw
from portico.world import Surface, World

Heights = NDArray[np.float32]

_SAMPLES = 2
_MARGIN = 0.02
_SKY_GAIN, _LAMP_GAIN = 1.3, 1.5
_PAPER_SRGB = (0.957, 0.949, 0.929)
# East, south and down: a map seen from above with north at the top.
_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
#: What a cut shows of walls, windows and doors, sRGB.
_CUT_COLORS: tuple[tuple[tuple[Surface, ...], tuple[int, int, int]], ...] = (
    ((Surface.WALL,), (52, 54, 60)),
    ((Surface.WINDOW,), (120, 170, 205)),
    ((Surface.DOOR,), (150, 104, 62)),
)


def overview(
    world: World,
    *,
    size_px: int = 1600,
    level: int | None = None,
    cut_m: float = 1.8,
    bounds: tuple[float, float, float, float] | None = None,
) -> tuple[NDArray[np.uint8], MapFrame]:
    """An orthographic north-up picture (H, W, 3) uint8 sRGB and the frame to draw on it.

    Args:
        size_px: length of the longer side.
        level: which floor of the enterable buildings to lay open, ``cut_m`` above its floor; the street's by default.
        bounds: west, south, east, north in metres; the whole world with a margin by default.
    """
    level = 0 if level is None else level
    if world.appearance.raster is not None:
        return aerial_overview(world, size_px, bounds)
    if world.appearance.gaussians is not None:
        return _captured(world, size_px, level, cut_m, bounds)
    cutaway = cut_open(world, level, cut_m)
    frame = fit(bounds or _around(cutaway.triangles), size_px, level if cutaway.sections else None)
    fine = (frame.height * _SAMPLES, frame.width * _SAMPLES)
    image = average_samples(_picture(world, cutaway, frame, fine), _SAMPLES)
    return image, frame


def _captured(world: World, size_px: int, level: int, cut_m: float, bounds: tuple[float, float, float, float] | None) -> tuple[NDArray[np.uint8], MapFrame]:
    floors = {floor.level: floor.z_m for building in world.semantics.buildings for floor in building.floors}
    frame = fit(bounds or _around(world.geometry.triangles), size_px, level if level in floors else None)
    return capture_overview(world, frame, floors.get(level, 0.0), cut_m), frame


def _picture(world: World, cutaway: Cutaway, frame: MapFrame, fine: tuple[int, int]) -> NDArray[np.uint8]:
    mesh = prepare(cutaway.triangles, cutaway.face)
    top, bottom = float(cutaway.triangles[:, :, 2].max(initial=0.0)), float(cutaway.triangles[:, :, 2].min(initial=0.0))
    west, south, east, north = frame.bounds
    center = np.array([0.5 * (west + east), 0.5 * (south + north), top + 1.0])
    view = orthographic_view(_DOWN, center, frame.px_per_m * _SAMPLES, fine[1], fine[0], top - bottom + 2.0)
    seen = buffers(fine[1], fine[0])
    draw(mesh, view, seen, get_num_threads())
    whole = prepare(world.geometry.triangles)
    colors = paint(_brighter(world))._replace(sky=np.tile(to_linear(np.array(_PAPER_SRGB)), (2, 1)).astype(np.float32))
    height = np.where(seen.face >= 0, seen.nearness + np.float32(view.oz - view.far), np.float32(np.nan))
    image = shade_view(seen, view, colors, texture_atlas(world), *shadow_map(whole, world.appearance.light))
    solids = _solids(cutaway, height, frame, fine)
    for solid in solids:
        height[solid.patch][solid.pixels] = solid.z_m
    add_relief(image, height, view.scale)
    for solid in solids:
        image[solid.patch][solid.pixels] = solid.color
    return image


def _brighter(world: World) -> World:
    """Rooms without their ceilings and the shadows between houses, lit so that they can be read on a page."""
    light = world.appearance.light
    light = light.model_copy(update={"sky": _SKY_GAIN * light.sky, "indoor": _LAMP_GAIN * light.indoor})
    return replace(world, appearance=replace(world.appearance, light=light))


@dataclass(frozen=True)
class _Solid:
    """Pixels of something that was sawn through: a patch of the picture, which of its pixels, the height of the cut, the colour."""

    patch: Patch
    pixels: NDArray[np.bool_]
    z_m: float
    color: tuple[int, int, int]


def _solids(cutaway: Cutaway, height: Heights, frame: MapFrame, fine: tuple[int, int]) -> list[_Solid]:
    to_pixels = np.array([frame.x_min, frame.y_max, frame.px_per_m * _SAMPLES])
    found = []
    for section in cutaway.sections:
        for surfaces, color in _CUT_COLORS:
            patch, pixels = solid_pixels(section, surfaces, to_pixels, fine)
            found.append(_Solid(patch, pixels & ~(height[patch] > section.z_m + 1e-3), section.z_m, color))
    return found


def _around(triangles: NDArray[np.float32]) -> tuple[float, float, float, float]:
    corners = triangles.reshape(-1, 3)
    (west, south), (east, north) = corners[:, :2].min(axis=0).tolist(), corners[:, :2].max(axis=0).tolist()
    margin = _MARGIN * max(east - west, north - south)
    return west - margin, south - margin, east + margin, north + margin
