"""Town blocks can be walked: from every entrance to every other one on allowed ground, by large and by small robots."""

import numpy as np
import pytest
from town_blocks import block

from portico.geometry import points_in_polygon
from portico.robots import embodiment
from portico.space import Space, build_space
from portico.world import World


def allowed_outdoors(world: World, space: Space) -> np.ndarray:
    """(N,) bool: nodes on allowed outdoor ground; of overlapping regions the last listed wins."""
    points = space.nodes_xyz
    found = np.zeros(len(points), bool)
    for region in world.semantics.regions:
        found[points_in_polygon(points, np.array(region.polygon))] = region.access == "allowed"
    for building in world.semantics.buildings:
        found[points_in_polygon(points, np.array(building.footprint))] = False
    return found


def doorsteps(world: World) -> tuple[np.ndarray, np.ndarray]:
    """(K, 3) points 1 m outside and (K, 3) 1 m inside of every street entrance."""
    outside, inside = [], []
    buildings = {b.id: np.array(b.footprint) for b in world.semantics.buildings}
    for portal in world.semantics.portals:
        if portal.exterior:
            a, b = np.array(portal.segment)
            out = np.array([(b - a)[1], -(b - a)[0]]) / np.linalg.norm(b - a)
            if points_in_polygon((a + b)[None] / 2 + 0.5 * out, buildings[portal.building])[0]:
                out = -out
            outside.append([*(a + b) / 2 + out, portal.z_m])
            inside.append([*(a + b) / 2 - out, portal.z_m])
    return np.array(outside), np.array(inside)


def check(world: World, robot: str, cell_m: float) -> None:
    space = build_space(world, embodiment(robot), cell_m=cell_m)
    allowed = allowed_outdoors(world, space)
    outside, inside = doorsteps(world)
    assert len(outside) >= 4
    steps = space.locate(outside)
    for k in range(len(outside)):
        ways = space.distance_field(outside[k : k + 1], mask=allowed)
        assert np.isfinite(ways.values[steps]).all(), f"{robot} {world.id}: door {k} cut off"
    ways = space.distance_field(outside[:1])
    assert np.isfinite(ways.values[space.locate(inside)]).all(), "every building can be entered"
    beyond = np.abs(space.nodes_xyz[:, :2]).max(axis=1) > world.manifest.recipe["size_m"] / 2 + 0.1
    assert not np.isfinite(ways.values[beyond]).any(), "nobody gets past the border"


def test_entrances_reach_one_another():
    world = block(7)
    check(world, "turtlebot", 0.2)
    check(world, "spot", 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("robot", ["spot", "turtlebot"])
def test_entrances_reach_one_another_at_full_resolution(seed, robot):
    check(block(seed), robot, 0.1)
