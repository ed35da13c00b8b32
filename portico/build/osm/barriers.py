"""Fences, walls, hedges, rows of bollards and of trees: they stop a robot, except where a gate or a way leads through."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import shapely

from portico.build.osm.extract import Element, polygons_of
from portico.build.osm.highways import Street
from portico.build.osm.layers import lines_of
from portico.build.osm.report import Ledger
from portico.build.osm.survey import Survey
from portico.build.osm.tags import Tags, parse_length_m
from portico.build.primitives import Mesh, box, merge, prism, quad
from portico.build.scene import Scene
from portico.build.textures import linear, textured
from portico.build.vegetation import add_hedge
from portico.world import Surface

_SOLID = {"wall": (1.5, 0.3), "city_wall": (5.0, 1.5), "hedge": (1.2, 0.7), "jersey_barrier": (0.9, 0.5), "block": (0.6, 0.5)}
_RAILED = {"fence": 1.3, "guard_rail": 0.8, "railing": 1.0, "handrail": 1.0, "chain": 0.7, "cable_barrier": 0.8}
_ROWS_M = {"bollard": 1.6, "tree_row": 7.0}
_POST_SPACING_M = 3.0
_GATE_M = 1.2


def add_barriers(scene: Scene, found: Survey, built: shapely.Geometry, road: shapely.Geometry, ledger: Ledger) -> list[Element]:
    """Raise walls, hedges and fences; returns the single objects that rows of bollards and trees stand for."""
    ways = [s for s in found.streets if (not s.is_area and s.access == "allowed") or s.role == "road"]
    tree = shapely.STRtree([s.element.shape for s in ways])
    gates = shapely.STRtree(found.gates)
    singles: list[Element] = []
    for element in found.barriers:
        kind = element.tags.get("barrier") or element.tags.get("natural", "")
        if kind in _ROWS_M:
            singles += _row(element, kind)
        elif kind in _SOLID or kind in _RAILED:
            gaps = _gaps(element, ways, tree, found.gates, gates, ledger)
            for line in lines_of(_outside(element.shape, [*gaps, built, road])):
                _raise(scene, kind, line, element.tags)
        else:
            ledger.note("ignored", f"barrier={kind}", element.id)
    return singles


def _outside(shape: shapely.Geometry, areas: list[shapely.Geometry]) -> shapely.Geometry:
    """What of a line lies outside of all areas."""
    for area in areas:
        if area.intersects(shape):
            shape = shapely.difference(shape, area)
    return shape


def _gaps(
    element: Element, ways: list[Street], tree: shapely.STRtree, gates: list[shapely.Point], gate_tree: shapely.STRtree, ledger: Ledger
) -> list[shapely.Geometry]:
    openings = [gates[i].buffer(_GATE_M) for i in sorted(gate_tree.query(element.shape, predicate="dwithin", distance=0.3).tolist())]
    for i in sorted(tree.query(element.shape, predicate="intersects").tolist()):
        meeting = shapely.intersection(element.shape, ways[i].element.shape)
        opening = meeting.buffer(max(_GATE_M, ways[i].width_m / 2.0 + 0.2))
        if not any(gate.intersects(meeting) for gate in openings):
            ledger.note("assumed", "an opening where a way runs through a fence or wall without a gate", element.id)
        openings.append(opening)
    return openings


def _row(element: Element, kind: str) -> list[Element]:
    tags = {"natural": "tree"} if kind == "tree_row" else {"barrier": "bollard"}
    singles = []
    for part, line in enumerate(lines_of(element.shape)):
        count = max(2, round(line.length / _ROWS_M[kind]) + 1)
        singles += [Element(f"{element.id}-{part}-{i}", tags, line.interpolate(float(s))) for i, s in enumerate(np.linspace(0.0, line.length, count))]
    return singles


def _raise(scene: Scene, kind: str, line: shapely.LineString, tags: Tags) -> None:
    tagged = parse_length_m(tags.get("height", ""))
    if kind in _SOLID:
        height_m, thickness_m = _SOLID[kind]
        height_m = tagged if tagged is not None and 0.2 <= tagged <= 12.0 else height_m
        for polygon in polygons_of(line.buffer(thickness_m / 2.0, cap_style="flat", join_style="mitre", mitre_limit=2.0)):
            if kind == "hedge":
                add_hedge(scene, polygon, height_m)
                continue
            material = textured(scene, "wall-stone", "stone")
            vertices, faces = prism(polygon, -0.25, height_m)
            corners = vertices[faces]
            uv = np.stack([corners[:, :, 0] + corners[:, :, 1], corners[:, :, 2]], axis=2) / 3.0
            scene.add_mesh(vertices, faces, surface=Surface.WALL, material=material, instance=scene.instance("wall"), uv=uv)
        return
    height_m = tagged if tagged is not None and 0.3 <= tagged <= 6.0 else _RAILED[kind]
    material = scene.material("fence", linear((0.20, 0.22, 0.23)))
    scene.add_mesh(*_railing(line, height_m), surface=Surface.WALL, material=material, instance=scene.instance("fence"))


def _railing(line: shapely.LineString, height_m: float) -> Mesh:
    """Posts and three rails along a line; rails are flat and seen from both sides."""
    points = shapely.get_coordinates(shapely.segmentize(line, _POST_SPACING_M))
    meshes = [box((*p, height_m / 2.0), (0.07, 0.07, height_m)) for p in points]
    for a, b in pairwise(points):
        for share in (0.15, 0.55, 0.94):
            low, high = height_m * share - 0.035, height_m * share + 0.035
            meshes += [quad([*a, low], [*b, low], [*b, high], [*a, high]), quad([*b, low], [*a, low], [*a, high], [*b, high])]
    return merge(meshes)
