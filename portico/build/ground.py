"""Ground: patches of one cover each, painted over one another, then turned into regions, triangles and curbs.

A ground plan is a list of patches; where patches overlap the later one wins. ``paint_over`` makes them disjoint, and
from the disjoint patches come both the triangles that carry a robot and the regions that say whether it may be there,
so the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.primitives import Mesh, merge
from portico.build.scene import Scene
from portico.build.textures import COVERS, cover_material
from portico.world import DEFAULT_ACCESS, Region, Surface
from portico.world.semantics import Access, RegionType

Plane = tuple[float, float, float]

#: Depth of a road bed below the sidewalk [NV 7.3].
ROAD_DEPTH_M = 0.2
#: Coordinates are kept on a millimetre grid, so that patches that touch share their corners exactly.
GRID_M = 0.001
_CHUNK_M = 10.0
_SLIVER_M2 = 1e-4


@dataclass(frozen=True)
class Patch:
    """Ground of one kind.

    Attributes:
        region: name of the region it belongs to; patches of one name form one region.
        type, access: of that region; no access means the type's default.
        area: where it lies. cover: key of ``textures.COVERS``. surface: class of its triangles.
        plane: (z0, gx, gy), height z0 + gx·x + gy·y in metres, so that ramps are patches too.
    """

    region: str
    type: RegionType
    area: shapely.Geometry
    cover: str
    surface: Surface
    plane: Plane = (0.0, 0.0, 0.0)
    access: Access | None = None


def polygons(area: shapely.Geometry) -> list[shapely.Polygon]:
    """The polygons of any geometry, slivers, lines and points left out."""
    return [p for p in shapely.get_parts(area).tolist() if isinstance(p, shapely.Polygon) and p.area > _SLIVER_M2]


def paint_over(patches: Iterable[Patch], holes: shapely.Geometry | None = None) -> list[Patch]:
    """Disjoint patches, in the order given, without what lies under later patches or in ``holes`` (building footprints)."""
    covered: shapely.Geometry = shapely.Polygon() if holes is None else holes
    kept: list[Patch] = []
    for patch in reversed(list(patches)):
        visible = polygons(shapely.difference(patch.area, covered, grid_size=GRID_M))
        if visible:
            kept.append(replace(patch, area=shapely.MultiPolygon(visible)))
        covered = shapely.union(covered, patch.area, grid_size=GRID_M)
    return kept[::-1]


def regions(patches: Iterable[Patch]) -> list[Region]:
    """Regions of disjoint patches: patches of one name joined, then cut where they have holes, since a region has none."""
    named: dict[str, list[Patch]] = {}
    for patch in patches:
        named.setdefault(patch.region, []).append(patch)
    found = []
    for name, members in named.items():
        joined = shapely.union_all([m.area for m in members], grid_size=GRID_M)
        pieces = [piece for polygon in polygons(joined) for piece in without_holes(polygon)]
        access = members[0].access or DEFAULT_ACCESS[members[0].type]
        for i, piece in enumerate(pieces):
            outline = [(float(x), float(y)) for x, y in np.asarray(piece.exterior.coords)[:-1]]
            found.append(Region(id=name if len(pieces) == 1 else f"{name}-{i}", type=members[0].type, access=access, polygon=outline))
    return found


def without_holes(polygon: shapely.Polygon) -> list[shapely.Polygon]:
    """The polygon cut into pieces that have no holes, along verticals through the holes' middles."""
    if not polygon.interiors:
        return [polygon]
    x0, y0, x1, y1 = polygon.bounds
    cut = round(float(shapely.Polygon(polygon.interiors[0]).centroid.x), 3)
    halves = [shapely.box(x0 - 1.0, y0 - 1.0, cut, y1 + 1.0), shapely.box(cut, y0 - 1.0, x1 + 1.0, y1 + 1.0)]
    return [piece for half in halves for part in polygons(shapely.intersection(polygon, half, grid_size=GRID_M)) for piece in without_holes(part)]


