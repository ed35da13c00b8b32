"""Odd options around captures: a message with its option, exit 1, nothing written."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

from portico.build import build_capture
from portico.build.captures import import_splat
from portico.build.splats import write_ply
from portico.cli.main import application
from portico.episodes.navarena import TrajectoryWriter
from portico.errors import EpisodeError, ImportFailed, UserError
from portico.world import save

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def cafe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cafe")
    world = save(build_capture(2, "cafe", spacing_m=0.1), folder / "world")
    write_ply(world.appearance.gaussians, folder / "cafe.ply")
    return folder


def refused(*arguments):
    result = RUNNER.invoke(application(), [str(a) for a in arguments])
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


@pytest.mark.parametrize("voxel", ["0", "-1", "nan", "inf", "1e-9"])
def test_voxels_of_no_size(cafe, tmp_path, voxel):
    assert "--voxel" in refused("world", "import", "splat", cafe / "cafe.ply", "--up", "z", "--out", tmp_path / "w", f"--voxel={voxel}")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("floor", ["nan", "inf", "low"])
def test_floors_at_no_height(cafe, tmp_path, floor):
    assert "--floor" in refused("world", "import", "splat", cafe / "cafe.ply", "--out", tmp_path / "w", f"--floor={floor}")


@pytest.mark.parametrize("scale", ["100", "0.01"])
def test_a_scale_off_by_a_hundred_names_the_size_and_the_factor(cafe, tmp_path, scale):
    message = refused("world", "import", "splat", cafe / "cafe.ply", "--up", "z", "--out", tmp_path / "w", "--scale", scale)
    assert "m across at" in message
    assert "--scale 1 would make it" in message


def test_outputs_that_are_taken_are_refused_before_the_work(cafe, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    assert "not empty" in refused("world", "import", "splat", cafe / "nothing.ply", "--out", tmp_path / "taken")
    (tmp_path / "mine.ply").write_text("mine")
    assert "already" in refused("world", "splat", cafe / "world", "--out", tmp_path / "mine.ply")
    assert (tmp_path / "mine.ply").read_text() == "mine"
    assert ".xyz" in refused("world", "splat", cafe / "world", "--out", tmp_path / "a.xyz")


def test_a_mesh_in_other_axes_is_refused(cafe, tmp_path):
    boxes = trimesh.creation.box((12.0, 12.0, 3.0))
    boxes.apply_transform(trimesh.transformations.rotation_matrix(-np.pi / 2, (1, 0, 0)))
    boxes.export(tmp_path / "y-up.ply")
    with pytest.raises(ImportFailed, match="does not lie where"):
        import_splat(cafe / "cafe.ply", up="z", mesh=tmp_path / "y-up.ply")


@pytest.mark.parametrize("scene", ["../evil", "/tmp/evil", "a/../b", "a//b", ""])
def test_scenes_stay_within_their_dataset(tmp_path, scene):
    with pytest.raises(EpisodeError, match="no path of a scene"):
        TrajectoryWriter(tmp_path / "data" / "x", dataset_name="d", scene_path=scene, task_type="pointnav", split="train")
    assert not (tmp_path / "data").exists()
