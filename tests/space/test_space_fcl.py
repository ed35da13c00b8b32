"""Against exact mesh collision: never free where the mesh is hit."""

import numpy as np
import pytest
from space_worlds import SPOT, TURTLEBOT, Maker, body, cluttered_room

from portico.robots.embodiment import Embodiment
from portico.space import build_space
from portico.world import Surface, World

fcl = pytest.importorskip("fcl", reason="python-fcl is not installed")


class Mesh:
    """The world's colliding triangles and one body in python-fcl."""

    def __init__(self, world: World, robot: Embodiment) -> None:
        geometry = world.geometry
        model = fcl.BVHModel()
        model.beginModel(len(geometry.vertices), len(geometry.faces))
        model.addSubModel(geometry.vertices.astype(float), geometry.faces[geometry.collides])
        model.endModel()
        self._world = fcl.CollisionObject(model)
        height = robot.height_m - robot.climb_m
        self._body = fcl.CollisionObject(fcl.Cylinder(robot.radius_m, height))
        self._middle_m = robot.climb_m + height / 2
        self._request = fcl.CollisionRequest()

    def hits(self, point: np.ndarray) -> bool:
        x, y, z = point
        self._body.setTranslation(np.array([x, y, z + self._middle_m]))
        return fcl.collide(self._body, self._world, self._request, fcl.CollisionResult()) > 0


@pytest.mark.parametrize("cell_m", [0.05, 0.1])
@pytest.mark.parametrize("robot", [SPOT, TURTLEBOT, body("tall", 0.25, 1.7, 0.1)], ids=lambda r: r.name)
def test_no_state_is_called_free_that_the_mesh_hits(robot, cell_m):
    rng = np.random.default_rng(3)
    missed = wrong = 0
    for seed in range(3):
        world = cluttered_room(seed, count=12).world(cell_m=cell_m)
        space, mesh = build_space(world, robot), Mesh(world, robot)
        points = np.column_stack([rng.uniform([0.06, 0.06], [5.94, 4.94], (1500, 2)), np.zeros(1500)])
        free, hit = space.is_free(points), np.array([mesh.hits(p) for p in points])
        missed += (free & hit).sum()
        wrong += (~free & ~hit).sum()
    assert missed == 0
    assert wrong / 4500 < 0.03


@pytest.mark.parametrize("cell_m", [0.05, 0.1])
def test_no_motion_is_called_free_that_the_mesh_hits(cell_m):
    rng = np.random.default_rng(4)
    missed = reached = 0
    for seed in range(4):
        world = cluttered_room(seed, count=9).world(cell_m=cell_m)
        space, mesh = build_space(world, SPOT), Mesh(world, SPOT)
        starts = space.nodes_xyz[rng.choice(np.flatnonzero(space.roomy), 200)]
        ends = starts[:, :2] + rng.normal(0.0, 0.8, (200, 2))
        motion = space.sweep(starts, ends)
        for k in range(200):
            way = starts[k] + np.linspace(0.0, 1.0, 40)[:, None] * (motion.end[k] - starts[k])
            missed += any(mesh.hits(p) for p in way)
        reached += motion.reached.sum()
    assert missed == 0
    assert reached > 100


def test_what_hangs_low_over_a_curb_is_seen_from_both_levels():
    maker = Maker().floor(0, 0, 3, 4, -0.2, Surface.VEHICLE_LANE).floor(3, 0, 6, 4, 0.0, Surface.SIDEWALK)
    world = maker.box((2.6, 2.0, 0.9), (0.3, 1.0, 0.2), Surface.SIGN).world(cell_m=0.1)
    space, mesh = build_space(world, SPOT), Mesh(world, SPOT)
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform([1.5, 1.0], [4.0, 3.0], (3000, 2)), np.zeros(3000)])
    points[:, 2] = space.nodes_xyz[np.maximum(space.locate(points - [0, 0, 0.1]), 0), 2]
    free, hit = space.is_free(points), np.array([mesh.hits(p) for p in points])
    assert not (free & hit).any()
