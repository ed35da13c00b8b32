"""Episode sets in NavArena's files: out and back, and what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hut import build
from navarena_samples import NOON, drive, row, writer

from portico.episodes.navarena import (
    Trajectory,
    from_navarena,
    read_task,
    to_navarena,
)
from portico.errors import EpisodeError
from portico.tasks.episode import Episode, EpisodeSet, Reference, StageSpec, Start
from portico.world import load


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
