import json
import os
import shutil
import stat
from dataclasses import replace

import numpy as np
import pytest

from portico.build.primitives import box
from portico.build.scene import Scene
from portico.errors import StorageError, WorldError
from portico.world import Building, Floor, ObjectInstance, Provenance, Region, Surface, content_hash, load, save


def small_world():
    scene = Scene()
    scene.textures["check"] = (np.indices((8, 8)).sum(axis=0) % 2 * 255).astype(np.uint8)[..., None].repeat(3, axis=2)
    plain, checked = scene.material("plain"), scene.material("checked", texture="check")
    ground, chair = scene.instance("floor"), scene.instance("chair", "chair-1")
    scene.add_mesh(*box((0, 0, -0.1), (10, 10, 0.2)), surface=Surface.FLOOR, material=checked, instance=ground, indoor=True)
    scene.add_mesh(*box((2, 1, 0.4), (0.5, 0.5, 0.8)), surface=Surface.FURNITURE, material=plain, instance=chair, indoor=True)
    scene.objects.append(ObjectInstance(id="chair-1", category="chair", center=(2, 1, 0.4), size=(0.5, 0.5, 0.8)))
    scene.buildings.append(Building(id="b", footprint=[(-5, -5), (5, -5), (5, 5), (-5, 5)], floors=[Floor(id="b-0", level=0, z_m=0, height_m=3)]))
    scene.regions.append(Region(id="r", type="sidewalk", access="allowed", polygon=[(5, -5), (8, -5), (8, 5), (5, 5)]))
    return scene.world("small", "indoor", Provenance(source="test", licence="CC0-1.0"), seed=1)


@pytest.fixture
def folder(tmp_path):
    save(small_world(), tmp_path / "w")
    return tmp_path / "w"


def test_a_world_comes_back_as_it_was(folder):
    before, after = small_world(), load(folder)
    for name in ("vertices", "faces", "surface", "instance", "material", "indoor", "uv", "collides"):
        assert np.array_equal(getattr(before.geometry, name), getattr(after.geometry, name))
    assert after.semantics == before.semantics
    assert after.appearance.materials == before.appearance.materials
    assert np.array_equal(after.appearance.textures["check"], before.appearance.textures["check"])
    assert after.manifest.counts["objects"] == 1
    assert after.manifest.content_hash == content_hash(after)


def test_the_hash_is_of_the_content(tmp_path):
    a = save(small_world(), tmp_path / "a")
    b = save(small_world(), tmp_path / "b")
    assert a.manifest.content_hash == b.manifest.content_hash
    moved = small_world()
    moved.geometry.vertices[0, 0] += 0.001
    assert save(moved, tmp_path / "c").manifest.content_hash != a.manifest.content_hash


def edit(path, change):
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def edit_arrays(path, **changes):
    arrays = dict(np.load(path))
    arrays.update(changes)
    np.savez(path, **arrays)


@pytest.mark.parametrize("layer", ["geometry.npz", "semantics.json", "appearance.json", "textures/check.png"])
def test_a_missing_layer_is_named(folder, layer):
    (folder / layer).unlink()
    with pytest.raises(WorldError, match="a layer of the world is missing") as error:
        load(folder)
    assert layer in str(error.value)


