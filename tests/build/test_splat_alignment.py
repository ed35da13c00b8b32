"""Captures are put upright for a reason, or the user is asked."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from splat_samples import random_gaussians, room

from portico.build.splats import alignment, read_splats, turned
from portico.build.splats.align import AXES
from portico.errors import ImportFailed

# Rotations that take z, the samples' up, to each axis.
FROM_Z = {"z": (0, 0), "-z": (0, 180), "y": (0, -90), "-y": (0, 90), "x": (1, 90), "-x": (1, -90)}


def lying(gaussians, up, lean_deg=0.0, scale=1.0, shift=(0.0, 0.0, 0.0)):
    """The sample in a frame whose ``up`` is up, and what put it there."""
    axis, angle = FROM_Z[up]
    T = np.eye(4)
    T[:3, :3] = scale * Rotation.from_rotvec(np.radians(angle) * np.eye(3)[axis]).as_matrix() @ Rotation.from_rotvec([np.radians(lean_deg), 0, 0]).as_matrix()
    T[:3, 3] = shift
    return turned(gaussians, T), T


def heights(gaussians, found):
    return turned(gaussians, found.T_world_capture).means[:, 2]


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("up", ["z", "y", "-y"])
def test_an_open_room_is_put_upright(up, flat):
    sample = room(flat=flat)
    capture, _ = lying(sample, up, shift=(3.0, -7.0, 5.0))
    found = alignment(capture)
    assert (found.up, found.has_floor) == (up, True)
    assert np.abs(heights(capture, found) - sample.means[:, 2]).max() < 0.02
    assert any(f"up is {up}" in reason for reason in found.reasons)


@pytest.mark.parametrize("up", AXES)
def test_a_given_axis_is_taken_as_it_is(up):
    sample = room(ceiling=True)
    capture, T = lying(sample, up, shift=(1.0, 2.0, 3.0))
    found = alignment(capture, up=up)
    assert (found.up, found.has_floor) == (up, True)
    assert np.abs(heights(capture, found) - sample.means[:, 2]).max() < 0.02
    assert np.isclose(np.linalg.det(found.T_world_capture[:3, :3]), 1.0)
    assert np.allclose(found.T_world_capture[:3, :3] @ T[:3, 2], [0, 0, 1])


@pytest.mark.parametrize("lean_deg", [4.0, 12.0])
def test_a_leaning_floor_is_levelled_or_named(lean_deg):
    sample = room()
    capture, _ = lying(sample, "-y", lean_deg)
    found = alignment(capture)
    assert np.abs(heights(capture, found) - sample.means[:, 2]).max() < 0.05
    assert any("levelled" in reason for reason in found.reasons)
    given = alignment(capture, up="-y")
    assert np.allclose(given.T_world_capture[:3, :3] @ [0, -1, 0], [0, 0, 1])
    assert any("leans" in reason for reason in given.reasons)


def test_a_closed_room_on_its_side_is_asked_about():
    capture, _ = lying(room(ceiling=True), "y")
    with pytest.raises(ImportFailed, match="score alike") as caught:
        alignment(capture)
    assert "--up" in str(caught.value)
    assert "floor" in str(caught.value)
    assert alignment(capture, stated="y").up == "y"


def test_a_cloud_without_a_floor_is_asked_about():
    ball = random_gaussians(0, 3000, size_m=5.0)
    with pytest.raises(ImportFailed, match="no floor was found"):
        alignment(ball)
    found = alignment(ball, up="y")
    assert not found.has_floor
    assert any("lowest hundredth" in reason for reason in found.reasons)
    assert abs(np.percentile(heights(ball, found), 1.0)) < 0.2


def test_floor_may_be_given_or_kept():
    capture, _ = lying(room(), "z", shift=(0.0, 0.0, 1.0))
    assert np.isclose(alignment(capture, up="z", floor="keep").T_world_capture[2, 3], 0.0)
    assert np.isclose(alignment(capture, up="z", floor=0.4).T_world_capture[2, 3], -0.4)
    assert abs(alignment(capture, up="z").T_world_capture[2, 3] + 1.0) < 0.01


def test_scale_is_applied_to_everything():
    sample = room()
    capture, _ = lying(sample, "-y", scale=100.0, shift=(0.0, 50.0, 0.0))
    found = alignment(capture, scale=0.01)
    world = turned(capture, found.T_world_capture)
    assert np.abs(world.means[:, 2] - sample.means[:, 2]).max() < 0.02
    assert np.allclose(world.scales_m, sample.scales_m, rtol=1e-4)


@pytest.mark.parametrize(("scale", "factor"), [(100.0, 0.01), (0.05, 100.0)])
def test_an_odd_extent_is_named_with_the_factor(scale, factor):
    found = alignment(room(), up="z", scale=scale)
    assert any(f"--scale {scale * factor:g}" in reason for reason in found.reasons)


@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_an_impossible_extent_is_refused(scale):
    with pytest.raises(ImportFailed, match="--scale"):
        alignment(room(), up="z", scale=scale)


def test_nonsense_is_refused_by_name():
    for options, name in [({"up": "north"}, "--up"), ({"scale": 0.0}, "--scale"), ({"scale": np.nan}, "--scale"), ({"floor": "cellar"}, "--floor")]:
        with pytest.raises(ImportFailed, match=name):
            alignment(room(), **options)


def test_the_same_capture_is_always_aligned_the_same():
    capture, _ = lying(room(), "y", 5.0)
    first, second = alignment(capture), alignment(capture)
    assert np.array_equal(first.T_world_capture, second.T_world_capture)
    assert first.reasons == second.reasons


def test_few_gaussians_are_no_reason_to_fail():
    few = random_gaussians(0, 3)
    assert not alignment(few, up="z").has_floor
    with pytest.raises(ImportFailed, match="--up"):
        alignment(few)


def test_real_captures_are_aligned_or_asked_about(shared):
    folder = shared / "data" / "splat"
    guitar = read_splats(folder / "guitar.compressed.ply").gaussians
    found = alignment(guitar)
    assert found.up == "-y"  # It hangs in its stand, head up.
    assert heights(guitar, found).max() > 4.0
    for name in ("plant.splat", "tower.spz"):
        with pytest.raises(ImportFailed, match="--up"):
            alignment(read_splats(folder / name).gaussians)
    tower = read_splats(folder / "tower.glb")
    stated = alignment(tower.gaussians, stated=tower.up)
    assert stated.up == "y"
    assert abs(np.percentile(heights(tower.gaussians, stated), 1.0)) < 0.5


def test_broken_rooms(shared):
    folder = shared / "bad" / "splat"
    assert alignment(read_splats(folder / "ok-room.ply").gaussians).up == "z"
    closet = alignment(read_splats(folder / "closet.ply").gaussians)
    assert (closet.up, closet.has_floor) == ("z", True)
    roofed = read_splats(folder / "no-floor.ply").gaussians
    with pytest.raises(ImportFailed, match="floor"):
        alignment(roofed)
    assert not alignment(roofed, up="z").has_floor
