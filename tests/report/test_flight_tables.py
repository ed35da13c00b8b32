"""Tables and maps of runs over satellite maps, from run folders written by hand."""

import numpy as np
import pytest

from portico.episodes import save_episodes
from portico.evaluate.records import Key, RecordWriter, write_json
from portico.report.flights import frame_of, grounded, grounded_way, is_flight
from portico.report.runs import load_run
from portico.report.studies import STUDIES
from portico.tasks.episode import Episode, EpisodeSet, Flight, Reference, StageSpec, Start
from portico.tasks.trajectory import Trajectory

#: id -> task, subtype, style, whether it was done.
ASKED = {
    "b-0": ("boundary", "loop", "natural", True),
    "b-1": ("boundary", "arc", "formal", False),
    "b-2": ("boundary", "loop", "formal", True),
    "r-0": ("route", "hybrid", "natural", False),
}


def question(name):
    task, subtype, style, _ = ASKED[name]
    return Episode(
        id=name,
        world="w",
        task=task,
        embodiment="flyer",
        start=Start(position=(8.0, 47.0, 50.0), yaw_rad=0.0),
        stages=[StageSpec(kind=task, instruction="Fly.", goal=(8.001, 47.0, 50.0))],
        reference=Reference(path=[(8.0, 47.0, 50.0), (8.001, 47.0, 50.0)], length_m=75.8, stage_ends=[1]),
        flight=Flight(subtype=subtype, style=style, side="left" if task == "boundary" else None),
    )


@pytest.fixture
def run(tmp_path):
    write_json(tmp_path / "run.json", {"suite": {"name": "s", "split": "eval"}, "policy": "p", "worlds": {"w": {"hash": "h", "folder": "gone"}}, "planned": 4})
    save_episodes(EpisodeSet(suite="s", world="w", world_hash="h", episodes=[question(n) for n in ASKED]), tmp_path / "episodes" / "w.json")
    for name, (task, _, _, done) in ASKED.items():
        key = Key("s", "eval", "w", name)
        measures = {"success": float(done), "spl": 0.9 * done, "oracle_success": 1.0, "outline_followed": 0.75 if task == "boundary" else None}
        RecordWriter(tmp_path, 0).append(
            {
                "key": key.as_dict(),
                "task": task,
                "status": "success" if done else "failure",
                "reason": "success" if done else "failed_declaration",
                "measures": measures,
                "unscored": {} if task == "boundary" else {"outline_followed": "no_outline"},
                "stages": 1,
                "completed": int(done),
            }
        )
    return load_run(tmp_path)


def test_success_is_told_by_subtype_style_and_world(run):
    study = STUDIES["flights"]
    assert study.applies([run])
    tables = {t.title: t for t in study.tables([run])}
    boundary = tables["Success by subtype: boundary"]
    assert boundary.grid.heads == ["loop", "arc", "all"]
    assert [cell.text for cell in boundary.grid.rows[0].cells] == ["100 %", "0 %", "67 %"]
    assert tables["Success by style of the instruction"].grid.heads == ["natural", "formal", "all"]
    assert [cell.text for cell in tables["Success by style of the instruction"].grid.rows[0].cells] == ["50 %", "50 %", "50 %"]
    assert tables["Success by world"].grid.heads == ["w", "all"]
    assert all(cell.interval for table in tables.values() if table.title.startswith("Success") for cell in table.grid.rows[0].cells)


def test_path_fidelity_stands_beside_success(run):
    fidelity = next(t for t in STUDIES["flights"].tables([run]) if t.title.startswith("How closely"))
    column = fidelity.grid.heads.index("outline followed ↑")
    assert [row.cells[0].text for row in fidelity.grid.rows] == ["boundary", "route"]
    assert fidelity.grid.rows[0].cells[column].text == "0.75"
    assert "no outline" in fidelity.grid.rows[1].cells[column].note


def test_flights_are_drawn_in_metres_around_their_start_when_the_world_is_gone():
    episode = question("b-0")
    assert is_flight(episode)
    frame = frame_of(None, episode)
    flat = grounded(episode, frame)
    assert flat.start.position == (0.0, 0.0, 0.0)
    assert flat.stages[0].goal == pytest.approx((76.06, 0.0, 0.0), abs=0.05)
    assert flat.reference.path[1] == pytest.approx(flat.stages[0].goal)
    n = 2
    way = Trajectory(
        np.array(episode.reference.path),
        np.zeros(n),
        np.arange(2.0),
        np.arange(2, dtype=np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, bool),
        np.array([1], np.int32),
        np.ones(n, bool),
    )
    np.testing.assert_allclose(grounded_way(way, frame).position, flat.reference.path, atol=1e-9)
