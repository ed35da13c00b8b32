"""Labellers: all that are registered keep the contract, options and plug-ins are checked, noise is as much as was asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
import pytest
from labelled_rooms import CAMERA, ROBOT, RoomOfThings, capture_of, look

from portico.build.lifting import SURVEY, LabelImage, Noisy, Survey, Truth, create_labeller, describe_labellers, labeller_names, labellers, survey_poses
from portico.errors import ImportFailed, UnknownName, UserError
from portico.interface import Frame
from portico.space import build_space
from portico.testing import NotConformant, check_labeller
from portico.world import save


@pytest.fixture(scope="module")
def mesh():
    return RoomOfThings().put("box", [((2.0, 2.0, 0.0), (2.6, 2.6, 0.6))]).world()


class Bright:
    """Calls whatever is bright a lamp."""

    needs = frozenset({"rgb"})
    categories: ClassVar = {4: "lamp"}
    privileged = False

    def label(self, T_world_camera, frame):
        return LabelImage(np.where(frame.rgb.mean(axis=2) > 120, 4, 0))


@pytest.mark.parametrize("name", labeller_names())
def test_registered_labellers_keep_the_contract(name, mesh):
    options = {"mesh": mesh} if name in ("truth", "noisy") else {}
    check_labeller(lambda: create_labeller(name, **options))
    assert describe_labellers()[name]


def test_a_labeller_of_pictures_keeps_the_contract():
    check_labeller(Bright)


def broken(**parts):
    return type("Broken", (Bright,), parts)


@pytest.mark.parametrize(
    ("labeller", "word"),
    [
        (broken(categories={}), "empty"),
        (broken(categories={0: "wall"}), "below 1"),
        (broken(categories={1: " "}), "no text"),
        (broken(needs=frozenset({"thermal"})), "thermal"),
        (broken(label=lambda self, T, frame: LabelImage(np.zeros((3, 3), int))), "(3, 3)"),
        (broken(label=lambda self, T, frame: LabelImage(np.full(frame.rgb.shape[:2], 9))), "without a name"),
        (broken(label=lambda self, T, frame: LabelImage(np.random.default_rng().choice([0, 4], frame.rgb.shape[:2]))), "two ways"),
        (broken(label=lambda self, T, frame: frame.rgb.fill(0) or LabelImage(np.zeros(frame.rgb.shape[:2], int))), "changed"),
        (broken(label=lambda self, T, frame: 1 / 0), "ZeroDivisionError"),
        (broken(label=lambda self, T, frame: frame.rgb), "LabelImage"),
        (object, "lacks"),
    ],
)
def test_breaches_are_named(labeller, word):
    with pytest.raises(NotConformant) as refusal:
        check_labeller(labeller)
    assert word in str(refusal.value)


def test_truth_needs_a_mesh_world(mesh, tmp_path):
    save(mesh, tmp_path / "mesh")
    made = create_labeller(f"truth?mesh={tmp_path / 'mesh'}")
    assert made.categories == mesh.semantics.categories()
    with pytest.raises(UserError, match="needs 'mesh'"):
        create_labeller("truth")
    with pytest.raises(UserError, match="mesh world"):
        Truth(capture_of(mesh))


def test_unknown_names_and_options_get_the_closest():
    with pytest.raises(UnknownName, match="truth"):
        create_labeller("thruth")
    with pytest.raises(UnknownName, match="mesh"):
        create_labeller("truth?mehs=x")
    with pytest.raises(UserError, match="cannot read the option"):
        create_labeller("truth?mesh")
    with pytest.raises(UserError, match="share"):
        Noisy(Bright(), share="many")
    with pytest.raises(UserError, match="between 0 and 1"):
        Noisy(Bright(), share=1.5)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_noise_is_as_much_as_was_asked_for(mesh, share):
    true, noisy = Truth(mesh), Noisy(Truth(mesh), share=share, seed=2)
    frame, wrong = Frame(CAMERA), []
    for x in np.linspace(0.5, 4.5, 12):
        T = look(x, 0.5, 1.2, (2.5, 2.0))
        wrong.append((noisy.label(T, frame).labels != true.label(T, frame).labels).mean())
    # Some wrong labels are right by chance, and some pixels are wronged twice.
    assert 0.6 * share <= np.mean(wrong) <= 1.2 * share


def test_a_survey_looks_all_around_everywhere(mesh):
    capture = capture_of(mesh)
    space = build_space(capture, ROBOT)
    poses = survey_poses(space, spacing_m=1.5, headings=4)
    assert len(poses) % 4 == 0
    at = np.array([T[:3, 3] for T in poses])
    assert np.allclose(at[:, 2], SURVEY.z, atol=0.05)
    reached = space.nodes_xyz[space.node_component == 0]
    assert np.linalg.norm(reached[:, None, :2] - at[None, ::4, :2], axis=2).min(axis=1).max() < 1.6
    views = list(Survey(capture, Bright(), poses[:3], SURVEY))
    assert [v.labels.shape for v in views] == [(SURVEY.height, SURVEY.width)] * 3
    with pytest.raises(UserError, match="surveyed"):
        survey_poses(space, headings=0)


def test_plug_ins_are_found_and_their_faults_named(monkeypatch):
    points = [EntryPoint("bright", f"{__name__}:Bright", labellers.ENTRY_POINT_GROUP), EntryPoint("gone", "no_such_module:X", labellers.ENTRY_POINT_GROUP)]
    monkeypatch.setattr(labellers, "entry_points", lambda group: points)
    assert {"bright", "gone"} <= set(labeller_names())
    assert create_labeller("bright").categories == {4: "lamp"}
    with pytest.raises(ImportFailed, match="cannot be imported"):
        create_labeller("gone")
