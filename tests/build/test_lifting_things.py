"""Label images become things: told apart, joined, placed, and kept only where a body can come to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from labelled_rooms import AROUND, CAMERA, ROBOT, RoomOfThings, capture_of, chair, label_views, look, true_object

from portico.build.lifting import LabelView, lift
from portico.build.lifting.objects import box_of, center_of, home_of
from portico.errors import ImportFailed, WorldError
from portico.render import renderer_of
from portico.tasks.annotations import Annotations
from portico.world import content_hash, load, save


@pytest.fixture(scope="module")
def furnished():
    room = (
        RoomOfThings()
        .put("chair", chair(1.5, 1.0))
        .put("chair", chair(2.1, 1.0))
        .put("table", [((2.6, 2.2, 0.66), (3.8, 2.9, 0.72)), ((3.1, 2.45, 0), (3.3, 2.65, 0.66))])
    )
    room.put("box", [((0.3, 2.8, 0.0), (0.8, 3.3, 0.5))])
    mesh = room.world()
    return mesh, capture_of(mesh)


@pytest.fixture(scope="module")
def lifted(furnished):
    mesh, capture = furnished
    return lift(capture, label_views(mesh, AROUND, wrong=0.1), mesh.semantics.categories(), ROBOT)


def test_every_thing_is_found_where_it_is_though_a_tenth_of_the_pixels_is_wrong(furnished, lifted):
    objects = lifted.world.semantics.objects
    assert sorted(o.category for o in objects) == ["box", "chair", "chair", "table"]
    assert len({true_object(furnished[0], o.category, o.center).id for o in objects}) == 4
    assert all(c.confidence > 0.8 for c in lifted.candidates if not c.dropped)


def test_two_chairs_15_cm_apart_are_two(lifted):
    first, second = (o for o in lifted.world.semantics.objects if o.category == "chair")
    assert abs(abs(first.center[0] - second.center[0]) - 0.6) < 0.08
    assert max(first.size[:2]) < 0.6


def test_sizes_and_homes_are_told(lifted):
    table = next(o for o in lifted.world.semantics.objects if o.category == "table")
    np.testing.assert_allclose(sorted(table.size[:2]), [0.7, 1.2], atol=0.1)
    assert (table.building, table.floor) == ("capture", "capture:0")


def test_walls_and_floor_are_labelled_and_no_objects(lifted):
    semantics = lifted.world.semantics
    by_category = {label.category: label for label in semantics.instances}
    assert by_category["wall"].object is None
    assert by_category["floor"].object is None
    assert {label.object for label in semantics.instances} - {None} == {o.id for o in semantics.objects}
    frame = renderer_of(lifted.world).render(AROUND[0], CAMERA, ["semantic", "depth"])
    ids = {name: number for number, name in semantics.categories().items()}
    assert (frame.semantic == ids["floor"]).mean() > 0.1
    assert (frame.semantic == ids["chair"]).any()
    assert (frame.semantic[np.isfinite(frame.depth)] == 0).mean() < 0.02


def test_labels_of_the_capture_agree_with_the_truth(furnished, lifted):
    truth = label_views(furnished[0], [look(1.0, 2.0, 1.2, (2.5, 1.5))])[0]
    frame = renderer_of(lifted.world).render(truth.T_world_camera, CAMERA, ["semantic"])
    true_names, names = furnished[0].semantics.categories(), lifted.world.semantics.categories()
    same = np.array([true_names.get(a) == names.get(b) for a, b in zip(truth.labels.ravel(), frame.semantic.ravel(), strict=True) if a])
    assert same.mean() > 0.9


def test_the_world_is_saved_loaded_and_asked(lifted, tmp_path):
    save(lifted.world, tmp_path / "w")
    world = load(tmp_path / "w")
    assert [o.id for o in Annotations(world.semantics).semantics.objects] == [o.id for o in lifted.world.semantics.objects]


def test_the_same_views_give_the_same_world(furnished, lifted):
    mesh, capture = furnished
    again = lift(capture, label_views(mesh, AROUND, wrong=0.1), mesh.semantics.categories(), ROBOT)
    assert content_hash(again.world) == content_hash(lifted.world)


def test_a_shelf_that_hides_its_inside_is_one_from_two_sides():
    """Its ends touch the walls and nobody sees over it: two faces, 35 cm apart."""
    mesh = RoomOfThings().put("shelf", [((2.3, 0.0, 0.0), (2.65, 4.0, 1.95))]).world()
    poses = [look(x, y, 1.0, (2.5, y), 0.0) for x in (0.6, 4.4) for y in (1.0, 2.0, 3.0)]
    found = lift(capture_of(mesh), label_views(mesh, poses), mesh.semantics.categories(), ROBOT)
    assert [o.category for o in found.world.semantics.objects] == ["shelf"]
    assert found.world.semantics.objects[0].center[0] == pytest.approx(2.475, abs=0.05)


def test_things_that_touch_are_told_apart_by_instances_of_the_views():
    mesh = RoomOfThings().put("cupboard", [((1.6, 1.5, 0.0), (2.2, 2.1, 0.9))]).put("cupboard", [((2.2, 1.5, 0.0), (2.8, 2.1, 0.9))]).world()
    capture, names = capture_of(mesh), mesh.semantics.categories()
    assert len(lift(capture, label_views(mesh, AROUND), names, ROBOT).world.semantics.objects) == 1
    two = lift(capture, label_views(mesh, AROUND, instances=True), names, ROBOT).world.semantics.objects
    assert [true_object(mesh, "cupboard", o.center).id for o in two] == ["cupboard0", "cupboard1"]


def test_what_no_body_comes_near_is_counted_and_keeps_its_label():
    room = RoomOfThings().put("box", [((0.3, 0.3, 0.0), (0.8, 0.8, 0.5))])
    fence = [((2.2, 1.9, 0.0), (2.3, 4.0, 0.3)), ((2.3, 1.9, 0.0), (5.0, 2.0, 0.3))]
    room.put("fence", fence).put("chair", chair(3.6, 3.2))
    mesh = room.world()
    found = lift(capture_of(mesh), label_views(mesh, AROUND), mesh.semantics.categories(), ROBOT)
    assert "chair" not in {o.category for o in found.world.semantics.objects}
    assert any("turtlebot" in why for why in found.dropped())
    assert any(label.category == "chair" and label.object is None for label in found.world.semantics.instances)


def test_a_single_view_is_enough_for_what_it_shows(furnished):
    mesh, capture = furnished
    found = lift(capture, label_views(mesh, AROUND[:1]), mesh.semantics.categories(), ROBOT).world.semantics.objects
    assert {o.category for o in found} >= {"chair", "table"}


def test_labels_without_a_name_are_counted(furnished):
    mesh, capture = furnished
    names = {n: c for n, c in mesh.semantics.categories().items() if c != "chair"}
    found = lift(capture, label_views(mesh, AROUND), names, ROBOT)
    assert {o.category for o in found.world.semantics.objects} == {"box", "table"}
    assert any("labels without a name" in line for line in found.lines)


def spoiled(view, **changes):
    return [replace(view, **changes)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.ones((10, 20), int)}, ["view 0", "20 x 10", "200 x 200"]),
        ({"instances": np.ones((10, 20), int)}, ["instances", "view 0", "20 x 10"]),
        ({"T_world_camera": np.diag([1.0, 1.0, 2.0, 1.0])}, ["rotation", "view 0"]),
        ({"T_world_camera": np.diag([1.0, 1.0, -1.0, 1.0])}, ["mirrors"]),
        ({"T_world_camera": np.full((4, 4), np.nan)}, ["finite", "view 0"]),
        ({"T_world_camera": look(90.0, 90.0, 1.0, (99.0, 99.0))}, ["no view sees the capture"]),
        ({"labels": np.zeros((200, 200), int)}, ["no view sees the capture"]),
    ],
)
def test_views_that_cannot_be_lifted_are_named(furnished, change, words):
    mesh, capture = furnished
    view = label_views(mesh, AROUND[:1])[0]
    with pytest.raises(ImportFailed) as refusal:
        lift(capture, spoiled(view, **change), mesh.semantics.categories(), ROBOT)
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_nothing_found_says_what_each_filter_removed(furnished):
    mesh, capture = furnished
    bare = [LabelView(v.T_world_camera, v.camera, np.where(v.labels == 0, 0, 1)) for v in label_views(mesh, AROUND[:2])]
    with pytest.raises(ImportFailed, match="0 things found") as refusal:
        lift(capture, bare, {1: "wall"}, ROBOT)
    assert "no object was found" in str(refusal.value)


def test_a_mesh_world_is_refused(furnished):
    with pytest.raises(WorldError, match="only a capture"):
        lift(furnished[0], [], {}, ROBOT)


def test_centres_lie_in_their_own_matter():
    arms = [np.array([x, y, 0.5]) for x in np.arange(0.0, 2.0, 0.04) for y in (0.0, 1.5)] + [np.array([0.0, y, 0.5]) for y in np.arange(0.0, 1.5, 0.04)]
    center = center_of(np.array(arms))
    assert np.hypot(*(np.array(arms)[:, :2] - center[:2]).T).min() < 0.05
    flat = np.array([[x, y, 0.7] for x in np.arange(0.0, 1.0, 0.04) for y in np.arange(0.0, 0.6, 0.04)])
    np.testing.assert_allclose(center_of(flat), [0.48, 0.28, 0.7], atol=0.02)


@pytest.mark.parametrize("yaw", [0.0, 0.3, -0.7, 1.2])
def test_boxes_turn_with_the_thing(yaw):
    flat = np.array([[x, y, z] for x in np.arange(-0.6, 0.6, 0.03) for y in np.arange(-0.2, 0.2, 0.03) for z in (0.0, 0.8)])
    c, s = np.cos(yaw), np.sin(yaw)
    size, found = box_of(flat @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
    long_side = found if size[0] > size[1] else found + np.pi / 2
    assert abs(np.sin(long_side - yaw)) < 0.1
    np.testing.assert_allclose(sorted(size), [0.37, 0.8, 1.17], atol=0.1)


def test_homes_are_found_by_place(furnished):
    semantics = furnished[1].semantics
    building, floor, room = home_of(semantics, np.array([1.0, 1.0, 0.5]))
    assert (building.id, floor.id, room) == ("capture", "capture:0", None)
    assert home_of(semantics, np.array([90.0, 1.0, 0.5])) == (None, None, None)
