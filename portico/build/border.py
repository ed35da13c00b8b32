"""Where a block ends: walls and hedges along its border, roadblocks across its streets, and the town that goes on behind.

What lies behind the border can be seen but not touched: it carries nobody, so it costs the navigation nothing.
"""

from __future__ import annotations

import numpy as np
import shapely

from portico.build.facade_textures import STYLES
from portico.build.facades import Shell, Unit, add_shell, edges
from portico.build.furnisher import Furnisher
from portico.build.ground import ROAD_DEPTH_M, Patch, add_curbs, add_ground, paint_over
from portico.build.groups import thing
from portico.build.models import part_material, place
from portico.build.primitives import prism
from portico.build.scene import Scene
from portico.build.streets import CURB_STONE_M
from portico.build.textures import linear, textured
from portico.build.town_plan import BORDER_WALL_M, SIDEWALK_M, TownPlan
from portico.build.vegetation import TREES, add_hedge
from portico.world import Surface

_BEYOND_M = 20.0
_ROW_M = (4.5, 15.0)
_BARRIER_M = 2.0
_WALL_HEIGHT_M, _HEDGE_HEIGHT_M = 1.1, 1.9


def road_ends(town: TownPlan) -> list[tuple[float, float, float, float, float]]:
    """Where a road or the mews meets the border: x, y, outward heading, half width, height of the ground."""
    ends = []
    for road in town.roads:
        for (x, y), turn in ((road.start, np.pi), (road.end, 0.0)):
            if max(abs(x), abs(y)) > town.half_m - 0.01:
                ends.append((x, y, road.yaw_rad + turn, road.half_width_m, -ROAD_DEPTH_M))
    if town.mews is not None:
        x0, y0, x1, y1 = town.mews.bounds
        north = y1 > town.half_m - 0.01
        ends.append(((x0 + x1) / 2, y1 if north else y0, np.pi / 2 if north else -np.pi / 2, (x1 - x0) / 2, 0.0))
    return ends


def add_border(scene: Scene, town: TownPlan, furnisher: Furnisher, rng: np.random.Generator) -> None:
    """Close the block: nobody gets past its border."""
    ring = shapely.difference(town.square, town.square.buffer(-BORDER_WALL_M, join_style="mitre"))
    gaps = shapely.union_all([_corridor(end, 0.0, 1.0) for end in road_ends(town)])
    instance = scene.instance("wall")
    brick, coping = textured(scene, "border-wall", "stone"), scene.material("coping", linear((0.72, 0.70, 0.66)))
    for piece in shapely.get_parts(shapely.difference(ring, gaps)).tolist():
        furnisher.occupy(piece)
        for section in _sections(piece):
            if rng.random() < 0.45:
                add_hedge(scene, section, _HEDGE_HEIGHT_M)
                continue
            vertices, faces = prism(section, 0.0, _WALL_HEIGHT_M)
            uv = _wall_uv(vertices, faces)
            scene.add_mesh(vertices, faces, surface=Surface.WALL, material=brick, instance=instance, uv=uv)
            cap = prism(section.buffer(0.05, join_style="mitre"), _WALL_HEIGHT_M, _WALL_HEIGHT_M + 0.12, bottom=True)
            scene.add_mesh(*cap, surface=Surface.WALL, material=coping, instance=instance)
    for end in road_ends(town):
        _block(scene, *end)


def _sections(piece: shapely.Polygon) -> list[shapely.Polygon]:
    """The piece in lengths of about 15 m, so that walls and hedges take turns."""
    found = []
    x0, y0, x1, y1 = piece.bounds
    for x in np.arange(np.floor(x0 / 15.0), np.ceil(x1 / 15.0)) * 15.0:
        for y in np.arange(np.floor(y0 / 15.0), np.ceil(y1 / 15.0)) * 15.0:
            part = shapely.intersection(piece, shapely.box(x, y, x + 15.0, y + 15.0))
            found += [p for p in shapely.get_parts(part).tolist() if p.geom_type == "Polygon" and p.area > 1e-3]
    return found


