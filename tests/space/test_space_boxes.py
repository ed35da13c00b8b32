"""Obstacles given as boxes: the same space as from their triangles, on disk and back, refused when broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from portico.build.primitives import box
from portico.build.scene import Scene
from portico.errors import WorldError
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Provenance, Surface, load, save
from portico.world.export import export_glb

ROBOT = embodiment("turtlebot")
corner = st.tuples(st.floats(0.2, 3.4), st.floats(0.2, 3.4), st.floats(0.0, 1.0))
extent = st.tuples(st.floats(0.01, 0.6), st.floats(0.01, 0.6), st.floats(0.02, 1.5))


def put(scene: Scene, low, high, surface: Surface) -> None:
    low, high = np.array(low, float), np.array(high, float)
    scene.add_mesh(*box(0.5 * (low + high), high - low), surface=surface, instance=scene.instance("thing"), material=scene.material("grey", (0.6, 0.6, 0.6)))


def floor(boxes=()):
    scene = Scene()
    put(scene, (0, 0, -0.1), (4, 4, 0.0), Surface.FLOOR)
    for low, high in boxes:
        put(scene, low, high, Surface.FURNITURE)
    return scene.world("floor", "indoor", Provenance(source="test", licence="CC0-1.0"))


def with_boxes(boxes):
    world = floor()
    return replace(world, geometry=replace(world.geometry, boxes=np.array(boxes, np.float32).reshape(-1, 2, 3)))


@settings(max_examples=40)
@given(st.lists(st.tuples(corner, extent), min_size=1, max_size=5))
def test_boxes_block_what_their_triangles_block(items):
    boxes = [(low, tuple(np.add(low, size))) for low, size in items]
    mine, theirs = build_space(with_boxes(boxes), ROBOT, cell_m=0.1), build_space(floor(boxes), ROBOT, cell_m=0.1)
    rng = np.random.default_rng(3)
    poses = np.column_stack([rng.uniform(0.0, 4.0, (400, 2)), np.zeros((400, 2))])
    # Rounding of outlines may decide states that touch; nothing else differs.
    assert (mine.is_free(poses) != theirs.is_free(poses)).mean() <= 0.02


def test_boxes_travel_with_the_world(tmp_path):
    world = save(with_boxes([[(1, 1, 0), (2, 2, 1)], [(3, 1, 0.5), (3.5, 2, 1)]]), tmp_path / "w")
    again = load(tmp_path / "w")
    assert again.manifest.content_hash == world.manifest.content_hash != save(floor(), tmp_path / "other").manifest.content_hash
    np.testing.assert_array_equal(again.geometry.boxes, world.geometry.boxes)
    assert again.manifest.counts["boxes"] == 2
    assert world.geometry.bounds()[1, 2] == pytest.approx(1.0)


def test_exported_boxes_face_outwards(tmp_path):
    world = with_boxes([[(1, 1, 0), (2, 3, 1)]])
    triangles = world.geometry.box_triangles().astype(float)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert (np.einsum("ij,ij->i", normals, triangles.mean(axis=1) - [1.5, 2.0, 0.5]) > 0).all()
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(2 * (2 + 1 + 2))
    export_glb(world, tmp_path / "w.glb")
    assert "boxes" in trimesh.load(tmp_path / "w.glb").geometry


@pytest.mark.parametrize(("boxes", "word"), [([[(0, 0, 0), (1, 1, -1)]], "inside out"), ([[(0, 0, 0), (1, 1, np.nan)]], "finite")])
def test_broken_boxes_are_refused(tmp_path, boxes, word):
    save(with_boxes([[(0, 0, 0), (1, 1, 1)]]), tmp_path / "w")
    np.savez(tmp_path / "w" / "boxes.npz", boxes=np.array(boxes, np.float32))
    with pytest.raises(WorldError, match=word):
        load(tmp_path / "w")
