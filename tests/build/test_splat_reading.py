"""Captures of every format read the same, and broken ones say what is wrong with them."""

import base64
import gzip
import json
import struct

import numpy as np
import pytest
from splat_samples import covariances, random_gaussians, spz_bytes

from portico.build.splats import read_splats, turned, write_ply
from portico.errors import ImportFailed
from portico.world.gaussians import SH_C0, Gaussians


def assert_sound(gaussians: Gaussians) -> None:
    for values in (gaussians.means, gaussians.rotations_wxyz, gaussians.scales_m, gaussians.opacity, gaussians.sh):
        assert values.dtype == np.float32
        assert np.isfinite(values).all()
    assert np.allclose(np.linalg.norm(gaussians.rotations_wxyz, axis=1), 1.0, atol=1e-6)
    assert (gaussians.scales_m > 0).all()
    assert ((gaussians.opacity >= 0) & (gaussians.opacity <= 1)).all()
    assert (gaussians.instance == 0).all()


# Real files


@pytest.mark.parametrize(
    ("name", "kind", "count", "degree"),
    [
        ("guitar.compressed.ply", "compressed ply", 90_854, 0),
        ("plant.splat", "splat", 113_648, 0),
        ("tower.spz", "spz 2", 73_172, 3),
        ("tower.glb", "glb, spz 2", 73_172, 3),
    ],
)
def test_real_captures_are_read(shared, name, kind, count, degree):
    capture = read_splats(shared / "data" / "splat" / name)
    assert (capture.format, len(capture.gaussians), capture.gaussians.degree) == (kind, count, degree)
    assert_sound(capture.gaussians)


def test_first_gaussian_of_the_guitar(shared):
    # As gsply 0.4.6 decodes it.
    guitar = read_splats(shared / "data" / "splat" / "guitar.compressed.ply").gaussians
    assert np.allclose(guitar.rotations_wxyz[0], [0.79510754, 0.57715946, -0.046311, -0.18040554], atol=1e-6)
    assert np.allclose(np.log(guitar.scales_m[1]), [-5.5873666, -7.277075, -4.9483404], atol=1e-5)
    assert np.isclose(guitar.opacity[0], 1 / (1 + np.exp(-0.7646061)), atol=1e-6)


def test_tower_in_glb_stands_where_its_node_puts_it(shared):
    block = read_splats(shared / "data" / "splat" / "tower.spz").gaussians
    placed = read_splats(shared / "data" / "splat" / "tower.glb")
    x, y, z = block.means.astype(np.float64).T
    assert np.allclose(placed.gaussians.means, np.column_stack([x + 1.2307895, z + 186.9346924, 0.6764952 - y]), atol=1e-3)
    assert placed.up == "y"
    R = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    some = np.arange(0, len(block), 9973)
    assert np.allclose(covariances(placed.gaussians.chosen(some)), R @ covariances(block.chosen(some)) @ R.T, atol=1e-7)


@pytest.mark.parametrize("name", ["minimal-raw.spz", "minimal-v2.spz", "minimal-v3.spz", "minimal-v4.spz"])
def test_every_version_of_spz_agrees_with_the_splat_file(shared, name):
    folder = shared / "data" / "splat" / "minimal"
    expected, found = read_splats(folder / "minimal.splat").gaussians, read_splats(folder / name).gaussians
    assert np.array_equal(found.means, expected.means)
    assert np.allclose(found.opacity, expected.opacity)
    assert np.allclose(covariances(found), covariances(expected), rtol=0.05, atol=1e-5)
    if name in ("minimal-v3.spz", "minimal-v4.spz"):  # The older two were written by hand, with the colour bytes of .splat.
        assert np.allclose(found.sh, expected.sh, atol=0.03)


# The broken files and what is expected of each

READ_ERRORS = ["truncated.ply", "no-opacity.ply", "rest-10.ply", "point-cloud.ply", "empty.ply", "not-a-ply.ply"]
READ_WARNINGS = ["nan-5-percent.ply", "zero-quaternions.ply", "activated.ply"]


def expectation(shared, name):
    manifest = json.loads((shared / "bad" / "manifest.json").read_text())
    return next(entry for entry in manifest if entry["file"] == f"splat/{name}")


@pytest.mark.parametrize("name", READ_ERRORS)
def test_broken_files_are_refused_by_name(shared, name):
    entry = expectation(shared, name)
    assert entry["expect"] == "error"
    with pytest.raises(ImportFailed) as caught:
        read_splats(shared / "bad" / "splat" / name)
    assert name in caught.value.where
    assert caught.value.next_step
    assert all(word in str(caught.value).lower() for word in entry["message_should_name"])