def _wall_uv(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    corners = vertices[faces]
    return np.stack([corners[:, :, 0] + corners[:, :, 1], corners[:, :, 2]], axis=2) / 3.0


def _corridor(end: tuple[float, float, float, float, float], margin_m: float, out_m: float) -> shapely.Polygon:
    """The strip of a street from 1 m inside the border to ``out_m`` outside."""
    x, y, heading, half, _ = end
    o = np.array([np.cos(heading), np.sin(heading)])
    n = np.array([-o[1], o[0]]) * (half + margin_m)
    c = np.array([x, y])
    return shapely.Polygon([c - o + n, c - o - n, c + o * out_m - n, c + o * out_m + n])


def _block(scene: Scene, x: float, y: float, heading: float, half: float, z: float) -> None:
    """Barriers shoulder to shoulder from curb to curb, and signs before them that say why."""
    count = int(np.ceil(2 * half / _BARRIER_M))
    o = np.array([np.cos(heading), np.sin(heading)])
    n = np.array([-o[1], o[0]])
    line = np.array([x, y]) - o * 0.45
    reach = half - _BARRIER_M / 2
    for left in np.linspace(-reach, reach, count):
        p = line + n * left
        place(scene, "barrier", thing("barrier").model, float(p[0]), float(p[1]), z, heading - np.pi / 2)
    for left in (-half * 0.5, half * 0.5):
        p = line - o * 0.7 + n * left
        place(scene, "road closed sign", thing("road closed sign").model, float(p[0]), float(p[1]), z, heading - np.pi / 2)
    for left in (-half + 0.5, 0.0, half - 0.5):
        p = line - o * 0.75 + n * left
        place(scene, "traffic cone", thing("traffic cone").model, float(p[0]), float(p[1]), z, 0.0)


def add_backdrop(scene: Scene, town: TownPlan, rng: np.random.Generator) -> None:
    """The town behind the border: streets that go on, rows of houses, trees between them."""
    outer = town.square.buffer(_BEYOND_M, join_style="mitre")
    beyond = shapely.difference(outer, town.square)
    ends = road_ends(town)
    roads = shapely.union_all([_corridor(e, 0.0, _BEYOND_M) for e in ends if e[4] < 0.0])
    walks = shapely.union_all([_corridor(e, SIDEWALK_M, _BEYOND_M) for e in ends])
    patches = [
        Patch("beyond", "vegetated", beyond, "grass", Surface.VEGETATED),
        Patch("beyond", "sidewalk", shapely.intersection(walks, beyond), "paving", Surface.SIDEWALK),
        Patch("beyond", "sidewalk", shapely.intersection(roads.buffer(CURB_STONE_M), beyond), "curb", Surface.CURB),
        Patch("beyond", "vehicle_lane", shapely.intersection(roads, beyond), "asphalt", Surface.VEHICLE_LANE, (-ROAD_DEPTH_M, 0.0, 0.0)),
    ]
    add_ground(scene, paint_over(patches), collides=False)
    add_curbs(scene, shapely.intersection(roads, beyond), town.square.buffer(0.01), collides=False)
    instance = scene.instance("building")
    for footprint in _houses(town, walks, rng):
        _add_house(scene, footprint, instance, rng)
    _add_trees(scene, town, walks, rng)


def _houses(town: TownPlan, walks: shapely.Geometry, rng: np.random.Generator) -> list[shapely.Polygon]:
    """Footprints in a row along every side of the border, and one across the end of every street."""
    half, (near, far) = town.half_m, _ROW_M
    found: list[shapely.Polygon] = []
    clear = walks.buffer(0.5)
    for turn in range(4):
        at = -half - near
        while at < half + near:
            width = float(rng.uniform(11.0, 18.0))
            box = shapely.box(at, half + near, min(at + width, half + far), half + far)
            for part in shapely.get_parts(shapely.difference(shapely.affinity.rotate(box, 90 * turn, origin=(0, 0)), clear)).tolist():
                if part.area > 30.0 and not any(part.intersects(f.buffer(-0.05)) for f in found):
                    found.append(part)
            at += width + float(rng.choice([0.0, 0.0, 2.5]))
    for x, y, heading, half_width, _ in road_ends(town):
        o = np.array([np.cos(heading), np.sin(heading)])
        c, w = np.array([x, y]) + o * (_BEYOND_M - 0.5), half_width + SIDEWALK_M + 2.0
        n = np.array([-o[1], o[0]]) * w
        found.append(shapely.Polygon([c + n, c - n, c - n + o * 9.0, c + n + o * 9.0]))
    return found


def _add_house(scene: Scene, footprint: shapely.Polygon, instance: int, rng: np.random.Generator) -> None:
    style = str(rng.choice(list(STYLES)))
    fronts = {}
    for i, (p, q) in enumerate(edges(footprint)):
        length = float(np.linalg.norm(q - p))
        if length > 4.0:
            count = max(1, round(length / 6.0))
            fronts[i] = [Unit(length * k / count, length * (k + 1) / count, f"{'house' if (k + i) % 2 else 'rear'}:{style}") for k in range(count)]
    add_shell(scene, Shell(footprint, int(rng.integers(2, 6)), style, fronts), instance=instance, rng=rng, collides=False)


def _add_trees(scene: Scene, town: TownPlan, walks: shapely.Geometry, rng: np.random.Generator) -> None:
    half = town.half_m
    instance = scene.instance("tree")
    for turn in range(4):
        for at in np.arange(-half + 4.0, half, 9.0):
            if rng.random() < 0.6:
                spot = shapely.affinity.rotate(shapely.Point(at + rng.uniform(-2, 2), half + 2.3), 90 * turn, origin=(0, 0))
                if not walks.buffer(1.0).contains(spot):
                    for part in TREES[str(rng.choice(["linden", "birch", "spruce"]))](rng):
                        vertices = part.mesh[0] + np.array([spot.x, spot.y, 0.0], np.float32)
                        scene.add_mesh(
                            vertices, part.mesh[1], surface=part.surface, material=part_material(scene, part), instance=instance, uv=part.uv, collides=False
                        )
