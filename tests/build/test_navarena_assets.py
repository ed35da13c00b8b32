"""NavArena's scene folders: out, in and out again the same; and every disagreement is named."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from map_samples import drawn
from PIL import Image

from portico.build.navarena import export_navarena, ids_beside, import_navarena, read_asset, scene_id
from portico.build.navarena.kept_map import kept_map, written
from portico.build.rosmap import MapGrid, OccupancyMap, map_world
from portico.build.splats import write_splat
from portico.errors import ImportFailed, UserError
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Gaussians, ObjectInstance, load, save

SPOT = embodiment("spot")
NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)
HALL = """
????????????????
?##############?
?#............#?
?#............#?
?#.....##.....#?
?#.....##.....#?
?#............#?
?#............#?
?##############?
"""
FILES = ("aligned.ply", "nav_map.pgm", "nav_map.yaml", "nav_mask.png", "labels.json")


@pytest.fixture(scope="module")
def hall():
    world = map_world("hall", drawn(HALL, 0.5, -4.0, -2.0), wall_height_m=2.0, source="a test", recipe={})
    lamp = ObjectInstance(id="lamp-1", category="lamp", center=(-1.0, 0.5, 0.6), size=(0.4, 0.2, 1.2), yaw_rad=np.pi / 2, building="map", floor="map:0")
    chair = ObjectInstance(id="17", category="chair", center=(1.5, 0.25, 0.4), size=(0.5, 0.5, 0.8), building="map", floor="map:0")
    return replace(world, semantics=world.semantics.model_copy(update={"objects": [lamp, chair]}))


@pytest.fixture(scope="module")
def original(hall, tmp_path_factory):
    folder = tmp_path_factory.mktemp("assets") / "hall"
    export_navarena(hall, folder, SPOT, now=NOON, compressed=True)
    return folder


@pytest.fixture
def scene(original, tmp_path):
    return shutil.copytree(original, tmp_path / "scene")


def edit(path, change):
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


@pytest.mark.parametrize(
    ("name", "digits"),
    [
        ("InteriorGS:scene_001", "75048eb9"),
        ("InteriorGS:0001_839920", "05a29525"),
        ("x2robot:room_01", "93d766a0"),
        ("InteriorGS:room_01", "629dace9"),
        ("scannetpp:abc", "59831ebe"),
        ("x2robot:客厅", "76977016"),
    ],
)
def test_scene_ids_are_navarenas(name, digits):
    assert scene_id(*name.split(":")) == digits


def test_a_taken_id_gets_twelve_digits():
    assert scene_id("InteriorGS", "scene_001", {"75048eb9"}) == "75048eb92f4b"
    assert scene_id("InteriorGS", "scene_001", {"05a29525"}) == "75048eb9"


def test_ids_of_the_scenes_beside_are_seen(original, tmp_path):
    shutil.copytree(original, tmp_path / "first")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text("{")
    assert ids_beside(tmp_path / "second") == (read_asset(original).manifest.scene_id,)
    assert ids_beside(tmp_path / "first") == ()


def test_an_asset_holds_what_the_format_wants(original):
    manifest = json.loads((original / "manifest.json").read_text())
    assert manifest["schema_version"] == "1.0"
    assert manifest["scene_id"] == scene_id("portico", "hall")
    assert manifest["created_at"] == manifest["updated_at"] == "2030-01-02T12:00:00Z"
    assert manifest["map_info"] == {"resolution": 0.05, "origin": [-3.55, -2.05, 0.0], "size": [142, 82]}
    pixels, mask = np.asarray(Image.open(original / "nav_map.pgm")), np.asarray(Image.open(original / "nav_mask.png"))
    assert pixels.shape == mask.shape == tuple(manifest["map_info"]["size"][::-1])
    assert set(np.unique(pixels)) == {0, 255}
    assert (mask[pixels == 255] == 255).all()
    assert manifest["nav_region"]["area_m2"] == pytest.approx((mask == 255).sum() * 0.05**2)
    labels = json.loads((original / "labels.json").read_text())["labels"]
    assert [label["instance_id"] for label in labels] == ["lamp-1", "17"]
    np.testing.assert_allclose(labels[0]["bounding_box"]["max"], [-0.9, 0.7, 1.2])
    assert (original / "compressed.splat").stat().st_size % 32 == 0


@pytest.mark.parametrize("collision", ["gaussians", "map"])
def test_out_in_and_out_again_is_the_same(original, tmp_path, collision):
    imported = import_navarena(original, collision=collision)
    world = save(imported.world, tmp_path / "world")
    exported = export_navarena(load(tmp_path / "world"), tmp_path / "again", SPOT, now=NOON)
    assert exported.scene_id == world.id == scene_id("portico", "hall")
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (original / name).read_bytes(), name
    first, second = (json.loads((folder / "manifest.json").read_text()) for folder in (original, tmp_path / "again"))
    assert first | {"files": 0} == second | {"files": 0}


@pytest.mark.parametrize("collision", ["gaussians", "map"])
def test_bodies_find_the_same_room_in_capture_and_map(original, collision):
    world = import_navarena(original, collision=collision).world
    space = build_space(world, SPOT)
    cells = drawn(HALL, 0.5, -4.0, -2.0)
    at = cells.grid.cells(space.nodes_xyz[space.roomy])
    assert cells.free[tuple(at.T)].all()
    assert space.roomy.sum() * space.cell_m**2 > 6.0


def test_the_mask_limits_the_ground_of_the_capture(scene):
    mask = np.array(Image.open(scene / "nav_mask.png"))
    mask[:, mask.shape[1] // 2 :] = 0
    Image.fromarray(mask).save(scene / "nav_mask.png")
    space = build_space(import_navarena(scene).world, SPOT)
    assert space.nodes_xyz[:, 0].max() < 0.1
    (scene / "nav_mask.png").unlink()
    imported = import_navarena(scene)
    assert build_space(imported.world, SPOT).nodes_xyz[:, 0].max() > 2.0
    assert any("nav_mask.png, which is not there" in line for line in imported.lines)


def test_labels_become_objects_and_mark_their_gaussians(original):
    world = import_navarena(original).world
    lamp, chair = world.semantics.objects
    assert (lamp.id, lamp.category, lamp.center, lamp.floor) == ("lamp-1", "lamp", (-1.0, 0.5, 0.6), "capture:0")
    np.testing.assert_allclose(lamp.size, [0.2, 0.4, 1.2])
    instance = next(label.id for label in world.semantics.instances if label.object == "17")
    gaussians = world.appearance.gaussians
    inside = (np.abs(gaussians.means - chair.center) <= np.array(chair.size) / 2).all(axis=1)
    np.testing.assert_array_equal(gaussians.instance == instance, inside)


def test_labels_that_cannot_be_asked_for_are_counted(scene):
    def change(raw):
        raw["labels"][0]["category"] = "unknown"
        raw["labels"][1] |= {"position": [90.0, 0.0, 0.0]}
        raw["labels"].append({"instance_id": 3, "category": "bed", "position": [0.0, 1.0, 0.3], "confidence": 0.7, "source": "model_predicted"})

    edit(scene / "labels.json", change)
    imported = import_navarena(scene)
    assert [item.category for item in imported.world.semantics.objects] == ["bed"]
    text = "\n".join(imported.lines)
    assert "1 labels were left out: their category says nothing ('unknown')" in text
    assert "1 labels were left out: their position lies beyond the map" in text
    export_navarena(imported.world, scene.parent / "again", SPOT)
    label = json.loads((scene.parent / "again" / "labels.json").read_text())["labels"][0]
    assert (label["instance_id"], label["confidence"], label["source"], label["bounding_box"]) == ("3", 0.7, "model_predicted", None)


def wrong(path, value):
    def change(raw):
        at = raw
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("manifest.json", wrong(["schema_version"], "2.0"), ["schema_version", "'2.0'", "manifest.json"]),
        ("manifest.json", wrong(["source"], {"dataset": "x"}), ["manifest.json", "source.original_id"]),
        ("manifest.json", wrong(["scene_id"], "XYZ"), ["scene_id"]),
        ("manifest.json", wrong(["map_info", "resolution"], 0.1), ["map_info.resolution", "0.1", "0.05"]),
        ("manifest.json", wrong(["map_info", "origin"], [0.0, 0.0, 0.0]), ["map_info.origin"]),
        ("manifest.json", wrong(["map_info", "size"], [10, 10]), ["map_info.size", "10 x 10"]),
        ("manifest.json", wrong(["files", "aligned_ply"], "elsewhere.ply"), ["elsewhere.ply", "files.aligned_ply"]),
        ("labels.json", wrong(["schema_version"], None), ["labels.json", "schema_version"]),
        ("labels.json", wrong(["labels", 1, "position"], [0.0, None, 0.0]), ["labels.json", "labels[1].position"]),
        ("labels.json", wrong(["labels", 1, "instance_id"], "lamp-1"), ["labels[1].instance_id", "twice"]),
        ("labels.json", wrong(["labels", 0, "bounding_box"], {"min": [1, 1, 1], "max": [0, 2, 2]}), ["labels[0].bounding_box", "inside out"]),
    ],
)
def test_disagreements_name_file_and_field(scene, file, change, words):
    edit(scene / file, change)
    with pytest.raises(ImportFailed) as caught:
        import_navarena(scene)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["manifest.json", "aligned.ply", "nav_map.pgm", "nav_map.yaml"])
def test_missing_files_are_named(scene, name):
    (scene / name).unlink()
    with pytest.raises(ImportFailed) as caught:
        import_navarena(scene)
    assert name in str(caught.value)


def test_a_mask_of_another_size_and_a_turned_map_are_refused(scene):
    Image.fromarray(np.full((5, 7), 255, np.uint8)).save(scene / "nav_mask.png")
    with pytest.raises(ImportFailed, match=r"7 x 5 pixels"):
        read_asset(scene)
    (scene / "nav_mask.png").write_text("no picture")
    with pytest.raises(ImportFailed, match=r"nav_mask.png"):
        read_asset(scene)
    text = (scene / "nav_map.yaml").read_text()
    (scene / "nav_map.yaml").write_text(text.replace(", 0.0]", ", 0.3]"))
    with pytest.raises(ImportFailed, match="turned"):
        read_asset(scene)


def test_an_id_that_its_source_does_not_give_is_remarked_and_kept(scene):
    edit(scene / "manifest.json", wrong(["scene_id"], "a1b2c3d4"))
    imported = import_navarena(scene)
    assert imported.world.id == "a1b2c3d4"
    assert any("a1b2c3d4 is not that of portico:hall" in line for line in imported.lines)


def test_a_capture_without_valid_ground_says_so(scene):
    mask = np.array(Image.open(scene / "nav_mask.png"))
    Image.fromarray(np.zeros_like(mask)).save(scene / "nav_mask.png")
    with pytest.raises(ImportFailed, match="no ground in the valid region"):
        import_navarena(scene)
    with pytest.raises(ImportFailed, match="no free and valid cell"):
        import_navarena(scene, collision="map")
    with pytest.raises(ImportFailed, match="choose one of gaussians, map"):
        import_navarena(scene, collision="mesh")


def test_a_turned_map_is_exported_along_the_axes(tmp_path):
    world = map_world("turned", drawn(HALL, 0.5, yaw_rad=0.5), wall_height_m=2.0, source="a test", recipe={})
    export_navarena(world, tmp_path / "out", SPOT)
    assert read_asset(tmp_path / "out").navigation_map.grid.yaw_rad == 0.0


def test_a_floor_without_ground_is_no_scene(hall, tmp_path):
    with pytest.raises(UserError, match="no floor 4"):
        export_navarena(hall, tmp_path / "out", SPOT, level=4)
    assert not (tmp_path / "out").exists()


def test_kept_maps_are_read_back_only_where_they_fit(hall):
    occupancy = drawn(HALL)
    assert written(occupancy.cells).startswith("17?14#2?1#")
    recipe = {"navarena": {"cells": written(occupancy.cells)}}
    world = replace(hall, manifest=hall.manifest.model_copy(update={"recipe": recipe}))
    back = kept_map(world, occupancy.grid)
    assert isinstance(back, OccupancyMap)
    np.testing.assert_array_equal(back.cells, occupancy.cells)
    assert kept_map(world, MapGrid(0.5, 0.0, 0.0, 0.0, 3, 3)) is None
    assert kept_map(hall, occupancy.grid) is None


def test_the_viewers_bytes_are_navarenas(tmp_path):
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    color, logit = np.array([0.0, 1.0, -1.0, 2.0]), np.array([0.0, -5.0, 2.0, 5.0])
    turns = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0]], np.float32)
    sh = np.repeat(color[:, None, None], 3, axis=2).astype(np.float32)
    scales = np.exp(np.tile([[-1.0], [-1.1], [-1.2], [-3.0]], 3)).astype(np.float32)
    gaussians = Gaussians(np.zeros((4, 3), np.float32), turns, scales, sigmoid(logit).astype(np.float32), sh, np.zeros(4, np.int32))
    write_splat(gaussians, tmp_path / "some.splat")
    rows = np.frombuffer((tmp_path / "some.splat").read_bytes(), np.uint8).reshape(4, 32)
    order = np.argsort(-np.exp(3 * np.array([-1.0, -1.1, -1.2, -3.0])) * sigmoid(logit))
    shown = rows[np.argsort(order)]
    assert (np.abs(shown[:, 24] - np.array([127.5, 199.434, 55.566, 255.0])) <= 0.5).all()
    assert (np.abs(shown[:, 27] - np.array([127.5, 1.707, 224.603, 253.293])) <= 0.5).all()
    assert shown[:, 28:].tolist() == [[255, 128, 128, 128], [0, 128, 128, 128], [192] * 4, [255, 128, 128, 128]]
    np.testing.assert_allclose(shown[3, 12:16].copy().view("<f4"), [0.0497871], rtol=1e-6)