@pytest.mark.parametrize("name", READ_WARNINGS)
def test_flawed_files_are_mended_aloud(shared, name):
    entry = expectation(shared, name)
    assert entry["expect"] == "warn"
    capture = read_splats(shared / "bad" / "splat" / name)
    assert len(capture.remarks) == 1
    assert all(word in capture.remarks[0] for word in entry["message_should_name"])
    assert_sound(capture.gaussians)


def test_what_the_flawed_files_lose(shared):
    folder = shared / "bad" / "splat"
    assert len(read_splats(folder / "nan-5-percent.ply").gaussians) == 5700
    assert len(read_splats(folder / "zero-quaternions.ply").gaussians) == 5940
    assert not read_splats(folder / "ok-room.ply").remarks


def test_activated_values_are_not_activated_again(shared):
    found, sound = (read_splats(shared / "bad" / "splat" / name).gaussians for name in ("activated.ply", "ok-room.ply"))
    assert np.allclose(found.scales_m, sound.scales_m, rtol=0.01)
    assert np.allclose(found.opacity, sound.opacity, atol=0.01)


def test_a_point_cloud_offers_the_fallback_and_takes_it(shared):
    path = shared / "bad" / "splat" / "point-cloud.ply"
    with pytest.raises(ImportFailed, match="--as-points"):
        read_splats(path)
    capture = read_splats(path, points_as_splats=True)
    assert_sound(capture.gaussians)
    assert np.allclose(0.5 + SH_C0 * capture.gaussians.sh[0, 0], [1.0, 0.0, 0.0], atol=1e-6)
    assert "red, green, blue" in capture.remarks[0]


# .spz, .splat and glTF


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_spz_is_within_its_quanta(tmp_path, version, degree):
    gaussians = random_gaussians(version * 10 + degree, 60, degree)
    path = tmp_path / "capture.spz"
    path.write_bytes(spz_bytes(gaussians, version))
    capture = read_splats(path)
    # Right, up, back to right, down, front, which is half a turn about x; version 2 is taken as written.
    expected = turned(gaussians, np.diag([1.0, -1.0, -1.0, 1.0])) if version > 2 else gaussians
    assert capture.format == f"spz {version}"
    assert np.abs(capture.gaussians.means - expected.means).max() <= 0.5 / 4096 + 1e-6
    assert np.abs(np.log(capture.gaussians.scales_m / expected.scales_m)).max() <= 0.5 / 16 + 1e-4
    assert np.abs(capture.gaussians.opacity - expected.opacity).max() <= 0.5 / 255 + 1e-6
    assert np.abs(capture.gaussians.sh[:, 0] - expected.sh[:, 0]).max() <= 0.5 / 255 / 0.15 + 1e-5
    assert np.abs(capture.gaussians.sh[:, 1:] - expected.sh[:, 1:]).max(initial=0.0) <= 1 / 128
    assert np.abs((capture.gaussians.rotations_wxyz * expected.rotations_wxyz).sum(axis=1)).min() > (0.9999 if version > 2 else 0.995)


def frame_record(index):
    return struct.pack("<III", 0xADBE0003, 4, index)


def test_spz_may_state_its_frame(tmp_path):
    gaussians = random_gaussians(1, 8)
    path = tmp_path / "capture.spz"
    for version in (3, 4):
        path.write_bytes(spz_bytes(gaussians, version, flags=2, extension=frame_record(6) + struct.pack("<II", 0xADBE0002, 0)))  # 6: right, down, front
        capture = read_splats(path)
        assert np.abs(capture.gaussians.means - gaussians.means).max() < 1e-3
        assert capture.remarks == ("extension records were skipped: 0xADBE0002",)
    path.write_bytes(spz_bytes(gaussians, 4, flags=2, extension=frame_record(8)))  # right, up, front: left-handed
    with pytest.raises(ImportFailed, match="left-handed"):
        read_splats(path)


