"""NavArena's Parquet data: exact columns, chunks that survive being killed, and episodes that come back as they went."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from navarena_samples import drive, row, writer

from portico.episodes.navarena import (
    quaternion_xyzw,
    read_task,
    read_trajectory,
    yaw_of,
)
from portico.errors import EpisodeError, UnknownName
from portico.geometry import Pose

DOUBLES, FLOATS = pa.float64(), pa.float32()
EPISODE_COLUMNS = {
    "episode_id": pa.string(),
    "chunk_index": pa.int32(),
    "scene_path": pa.string(),
    "task_type": pa.string(),
    "split": pa.string(),
    **{f"start_position_{a}": DOUBLES for a in "xyz"},
    **{f"start_rotation_q{a}": DOUBLES for a in "xyzw"},
    "goal_type": pa.string(),
    **{f"goal_position_{a}": DOUBLES for a in "xyz"},
    **{f"goal_rotation_q{a}": DOUBLES for a in "xyzw"},
    "geodesic_distance": FLOATS,
    "euclidean_distance": FLOATS,
    "num_steps": pa.int32(),
    "total_time": FLOATS,
    "avg_speed": FLOATS,
    "max_speed": FLOATS,
    "goal_image_path": pa.string(),
    "instruction_text": pa.string(),
}
TRAJECTORY_COLUMNS = {
    "episode_id": pa.string(),
    "step": pa.int32(),
    "timestamp": DOUBLES,
    **{f"position_{a}": DOUBLES for a in "xyz"},
    **{f"rotation_q{a}": DOUBLES for a in "xyzw"},
    "action": pa.string(),
    "action_id": pa.int8(),
    "linear_velocity": FLOATS,
    "angular_velocity": FLOATS,
    "linear_velocity_x": FLOATS,
    "linear_velocity_y": FLOATS,
    "angular_acceleration": FLOATS,
    "curvature": FLOATS,
}


def ids(folder):
    return [r["episode_id"] for r in read_task(folder).rows]


def test_columns_have_the_formats_names_types_and_order(tmp_path):
    with writer(tmp_path) as out:
        assert out.add(row(), drive()) == "train_000000"
    chunk = tmp_path / "data" / "chunk-000000"
    assert dict(zip(*columns(chunk / "episodes.parquet"), strict=True)) == EPISODE_COLUMNS
    assert columns(chunk / "episodes.parquet")[0] == list(EPISODE_COLUMNS)
    assert columns(tmp_path / "meta" / "episodes.parquet")[0] == list(EPISODE_COLUMNS)
    assert dict(zip(*columns(chunk / "trajectories.parquet"), strict=True)) == TRAJECTORY_COLUMNS
    assert columns(chunk / "trajectories.parquet")[0] == list(TRAJECTORY_COLUMNS)


def columns(path):
    schema = pq.read_schema(path)
    return schema.names, schema.types


def test_steps_say_what_the_expert_did(tmp_path):
    with writer(tmp_path) as out:
        out.add(row(), drive(5))
    steps = pq.read_table(tmp_path / "data" / "chunk-000000" / "trajectories.parquet").to_pylist()
    assert [(s["step"], s["action"], s["action_id"]) for s in steps] == [(0, "start", 0), (1, "turn", 2), (2, "forward", 1), (3, "forward", 1), (4, "stop", 3)]
    assert steps[3]["curvature"] == pytest.approx(0.8 / 0.45)
    assert [s["angular_acceleration"] for s in steps] == pytest.approx([0.0, 16.0, 0.0, 0.0, -16.0])
    (episode,) = read_task(tmp_path).rows
    assert (episode["num_steps"], episode["total_time"]) == (5, pytest.approx(0.2))
    assert episode["avg_speed"] == pytest.approx(0.45)
    assert episode["max_speed"] == pytest.approx(0.45)
    assert (episode["geodesic_distance"], episode["euclidean_distance"]) == (3.25, 3.0)


def test_trajectories_come_back(tmp_path):
    with writer(tmp_path) as out:
        out.add(row(), drive(3))
        out.add(row())
        out.add(row(), drive(7))
    data = read_task(tmp_path)
    for name, steps in (("train_000000", 3), ("train_000002", 7)):
        found, meant = read_trajectory(data, name), drive(steps)
        np.testing.assert_allclose(found.poses, meant.poses, atol=1e-12)
        np.testing.assert_allclose(found.velocity, meant.velocity, rtol=1e-6)
    assert read_trajectory(data, "train_000001") is None
    with pytest.raises(EpisodeError, match="no episode 'train_000009'"):
        read_trajectory(data, "train_000009")


def test_2500_episodes_are_three_chunks(tmp_path):
    with writer(tmp_path, checkpoint=1000) as out:
        for k in range(2500):
            out.add(row(k))
        assert out.count == 2500
    counts = [pq.read_metadata(path).num_rows for path in sorted(tmp_path.glob("data/*/episodes.parquet"))]
    assert counts == [1000, 1000, 500]
    info = json.loads((tmp_path / "meta" / "info.json").read_text())
    assert (info["num_episodes"], info["num_chunks"], info["chunk_size"]) == (2500, 3, 1000)
    assert [r["chunk_index"] for r in read_task(tmp_path).rows[999:1001]] == [0, 1]


def test_numbers_go_on_after_the_highest(tmp_path):
    with writer(tmp_path) as out:
        for k in range(42):
            out.add(row(k))
    with writer(tmp_path, run={"tool": "test"}) as out:
        assert out.next_id == "train_000042"
        out.add(row(), drive())
    assert ids(tmp_path)[-2:] == ["train_000041", "train_000042"]
    assert len(list(tmp_path.glob("data/*"))) == 1
    assert json.loads((tmp_path / "meta" / "info.json").read_text())["generation_runs"] == [{"tool": "test", "date": "2030-01-02 12:00:00"}]


def killed(folder, episodes, checkpoint=2, size=5):
    """A writer that is gone before it could close."""
    out = writer(folder, chunk_size=size, checkpoint=checkpoint)
    for k in range(episodes):
        out.add(row(k), drive())


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path):
    killed(tmp_path, 8)
    with writer(tmp_path, chunk_size=5) as out:
        assert out.next_id == "train_000007"
        out.add(row(), drive())
    assert ids(tmp_path) == [f"train_{k:06d}" for k in range(8)]


@pytest.mark.parametrize("harm", ["no episodes", "no trajectories", "cut episodes", "cut trajectories", "older episodes", "older trajectories"])
def test_a_half_written_chunk_is_written_again(tmp_path, harm):
    killed(tmp_path, 7)
    chunk = tmp_path / "data" / "chunk-000001"
    how, name = harm.split()
    path = chunk / f"{name}.parquet"
    if how == "no":
        path.unlink()
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:100])
    else:
        table = pq.read_table(path)
        pq.write_table(table.filter(pa.array([value == "train_000005" for value in table.column("episode_id").to_pylist()])), path)
    with writer(tmp_path, chunk_size=5, checkpoint=2) as out:
        assert out.next_id == ("train_000006" if how == "older" else "train_000005")
        while out.count < 8:
            out.add(row(), drive())
    data = read_task(tmp_path)
    assert [r["episode_id"] for r in data.rows] == [f"train_{k:06d}" for k in range(8)]
    assert all(len(read_trajectory(data, r["episode_id"]).time_s) == 4 for r in data.rows)


def test_folders_of_something_else_are_left_alone(tmp_path):
    with writer(tmp_path) as out:
        out.add(row())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for changes, words in (({"split": "test"}, "another split"), ({"scene_path": "g/t"}, "another scene_path"), ({"chunk_size": 7}, "another chunk_size")):
        with pytest.raises(EpisodeError, match=words):
            writer(tmp_path, **changes)
    with pytest.raises(UnknownName, match="unknown split"):
        writer(tmp_path, split="training")
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_early_chunk_numbers_and_a_bare_index_are_read(tmp_path):
    with writer(tmp_path) as out:
        out.add(row(), drive())
    (tmp_path / "data" / "chunk-000000").rename(tmp_path / "data" / "chunk-000")
    data = read_task(tmp_path)
    np.testing.assert_allclose(read_trajectory(data, "train_000000").poses, drive().poses, atol=1e-9)
    for path in (tmp_path / "data" / "chunk-000").iterdir():
        path.unlink()
    (tmp_path / "data" / "chunk-000").rmdir()
    assert ids(tmp_path) == ["train_000000"]


@given(st.floats(-3.14, 3.14))
def test_quaternions_are_x_y_z_w(yaw):
    assert yaw_of(*quaternion_xyzw(yaw)) == pytest.approx(yaw, abs=1e-9)


def test_golden_poses():
    assert quaternion_xyzw(np.pi / 4) == pytest.approx((0, 0, 0.382683, 0.923880), abs=1e-6)
    assert quaternion_xyzw(np.pi / 2) == pytest.approx((0, 0, 0.707107, 0.707107), abs=1e-6)
    assert np.rad2deg(yaw_of(0, 0, 0.383, 0.924)) == pytest.approx(45.03, abs=0.01)
    pose = Pose(0.0, 0.0)
    for x, y, yaw in ((0.25, 0, 0), (0, 0, np.pi / 2), (0.25, 0, 0), (0, 0.1, 0)):
        pose = pose.compose(Pose(x, y, 0.0, yaw))
    assert (pose.x, pose.y, pose.yaw_rad) == pytest.approx((0.15, 0.25, np.pi / 2))
    seen = Pose(3.0, 4.0).relative_to(Pose(0.0, 0.0, 0.0, np.pi / 2))
    assert (seen.x, seen.y) == pytest.approx((4.0, -3.0))
    with pytest.raises(ValueError, match="qw comes last"):
        yaw_of(*np.roll(quaternion_xyzw(1.0), 1))
    with pytest.raises(ValueError, match="not 1"):
        yaw_of(0, 0, 0, 0)
