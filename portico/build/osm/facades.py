"""Walls and roofs of imported buildings, in the styles that generated towns have."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.facade_textures import BAY_M, BAYS, STOREYS, STYLES, Style
from portico.build.facades import front_material
from portico.build.osm.extract import Element, polygons_of
from portico.build.osm.houses import Body, House
from portico.build.osm.layers import common
from portico.build.primitives import Mesh, flat_polygon, prism
from portico.build.scene import Scene
from portico.build.textures import linear, textured
from portico.seeding import generator
from portico.world import Surface

#: Walls reach below the road bed, so that no gap shows where a street runs along a building.
FOUNDATION_M = 0.65
_STYLES_BY_KIND = {
    "office": ("glass-office", "concrete-office", "white-modern", "sandstone"),
    "commercial": ("concrete-office", "glass-office", "brick-loft", "sandstone"),
    "retail": ("white-modern", "concrete-office", "brick-loft", "sandstone"),
    "industrial": ("brick-loft", "concrete-office"),
    "warehouse": ("brick-loft",),
    "church": ("sandstone", "buff-terrace"),
    "cathedral": ("sandstone",),
    "chapel": ("sandstone",),
    "university": ("sandstone", "ochre-plaster", "cream-plaster"),
    "school": ("brick-terrace", "ochre-plaster", "buff-terrace"),
    "train_station": ("sandstone",),
}  # fmt: skip
_HOUSES = ("cream-plaster", "ochre-plaster", "rose-plaster", "sage-plaster", "blue-plaster", "brick-terrace", "white-modern")
_TOWN = ("cream-plaster", "ochre-plaster", "rose-plaster", "sandstone", "buff-terrace", "brick-terrace", "sage-plaster", "white-modern")
_SMALL_STOREYS = 2
#: Bitumen, gravel, copper and brick-coloured sheet, multiplied with the roofing texture.
_ROOF_SHADES = ((1.0, 1.0, 1.0), (1.45, 1.40, 1.32), (0.80, 1.05, 0.95), (1.35, 0.95, 0.80), (0.80, 0.80, 0.84))
_GABLE_MOST_M2 = 450.0


def style_of(house: House) -> str:
    """Name of the facade style of a building: by its kind, the same at every import."""
    choices = _STYLES_BY_KIND.get(house.category, _HOUSES if house.levels <= _SMALL_STOREYS else _TOWN)
    return choices[int(generator("osm", "style", house.element.id).integers(len(choices)))]


def add_house(scene: Scene, house: House) -> int:
    """Walls with rows of windows and roofs of one building, all of one instance, which is returned."""
    name = style_of(house)
    style = STYLES[name]
    instance = scene.instance("building")
    wall_material = front_material(scene, f"facade:{name}")
    for body in house.bodies:
        gabled = _gable(house, body)
        for polygon in polygons_of(body.polygon):
            polygon = shapely.geometry.polygon.orient(polygon, 1.0)
            vertices, faces, uv = _walls(polygon, body)
            scene.add_mesh(vertices, faces, surface=Surface.WALL, material=wall_material, instance=instance, uv=uv)
            if not body.street_level:
                soffit = scene.material("soffit", (0.5, 0.49, 0.47))
                scene.add_mesh(*flat_polygon(polygon, body.low_m, up=False), surface=Surface.CEILING, material=soffit, instance=instance)
            if gabled is None:
                _add_flat_roof(scene, house, polygon, body.high_m, instance)
        if gabled is not None:
            _add_gable(scene, gabled, body.high_m, instance, style, wall_material)
    return instance


def _walls(polygon: shapely.Polygon, body: Body) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Quads along every ring of an oriented polygon; whole windows between the corners, whole storeys above the ground."""
    low = -FOUNDATION_M if body.street_level else body.low_m
    rings = [shapely.get_coordinates(ring) for ring in (polygon.exterior, *polygon.interiors)]
    a = np.concatenate([ring[:-1] for ring in rings])
    b = np.concatenate([ring[1:] for ring in rings])
    count = len(a)
    corners = np.zeros((count, 4, 3))
    corners[:, 0, :2], corners[:, 1, :2], corners[:, 2, :2], corners[:, 3, :2] = a, b, b, a
    corners[:, :2, 2], corners[:, 2:, 2] = low, body.high_m
    bays = np.floor(np.hypot(*(b - a).T) / BAY_M + 0.35)
    storeys = max(1.0, round((body.high_m - max(body.low_m, 0.0)) / body.storey_m))
    scale = storeys / STOREYS / (body.high_m - max(body.low_m, 0.0))
    v_low, v_high = (low - max(body.low_m, 0.0)) * scale, storeys / STOREYS
    u = np.maximum(bays, 0.12) / BAYS
    uv = np.zeros((count, 4, 2))
    uv[:, 1, 0] = uv[:, 2, 0] = u
    uv[:, :2, 1], uv[:, 2:, 1] = v_low, v_high
    order = np.array([[0, 1, 2], [0, 2, 3]])
    faces = (np.arange(count)[:, None, None] * 4 + order).reshape(-1, 3)
    return corners.reshape(-1, 3), faces, uv[:, order].reshape(-1, 3, 2)


