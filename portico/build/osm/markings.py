"""Painted lane lines: dashes along the middle of roads with more than one lane, away from crossings and junctions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.ground import ROAD_DEPTH_M
from portico.build.osm.highways import LANE_M, Street
from portico.build.osm.layers import lines_of, merged_lines
from portico.build.scene import Scene
from portico.build.textures import linear
from portico.world import Surface

_DASH_M, _PERIOD_M, _WIDTH_M = 3.0, 7.5, 0.14
_CLEAR_CROSSING_M, _CLEAR_JUNCTION_M = 3.0, 9.0
_LIFT_M = 0.008


def add_markings(scene: Scene, streets: list[Street], road: shapely.Geometry, crossings: shapely.Geometry) -> None:
    """Dashes on every road at least two lanes wide; paint that no body can touch."""
    lines = merged_lines(s.element.shape for s in streets if s.role == "road" and not s.is_area and s.width_m >= 2.0 * LANE_M - 0.3)
    ends = Counter(tuple(np.round(c, 2)) for s in streets if s.role == "road" for line in lines_of(s.element.shape) for c in (line.coords[0], line.coords[-1]))
    junctions = shapely.MultiPoint([c for c, count in sorted(ends.items()) if count > 2])
    clear = shapely.union_all([crossings.buffer(_CLEAR_CROSSING_M), junctions.buffer(_CLEAR_JUNCTION_M)])
    shapely.prepare(clear)
    shapely.prepare(road)
    dashes = [dash for line in lines for dash in _dashes(line)]
    if not dashes:
        return
    ab = np.array(dashes)  # (N, 2, 2)
    segments = shapely.linestrings(ab)
    ab = ab[shapely.contains(road, segments) & ~shapely.intersects(clear, segments)]
    step = ab[:, 1] - ab[:, 0]
    side = np.stack([-step[:, 1], step[:, 0]], axis=1) / np.maximum(np.hypot(*step.T), 1e-9)[:, None] * (_WIDTH_M / 2.0)
    corners = np.stack([ab[:, 0] - side, ab[:, 1] - side, ab[:, 1] + side, ab[:, 0] + side], axis=1)
    vertices = np.concatenate([corners, np.full((*corners.shape[:2], 1), _LIFT_M - ROAD_DEPTH_M)], axis=2)
    faces = (np.arange(len(ab))[:, None, None] * 4 + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    paint = scene.material("lane paint", linear((0.86, 0.86, 0.83)))
    scene.add_mesh(vertices, faces, surface=Surface.VEHICLE_LANE, material=paint, instance=scene.instance("lane marking"), collides=False)


def _dashes(line: shapely.LineString) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    starts = np.arange(_PERIOD_M / 2.0, line.length - _DASH_M, _PERIOD_M)
    return [(np.asarray(line.interpolate(float(s)).coords[0]), np.asarray(line.interpolate(float(s) + _DASH_M).coords[0])) for s in starts]