def test_spz_cut_or_foreign_is_refused(tmp_path):
    path = tmp_path / "capture.spz"
    whole = [spz_bytes(random_gaussians(1, 8, 1), version) for version in (2, 3, 4)]
    short = gzip.compress(gzip.decompress(whole[0])[:-1])
    for content in [
        *(data[: len(data) * part // 8] for data in whole for part in range(8)),
        short,
        b"",
        b"NGSP",
        gzip.compress(b"something else"),
        b"NGSP\5\0\0\0" + bytes(40),
    ]:
        path.write_bytes(content)
        with pytest.raises(ImportFailed):
            read_splats(path)


def test_splat_of_odd_size_is_refused(tmp_path):
    path = tmp_path / "odd.splat"
    path.write_bytes(bytes(33))
    with pytest.raises(ImportFailed, match="truncated"):
        read_splats(path)
    path.write_bytes(b"")
    with pytest.raises(ImportFailed, match="0 Gaussians"):
        read_splats(path)


def gltf_document(block, nodes, uri=None):
    name = "KHR_spz_gaussian_splats_compression"
    return {
        "asset": {"version": "2.0"},
        "extensionsUsed": [name],
        "scenes": [{"nodes": [0]}],
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {}, "mode": 0, "extensions": {name: {"bufferView": 0}}}]}],
        "bufferViews": [{"buffer": 0, "byteLength": len(block)}],
        "buffers": [{"byteLength": len(block), **({"uri": uri} if uri else {})}],
    }


def test_gltf_nodes_place_blocks_one_inside_the_other(tmp_path):
    gaussians = random_gaussians(2, 20, 1)
    block = spz_bytes(gaussians, 2)
    nodes = [{"children": [1, 2], "translation": [0, 10, 0], "scale": [2, 2, 2]}, {"mesh": 0}, {"mesh": 0, "rotation": [0, 2**-0.5, 0, 2**-0.5]}]
    (tmp_path / "capture block.bin").write_bytes(block)
    for uri in ("capture%20block.bin", "data:application/octet-stream;base64," + base64.b64encode(block).decode()):
        path = tmp_path / "capture.gltf"
        path.write_text(json.dumps(gltf_document(block, nodes, uri)))
        found = read_splats(path).gaussians
        assert len(found) == 40
        assert np.allclose(found.means[:20], 2 * gaussians.means + [0, 10, 0], atol=2e-3)
        x, y, z = gaussians.means.T
        assert np.allclose(found.means[20:], 2 * np.column_stack([z, y, -x]) + [0, 10, 0], atol=2e-3)


def test_gltf_that_mirrors_lacks_or_hides_its_block_is_refused(tmp_path):
    block = spz_bytes(random_gaussians(2, 5), 2)
    path = tmp_path / "capture.gltf"
    for nodes, uri, message in [
        ([{"mesh": 0, "scale": [1, 1, -1]}], "block.bin", "mirrors"),
        ([{"mesh": 0}], "absent.bin", "missing"),
        ([{"mesh": 0}], "../block.bin", "damaged"),
        ([{"name": "empty"}], "block.bin", "no Gaussians"),
        ([{"mesh": 7}], "block.bin", "damaged"),
        ([{"children": [0]}], "block.bin", "damaged"),
    ]:
        (tmp_path / "block.bin").write_bytes(block)
        path.write_text(json.dumps(gltf_document(block, nodes, uri)))
        with pytest.raises(ImportFailed, match=message):
            read_splats(path)


# What is common to all


def test_the_content_decides_and_not_the_suffix(tmp_path):
    gaussians = random_gaussians(0, 6)
    write_ply(gaussians, tmp_path / "capture.spz")
    assert read_splats(tmp_path / "capture.spz").format == "ply"
    (tmp_path / "capture.ply").write_bytes(spz_bytes(gaussians, 3))
    assert read_splats(tmp_path / "capture.ply").format == "spz 3"


def test_a_limit_keeps_what_covers_most(tmp_path):
    gaussians = random_gaussians(0, 50)
    write_ply(gaussians, tmp_path / "capture.ply")
    capture = read_splats(tmp_path / "capture.ply", limit=10)
    cover = np.sort(gaussians.scales_m, axis=1)[:, 1:].prod(axis=1) * gaussians.opacity
    assert np.array_equal(capture.gaussians.means, gaussians.means[np.sort(np.argsort(-cover)[:10])])
    assert "10 of 50" in capture.remarks[-1]
    with pytest.raises(ImportFailed):
        read_splats(tmp_path / "capture.ply", limit=0)


@pytest.mark.parametrize("name", ["capture.lcc", "capture.xyz", "capture"])
def test_other_formats_are_refused_with_those_that_are_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"\1\2\3\4")
    with pytest.raises(ImportFailed, match=r"\.spz"):
        read_splats(tmp_path / name)


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "absent.ply", tmp_path):
        with pytest.raises(ImportFailed, match="cannot be opened"):
            read_splats(path)
