"""Captured worlds: the same interface as triangle worlds, seen through their Gaussians."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from portico.build.captures import gaussians_of
from portico.build.primitives import box
from portico.build.scene import Scene
from portico.errors import UnknownName, WorldError
from portico.geometry import camera_transform
from portico.interface import Camera
from portico.render import CHANNELS, CaptureRenderer, Renderer, overview, renderer_of
from portico.world import ObjectInstance, Provenance, Surface

CAMERA = Camera("front", 64, 48, float(np.deg2rad(70.0)))
AT = camera_transform(-2.0, 0.0, 0.5, 0.0, 0.0)


@pytest.fixture(scope="module")
def pair():
    scene = Scene()
    blue = scene.material("blue", (0.1, 0.2, 0.7))
    scene.add_mesh(*box((1.0, 0.0, 0.5), (1.0, 1.0, 1.0)), surface=Surface.FURNITURE, instance=scene.instance("crate", "crate-1"), material=blue)
    scene.objects.append(ObjectInstance(id="crate-1", category="crate", center=(1.0, 0.0, 0.5), size=(1.0, 1.0, 1.0)))
    mesh = scene.world("crate", "indoor", Provenance(source="test", licence="CC0-1.0"))
    return mesh, replace(mesh, appearance=replace(mesh.appearance, gaussians=gaussians_of(mesh, spacing_m=0.03)))


def test_a_world_chooses_its_renderer(pair):
    assert isinstance(renderer_of(pair[0]), Renderer)
    assert isinstance(renderer_of(pair[1]), CaptureRenderer)
    with pytest.raises(WorldError, match="no capture"):
        CaptureRenderer(pair[0])


def test_both_see_the_same_thing(pair):
    mesh, capture = (renderer_of(world).render(AT, CAMERA, CHANNELS) for world in pair)
    both = np.isfinite(mesh.depth) & np.isfinite(capture.depth)
    assert both.sum() > 0.9 * np.isfinite(mesh.depth).sum()
    assert np.abs(mesh.depth[both] - capture.depth[both]).max() < 0.03
    assert (mesh.instance[both] == capture.instance[both]).all()
    assert (mesh.semantic[both] == capture.semantic[both]).all()
    assert np.abs(mesh.rgb[both].astype(int) - capture.rgb[both]).mean() < 20
    assert not capture.normal.any()


def test_channels_are_checked_and_only_those_asked_for_are_there(pair):
    renderer = renderer_of(pair[1])
    frame = renderer.render(AT, CAMERA, ["semantic"])
    assert frame.rgb is None
    assert frame.instance is None
    assert frame.semantic is not None
    with pytest.raises(UnknownName, match="channel"):
        renderer.render(AT, CAMERA, ["heat"])
    assert len(renderer.render_many([AT, AT], [CAMERA, CAMERA], ["depth"])) == 2
    assert renderer.photograph(AT, CAMERA).shape == (48, 64, 3)


def test_the_map_of_a_capture_is_north_up_and_to_scale(pair):
    image, frame = overview(pair[1], size_px=200, bounds=(0.0, -1.0, 3.0, 1.0))
    blue = image[:, :, 2].astype(int) > image[:, :, 0].astype(int) + 30
    rows, columns = np.flatnonzero(blue.any(axis=1)), np.flatnonzero(blue.any(axis=0))
    (left, top), (right, bottom) = frame.to_pixels([[0.5, 0.5], [1.5, -0.5]])
    assert columns[0] == pytest.approx(left, abs=4)
    assert columns[-1] == pytest.approx(right, abs=4)
    assert rows[0] == pytest.approx(top, abs=4)
    assert rows[-1] == pytest.approx(bottom, abs=4)