def _add_flat_roof(scene: Scene, house: House, polygon: shapely.Polygon, z: float, instance: int) -> None:
    vertices, faces = flat_polygon(polygon, z)
    shade = _ROOF_SHADES[int(generator("osm", "roof", house.element.id).integers(len(_ROOF_SHADES)))]
    material = textured(scene, f"roofing-{shade[0]:.2f}", "roofing", shade)
    scene.add_mesh(vertices, faces, surface=Surface.ROOF, material=material, instance=instance, uv=vertices[faces][:, :, :2] / 4.0)


def _gable(house: House, body: Body) -> NDArray[np.float64] | None:
    """Corners (4, 2) of the box under a saddle roof, long sides first; None for buildings that get a flat one."""
    shape = house.element.tags.get("roof:shape", "")
    small = house.levels <= _SMALL_STOREYS and house.category in (
        "house",
        "detached",
        "residential",
        "building",
        "semidetached_house",
        "terrace",
        "farm",
        "cabin",
        "bungalow",
    )
    if len(house.bodies) > 1 or not (shape == "gabled" or (small and not shape)) or body.polygon.geom_type != "Polygon":
        return None
    if not 15.0 <= body.polygon.area <= _GABLE_MOST_M2 or body.polygon.interiors:
        return None
    box = shapely.geometry.polygon.orient(body.polygon.minimum_rotated_rectangle, 1.0)
    if common(body.polygon, box).area < 0.93 * box.area:
        return None
    corners = np.asarray(box.exterior.coords)[:4]
    if np.hypot(*(corners[1] - corners[0])) < np.hypot(*(corners[2] - corners[1])):
        corners = np.roll(corners, -1, axis=0)
    return corners


def _add_gable(scene: Scene, corners: NDArray[np.float64], eaves_m: float, instance: int, style: Style, wall_material: int) -> None:
    a, b, c, d = corners
    span = float(np.hypot(*(c - b)))
    rise = min(0.35 * span, 3.5)
    out = 0.35
    along, across = (b - a) / np.hypot(*(b - a)), (d - a) / np.hypot(*(d - a))
    ridge0, ridge1 = (a + d) / 2, (b + c) / 2
    drop = rise * out / (span / 2)
    slopes: list[Mesh] = []
    for left, right, start, end, side in ((a, b, ridge0, ridge1, -across), (c, d, ridge1, ridge0, across)):
        run = along if left is a else -along
        low0, low1 = left + side * out - run * out, right + side * out + run * out
        quad = np.array([[*low0, eaves_m - drop], [*low1, eaves_m - drop], [*(end + run * out), eaves_m + rise], [*(start - run * out), eaves_m + rise]])
        slopes.append((quad.astype(np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)))
    tiled = (
        textured(scene, "roof-tiles", "roof-tiles") if style.roof == "roof-tiles" else textured(scene, "roof-slate", "roof-tiles", linear((0.60, 0.62, 0.66)))
    )
    length = float(np.hypot(*(b - a))) / 2.0
    slope = float(np.hypot(span / 2, rise)) / 2.0
    uv = np.array([[[0, 0], [length, 0], [length, slope]], [[0, 0], [length, slope], [0, slope]]])
    for vertices, faces in slopes:
        scene.add_mesh(vertices, faces, surface=Surface.ROOF, material=tiled, instance=instance, uv=uv)
    ends = np.array([[*d, eaves_m], [*a, eaves_m], [*ridge0, eaves_m + rise], [*b, eaves_m], [*c, eaves_m], [*ridge1, eaves_m + rise]])
    scene.add_mesh(ends, [[0, 1, 2], [3, 4, 5]], surface=Surface.WALL, material=wall_material, instance=instance)


def add_canopy(scene: Scene, element: Element, height_m: float) -> None:
    """A roof on posts: a slab one walks under."""
    instance, material = scene.instance("canopy"), scene.material("canopy", linear((0.70, 0.71, 0.72)))
    for polygon in polygons_of(element.shape):
        scene.add_mesh(*prism(polygon, height_m - 0.25, height_m, bottom=True), surface=Surface.ROOF, material=material, instance=instance)
