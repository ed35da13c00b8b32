"""Posed RGB-D frames become Gaussians on the surfaces that the frames saw; damaged folders are refused by file."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from portico.build.captures import import_frames
from portico.build.primitives import box
from portico.build.scene import Scene
from portico.build.splats import fuse, read_posed_frames
from portico.build.splats.posed_frames import facing
from portico.errors import ImportFailed
from portico.geometry import Pose
from portico.interface import Camera
from portico.render import Renderer
from portico.robots import embodiment
from portico.space import build_space
from portico.world import Provenance, Surface

CAMERA = Camera("scan", 320, 240, z=1.2, pitch_rad=0.35)


def room():
    """5 x 4 m between walls 2.2 m high, and a box."""
    scene = Scene()
    for low, high, surface in [
        ((-0.1, -0.1, -0.1), (5.1, 4.1, 0.0), Surface.FLOOR),
        ((-0.1, -0.1, 0.0), (0.0, 4.1, 2.2), Surface.WALL),
        ((5.0, -0.1, 0.0), (5.1, 4.1, 2.2), Surface.WALL),
        ((0.0, -0.1, 0.0), (5.0, 0.0, 2.2), Surface.WALL),
        ((0.0, 4.0, 0.0), (5.0, 4.1, 2.2), Surface.WALL),
        ((2.2, 1.8, 0.0), (2.8, 2.3, 0.5), Surface.FURNITURE),
    ]:
        low, high = np.array(low), np.array(high)
        material = scene.material(str(surface), (0.2 + 0.02 * surface, 0.5, 0.4))
        scene.add_mesh(*box(0.5 * (low + high), high - low), surface=surface, instance=scene.instance("thing"), material=material)
    return scene.world("room", "indoor", Provenance(source="test", licence="CC0-1.0"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Frames from four corners, two headings each, written as a depth camera's recorder would."""
    path, renderer = tmp_path_factory.mktemp("frames"), Renderer(room())
    K = CAMERA.intrinsics()
    K[:2, 2] -= 0.5
    np.savetxt(path / "camera-intrinsics.txt", K)
    corners = [(0.5, 0.5, 0.7), (4.5, 0.5, 2.4), (4.5, 3.5, -2.4), (0.5, 3.5, -0.7)]
    for n, (x, y, yaw) in enumerate((*c[:2], c[2] + turn) for c in corners for turn in (-0.4, 0.4)):
        T = Pose(x, y, 0.0, yaw).matrix() @ CAMERA.T_base_camera()
        frame = renderer.render(T, CAMERA, ["rgb", "depth"])
        Image.fromarray(frame.rgb).save(path / f"{n:03d}.color.png")
        Image.fromarray(np.where(np.isinf(frame.depth), 0, np.round(1000.0 * frame.depth)).astype(np.uint16)).save(path / f"{n:03d}.depth.png")
        np.savetxt(path / f"{n:03d}.pose.txt", T)
    return path


def surface_distance(points):
    """Distance to the nearest plane of the room."""
    x, y, z = points.T
    shell = np.min(np.abs([x, x - 5.0, y, y - 4.0, z]), axis=0)
    gap = np.maximum(np.abs(points - [2.5, 2.05, 0.25]) - [0.3, 0.25, 0.25], 0.0)
    inside = np.min(np.abs(np.abs(points - [2.5, 2.05, 0.25]) - [0.3, 0.25, 0.25]), axis=1)
    return np.minimum(shell, np.where(gap.any(axis=1), np.linalg.norm(gap, axis=1), inside))


def test_gaussians_lie_flat_on_what_was_seen(folder):
    gaussians = fuse(read_posed_frames(folder), spacing_m=0.03).gaussians
    distance = surface_distance(gaussians.means.astype(float))
    assert np.percentile(distance, 95) < 0.006
    floor = np.abs(gaussians.means[:, 2]) < 0.005
    axis = gaussians.rotations_wxyz[floor]
    up = 1.0 - 2.0 * (axis[:, 1] ** 2 + axis[:, 2] ** 2)
    assert np.median(np.abs(up)) > 0.999
    assert (gaussians.scales_m[floor, 2] < 0.3 * gaussians.scales_m[floor, 0]).mean() > 0.95


def test_a_robot_can_walk_where_the_frames_saw_floor(folder):
    imported = import_frames(folder)
    space = build_space(imported.world, embodiment("turtlebot"))
    free = space.is_free(np.array([[1.2, 1.0, 0.0, 0.0], [4.0, 3.0, 0.0, 0.0], [2.5, 2.05, 0.0, 0.0]]))
    assert free.tolist() == [True, True, False]
    assert any("8 frames" in line for line in imported.lines)


def test_quaternions_face_their_normal():
    normal = np.random.default_rng(0).normal(size=(200, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.concatenate([normal, [[0, 0, 1], [0, 0, -1], [1, 0, 0]]])
    w, x, y, z = facing(normal).T
    np.testing.assert_allclose(np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1), normal, atol=1e-9)


def test_real_frames_show_a_room_with_a_floor(shared):
    imported = import_frames(shared / "data" / "indoor" / "rgbd_3dmatch")
    assert imported.world.manifest.recipe["up"] == "y"
    assert len(imported.world.appearance.gaussians) > 100_000
    assert build_space(imported.world, embodiment("turtlebot")).roomy.sum() * 0.05**2 > 2.0


def spoil(folder, tmp_path, name, content):
    """A copy of the first frame with one file replaced."""
    for file in folder.glob("000.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "camera-intrinsics.txt").write_bytes((folder / "camera-intrinsics.txt").read_bytes())
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("000.pose.txt", None, "no posed frames"),
        ("000.pose.txt", b"1 2 3", "wrong shape"),
        ("000.pose.txt", b"2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 1", "no rotation"),
        ("000.pose.txt", b"1 0 0 nan\n0 1 0 0\n0 0 1 0\n0 0 0 1", "not finite"),
        ("000.depth.png", b"\x89PNG nothing", "image cannot be read"),
        ("000.color.png", None, "image cannot be read"),
        ("camera-intrinsics.txt", b"0 0 1\n0 0 1\n0 0 1", "focal length"),
    ],
)
def test_damaged_folders_are_refused_by_file(folder, tmp_path, name, content, word):
    with pytest.raises(ImportFailed, match=word) as caught:
        read_posed_frames(spoil(folder, tmp_path, name, content))
    assert name in str(caught.value) or "posed" in word


def test_sizes_that_differ_and_empty_depth_are_told(folder, tmp_path):
    spoil(folder, tmp_path, "000.depth.png", None)
    Image.fromarray(np.zeros((10, 10), np.uint16)).save(tmp_path / "000.depth.png")
    with pytest.raises(ImportFailed, match="differ in size"):
        read_posed_frames(tmp_path)
    Image.fromarray(np.zeros((CAMERA.height, CAMERA.width), np.uint16)).save(tmp_path / "000.depth.png")
    with pytest.raises(ImportFailed, match="no pixel"):
        fuse(read_posed_frames(tmp_path))
