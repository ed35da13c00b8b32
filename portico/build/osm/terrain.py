"""Triangles of the ground plan: flat ground, sunken road beds that rise to raised crossings, curbs, water, the border."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.ground import ROAD_DEPTH_M, Patch
from portico.build.osm.crossings import Crossing
from portico.build.osm.extract import polygons_of
from portico.build.osm.layers import EMPTY, areas, common, lines_of, minus, tiles, triangulated, union, without_holes
from portico.build.osm.pavement import BARE, RAMP_M, Pavement
from portico.build.primitives import prism, skirt
from portico.build.scene import Scene
from portico.build.textures import COVERS, cover_material, draw, textured
from portico.world import DEFAULT_ACCESS, Region, Surface

WATER_DEPTH_M = 0.6
BORDER_HEIGHT_M = 1.2
_BORDER_THICKNESS_M = 0.3
_TRIANGLE_M = 30.0
_REGION_TILE_M = 200.0
_STRIPE_PERIOD_M = 1.1
_SEAM_M = 0.02
#: Instance labels where the cover's own would mislead.
_LABELS = {BARE: "ground", "steps": "steps", "rail": "railway", "tram": "tram track", "play": "playground"}
_BARE_TINT = (0.62, 0.60, 0.58)


def add_terrain(scene: Scene, pavement: Pavement, extent: shapely.Polygon, built: shapely.Geometry) -> None:
    """Lay the ground of a world: every patch, its region, curbs, and a low wall around it all."""
    raised = union(c.area for c in pavement.crossings)
    for patch in pavement.patches:
        if patch.region not in ("crosswalk", "road", "water"):
            _add_flat(scene, patch, patch.area, 0.0)
    for patch in pavement.patches:
        if patch.region == "road":
            _add_road(scene, patch, raised, built, extent)
        elif patch.region == "water":
            _add_water(scene, patch)
    _add_crossings(scene, pavement.crossings)
    scene.regions += [region for patch in pavement.patches if patch.region != BARE for region in _regions(patch)]
    _add_border(scene, extent, built)


def _add_flat(scene: Scene, patch: Patch, area: shapely.Geometry, z: float) -> None:
    """Level ground; one instance per patch."""
    corners = triangulated(tiles(area, _TRIANGLE_M))
    if len(corners):
        bare = patch.region == BARE
        material = textured(scene, "ground-bare", "gravel", _BARE_TINT) if bare else cover_material(scene, patch.cover)
        instance = scene.instance(_LABELS.get(patch.region, COVERS[patch.cover].label))
        _add_triangles(scene, patch, corners, np.full(corners.shape[:2], z), material, instance)


def _add_triangles(scene: Scene, patch: Patch, corners: NDArray[np.float64], z: NDArray[np.float64], material: int, instance: int) -> None:
    vertices = np.concatenate([corners, z[:, :, None]], axis=2).reshape(-1, 3)
    faces = np.arange(len(vertices)).reshape(-1, 3)
    scene.add_mesh(vertices, faces, surface=patch.surface, material=material, instance=instance, uv=corners / COVERS[patch.cover].tile_m)


def _regions(patch: Patch) -> list[Region]:
    pieces = [piece for tile in tiles(patch.area, _REGION_TILE_M) for piece in without_holes(tile) if piece.area > 0.05 and piece.is_valid]
    access = patch.access or DEFAULT_ACCESS[patch.type]
    return [
        Region(id=f"{patch.region}-{i}", type=patch.type, access=access, polygon=[(float(x), float(y)) for x, y in list(piece.exterior.coords)[:-1]])
        for i, piece in enumerate(pieces)
    ]


def _bed_height(points: NDArray[np.float64], raised: shapely.Geometry) -> NDArray[np.float64]:
    """Height of the road bed at points (N, 2): level with the sidewalk at a crossing, sunk a ramp's length away from it."""
    if raised.is_empty:
        return np.full(len(points), -ROAD_DEPTH_M)
    distance = shapely.distance(raised, shapely.points(points))
    # The far edge of a ramp is an offset curve, drawn within a few per cent of the true distance.
    return np.asarray(-ROAD_DEPTH_M * np.minimum(distance / (0.97 * RAMP_M), 1.0))


def _add_road(scene: Scene, patch: Patch, raised: shapely.Geometry, built: shapely.Geometry, extent: shapely.Polygon) -> None:
    ramps = areas(common(patch.area, raised.buffer(RAMP_M, join_style="mitre")), 0.01) if not raised.is_empty else EMPTY
    deep = minus(patch.area, ramps)
    _add_flat(scene, patch, deep, -ROAD_DEPTH_M)
    corners = triangulated(tiles(ramps, _TRIANGLE_M))
    if len(corners):
        heights = _bed_height(corners.reshape(-1, 2), raised).reshape(-1, 3)
        _add_triangles(scene, patch, corners, heights, cover_material(scene, patch.cover), scene.instance(COVERS[patch.cover].label))
    _add_curbs(scene, patch.area, raised, union([built.buffer(_SEAM_M, join_style="mitre"), extent.boundary.buffer(_SEAM_M)]))


