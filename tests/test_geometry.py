import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portico.geometry import (
    Pose,
    arc_lengths,
    camera_transform,
    leaning,
    points_in_polygon,
    polyline_length,
    project_on_polyline,
    resample,
    rotation_y,
    rotation_z,
    wrap_angle,
)

meters = st.floats(-100, 100)
angles = st.floats(-3.1, 3.1)
poses = st.builds(Pose, meters, meters, meters, angles)


@given(poses, poses)
def test_composing_with_the_relative_pose_gives_the_pose_back(a, b):
    again = a.compose(b.relative_to(a))
    assert np.allclose(again.position, b.position, atol=1e-6)
    assert abs(wrap_angle(again.yaw_rad - b.yaw_rad)) < 1e-9


@given(poses, poses)
def test_compose_agrees_with_matrices(a, b):
    assert np.allclose(a.compose(b).matrix(), a.matrix() @ b.matrix(), atol=1e-9)


@given(st.floats(-50, 50))
def test_wrapped_angles_are_the_same_direction(angle):
    wrapped = wrap_angle(angle)
    assert -np.pi <= wrapped < np.pi
    assert np.isclose(np.cos(wrapped), np.cos(angle))
    assert np.isclose(np.sin(wrapped), np.sin(angle), atol=1e-9)


@pytest.mark.parametrize(
    ("yaw_deg", "ahead"),
    [(0, (1, 0, 0)), (90, (0, 1, 0)), (180, (-1, 0, 0)), (-90, (0, -1, 0))],
)
def test_golden_headings(yaw_deg, ahead):
    assert np.allclose(rotation_z(np.deg2rad(yaw_deg)) @ [1, 0, 0], ahead, atol=1e-12)


@pytest.mark.parametrize(
    ("yaw_deg", "pitch_deg", "forward", "right", "down"),
    [
        (0, 0, (1, 0, 0), (0, -1, 0), (0, 0, -1)),
        (90, 0, (0, 1, 0), (1, 0, 0), (0, 0, -1)),
        (0, 90, (0, 0, -1), (0, -1, 0), (-1, 0, 0)),
    ],
)
def test_golden_cameras(yaw_deg, pitch_deg, forward, right, down):
    T = camera_transform(1.0, 2.0, 3.0, np.deg2rad(yaw_deg), np.deg2rad(pitch_deg))
    assert np.allclose(T[:3, 3], (1, 2, 3))
    assert np.allclose(T[:3, :3] @ [0, 0, 1], forward, atol=1e-12)
    assert np.allclose(T[:3, :3] @ [1, 0, 0], right, atol=1e-12)
    assert np.allclose(T[:3, :3] @ [0, 1, 0], down, atol=1e-12)


def test_positive_pitch_looks_down():
    assert (rotation_y(0.3) @ [1, 0, 0])[2] < 0


lines = st.lists(st.tuples(meters, meters), min_size=2, max_size=12).map(np.array)


@given(lines, st.floats(0.1, 5))
def test_resampling_keeps_ends_and_never_gets_longer(points, spacing):
    length = polyline_length(points)
    again = resample(points, spacing)
    if length > 0:
        assert np.allclose(again[0], points[0])
        assert np.allclose(again[-1], points[-1])
        assert np.linalg.norm(np.diff(again, axis=0), axis=1).max() <= spacing + 1e-9
    assert polyline_length(again) <= length + 1e-6


@given(lines, st.tuples(meters, meters))
def test_projection_is_as_near_as_the_nearest_vertex(points, p):
    along, distance = project_on_polyline(np.array(p), points)
    assert 0.0 <= along <= arc_lengths(points)[-1] + 1e-6
    assert distance <= np.linalg.norm(points - np.array(p), axis=1).min() + 1e-6


def test_of_equally_near_points_the_earliest_counts():
    along, distance = project_on_polyline(np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
    assert np.isclose(distance, np.sqrt(0.5))
    assert np.isclose(along, np.sqrt(0.5))


@given(st.tuples(st.floats(-2, 2), st.floats(-2, 2)))
def test_points_in_polygon_agrees_with_the_inequalities_of_a_square(p):
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    inside = bool(points_in_polygon(np.array([p]), square)[0])
    if max(abs(p[0]), abs(p[1])) < 1:
        assert inside
    elif max(abs(p[0]), abs(p[1])) > 1:
        assert not inside


def test_a_leaning_body_turns_about_its_pivot():
    pose = Pose(2.0, 1.0, 0.5, np.pi / 2)
    nose_down = leaning(pose, 0.0, 0.3, 0.6)
    assert nose_down[:3, 0] == pytest.approx([0.0, np.cos(0.3), -np.sin(0.3)])
    left_up = leaning(pose, 0.3, 0.0, 0.6)
    assert left_up[:3, 1] == pytest.approx([-np.cos(0.3), 0.0, np.sin(0.3)])
    for T in (nose_down, left_up):
        assert pytest.approx([2.0, 1.0, 1.1, 1.0]) == T @ [0.0, 0.0, 0.6, 1.0]
    assert leaning(pose, 0.0, 0.0, 0.6) == pytest.approx(pose.matrix())
