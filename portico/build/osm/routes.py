"""The pedestrian network: mapped paths and crossings, sidewalks along streets, joined where they meet."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import shapely

from portico.build.osm.highways import Street
from portico.build.osm.layers import lines_of
from portico.build.osm.pavement import Pavement
from portico.build.osm.survey import Survey
from portico.world import RouteGraph

_GRID_M = 0.05
_SHORTEST_M = 0.4
_JOIN_M = 4.0
_SIMPLIFY_M = 0.1
_SLACK_M = 0.3


def pedestrian_network(found: Survey, pavement: Pavement) -> RouteGraph:
    """Nodes at z = 0 and undirected edges, all of them on ground where pedestrians may be.

    Lines are noded where they cross; a loose end is joined to the nearest other line within a few metres when the
    straight way there is allowed ground.
    """
    allowed = pavement.walkable.buffer(_SLACK_M, quad_segs=1)
    if allowed.is_empty:
        return RouteGraph()
    shapely.prepare(allowed)
    lines = [s.element.shape for s in found.streets if s.role in ("path", "plaza", "shared", "steps", "crossing") and not s.is_area and s.access == "allowed"]
    lines += [c.line for c in pavement.crossings]
    lines += [line for s in found.streets for line in _sidewalk_lines(s)]
    drawn = shapely.union_all([line.simplify(_SIMPLIFY_M) for shape in lines for line in lines_of(shape)], grid_size=_GRID_M)
    network = [line for line in lines_of(shapely.intersection(drawn, allowed)) if line.length > _SHORTEST_M]
    if not network:
        return RouteGraph()
    network += _joints(network, allowed)
    return _graph(lines_of(shapely.union_all(network, grid_size=_GRID_M)))


def _sidewalk_lines(street: Street) -> list[shapely.LineString]:
    if street.sides == "none" or street.is_area:
        return []
    offset = street.width_m / 2.0 + street.sidewalk_m / 2.0
    signs = {"both": (1.0, -1.0), "left": (1.0,), "right": (-1.0,)}[street.sides]
    curves = [line.offset_curve(sign * offset, quad_segs=2, join_style="mitre") for line in lines_of(street.element.shape) for sign in signs]
    return [line for curve in curves for line in lines_of(curve)]


def _joints(lines: list[shapely.LineString], allowed: shapely.Geometry) -> list[shapely.LineString]:
    """Short links from loose ends to the nearest line that does not end there."""
    tree = shapely.STRtree(lines)
    degree: dict[tuple[float, float], int] = {}
    for line in lines:
        for end in (line.coords[0], line.coords[-1]):
            degree[_key(end)] = degree.get(_key(end), 0) + 1
    links = []
    for number, line in enumerate(lines):
        for end in (line.coords[0], line.coords[-1]):
            if degree[_key(end)] > 1:
                continue
            point = shapely.Point(end)
            near = sorted(set(tree.query(point, predicate="dwithin", distance=_JOIN_M).tolist()) - {number})
            links += [link for link in (shapely.shortest_line(point, lines[i]) for i in near) if 0.0 < link.length <= _JOIN_M and allowed.contains(link)]
    return links


def _graph(lines: list[shapely.LineString]) -> RouteGraph:
    numbers: dict[tuple[float, float], int] = {}
    edges: set[tuple[int, int]] = set()
    for line in lines:
        keys = [_key(c) for c in line.coords]
        for a, b in pairwise(keys):
            if a != b:
                i, j = numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))
                edges.add((min(i, j), max(i, j)))
    return RouteGraph(nodes=[(x, y, 0.0) for x, y in numbers], edges=sorted(edges))


def _key(point: tuple[float, ...]) -> tuple[float, float]:
    x, y = np.round(point[:2], 2).tolist()
    return x, y
