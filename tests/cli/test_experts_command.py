"""``portico episodes experts``: what a user types, reads and finds on the disk."""

import json

import pytest
from hut import build
from PIL import Image
from test_cli import portico

from portico.episodes.navarena import read_task

__all__ = ["portico"]


@pytest.fixture(scope="module")
def hut(tmp_path_factory):
    return build(tmp_path_factory.mktemp("hut"))


def test_experts_of_every_task_and_a_picture(hut, tmp_path, portico):
    options = ("--out", tmp_path / "data", "--pairs", 40, "--task", "point", "--task", "image", "--task", "object", "--picture", tmp_path / "seen.png")
    code, out, err = portico("episodes", "experts", hut, *options)
    assert code == 0, err
    assert "point: 40 experts" in out
    assert "path shorter than 1 m" in out
    for name in ("pointnav", "imagenav", "objectnav"):
        assert len(read_task(tmp_path / "data" / "portico" / "hut" / name).rows) == 40
    assert Image.open(tmp_path / "seen-object.png").width > 400
    assert json.loads((tmp_path / "data" / "dataset_meta.json").read_text())["task_types"] == ["pointnav", "imagenav", "objectnav"]
    code, out, _ = portico("episodes", "experts", hut, *options[:4])
    assert code == 0
    assert "0 of them made now" in out


def test_episodes_of_a_file_get_their_experts(hut, tmp_path, portico):
    file = tmp_path / "e.json"
    assert portico("episodes", "generate", hut, "--suite", "navarena", "--task", "object", "--count", 5, "--robot", "turtlebot", "--out", file)[0] == 0
    code, _out, err = portico("episodes", "experts", hut, "--out", tmp_path / "data", "--episodes", file, "--split", "val_unseen")
    assert code == 0, err
    data = read_task(tmp_path / "data" / "portico" / "hut" / "objectnav")
    assert data.info.generation_runs[0]["embodiment"] == "turtlebot"
    assert [row["episode_id"] for row in data.rows] == [f"val_unseen_{k:06d}" for k in range(5)]
    assert max(row["max_speed"] for row in data.rows) == pytest.approx(0.26, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--task", "pont"), "did you mean 'point'"),
        (("--split", "tarin"), "did you mean 'train'"),
        (("--robot", "sptot"), "did you mean 'spot'"),
        (("--episodes", "none.json"), "there is no episode file"),
        (("--episodes", "none.json", "--pairs", "3"), "give one of them"),
    ],
)
def test_mistakes_are_answered(hut, tmp_path, portico, options, said):
    code, _, err = portico("episodes", "experts", hut, "--out", tmp_path / "data", *options)
    assert code == 1
    assert said in " ".join(err.split())
    assert not (tmp_path / "data" / "dataset_meta.json").exists()
