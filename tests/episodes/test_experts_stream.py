"""Experts on disk: the same bytes however often a run was killed and however many processes made it, and nothing that is not asked for."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hut import build

from portico.episodes import calibrate
from portico.episodes.experts import Limits, Source, Workshop, write_experts
from portico.episodes.experts import workshop as workshops
from portico.episodes.experts.asks import SLICE
from portico.episodes.experts.stream import Checkpoint
from portico.episodes.files import save_episodes
from portico.episodes.grounds import Grounds
from portico.episodes.navarena import from_navarena, read_task, read_trajectory
from portico.episodes.navarena.metadata import read_meta
from portico.episodes.sampling import heading_rad
from portico.errors import EpisodeError, UnknownName, UserError
from portico.geometry import Pose
from portico.interface import Velocity
from portico.robots import KinematicRobot, embodiment
from portico.suites import load_suite
from portico.tasks.episode import EpisodeSet
from portico.world import load

NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)
TASK = Path("portico") / "hut" / "pointnav"


@pytest.fixture(scope="module")
def hut(tmp_path_factory):
    return build(tmp_path_factory.mktemp("hut"))


@pytest.fixture(scope="module")
def points(hut):
    return Workshop.open(Source(hut, "spot", "point", 5))


@pytest.fixture(scope="module")
def written(hut, points, tmp_path_factory):
    """130 point experts in chunks of 40."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, write_experts(Source(hut, "spot", "point", 5), folder, 130, workshop=points, chunk_size=40, now=NOON)


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_chunks_ids_and_the_window(written):
    folder, summary = written
    data = read_task(folder / TASK)
    assert [row["episode_id"] for row in data.rows] == [f"train_{k:06d}" for k in range(130)]
    assert [row["chunk_index"] for row in data.rows] == [k // 40 for k in range(130)]
    lengths = np.array([row["geodesic_distance"] for row in data.rows])
    assert (lengths >= 1.0 - 1e-5).all()
    assert (lengths <= 30.0 + 1e-5).all()
    assert summary.total == summary.made == 130
    assert summary.hours == pytest.approx(sum(row["total_time"] for row in data.rows) / 3600)
    assert data.info.num_chunks == 4
    assert data.info.generation_runs[0]["limits"]["jerk_mps3"] == 0.4
    # Starts and goals are whole metres.
    starts = np.array([[row["start_position_x"], row["start_position_y"], row["goal_position_x"], row["goal_position_y"]] for row in data.rows])
    assert np.abs(starts - np.round(starts)).max() < 1e-9


def test_no_question_comes_twice(written):
    rows = read_task(written[0] / TASK).rows
    assert len({(row["goal_position_x"], row["goal_position_y"]) for row in rows}) > 30
    asked = {(*tuple(row[f"{what}_{a}"] for what in ("start_position", "goal_position") for a in "xy"), row["start_rotation_qz"]) for row in rows}
    assert len(asked) == len(rows)


def test_a_robot_that_is_told_what_is_stored_arrives(written, points):
    """Velocities are stored as 32 bit floats: they lead to the goal within a millimetre."""
    data, robot = read_task(written[0] / TASK), KinematicRobot(points.grounds.space, embodiment("spot"))
    for row in data.rows[::13]:
        trajectory = read_trajectory(data, row["episode_id"])
        robot.reset(Pose(*trajectory.poses[0]))
        for v, _, w in trajectory.velocity[:-1].tolist():
            assert not robot.execute(Velocity(v, 0.0, w, Limits().dt_s)).collided
        assert np.hypot(robot.pose.x - row["goal_position_x"], robot.pose.y - row["goal_position_y"]) < 1e-3


def test_a_run_that_was_stopped_again_and_again_comes_to_the_same_bytes(hut, points, written, tmp_path, monkeypatch):
    source, made, make = Source(hut, "spot", "point", 5), [], Workshop.make

    def killed_in_block(self, block):
        made.append(block)
        if len(made) in (2, 4, 6):
            raise MemoryError
        return make(self, block)

    monkeypatch.setattr(Workshop, "make", killed_in_block)
    for _ in range(3):
        with pytest.raises(MemoryError):
            write_experts(source, tmp_path, 130, workshop=points, chunk_size=40, now=NOON)
    summary = write_experts(source, tmp_path, 130, workshop=points, chunk_size=40, now=NOON)
    assert digests(tmp_path) == digests(written[0])
    assert summary.rejected == written[1].rejected


def test_more_can_be_asked_for_later(hut, points, written, tmp_path):
    source = Source(hut, "spot", "point", 5)
    for count in (30, 70, 70, 130):
        summary = write_experts(source, tmp_path, count, workshop=points, chunk_size=40, now=NOON)
        assert summary.total == count
    assert summary.rejected == written[1].rejected
    for name in ("data/chunk-000000/trajectories.parquet", "data/chunk-000003/trajectories.parquet", "meta/episodes.parquet"):
        assert (tmp_path / TASK / name).read_bytes() == (written[0] / TASK / name).read_bytes()


def test_a_finished_run_changes_nothing(hut, points, written):
    before = digests(written[0])
    summary = write_experts(Source(hut, "spot", "point", 5), written[0], 100, workshop=points, chunk_size=40)
    assert (summary.made, summary.total, summary.rejected) == (0, 130, written[1].rejected)
    assert digests(written[0]) == before


def test_another_seed_another_folder(hut, written):
    with pytest.raises(EpisodeError, match="another seed"):
        write_experts(Source(hut, "spot", "point", 6), written[0], 130, chunk_size=40)
    with pytest.raises(UnknownName, match="split"):
        write_experts(Source(hut, "spot", "point", 6), written[0], 130, split="tarin")


def test_episodes_of_others_are_left_alone(hut, points, tmp_path, written):
    folder = tmp_path / TASK / "data" / "chunk-000000"
    folder.mkdir(parents=True)
    for name in ("episodes.parquet", "trajectories.parquet"):
        (folder / name).write_bytes((written[0] / TASK / "data" / "chunk-000000" / name).read_bytes())
    with pytest.raises(EpisodeError, match="none of an experts' run"):
        write_experts(Source(hut, "spot", "point", 5), tmp_path, 130, workshop=points, chunk_size=40)


def test_when_everything_was_asked_the_run_ends(hut, tmp_path):
    source = Source(hut, "spot", "object", 0)
    shop = Workshop.open(source)
    summary = write_experts(source, tmp_path, 10**6, workshop=shop, now=NOON)
    assert summary.exhausted
    starts = len(shop.asks.points) - sum(summary.rejected.values())
    assert summary.total == 6 * starts
    rows = read_task(tmp_path / "portico" / "hut" / "objectnav").rows
    assert {row["object_id"] for row in rows} == {"chair-1"}
    assert len({(row["start_position_x"], row["start_position_y"], row["start_rotation_qz"], row["start_rotation_qw"]) for row in rows}) == len(rows)


def test_object_experts_end_looking_at_the_object(hut):
    block = Workshop.open(Source(hut, "spot", "object", 0)).make(0)
    assert 0 < len(block.experts) <= SLICE
    for row, trajectory in block.experts:
        x, y, _, yaw = trajectory.poses[-1]
        aside = np.array([row.goal.x - x, row.goal.y - y])
        assert np.hypot(*aside) <= 1.0
        assert np.cos(yaw - np.arctan2(aside[1], aside[0])) == pytest.approx(1.0)


def test_image_experts_end_with_the_goals_heading(hut):
    block = Workshop.open(Source(hut, "spot", "image", 0)).make(0)
    headings = {heading_rad(k) for k in range(6)}
    for row, trajectory in block.experts:
        assert row.goal.yaw_rad in headings
        assert row.start.yaw_rad in headings
        assert np.cos(trajectory.poses[-1, 3] - row.goal.yaw_rad) == pytest.approx(1.0)


def test_the_episodes_of_a_file_are_driven_in_their_order(hut, written, tmp_path):
    world = load(hut)
    episodes = from_navarena(written[0], world=world).episodes
    save_episodes(episodes, tmp_path / "e.json")
    source = Source(hut, "spot", "point", episodes=tmp_path / "e.json")
    write_experts(source, tmp_path / "again", 130, now=NOON)
    before, after = (read_task(folder / TASK).rows for folder in (written[0], tmp_path / "again"))
    assert [row["start_position_x"] for row in after] == [row["start_position_x"] for row in before]
    assert [row["geodesic_distance"] for row in after] == pytest.approx([row["geodesic_distance"] for row in before], abs=0.3)
    with pytest.raises(EpisodeError, match="no image episodes"):
        Workshop.open(Source(hut, "spot", "image", episodes=tmp_path / "e.json"))
    other = EpisodeSet.model_validate(episodes.model_dump() | {"episodes": [episodes.episodes[0].model_dump() | {"world": "barn"}]})
    save_episodes(other, tmp_path / "o.json")
    with pytest.raises(EpisodeError, match="another world"):
        Workshop.open(Source(hut, "spot", "point", episodes=tmp_path / "o.json"))


def test_what_experts_did_makes_references_an_oracle_can_follow(hut, written):
    world = load(hut)
    episodes = from_navarena(written[0], world=world).episodes
    assert max(len(e.reference.path) for e in episodes.episodes) < 200
    few = episodes.model_copy(update={"episodes": episodes.episodes[::20]})
    assert calibrate(few, load_suite("navarena"), Grounds.of(world, embodiment("spot"))).oracle == 1.0


def test_nothing_to_make_is_an_error(hut, tmp_path, points, monkeypatch):
    monkeypatch.setattr(Workshop, "make", lambda self, block: workshops.Block([], workshops.Counter(unreachable=1)))
    with pytest.raises(EpisodeError, match="no expert could be made"):
        write_experts(Source(hut, "spot", "point", 5), tmp_path, 10, workshop=points)
    assert not (tmp_path / TASK / "meta").exists()


@pytest.mark.slow
def test_two_processes_make_the_same_bytes(hut, points, written, tmp_path):
    write_experts(Source(hut, "spot", "point", 5), tmp_path, 130, workshop=points, workers=2, chunk_size=40, now=NOON)
    assert digests(tmp_path) == digests(written[0])


@pytest.mark.slow
def test_a_dead_process_is_told_and_the_run_can_go_on(hut, points, tmp_path, monkeypatch):
    source = Source(hut, "spot", "point", 5)
    monkeypatch.setattr(workshops, "_make", os._exit)
    with pytest.raises(UserError, match="a worker process died"):
        write_experts(source, tmp_path, 130, workshop=points, workers=2)
    monkeypatch.undo()
    assert write_experts(source, tmp_path, 130, workshop=points).total == 130


def counted(checkpoint: Path) -> int:
    """Episodes that a checkpoint counts; it is not there before the first and after the last."""
    try:
        return read_meta(checkpoint, Checkpoint).episodes
    except EpisodeError as error:
        if not error.what.endswith("is missing"):
            raise
        return 0


@pytest.mark.slow
def test_killed_at_any_moment_the_command_goes_on(hut, tmp_path):
    def command(folder, count):
        return [
            sys.executable,
            "-c",
            "from portico.cli.main import main; main()",
            "episodes",
            "experts",
            str(hut),
            "--out",
            str(folder),
            "--pairs",
            str(count),
            "--workers",
            "2",
        ]

    checkpoint = tmp_path / "a" / TASK / ".train_checkpoint.json"
    for at_least in (1, 1500):
        process = subprocess.Popen(command(tmp_path / "a", 3500), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if counted(checkpoint) >= at_least:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    for folder in (tmp_path / "a", tmp_path / "b"):
        subprocess.run(command(folder, 3500), check=True, capture_output=True)
    for name in ("data", "meta/episodes.parquet"):
        found = [digests(folder / TASK / name) or (folder / TASK / name).read_bytes() for folder in (tmp_path / "a", tmp_path / "b")]
        assert found[0] == found[1]
    assert pq.read_table(tmp_path / "a" / TASK / "meta" / "episodes.parquet").num_rows == 3500