def tessellate(area: shapely.Geometry, plane: Plane = (0.0, 0.0, 0.0), chunk_m: float = _CHUNK_M) -> Mesh:
    """Triangles facing up, none longer than a square of ``chunk_m``, so that a renderer can leave out what is far."""
    corners = [triangle for piece in _chunks(area, chunk_m) for triangle in _triangles(piece)]
    if not corners:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
    xy = np.stack(corners).reshape(-1, 2)
    z = plane[0] + xy @ np.array(plane[1:])
    return np.column_stack([xy, z]).astype(np.float32), np.arange(len(xy), dtype=np.int32).reshape(-1, 3)


def _chunks(area: shapely.Geometry, chunk_m: float) -> Iterator[shapely.Polygon]:
    for polygon in polygons(area):
        x0, y0, x1, y1 = polygon.bounds
        shapely.prepare(polygon)
        for i in range(int(np.floor(x0 / chunk_m)), int(np.ceil(x1 / chunk_m))):
            for j in range(int(np.floor(y0 / chunk_m)), int(np.ceil(y1 / chunk_m))):
                square = shapely.box(i * chunk_m, j * chunk_m, (i + 1) * chunk_m, (j + 1) * chunk_m)
                if polygon.contains(square):
                    yield square
                elif polygon.intersects(square):
                    yield from polygons(shapely.intersection(polygon, square))


def _triangles(polygon: shapely.Polygon) -> Iterator[NDArray[np.float64]]:
    for triangle in shapely.constrained_delaunay_triangles(polygon).geoms:
        corners = np.asarray(triangle.exterior.coords)[:3, :2]
        (ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[0]
        yield corners if ax * by - ay * bx > 0.0 else corners[::-1]


def add_ground(scene: Scene, patches: Iterable[Patch], *, collides: bool = True) -> None:
    """Add the triangles of disjoint patches, textured in metres of the world; one instance per kind of ground."""
    instances: dict[str, int] = {}
    for patch in patches:
        kind = COVERS[patch.cover].label
        if kind not in instances:
            instances[kind] = scene.instance(kind)
        vertices, faces = tessellate(patch.area, patch.plane)
        uv = vertices[faces][:, :, :2] / COVERS[patch.cover].tile_m
        material = cover_material(scene, patch.cover)
        scene.add_mesh(vertices, faces, surface=patch.surface, material=material, instance=instances[kind], uv=uv, collides=collides)


def add_curbs(scene: Scene, road: shapely.Geometry, openings: shapely.Geometry, *, depth_m: float = ROAD_DEPTH_M, collides: bool = True) -> None:
    """Vertical faces along the border of a sunken road, seen from the road, left out where ``openings`` lie (ramps, road ends)."""
    faces = [quad for polygon in polygons(road) for quad in _curb_faces(polygon, openings, depth_m)]
    if faces:
        mesh = merge(faces)
        scene.add_mesh(*mesh, surface=Surface.CURB, material=cover_material(scene, "curb"), instance=scene.instance("curb"), collides=collides)


def _curb_faces(road: shapely.Polygon, openings: shapely.Geometry, depth_m: float) -> Iterator[Mesh]:
    road = shapely.geometry.polygon.orient(road, 1.0)
    for ring in (road.exterior, *road.interiors):
        for p, q in pairwise(np.asarray(shapely.segmentize(ring, _CHUNK_M).coords)[:, :2]):
            for line in shapely.get_parts(shapely.LineString([p, q]).difference(openings)).tolist():
                if line.length > GRID_M:
                    a, b = np.asarray(line.coords)[[0, -1]]
                    if (b - a) @ (q - p) < 0.0:
                        a, b = b, a
                    corners = [[*b, -depth_m], [*a, -depth_m], [*a, 0.0], [*b, 0.0]]
                    yield np.array(corners, np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)
