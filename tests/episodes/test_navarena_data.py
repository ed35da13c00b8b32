"""NavArena's Parquet data: exact columns, chunks that survive being killed, and episodes that come back as they went."""

import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hut import build
from hypothesis import given
from hypothesis import strategies as st

from portico.episodes.navarena import (
    EpisodeRow,
    Trajectory,
    TrajectoryWriter,
    from_navarena,
    quaternion_xyzw,
    read_task,
    read_trajectory,
    to_navarena,
    yaw_of,
)
from portico.errors import EpisodeError, UnknownName
from portico.geometry import Pose
from portico.tasks.episode import Episode, EpisodeSet, Reference, StageSpec, Start
from portico.world import load

NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)
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


def row(k=0):
    return EpisodeRow(Pose(float(k), 0.0, 0.0, 0.5), Pose(float(k), 3.0), "position", 3.25)


def drive(steps=4):
    """Stands, turns, drives a curve, stands."""
    time = 0.05 * np.arange(steps)
    poses = np.column_stack([0.0225 * np.arange(steps), np.zeros(steps), np.zeros(steps), 0.1 * np.arange(steps)])
    velocity = np.zeros((steps, 3))
    velocity[1:-1, 2] = 0.8
    velocity[2:-1, 0] = 0.45
    return Trajectory(time, poses, velocity)


def writer(folder, **changes):
    values = {"dataset_name": "d", "scene_path": "g/s", "task_type": "pointnav", "split": "train", "now": NOON} | changes
    return TrajectoryWriter(folder, **values)


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


@pytest.fixture(scope="module")
def hut(tmp_path_factory):
    return load(build(tmp_path_factory.mktemp("hut") / "hut"))


def questions(hut):
    reference = Reference(path=[(4.0, 4.0, 0.0), (1.6, 1.6, 0.0)], length_m=3.394, stage_ends=[1])
    common = {"world": "hut", "embodiment": "spot", "start": Start(position=(4.0, 4.0, 0.0), yaw_rad=2.0), "reference": reference}
    stages = {
        "point": StageSpec(kind="point", goal=(2.0, 1.6, 0.0), radius_m=0.5, instruction="There."),
        "image": StageSpec(kind="image", goal=(2.0, 1.6, 0.0), goal_yaw_rad=-1.0, radius_m=0.5, instruction="As shown."),
        "object": StageSpec(kind="object", category="chair", rule="navarena", radius_m=1.0, instruction="Find a chair."),
        "exit": StageSpec(kind="exit", building="a"),
    }
    made = [Episode(id=f"{task}-000", task=task, stages=[stage], **common) for task, stage in stages.items()]
    return EpisodeSet(suite="navarena", world="hut", world_hash=hut.manifest.content_hash, seed=3, episodes=made)


def test_sets_go_out_and_come_back(hut, tmp_path):
    lines = to_navarena(questions(hut), tmp_path, world=hut, scene_path="g/hut", now=NOON)
    assert "left out: 1 exit episodes, which the format does not know" in lines
    assert json.loads((tmp_path / "dataset_meta.json").read_text())["task_types"] == ["pointnav", "imagenav", "objectnav"]
    meta = json.loads((tmp_path / "g" / "hut" / "scene_meta.json").read_text())
    assert (meta["scene_id"], meta["num_objects"]) == ("hut", 1)
    assert meta["navigable_area"] == pytest.approx(8 * 8 + 8 * 8 + 4 * 4)
    (chair,) = read_task(tmp_path / "g" / "hut" / "objectnav").rows
    assert (chair["goal_type"], chair["object_category"], chair["object_id"]) == ("object", "chair", "chair-1")
    assert (chair["goal_position_x"], chair["goal_position_z"]) == (1.0, 0.4)
    (point,) = read_task(tmp_path / "g" / "hut" / "pointnav").rows
    assert point["geodesic_distance"] == pytest.approx(3.394 + 0.4)
    assert point["goal_rotation_qw"] is None
    back = from_navarena(tmp_path, world=hut).episodes
    assert (back.world, back.world_hash, back.suite, back.split, back.seed) == ("hut", hut.manifest.content_hash, "navarena", "val_unseen", 3)
    meant = {episode.task: episode for episode in questions(hut).episodes}
    assert [episode.task for episode in back.episodes] == ["image", "object", "point"]
    for episode in back.episodes:
        assert episode.start.position == meant[episode.task].start.position
        assert episode.start.yaw_rad == pytest.approx(2.0)
        stage = meant[episode.task].stages[0]
        assert episode.stages[0].model_copy(update={"goal_yaw_rad": stage.goal_yaw_rad}) == stage
        start, end = (np.array(episode.reference.path[k]) for k in (0, -1))
        np.testing.assert_allclose(start[:2], episode.start.position[:2], atol=1e-6)
        assert np.linalg.norm(end - start) <= episode.reference.length_m + 1e-6


