"""What stands in the blocks of a generated town: houses with gardens, halls, parks with ponds, courts, tanks, car parks and fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import shapely
from shapely import affinity

from portico.build.aerial.painter import Shape
from portico.build.aerial.town import rounded
from portico.geometry import Floats
from portico.world.semantics import Building, ObjectInstance, Region

_SUN = (0.55, -0.85)
_ROOFS = ("roof_red", "roof_brown", "roof_grey", "roof_slate")
_HALLS = ("red", "blue", "green", "white", "yellow", "dark")


@dataclass
class Contents:
    """What has been put into the blocks so far."""

    shapes: list[Shape] = field(default_factory=list)
    buildings: list[Building] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    objects: list[ObjectInstance] = field(default_factory=list)

    def paint(self, polygon: shapely.Geometry, material: str, height_m: float = 0.0) -> None:
        """Paint a polygon, with the shadow of something that high."""
        for part in getattr(polygon, "geoms", [polygon]):
            if not isinstance(part, shapely.Polygon) or part.is_empty:
                continue
            if height_m > 0.0:
                dx, dy = _SUN[0] * height_m * 0.6, _SUN[1] * height_m * 0.6
                self.shapes.append(Shape(part.union(affinity.translate(part, dx, dy)).convex_hull, "", shade=True))
            self.shapes.append(Shape(part, material))

    def build(self, polygon: shapely.Polygon, roof: str, height_m: float, category: str, name: str = "") -> None:
        """A building: outline, shadow, roof with a lighter side."""
        self.paint(polygon, roof, height_m)
        lit = polygon.intersection(affinity.translate(polygon, -0.25 * min(8.0, np.sqrt(polygon.area)), 0.25 * min(8.0, np.sqrt(polygon.area))))
        self.paint(lit, f"{roof}_lit")
        self.buildings.append(
            Building(id=f"building-{len(self.buildings):04d}", name=name, category=category, footprint=rounded(np.array(polygon.exterior.coords)[:-1]))
        )

    def thing(self, polygon: shapely.Polygon, category: str, name: str) -> None:
        """A landmark that is no building."""
        box = polygon.minimum_rotated_rectangle
        corners = np.array(box.exterior.coords)
        a, b = corners[1] - corners[0], corners[2] - corners[1]
        x, y = box.centroid.x, box.centroid.y
        size = (round(float(np.hypot(*a)), 2), round(float(np.hypot(*b)), 2), 0.5)
        yaw = float(np.arctan2(a[1], a[0]))
        self.objects.append(
            ObjectInstance(
                id=f"thing-{len(self.objects):04d}", category=category, name=name, center=(round(x, 2), round(y, 2), 0.25), size=size, yaw_rad=round(yaw, 6)
            )
        )


def fill(block: shapely.Polygon, use: str, contents: Contents, rng: np.random.Generator) -> None:
    """Fill a block for a use."""
    _USES[use](block, contents, rng)


USE_SHARES = {"houses": 0.4, "hall": 0.24, "park": 0.12, "sports": 0.08, "tanks": 0.06, "parking": 0.06, "field": 0.04}


def _houses(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "garden")
    for inset, chance in ((11.0, 0.9), (34.0, 0.75)):
        ring = block.buffer(-inset)
        for part in getattr(ring, "geoms", [ring]):
            if part.is_empty or part.length < 40.0:
                continue
            line = part.exterior
            for s in np.arange(6.0, line.length - 6.0, float(rng.uniform(17.0, 21.0))):
                if rng.random() > chance:
                    continue
                p, q = line.interpolate(s), line.interpolate(s + 1.0)
                angle = float(np.degrees(np.arctan2(q.y - p.y, q.x - p.x)))
                house = _placed(_rectangle(rng.uniform(10.0, 14.0), rng.uniform(8.0, 10.5)), p.x, p.y, angle)
                if block.buffer(-3.0).contains(house) and not any(house.intersects(s.polygon) for s in contents.shapes[-60:] if s.material.startswith("roof")):
                    contents.build(house, str(rng.choice(_ROOFS)), 6.0, "house")
                    if rng.random() < 0.12:
                        pool = affinity.translate(
                            _placed(_rectangle(8.0, 4.0), p.x, p.y, angle), *(14.0 * np.array([np.cos(np.radians(angle + 90)), np.sin(np.radians(angle + 90))]))
                        )
                        if block.contains(pool):
                            contents.paint(pool, "pool")
    _trees(block, contents, rng, 0.0016)


def _hall(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "yard")
    color = str(rng.choice(_HALLS))
    inner = block.buffer(-10.0)
    spot = _middle(block if inner.is_empty else inner)
    angle = _direction(block)
    for scale in (1.0, 0.85, 0.7, 0.55, 0.42):
        width, depth = rng.uniform(70.0, 95.0) * scale, rng.uniform(50.0, 70.0) * scale
        hall = _placed(_outline(str(rng.choice(["box", "ell", "tee", "yu"])), width, depth, rng), spot.x, spot.y, angle)
        if inner.contains(hall):
            contents.build(hall, f"roof_{color}", 11.0, "hall", f"{color} hall")
            break
    _cars(block, contents, rng, angle)
    _trees(block, contents, rng, 0.0004)


def _park(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "grass")
    inner = block.buffer(-22.0)
    if not inner.is_empty and inner.area > 1200.0:
        spot, radius = _middle(inner), 0.42 * np.sqrt(inner.area)
        angles = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
        wobble = 1.0 + 0.18 * np.sin(2 * angles + rng.uniform(0, 6)) + 0.1 * np.sin(3 * angles + rng.uniform(0, 6))
        pond = shapely.Polygon(np.stack([spot.x + radius * wobble * np.cos(angles), spot.y + radius * wobble * np.sin(angles)], axis=1)).intersection(inner)
        if isinstance(pond, shapely.Polygon) and pond.area > 600.0:
            contents.paint(pond.buffer(2.5), "sand")
            contents.paint(pond, "water")
            outline = rounded(np.array(pond.exterior.coords)[:-1])
            contents.regions.append(Region(id=f"pond-{len(contents.regions):03d}", type="water", access="prohibited", polygon=outline))
            _trees(block.difference(pond.buffer(7.0)), contents, rng, 0.0035)
            return
    _trees(block, contents, rng, 0.005)


def _sports(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "grass")
    spot, angle, inner = _middle(block), _direction(block), block.buffer(-4.0)
    for width, depth, material, category, name in (
        (100.0, 62.0, "pitch", "football_pitch", "football pitch"),
        (72.0, 46.0, "track", "sports_ground", "orange sports ground"),
        (36.0, 18.0, "court", "tennis_court", "blue tennis court"),
    ):
        field_ = _placed(_rectangle(width, depth), spot.x, spot.y, angle)
        if inner.contains(field_):
            contents.paint(_placed(_rectangle(width + 1.0, depth + 1.0), spot.x, spot.y, angle), "line")
            contents.paint(field_, material)
            contents.paint(_placed(_rectangle(0.5, depth), spot.x, spot.y, angle), "line")
            contents.thing(field_, category, name)
            break
    _trees(block.difference(shapely.union_all([s.polygon for s in contents.shapes[-4:]]).buffer(4.0)), contents, rng, 0.002)


def _tanks(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "yard")
    spot, color = _middle(block), str(rng.choice(["white", "red", "blue"]))
    radius = min(16.0, 0.5 * np.sqrt(block.area) - 10.0)
    tank = shapely.Point(spot.x, spot.y).buffer(max(6.0, radius), quad_segs=8)
    if block.contains(tank):
        contents.paint(tank, f"roof_{color}", 10.0)
        contents.paint(shapely.Point(spot.x - 1.5, spot.y + 1.5).buffer(0.6 * max(6.0, radius)), f"roof_{color}_lit")
        contents.thing(tank, "tank", f"round {color} tank")
    _trees(block.difference(tank.buffer(8.0)), contents, rng, 0.001)


def _parking(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "grass")
    lot = block.buffer(-6.0)
    if lot.is_empty:
        _trees(block, contents, rng, 0.002)
        return
    contents.paint(lot, "asphalt")
    _cars(lot, contents, rng, _direction(block), 0.55)
    if isinstance(lot, shapely.Polygon) and lot.area > 900.0:
        contents.thing(lot, "car_park", "car park")


def _field(block: shapely.Polygon, contents: Contents, rng: np.random.Generator) -> None:
    contents.paint(block, "wheat" if rng.random() < 0.5 else "meadow")
    angle, spot = _direction(block), _middle(block)
    for offset in np.arange(-120.0, 120.0, 7.0):
        row = affinity.rotate(shapely.box(spot.x - 200, spot.y + offset, spot.x + 200, spot.y + offset + 1.2), angle, origin=(spot.x, spot.y))
        contents.paint(row.intersection(block.buffer(-3.0)), "furrow")


_USES: dict[str, Callable[[shapely.Polygon, Contents, np.random.Generator], None]] = {
    "houses": _houses,
    "hall": _hall,
    "park": _park,
    "sports": _sports,
    "tanks": _tanks,
    "parking": _parking,
    "field": _field,
}


def _cars(block: shapely.Polygon, contents: Contents, rng: np.random.Generator, angle: float, share: float = 0.12) -> None:
    inner, spot = block.buffer(-3.0), _middle(block)
    solid = [s.polygon for s in contents.shapes[-4:] if s.material.startswith("roof")]
    for y in np.arange(-60.0, 60.0, 11.0):
        for x in np.arange(-70.0, 70.0, 3.2):
            if rng.random() < share:
                car = affinity.rotate(shapely.box(spot.x + x - 0.95, spot.y + y - 2.2, spot.x + x + 0.95, spot.y + y + 2.2), angle, origin=(spot.x, spot.y))
                if inner.contains(car) and not any(s.intersects(car) for s in solid):
                    contents.paint(car, str(rng.choice(["car_white", "car_dark", "car_red", "car_blue"])), 1.2)


def _trees(area: shapely.Geometry, contents: Contents, rng: np.random.Generator, per_m2: float) -> None:
    if area.is_empty:
        return
    west, south, east, north = area.bounds
    inner = area.buffer(-3.0)
    roofs = shapely.STRtree([s.polygon for s in contents.shapes if s.material.startswith("roof") and s.polygon.intersects(area)])
    for x, y, size in zip(*rng.uniform([west, south, 2.2], [east, north, 4.8], (int(per_m2 * (east - west) * (north - south)), 3)).T, strict=True):
        crown = shapely.Point(x, y).buffer(size, quad_segs=3)
        if inner.contains(crown) and not len(roofs.query(crown, predicate="intersects")):
            contents.paint(crown, "tree", 4.0)
            contents.paint(shapely.Point(x - 0.25 * size, y + 0.25 * size).buffer(0.6 * size, quad_segs=3), "tree_lit")


def _rectangle(width: float, depth: float) -> shapely.Polygon:
    return shapely.box(-0.5 * width, -0.5 * depth, 0.5 * width, 0.5 * depth)


def _outline(kind: str, width: float, depth: float, rng: np.random.Generator) -> shapely.Polygon:
    """A rectangle with one or two corners or a bay taken out."""
    whole = _rectangle(width, depth)
    w, d, cut = 0.5 * width, 0.5 * depth, float(rng.uniform(0.4, 0.6))
    holes = {
        "box": [],
        "ell": [shapely.box(w - cut * width, d - cut * depth, w + 1, d + 1)],
        "tee": [shapely.box(w - 0.32 * width, d - cut * depth, w + 1, d + 1), shapely.box(-w - 1, d - cut * depth, -w + 0.32 * width, d + 1)],
        "yu": [shapely.box(-0.22 * width, d - cut * depth, 0.22 * width, d + 1)],
    }[kind]
    return whole.difference(shapely.union_all(holes)) if holes else whole


def _placed(shape: shapely.Polygon, x: float, y: float, angle_deg: float) -> shapely.Polygon:
    return affinity.translate(affinity.rotate(shape, angle_deg, origin=(0.0, 0.0)), x, y)


def _middle(area: shapely.Geometry) -> shapely.Point:
    largest = max(getattr(area, "geoms", [area]), key=lambda g: g.area)
    return largest.centroid if largest.contains(largest.centroid) else largest.representative_point()


def _direction(block: shapely.Polygon) -> float:
    """Angle of the longest straight side, degrees."""
    corners = np.array(block.simplify(2.0).exterior.coords)
    sides: Floats = np.diff(corners, axis=0)
    longest = sides[int(np.argmax(np.hypot(sides[:, 0], sides[:, 1])))]
    return float(np.degrees(np.arctan2(longest[1], longest[0])))
