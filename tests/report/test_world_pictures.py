"""Maps and contact sheets of worlds: what is written, where the pictures are taken from."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from report_samples import corner

from portico.errors import StorageError, UnknownName
from portico.interface import Camera
from portico.render import Renderer
from portico.report.footing import Footing
from portico.report.viewpoints import choose_viewpoints
from portico.report.world_pictures import draw_world, levels_with_rooms
from portico.robots import embodiment

WORLD = corner()


@pytest.fixture(scope="module")
def viewpoints():
    return choose_viewpoints(WORLD, Renderer(WORLD), embodiment("spot").cameras[0], 16)


def test_files_and_sizes(tmp_path) -> None:
    written = draw_world(WORLD, tmp_path / "pictures", frames=4)
    assert [p.name for p in written] == ["map-level-0.png", "map-level-1.png", "contact-sheet.png"]
    assert max(Image.open(written[0]).size) == 1600
    assert Image.open(written[2]).size[0] > 1200
    assert levels_with_rooms(WORLD) == [0, 1]


def test_every_kind_of_subject_gets_its_turn(viewpoints) -> None:
    assert {v.kind for v in viewpoints} >= {"storefront", "room", "door", "crosswalk", "square", "street"}
    assert "Corner Cafe, storefront" in [v.caption for v in viewpoints]
    assert "Maple House, bedroom, level 1" in [v.caption for v in viewpoints]
    assert len(viewpoints) <= 16


def test_cameras_stand_on_the_ground_and_out_of_things(viewpoints) -> None:
    footing = Footing(WORLD)
    for v in viewpoints:
        assert footing.height(v.pose.position[:2], v.pose.z, 0.01) == pytest.approx(v.pose.z, abs=1e-6)
        assert footing.clear_of_objects(v.pose.position)
        if v.kind != "room":
            assert footing.annotations.inside(v.pose.position[None])[0] < 0 or v.kind == "stairs"


def test_the_storefront_is_looked_at(viewpoints) -> None:
    v = next(v for v in viewpoints if v.kind == "storefront")
    to_front = np.array([27.5, 0.0]) - v.pose.position[:2]
    assert v.pose.y < -3.0
    assert np.dot(to_front / np.linalg.norm(to_front), [np.cos(v.pose.yaw_rad), np.sin(v.pose.yaw_rad)]) > 0.99


def test_same_world_same_pictures(viewpoints) -> None:
    assert choose_viewpoints(corner(), Renderer(corner()), embodiment("spot").cameras[0], 16) == viewpoints


def test_footing_takes_the_nearest_floor() -> None:
    footing = Footing(WORLD)
    assert footing.height(np.array([5.0, 4.0]), 0.1) == pytest.approx(0.0)
    assert footing.height(np.array([5.0, 4.0]), 3.0) == pytest.approx(3.2)
    assert footing.height(np.array([200.0, 4.0]), 0.0) is None
    assert not footing.clear_of_objects(np.array([27.5, 6.0, 0.0]))
    assert footing.clear_of_objects(np.array([27.5, 6.0, 3.2]))


def test_mistakes(tmp_path) -> None:
    with pytest.raises(UnknownName, match="spot"):
        draw_world(WORLD, tmp_path, robot="spott")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="pictures"):
        draw_world(WORLD, tmp_path / "file" / "pictures", frames=1)


def test_a_blocked_view_is_not_taken() -> None:
    renderer = Renderer(WORLD)
    for v in choose_viewpoints(WORLD, renderer, embodiment("spot").cameras[0], 8):
        camera = Camera("small", 64, 48, np.pi / 2, 0.35, 0.0, 0.7)
        depth = renderer.render(v.pose.matrix() @ camera.T_base_camera(), camera, ("depth",)).depth
        assert (depth[:36] < 0.5).mean() < 0.3
