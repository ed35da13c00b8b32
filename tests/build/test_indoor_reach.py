"""What buildings are for: a robot gets from the street into every room whose doors stand open, and up the stairs."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from portico.build.indoor import PROGRAMS, build_indoor
from portico.robots.embodiment import embodiment
from portico.space import build_space
from portico.world import World


def open_rooms(world: World) -> set[str]:
    """Rooms that open doors and stairs join to the street."""
    s = world.semantics
    polygons = {r.id: shapely.Polygon(r.polygon) for r in s.rooms}
    joined: list[set[str]] = [{r.id for r in s.rooms if r.category == "stairwell"}]
    start: set[str] = set()
    for portal in s.portals:
        middle = shapely.LineString(portal.segment).centroid
        near = {r.id for r in s.rooms if r.floor == portal.floor and polygons[r.id].distance(middle) < 0.21}
        if portal.exterior:
            start |= near
        elif portal.state == "open":
            joined.append(near)
    reached, grown = set(), start
    while grown != reached:
        reached = grown
        grown = reached.union(*(group for group in joined if group & reached))
    return reached


def share_reached(world: World) -> tuple[float, set[int]]:
    """Share of the open rooms where the robot can stand, coming from the street, and the levels it gets to."""
    space = build_space(world, embodiment("spot"))
    entrance = next(p for p in world.semantics.portals if p.exterior)
    x, y = np.mean(entrance.segment, axis=0)
    distance = space.distance_field(np.array([[x, y - 1.0, entrance.z_m]])).values
    nodes = space.nodes_xyz[np.isfinite(distance)]
    floors = {f.id: f for b in world.semantics.buildings for f in b.floors}
    wanted, reached, levels = open_rooms(world), 0, set()
    for room in world.semantics.rooms:
        floor = floors[room.floor]
        on_floor = nodes[np.abs(nodes[:, 2] - floor.z_m) < 0.1]
        inside = shapely.contains_xy(shapely.Polygon(room.polygon).buffer(-0.3), on_floor[:, 0], on_floor[:, 1])
        if inside.sum() * space.cell_m**2 > 0.3:
            reached += room.id in wanted
            levels.add(floor.level)
    return reached / len(wanted), levels


def check(program: str, seed: int, floors: int, cell_m: float | None = None) -> None:
    world = build_indoor(seed, program, floors)
    if cell_m is not None:
        world = World(world.manifest.model_copy(update={"cell_m": cell_m}), world.geometry, world.appearance, world.semantics)
    share, levels = share_reached(world)
    assert share >= 0.95, (program, seed, floors)
    assert levels == set(range(floors)), (program, seed, floors)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_a_robot_reaches_the_rooms(program):
    check(program, seed=5, floors=2, cell_m=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("seed", range(10))
def test_a_robot_reaches_the_rooms_of_many_buildings(program, seed):
    check(program, seed, floors=1 + seed % 3)