def _add_curbs(scene: Scene, bed: shapely.Geometry, raised: shapely.Geometry, walls: shapely.Geometry) -> None:
    edges = shapely.difference(bed.boundary, walls)
    near = raised.buffer(RAMP_M + 0.1, join_style="mitre") if not raised.is_empty else EMPTY
    pieces = [*lines_of(shapely.segmentize(shapely.intersection(edges, near), 0.4)), *lines_of(shapely.segmentize(shapely.difference(edges, near), 20.0))]
    segments = [np.stack([c[:-1], c[1:]], axis=1) for c in (shapely.get_coordinates(piece) for piece in pieces)]
    if not segments:
        return
    ab = np.concatenate(segments)  # (N, 2, 2)
    step = ab[:, 1] - ab[:, 0]
    ab, step = ab[np.hypot(*step.T) > 1e-3], step[np.hypot(*step.T) > 1e-3]
    left = np.stack([-step[:, 1], step[:, 0]], axis=1) / np.hypot(*step.T)[:, None]
    shapely.prepare(bed)
    probe = ab.mean(axis=1) + 0.015 * left
    turned = ~shapely.contains_xy(bed, probe[:, 0], probe[:, 1])
    ab[turned] = ab[turned][:, ::-1]
    low = _bed_height(ab.reshape(-1, 2), raised).reshape(-1, 2)
    standing = low.min(axis=1) < -5e-3
    ab, low = ab[standing], low[standing]
    # Seen from the road, which lies to the left of a -> b: b, a along the bottom, a, b along the top.
    corners = np.zeros((len(ab), 4, 3))
    corners[:, 0, :2], corners[:, 1, :2], corners[:, 2, :2], corners[:, 3, :2] = ab[:, 1], ab[:, 0], ab[:, 0], ab[:, 1]
    corners[:, 0, 2], corners[:, 1, 2] = low[:, 1], low[:, 0]
    faces = (np.arange(len(ab))[:, None, None] * 4 + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    length = np.hypot(*(ab[:, 1] - ab[:, 0]).T) / COVERS["curb"].tile_m
    uv = np.zeros((len(ab), 2, 3, 2))
    uv[:, :, :, 1] = np.array([[0.0, 0.0, 0.1], [0.0, 0.1, 0.1]])
    uv[:, 0, 1, 0] = uv[:, 0, 2, 0] = uv[:, 1, 1, 0] = length
    material = cover_material(scene, "curb")
    scene.add_mesh(corners.reshape(-1, 3), faces, surface=Surface.CURB, material=material, instance=scene.instance("curb"), uv=uv.reshape(-1, 3, 2))


def _add_water(scene: Scene, patch: Patch) -> None:
    _add_flat(scene, patch, patch.area, -WATER_DEPTH_M)
    instance, material = scene.instance("embankment"), cover_material(scene, "curb")
    for polygon in getattr(patch.area, "geoms", [patch.area]):
        scene.add_mesh(*skirt(polygon, -WATER_DEPTH_M, 0.0, outward=False), surface=Surface.CURB, material=material, instance=instance)


def _add_crossings(scene: Scene, crossings: list[Crossing]) -> None:
    if not crossings:
        return
    instance = scene.instance("crosswalk")
    scene.textures["zebra"] = _zebra()
    materials = {True: scene.material("zebra", (1.0, 1.0, 1.0), texture="zebra"), False: cover_material(scene, "asphalt-light")}
    for crossing in crossings:
        origin = np.asarray(crossing.line.coords[0])
        frame = np.stack([crossing.axis, [-crossing.axis[1], crossing.axis[0]]], axis=1)
        corners = triangulated(polygons_of(crossing.area))
        vertices = np.concatenate([corners, np.zeros((*corners.shape[:2], 1))], axis=2).reshape(-1, 3)
        faces = np.arange(len(vertices)).reshape(-1, 3)
        uv = (corners - origin) @ frame / (_STRIPE_PERIOD_M if crossing.marked else COVERS["asphalt-light"].tile_m)
        scene.add_mesh(vertices, faces, surface=Surface.CROSSWALK, material=materials[crossing.marked], instance=instance, uv=uv)


def _zebra() -> NDArray[np.uint8]:
    """One stripe and one gap along u, drawn on asphalt."""
    picture = draw("asphalt").astype(np.float64)
    width = picture.shape[1]
    picture[:, : width // 2] = 0.25 * picture[:, : width // 2] + 0.75 * np.array([236.0, 236.0, 230.0])
    return picture.astype(np.uint8)


def _add_border(scene: Scene, extent: shapely.Polygon, built: shapely.Geometry) -> None:
    """A low wall along the edge of the map, so that nobody walks off the world."""
    ring = minus(minus(extent, extent.buffer(-_BORDER_THICKNESS_M, join_style="mitre")), built)
    instance, material = scene.instance("border wall"), scene.material("border", (0.42, 0.41, 0.40))
    for polygon in getattr(ring, "geoms", [ring]):
        for piece in tiles(polygon, _TRIANGLE_M):
            scene.add_mesh(*prism(piece, -WATER_DEPTH_M, BORDER_HEIGHT_M), surface=Surface.WALL, material=material, instance=instance)
