"""Labels of a NavArena file become objects of a capture, as lifted ones do."""

from __future__ import annotations

import json

import numpy as np
import pytest
from labelled_rooms import ROBOT, RoomOfThings, capture_of, chair

from portico.build.lifting import label_from_file
from portico.build.navarena.labels import labels_of
from portico.errors import ImportFailed, WorldError


@pytest.fixture(scope="module")
def furnished():
    mesh = RoomOfThings().put("chair", chair(1.5, 1.0)).put("box", [((0.3, 2.8, 0.0), (0.8, 3.3, 0.5))]).world()
    return mesh, capture_of(mesh)


def label(number, category, position, **more):
    return {"instance_id": number, "category": category, "position": position, "confidence": 1.0, "source": "ground_truth", **more}


def written(folder, labels):
    (folder / "labels.json").write_text(json.dumps({"schema_version": "1.0", "labels": labels}))
    return folder / "labels.json"


def test_labels_become_objects_and_mark_their_gaussians(furnished, tmp_path):
    mesh, capture = furnished
    (tmp_path / "labels.json").write_text(json.dumps(labels_of(mesh)))
    found = label_from_file(capture, tmp_path / "labels.json", ROBOT).world
    assert [o.id for o in found.semantics.objects] == [o.id for o in mesh.semantics.objects]
    assert all(o.building == "capture" and o.floor == "capture:0" for o in found.semantics.objects)
    box = next(label.id for label in found.semantics.instances if label.category == "box")
    inside = (np.abs(found.appearance.gaussians.means - [0.55, 3.05, 0.25]) <= 0.25).all(axis=1)
    assert (found.appearance.gaussians.instance[inside] == box).all()


def test_what_a_model_said_is_written_again(furnished, tmp_path):
    path = written(tmp_path, [label(1, "lamp", [1.0, 1.0, 1.0], confidence=0.4, source="model_predicted"), label(2, "chair", [1.7, 1.2, 0.5])])
    again = labels_of(label_from_file(furnished[1], path, ROBOT).world)["labels"]
    assert [(entry["confidence"], entry["source"]) for entry in again] == [(0.4, "model_predicted"), (1.0, "ground_truth")]


def test_labels_nobody_can_be_sent_to_are_counted(furnished, tmp_path):
    labels = [
        label(1, "chair", [1.7, 1.2, 0.5]),
        label(2, "lamp", [40.0, 1.0, 0.5]),
        label(3, "lamp", [1.0, 1.0, -9.0]),
        label(4, "wall", [0.0, 2.0, 1.0]),
        label(5, "unknown", [1.0, 2.0, 1.0]),
    ]
    found = label_from_file(furnished[1], written(tmp_path, labels), ROBOT)
    assert [o.id for o in found.world.semantics.objects] == ["1"]
    text = "\n".join(found.lines)
    assert "1 of 5 labels became objects" in text
    assert "2 labels left out: their position lies outside of the world" in text
    assert "1 labels left out: part of the building" in text
    assert "unknown" in text
    assert any(entry.category == "wall" and entry.object is None for entry in found.world.semantics.instances)


def test_a_file_that_fits_nowhere_is_refused(furnished, tmp_path):
    with pytest.raises(ImportFailed, match="no label became an object") as refusal:
        label_from_file(furnished[1], written(tmp_path, [label(1, "chair", [90.0, 1.0, 0.5])]), ROBOT)
    assert "outside of the world" in str(refusal.value)


def test_a_mesh_world_and_a_missing_file_are_refused(furnished, tmp_path):
    with pytest.raises(WorldError, match="only a capture"):
        label_from_file(furnished[0], tmp_path / "labels.json", ROBOT)
    with pytest.raises(ImportFailed, match="cannot be opened"):
        label_from_file(furnished[1], tmp_path / "labels.json", ROBOT)