def test_stored_trajectories_become_references(hut, tmp_path):
    with writer(tmp_path / "g" / "s" / "pointnav") as out:
        out.add(row(), drive())
    converted = from_navarena(tmp_path)
    (episode,) = converted.episodes.episodes
    assert episode.reference.length_m == 3.25
    # Straight on for a few centimetres: what lies between both ends says nothing more.
    assert episode.reference.path == [(0.0, 0.0, 0.0), (pytest.approx(0.0675), 0.0, 0.0)]
    assert (converted.episodes.world, episode.budget.max_actions, episode.stages[0].termination) == ("s", 500, "explicit_stop")


def test_objects_without_a_category_are_those_of_the_world(hut, tmp_path):
    to_navarena(questions(hut), tmp_path, world=hut, now=NOON)
    task = tmp_path / "portico" / "hut" / "objectnav"
    for path in task.rglob("episodes.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["object_category", "object_id"]), path)
    assert from_navarena(task, world=hut).episodes.episodes[0].stages[0].category == "chair"
    with pytest.raises(EpisodeError, match="object_category"):
        from_navarena(task)


def test_objects_need_their_world(hut, tmp_path):
    with pytest.raises(EpisodeError, match="--world"):
        to_navarena(questions(hut), tmp_path)
    assert not list(tmp_path.iterdir())


def spoiled(tmp_path, change):
    with writer(tmp_path / "t") as out:
        out.add(row())
    path = tmp_path / "t" / "data" / "chunk-000000" / "episodes.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    return tmp_path / "t"


def replaced(name, value, kind=None):
    return lambda table: table.set_column(table.column_names.index(name), name, pa.array([value], kind or table.schema.field(name).type))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop_columns(["goal_position_y"]), "goal_position_y is missing"),
        (replaced("geodesic_distance", "far", pa.string()), "geodesic_distance is of another kind"),
        (replaced("start_position_x", float("nan")), "start_position"),
        (replaced("start_rotation_qw", None), "start_rotation"),
        (replaced("start_rotation_qx", 0.9), "start_rotation"),
        (lambda table: pa.concat_tables([table, table]), "duplicate episode id"),
    ],
)
def test_rows_that_make_no_sense_are_named(tmp_path, change, words):
    with pytest.raises(EpisodeError, match=words):
        from_navarena(spoiled(tmp_path, change))


def test_several_scenes_ask_which_one(tmp_path):
    for scene in ("g/a", "g/b"):
        with writer(tmp_path / scene / "pointnav", scene_path=scene) as out:
            out.add(row())
    with pytest.raises(EpisodeError, match="--scene g/a"):
        from_navarena(tmp_path)
    assert from_navarena(tmp_path, scene="g/b").episodes.world == "b"
    with pytest.raises(EpisodeError, match="no point, image or object"):
        from_navarena(tmp_path, scene="g/c")
    with pytest.raises(EpisodeError, match="no episodes in NavArena's format"):
        from_navarena(tmp_path / "nothing")


def test_versions_to_come_are_refused(tmp_path):
    with writer(tmp_path) as out:
        out.add(row())
    info = tmp_path / "meta" / "info.json"
    info.write_text(info.read_text().replace('"1.0.0"', '"2.0.0"'))
    with pytest.raises(EpisodeError, match=r"found 2\.0\.0"):
        read_task(tmp_path)


def test_trajectories_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="do not belong together"):
        Trajectory(np.arange(3.0), np.zeros((2, 4)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="times increase"):
        Trajectory(np.zeros(3), np.zeros((3, 4)), np.zeros((3, 3)))
