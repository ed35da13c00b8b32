import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

from portico.build.primitives import QUAD_UV, box, quad
from portico.build.scene import Scene
from portico.errors import StorageError
from portico.world import ObjectInstance, Provenance, Surface, World
from portico.world.export import export_glb, export_json, to_gltf_frame


@pytest.fixture
def world() -> World:
    scene = Scene()
    texture = np.zeros((4, 8, 3), np.uint8)
    texture[0, 0] = 255, 0, 0
    scene.textures["flag"] = texture
    chair = scene.instance("chair", "chair-1")
    scene.objects.append(ObjectInstance(id="chair-1", category="chair", name="the chair", center=(3.0, 5.0, 0.5), size=(1.0, 2.0, 1.0)))
    scene.add_mesh(*box([3, 5, 0.5], [1, 2, 1]), surface=Surface.FURNITURE, material=scene.material("oak", (0.5, 0.25, 0.1)), instance=chair)
    v, f = quad([0, 0, 0], [4, 0, 0], [4, 0, 2], [0, 0, 2])
    flag = scene.material("flag", (1.0, 1.0, 1.0), texture="flag", emission=0.25)
    scene.add_mesh(v, f, surface=Surface.SIGN, material=flag, instance=scene.instance("sign"), uv=QUAD_UV, collides=False)
    return scene.world("small", "indoor", Provenance(source="test", licence="CC0-1.0"))


def _parts(path: Path) -> tuple[dict, bytes]:
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def _accessor(document: dict, binary: bytes, index: int) -> np.ndarray:
    accessor = document["accessors"][index]
    view = document["bufferViews"][accessor["bufferView"]]
    columns = {"VEC3": 3, "VEC2": 2, "SCALAR": 1}[accessor["type"]]
    kind = {5126: np.float32, 5125: np.uint32}[accessor["componentType"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(binary, kind, accessor["count"] * columns, start).reshape(-1, columns)


def test_gltf_axes_north_is_minus_z_and_up_is_y() -> None:
    np.testing.assert_array_equal(to_gltf_frame(np.eye(3)), [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert np.linalg.det(to_gltf_frame(np.eye(3))) == pytest.approx(1.0)


def test_glb_loads_back_with_the_same_triangles_and_bounds(world: World, tmp_path: Path) -> None:
    export_glb(world, tmp_path / "world.glb")
    scene = trimesh.load(tmp_path / "world.glb")
    assert sum(len(mesh.faces) for mesh in scene.geometry.values()) == len(world.geometry.faces)
    low, high = world.geometry.bounds()
    np.testing.assert_allclose(scene.bounds, [[low[0], low[2], -high[1]], [high[0], high[2], -low[1]]], atol=1e-6)


def test_glb_keeps_faces_outward(world: World, tmp_path: Path) -> None:
    export_glb(world, tmp_path / "world.glb")
    scene = trimesh.load(tmp_path / "world.glb")
    chair = next(mesh for mesh in scene.geometry.values() if len(mesh.faces) == 12)
    assert chair.volume == pytest.approx(2.0)


def test_glb_nodes_carry_names_and_labels(world: World, tmp_path: Path) -> None:
    export_glb(world, tmp_path / "world.glb")
    document, _ = _parts(tmp_path / "world.glb")
    extras = {node["extras"]["category"]: node["extras"] for node in document["nodes"] if "extras" in node}
    assert extras["chair"]["object"] == "chair-1"
    assert extras["chair"]["name"] == "the chair"
    assert extras["chair"]["surface"] == "furniture"
    assert extras["sign"]["collides"] is False
    assert document["asset"]["version"] == "2.0"


def test_glb_texture_coordinates_run_down_from_the_top(world: World, tmp_path: Path) -> None:
    export_glb(world, tmp_path / "world.glb")
    document, binary = _parts(tmp_path / "world.glb")
    textured = next(m for m in document["meshes"] if "TEXCOORD_0" in m["primitives"][0]["attributes"])
    attributes = textured["primitives"][0]["attributes"]
    points, uv = _accessor(document, binary, attributes["POSITION"]), _accessor(document, binary, attributes["TEXCOORD_0"])
    upper_left = np.flatnonzero((points[:, 0] == 0.0) & (points[:, 1] == 2.0))
    np.testing.assert_array_equal(uv[upper_left], np.zeros((len(upper_left), 2)))


def test_glb_materials_are_named_coloured_and_double_sided(world: World, tmp_path: Path) -> None:
    export_glb(world, tmp_path / "world.glb")
    document, _ = _parts(tmp_path / "world.glb")
    materials = {material["name"]: material for material in document["materials"]}
    np.testing.assert_allclose(materials["oak"]["pbrMetallicRoughness"]["baseColorFactor"], [0.5, 0.25, 0.1, 1.0], atol=1.0 / 255.0)
    np.testing.assert_allclose(materials["flag"]["emissiveFactor"], [0.25, 0.25, 0.25], atol=1.0 / 255.0)
    assert materials["oak"]["doubleSided"]
    assert "baseColorTexture" in materials["flag"]["pbrMetallicRoughness"]


def test_json_holds_manifest_and_semantics(world: World, tmp_path: Path) -> None:
    export_json(world, tmp_path / "world.json")
    document = json.loads((tmp_path / "world.json").read_text(encoding="utf-8"))
    assert document["manifest"]["provenance"]["licence"] == "CC0-1.0"
    assert document["semantics"]["objects"][0]["name"] == "the chair"
    assert document["categories"] == {"1": "chair", "2": "sign"}


def test_a_path_that_cannot_be_written_is_a_users_error_and_leaves_nothing(world: World, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    with pytest.raises(StorageError, match="cannot write there"):
        export_glb(world, tmp_path / "taken" / "world.glb")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(StorageError):
        export_json(world, tmp_path / "folder.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.json", "taken"]