@pytest.mark.parametrize("layer", ["geometry.npz", "semantics.json", "appearance.json", "textures/check.png"])
def test_a_truncated_layer_is_named(folder, layer):
    data = (folder / layer).read_bytes()
    (folder / layer).write_bytes(data[: len(data) // 2])
    with pytest.raises(WorldError, match="truncated or damaged") as error:
        load(folder)
    assert layer in str(error.value)


def test_another_schema_version_is_refused_with_both_versions(folder):
    edit(folder / "world.json", lambda raw: raw.update(schema_version="portico.world/99"))
    with pytest.raises(WorldError, match="schema not supported") as error:
        load(folder)
    assert "portico.world/99" in str(error.value)
    assert "portico.world/1" in str(error.value)


def test_nan_vertices_are_refused_with_their_index(folder):
    vertices = np.load(folder / "geometry.npz")["vertices"]
    vertices[3, 1] = np.nan
    edit_arrays(folder / "geometry.npz", vertices=vertices)
    with pytest.raises(WorldError, match="not finite") as error:
        load(folder)
    assert "vertices[3]" in str(error.value)


def test_nan_in_semantics_is_refused(folder):
    text = (folder / "semantics.json").read_text().replace('"z_m":0.0', '"z_m":NaN')
    (folder / "semantics.json").write_text(text)
    with pytest.raises(WorldError, match="breaks its schema") as error:
        load(folder)
    assert "buildings.0.floors.0.z_m" in str(error.value)


def test_a_polygon_that_crosses_itself_is_refused_with_its_place(folder):
    edit(folder / "semantics.json", lambda raw: raw["regions"][0].update(polygon=[[0, 0], [2, 2], [2, 0], [0, 2]]))
    with pytest.raises(WorldError, match="breaks its schema") as error:
        load(folder)
    assert "regions.0.polygon" in str(error.value)
    assert "Self-intersection" in str(error.value)


def test_an_unknown_key_is_refused(folder):
    edit(folder / "semantics.json", lambda raw: raw["regions"][0].update(colour="red"))
    with pytest.raises(WorldError, match="breaks its schema"):
        load(folder)


def test_a_changed_file_is_noticed_by_its_hash(folder):
    edit(folder / "semantics.json", lambda raw: raw["objects"][0].update(center=[3, 1, 0.4]))
    with pytest.raises(WorldError, match="differs from its hash"):
        load(folder)
    assert load(folder, verify_hash=False).semantics.objects[0].center[0] == 3


def test_the_same_id_twice_is_refused(folder):
    edit(folder / "semantics.json", lambda raw: raw["objects"].append(raw["objects"][0]))
    with pytest.raises(WorldError, match="the same id twice"):
        load(folder)


def test_a_triangle_of_no_instance_is_refused(folder):
    instance = np.load(folder / "geometry.npz")["instance"]
    instance[0] = 77
    edit_arrays(folder / "geometry.npz", instance=instance)
    with pytest.raises(WorldError, match="does not list"):
        load(folder)


def test_arrays_of_another_type_are_refused(folder):
    edit_arrays(folder / "geometry.npz", surface=np.zeros(24, np.int64))
    with pytest.raises(WorldError, match="wrong type"):
        load(folder)


def test_a_folder_without_a_world_says_how_to_make_one(tmp_path):
    with pytest.raises(WorldError, match="this is not a world") as error:
        load(tmp_path)
    assert "portico world build" in str(error.value)


def test_what_is_there_is_not_overwritten_unasked(folder):
    with pytest.raises(StorageError, match="not empty"):
        save(small_world(), folder)
    save(small_world(), folder, overwrite=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StorageError, match="cannot write there"):
        save(small_world(), tmp_path / "w")
    tmp_path.chmod(stat.S_IRWXU)


def test_an_output_below_a_file_is_refused_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot write there"):
        save(small_world(), tmp_path / "file" / "w")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_nothing_half_written_is_left_when_the_disk_fills(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(StorageError, match="could not be written") as error:
        save(small_world(), tmp_path / "w")
    assert "No space left" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_paths_with_spaces_and_other_scripts_work(tmp_path):
    folder = tmp_path / "мир ein s"
    save(small_world(), folder)
    assert load(folder).id == "small"
    shutil.rmtree(folder)


@pytest.mark.parametrize(("kind", "change"), [("rooms", {"building": "nowhere"}), ("objects", {"building": "nowhere"}), ("objects", {"room": "nowhere"})])
def test_what_lies_nowhere_is_named(tmp_path, kind, change):
    world = small_world()
    first = getattr(world.semantics, kind)[:1]
    if not first:
        pytest.skip(f"the small world has no {kind}")
    lost = world.semantics.model_copy(update={kind: [first[0].model_copy(update=change)]})
    save(replace(world, semantics=lost), tmp_path / "w")
    with pytest.raises(WorldError, match=r"does not exist[\s\S]*nowhere"):
        load(tmp_path / "w")
