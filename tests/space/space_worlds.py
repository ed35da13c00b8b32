"""Hand-made worlds for the tests of space: a room, boxes and walls, stairs, ramps, curbs, bridges."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from portico.build.primitives import box, quad
from portico.build.scene import Scene
from portico.robots import Embodiment, embodiment
from portico.world import Provenance, Surface, World

SPOT, TURTLEBOT = embodiment("spot"), embodiment("turtlebot")


class Maker:
    """Boxes and floors, added by position and size."""

    def __init__(self) -> None:
        self.scene = Scene()
        self.material = self.scene.material("plain")
        self.instance = self.scene.instance("thing")

    def add(self, mesh: tuple, surface: Surface, collides: bool = True) -> Maker:
        self.scene.add_mesh(*mesh, surface=surface, material=self.material, instance=self.instance, collides=collides)
        return self

    def floor(self, x0: float, y0: float, x1: float, y1: float, z: float = 0.0, surface: Surface = Surface.FLOOR) -> Maker:
        return self.add(quad((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)), surface)

    def box(self, center: tuple, size: tuple, surface: Surface = Surface.FURNITURE, yaw_rad: float = 0.0) -> Maker:
        return self.add(box(center, size, yaw_rad), surface)

    def wall(self, a: tuple[float, float], b: tuple[float, float], thickness_m: float = 0.1, z: float = 0.0, height_m: float = 2.6) -> Maker:
        d = np.subtract(b, a)
        middle = (*(np.add(a, b) / 2), z + height_m / 2)
        return self.box(middle, (float(np.hypot(*d)), thickness_m, height_m), Surface.WALL, float(np.arctan2(d[1], d[0])))

    def slope(self, x0: float, x1: float, y0: float, y1: float, z0: float, z1: float, surface: Surface = Surface.RAMP) -> Maker:
        """Rises along x."""
        return self.add(quad((x0, y0, z0), (x1, y0, z1), (x1, y1, z1), (x0, y1, z0)), surface)

    def stairs(self, x0: float, y0: float, y1: float, z0: float, riser_m: float, tread_m: float, count: int) -> Maker:
        """Solid steps that climb along x; the last one ends at z0 + count · riser."""
        for k in range(1, count + 1):
            low = (x0 + (k - 1) * tread_m, y0, z0)
            size = (tread_m, y1 - y0, k * riser_m)
            self.box(tuple(np.add(low, np.divide(size, 2))), size, Surface.STAIRS)
        return self

    def world(self, name: str = "handmade", cell_m: float = 0.05) -> World:
        return self.scene.world(name, "indoor", Provenance(source="hand-made", licence="CC0-1.0"), cell_m=cell_m)


def room(width: float = 6.0, depth: float = 5.0) -> Maker:
    """A floor within four walls."""
    maker = Maker().floor(0, 0, width, depth)
    corners = [(0, 0), (width, 0), (width, depth), (0, depth)]
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        maker.wall(a, b)
    return maker


def cluttered_room(seed: int, count: int = 8, width: float = 6.0, depth: float = 5.0) -> Maker:
    """Boxes at any angle, all taller than a body may climb."""
    rng = np.random.default_rng(seed)
    maker = room(width, depth)
    for _ in range(count):
        x, y = rng.uniform(0.3, width - 0.3), rng.uniform(0.3, depth - 0.3)
        sx, sy, h = rng.uniform(0.05, 0.9), rng.uniform(0.05, 0.6), rng.uniform(0.5, 1.5)
        maker.box((x, y, h / 2), (sx, sy, h), yaw_rad=rng.uniform(0, np.pi))
    return maker


def doorway(width_m: float, yaw_rad: float = 0.0, cell_m: float = 0.05, thickness_m: float = 0.1) -> World:
    """Two rooms of 4 × 4 m joined by one opening, all turned about the middle of the opening; centres at (∓2, 0) turned."""

    def turned(x: float, y: float) -> tuple[float, float]:
        return cos(yaw_rad) * x - sin(yaw_rad) * y, sin(yaw_rad) * x + cos(yaw_rad) * y

    maker = Maker()
    corners = [turned(x, y) for x, y in ((-4, -2), (4, -2), (4, 2), (-4, 2))]
    maker.add(quad(*[(*c, 0.0) for c in corners]), Surface.FLOOR)
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        maker.wall(a, b)
    maker.wall(turned(0, -2), turned(0, -width_m / 2), thickness_m)
    maker.wall(turned(0, width_m / 2), turned(0, 2), thickness_m)
    return maker.world(f"door {width_m}", cell_m)


def two_floors(riser_m: float = 0.175, tread_m: float = 0.28) -> World:
    """A flight of 1.2 m between walls joins z = 0 and z = 2.8 (16 risers), with a landing on top of it."""
    count = round(2.8 / riser_m)
    run = (count - 1) * tread_m
    maker = Maker().floor(0, 0, 3.0 + run, 4.0).stairs(3.0, 0.0, 1.2, 0.0, riser_m, tread_m, count - 1)
    maker.floor(3.0 + run, 0.0, 6.0 + run, 4.0, 2.8)
    maker.wall((3.0, 1.25), (3.0 + run, 1.25), height_m=4.0).wall((0, 0), (6.0 + run, 0), height_m=4.0)
    return maker.world("two floors")


def body(name: str = "probe", radius_m: float = 0.3, height_m: float = 0.8, climb_m: float = 0.2, slope_rad: float = 0.35) -> Embodiment:
    return Embodiment(name, radius_m, height_m, climb_m, slope_rad, 1.0, 0.0, 1.0, (), "made up")
