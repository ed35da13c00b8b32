"""Pictures of an aerial world: its vectors drawn on the map, and what the camera sees over things that can be followed or named."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from portico.geometry import Floats, wrap_angle
from portico.interface import Camera
from portico.render import MapFrame
from portico.robots import Flyer, embodiment
from portico.world import GeoPose, World

_HEIGHT_M = 50.0
_ROAD, _WATERWAY, _BUILDING, _WATER, _THING = (214, 60, 50), (40, 130, 220), (250, 205, 60), (40, 130, 220), (240, 120, 230)


def marked(image: NDArray[np.uint8], frame: MapFrame, world: World) -> NDArray[np.uint8]:
    """A map (H, W, 3) with roads, waterways, outlines and things."""
    picture = Image.fromarray(image)
    pen = ImageDraw.Draw(picture)
    s = world.semantics
    for way in s.ways:
        pen.line(_points(frame, way.line), fill=_ROAD if way.kind == "road" else _WATERWAY, width=2)
    for outline, color in [*((b.footprint, _BUILDING) for b in s.buildings), *((r.polygon, _WATER) for r in s.regions)]:
        pen.line([*_points(frame, outline), _points(frame, outline[:1])[0]], fill=color, width=1)
    for item in s.objects:
        (x, y), radius = _points(frame, [item.center[:2]])[0], max(4.0, 0.5 * min(item.size[:2]) * frame.px_per_m)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=_THING, width=2)
    return np.asarray(picture)


def sights(world: World, camera: Camera, count: int) -> list[tuple[GeoPose, str]]:
    """Poses over junctions, buildings, waters and things that lie far apart, and what is there."""
    flyer = Flyer(world, embodiment("flyer"))
    found = [(at, yaw, what) for at, yaw, what in _candidates(world)]
    if not found:
        found = [(np.zeros(2), 0.5 * np.pi, "middle")]
    lonlat = world.local_frame.to_geographic(np.array([at for at, _, _ in found]))
    height = _HEIGHT_M
    while height > 5.0 and all(flyer.misfit(lon, lat, height) for lon, lat in lonlat.tolist()):
        height *= 0.7
    kept = [
        (at, GeoPose(lon, lat, height, yaw), what)
        for (at, yaw, what), (lon, lat) in zip(found, lonlat.tolist(), strict=True)
        if not flyer.misfit(lon, lat, height)
    ]
    chosen: list[tuple[Floats, GeoPose, str]] = []
    while kept and len(chosen) < count:
        # The farthest from all that were chosen comes next.
        away = [min((float(np.hypot(*(at - c[0]))) for c in chosen), default=1e9) for at, _, _ in kept]
        chosen.append(kept.pop(int(np.argmax(away))))
    return [(pose, what) for _, pose, what in chosen]


def _candidates(world: World) -> list[tuple[Floats, float, str]]:
    s = world.semantics
    found: list[tuple[Floats, float, str]] = []
    for way in s.ways:
        line = np.array(way.line)
        middle = shapely.LineString(line).interpolate(0.5, normalized=True)
        step = line[len(line) // 2] - line[len(line) // 2 - 1]
        found.append((np.array([middle.x, middle.y]), wrap_angle(float(np.arctan2(step[1], step[0]))), way.name or way.category or way.kind))
    for b in s.buildings:
        shape = shapely.Polygon(b.footprint)
        if b.name or shape.area > 600.0:
            found.append((np.array([shape.centroid.x, shape.centroid.y]), 0.5 * np.pi, b.name or b.category.replace("_", " ")))
    found += [(np.array(shapely.Polygon(r.polygon).centroid.coords[0]), 0.5 * np.pi, "water") for r in s.regions]
    found += [(np.array(o.center[:2]), 0.5 * np.pi, o.name or o.category.replace("_", " ")) for o in s.objects]
    return found


def _points(frame: MapFrame, points: object) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in frame.to_pixels(np.asarray(points, dtype=np.float64))]
