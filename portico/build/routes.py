"""The outdoor pedestrian network: lines that people walk along, joined where they meet, as a graph of short edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import shapely

from portico.geometry import Floats
from portico.world import RouteGraph

_EDGE_M = 8.0
_SNAP_M = 0.05


def route_graph(lines: Iterable[Sequence[tuple[float, float]]], height: Callable[[Floats], float]) -> RouteGraph:
    """A graph of lines (world x, y), with nodes where lines cross or end and every few metres between.

    Args:
        height: ground height at a point (2,).
    """
    network = shapely.union_all([shapely.LineString(line) for line in lines], grid_size=0.001)
    numbers: dict[tuple[float, float], int] = {}
    nodes: list[tuple[float, float, float]] = []
    edges: set[tuple[int, int]] = set()

    def number(point: Floats) -> int:
        key = (round(float(point[0]) / _SNAP_M), round(float(point[1]) / _SNAP_M))
        if key not in numbers:
            numbers[key] = len(nodes)
            nodes.append((float(point[0]), float(point[1]), height(point)))
        return numbers[key]

    for line in shapely.get_parts(network).tolist():
        points = np.asarray(shapely.segmentize(line, _EDGE_M).coords)[:, :2]
        indices = [number(p) for p in points]
        edges.update((min(a, b), max(a, b)) for a, b in pairwise(indices) if a != b)
    return RouteGraph(nodes=nodes, edges=sorted(edges))
