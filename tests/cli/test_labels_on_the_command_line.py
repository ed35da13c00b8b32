"""Captures are labelled, as typed."""

import json
import sys
from pathlib import Path

import pytest
from test_cli import portico

sys.path.insert(0, str(Path(__file__).parents[1] / "build"))

from labelled_rooms import AROUND, RoomOfThings, capture_of, chair, label_views

from portico.build.lifting import write_label_views
from portico.world import load, save

__all__ = ["portico"]


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("room")
    mesh = RoomOfThings().put("chair", chair(1.5, 1.0)).put("box", [((0.3, 2.8, 0.0), (0.8, 3.3, 0.5))]).world()
    save(mesh, folder / "mesh")
    save(capture_of(mesh), folder / "capture")
    write_label_views(label_views(mesh, AROUND, wrong=0.05), mesh.semantics.categories(), folder / "views")
    return folder


def test_given_views_make_objects_that_episodes_ask_for(portico, room, tmp_path):
    labels = tmp_path / "labels.json"
    code, out, err = portico(
        "world", "label", room / "capture", "--views", room / "views", "--out", tmp_path / "w", "--robot", "turtlebot", "--write-labels", labels
    )
    assert code == 0, err
    assert "2 kept as objects" in out
    assert {o.category for o in load(tmp_path / "w").semantics.objects} == {"box", "chair"}
    written = json.loads(labels.read_text())["labels"]
    assert {entry["source"] for entry in written} == {"model_predicted"}
    assert all(0.6 < entry["confidence"] <= 1.0 for entry in written)
    code, _, err = portico(
        "episodes", "generate", tmp_path / "w", "--suite", "navarena", "--task", "object", "--count", 2, "--robot", "turtlebot", "--out", tmp_path / "e.json"
    )
    assert code == 0, err
    code, out, err = portico("world", "label", room / "capture", "--labels", labels, "--out", tmp_path / "again", "--robot", "turtlebot")
    assert code == 0, err
    assert [o.center for o in load(tmp_path / "again").semantics.objects] == [o.center for o in load(tmp_path / "w").semantics.objects]


def test_rendered_views_are_labelled_written_and_read_again(portico, room, tmp_path):
    labeller = f"noisy?share=0.1,mesh={room / 'mesh'}"
    options = ("--robot", "turtlebot", "--spacing", 2, "--headings", 4)
    code, out, err = portico("world", "label", room / "capture", "--labeller", labeller, "--out", tmp_path / "a", "--write-views", tmp_path / "v", *options)
    assert code == 0, err
    assert "privileged" in out
    assert any("privileged" in note for note in load(tmp_path / "a").manifest.notes)
    code, _, err = portico("world", "label", room / "capture", "--labeller", labeller, "--out", tmp_path / "b", *options)
    assert code == 0, err
    first, second = load(tmp_path / "a"), load(tmp_path / "b")
    assert first.manifest.content_hash == second.manifest.content_hash
    assert {o.category for o in first.semantics.objects} == {"box", "chair"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give one of --views"),
        (("--views", "views", "--labels", "labels.json"), "give one of --views"),
        (("--labeller", "thruth?mesh=mesh"), "did you mean 'truth'"),
        (("--labeller", "truth"), "needs 'mesh'"),
        (("--labeller", "truth?mesh=nowhere"), "not a world"),
        (("--views", "nowhere"), "cameras.json cannot be opened"),
        (("--labels", "nowhere.json"), "nowhere.json cannot be opened"),
        (("--views", "views", "--robot", "turtlebo"), "did you mean 'turtlebot'"),
        (("--views", "views", "--vocabulary", "words.txt"), "unknown category 'box'"),
        (("--labeller", "truth?mesh=mesh", "--vocabulary", "words.txt"), "unknown category 'box'"),
        (("--views", "views", "--vocabulary", "nowhere.txt"), "vocabulary cannot be read"),
    ],
)
def test_wrong_wishes_leave_nothing_behind(portico, room, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(room)
    (room / "words.txt").write_text("floor\nwall\nchair\nboxes\n")
    code, _, err = portico("world", "label", "capture", "--out", tmp_path / "out", *arguments)
    assert code == 1
    assert words in err
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_not_replaced_unasked(portico, room, tmp_path):
    (tmp_path / "labels.json").write_text("mine")
    code, _, err = portico("world", "label", room / "capture", "--views", room / "views", "--out", tmp_path / "w", "--write-labels", tmp_path / "labels.json")
    assert code == 1
    assert "--overwrite" in err
    code, _, err = portico("world", "label", room / "capture", "--views", room / "views", "--out", room / "mesh")
    assert code == 1
    assert "--overwrite" in err
