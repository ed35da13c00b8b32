"""A collision mesh given with a capture takes the Gaussians' place for bodies, and is refused when it cannot."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from portico.build import build_indoor
from portico.build.captures import gaussians_of, import_splat
from portico.build.captures.collision import read_collision_mesh
from portico.build.splats import write_ply
from portico.errors import ImportFailed
from portico.robots import embodiment
from portico.space import build_space

SPOT = embodiment("spot")


def write_mesh(world, path, *, shift=(0.0, 0.0, 0.0), flip=False):
    geometry = world.geometry
    faces = geometry.faces[geometry.collides]
    trimesh.Trimesh(geometry.vertices + np.float32(shift), faces[:, ::-1] if flip else faces, process=False).export(path)
    return path


@pytest.fixture(scope="module")
def cafe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cafe")
    world = build_indoor(3, "cafe", 1)
    write_ply(gaussians_of(world, spacing_m=0.06), folder / "cafe.ply")
    return world, folder / "cafe.ply", folder


def agreement(true, mine):
    rng = np.random.default_rng(1)
    nodes = rng.choice(len(true.nodes_xyz), 4000)
    states = true.nodes_xyz[nodes] + np.pad(rng.uniform(-0.02, 0.02, (4000, 2)), ((0, 0), (0, 1)))
    return true.is_free(states), mine.is_free(states)


@pytest.mark.parametrize(("name", "flip"), [("cafe.glb", False), ("cafe.obj", True)])
def test_bodies_meet_the_mesh(cafe, name, flip):
    world, file, folder = cafe
    imported = import_splat(file, up="z", floor="keep", mesh=write_mesh(world, folder / name, flip=flip))
    assert not len(imported.world.geometry.boxes)
    free, mine = agreement(build_space(world, SPOT, cell_m=0.05), build_space(imported.world, SPOT))
    assert (mine & ~free).mean() < 0.005
    assert (free & ~mine).mean() < 0.005
    assert any(name in line for line in imported.lines)
    assert imported.world.manifest.recipe["mesh"] == name


def test_the_mesh_is_moved_as_the_capture_is(cafe):
    world, file, folder = cafe
    raised = import_splat(file, up="z", floor=1.0, mesh=write_mesh(world, folder / "raised.ply"))
    assert raised.world.geometry.vertices[:, 2].min() == pytest.approx(world.geometry.vertices[world.geometry.faces[world.geometry.collides], 2].min() - 1.0)


BOUNDS = np.array([[0.0, 0.0, 0.0], [10.0, 10.0, 3.0]])


def refused(path, word):
    with pytest.raises(ImportFailed, match=word) as caught:
        read_collision_mesh(path, np.eye(4), BOUNDS, cell_m=0.05)
    assert str(path) in str(caught.value)


def test_meshes_that_cannot_stand_for_the_capture_are_refused(cafe, tmp_path):
    world = cafe[0]
    refused(tmp_path / "none.glb", "no such mesh|cannot be read")
    (tmp_path / "text.obj").write_text("hello")
    refused(tmp_path / "text.obj", "no triangles|cannot be read")
    trimesh.PointCloud(np.zeros((5, 3))).export(tmp_path / "points.ply")
    refused(tmp_path / "points.ply", "no triangles")
    refused(write_mesh(world, tmp_path / "far.ply", shift=(500.0, 0.0, 0.0)), "does not lie where")
    corners = np.array([[1.0, 1.0, 0.0], [9.0, 9.0, 0.0], [9.0, 9.0, 3.0], [1.0, 1.0, 3.0]])
    trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], process=False).export(tmp_path / "wall.ply")
    refused(tmp_path / "wall.ply", "no floor")
