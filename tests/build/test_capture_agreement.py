"""Captures against exact collision with the meshes they were made from: nothing that hits the mesh is called free."""

from __future__ import annotations

import numpy as np
import pytest

from portico.build import build_indoor
from portico.build.captures import gaussians_of, import_splat
from portico.build.splats import write_ply
from portico.robots import embodiment
from portico.space import build_space
from portico.world import WALKABLE

fcl = pytest.importorskip("fcl", reason="python-fcl is not installed")


class Mesh:
    """Everything of a world that collides and is no ground, and one body, in python-fcl."""

    def __init__(self, world, body):
        geometry = world.geometry
        kept = geometry.collides & ~np.isin(geometry.surface, sorted(WALKABLE))
        model = fcl.BVHModel()
        model.beginModel(len(geometry.vertices), int(kept.sum()))
        model.addSubModel(geometry.vertices.astype(float), geometry.faces[kept])
        model.endModel()
        tall = body.height_m - body.climb_m
        self._mesh, self._body = fcl.CollisionObject(model), fcl.CollisionObject(fcl.Cylinder(body.radius_m, tall))
        self._middle = np.array([0.0, 0.0, body.climb_m + tall / 2])

    def free(self, point):
        self._body.setTranslation(point + self._middle)
        return not fcl.collide(self._body, self._mesh, fcl.CollisionRequest(), fcl.CollisionResult())


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["spot", "turtlebot"])
@pytest.mark.parametrize(("program", "floors"), [("cafe", 1), ("apartments", 2), ("office", 1)])
def test_no_false_negatives_and_few_false_positives(program, floors, robot, tmp_path):
    body, world = embodiment(robot), build_indoor(42, program, floors)
    write_ply(gaussians_of(world), tmp_path / "capture.ply")
    mine = build_space(import_splat(tmp_path / "capture.ply", up="z", floor="keep").world, body)
    true, mesh, rng = build_space(world, body), Mesh(world, body), np.random.default_rng(9)

    states = true.nodes_xyz[rng.choice(np.flatnonzero(true.node_component <= 0), 3000)]
    states = states + np.pad(rng.uniform(-0.025, 0.025, (len(states), 2)), ((0, 0), (0, 1)))
    hit, free = np.array([not mesh.free(p) for p in states]), mine.is_free(states)
    assert not (free & hit).any()
    footed = ~hit & true.is_free(states)
    assert (footed & ~free).sum() / footed.sum() < 0.06

    starts = true.nodes_xyz[rng.choice(np.flatnonzero(true.node_component == 0), 400)]
    ends = starts + np.column_stack([rng.uniform(-1.0, 1.0, (len(starts), 2)), np.zeros(len(starts))])
    motion = mine.sweep(starts, ends)
    level = motion.reached & (np.abs(motion.end[:, 2] - starts[:, 2]) < 0.02)
    way = [start + t * (end - start) for start, end in zip(starts[level], ends[level], strict=True) for t in np.linspace(0.0, 1.0, 50)]
    assert level.sum() > 50
    assert all(mesh.free(p) for p in way)
