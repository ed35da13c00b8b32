from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_scenes import camera_pose, red_ahead_green_left
from slow_splats import AHEAD, SMALL, ball, slow_splats, some_gaussians, together
from test_splat_pictures import ALL, assert_agrees

from portico.errors import UnknownName
from portico.interface import Camera, Frame
from portico.render import Renderer
from portico.render.splats import MixedRenderer, SplatRenderer, choose_renderer, gpu

CAMERA = Camera(width=64, height=48, z=0.5)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_opaque_things_hide_what_is_behind_them_to_the_pixel(seed):
    rng = np.random.default_rng(seed)
    gaussians = some_gaussians(rng, 30, 1)
    shape = (SMALL.height, SMALL.width)
    surface = np.where(rng.random(shape) < 0.8, rng.uniform(0.3, 4.0, shape), np.inf).astype(np.float32)
    behind = Frame(SMALL, rng.integers(0, 256, (*shape, 3)).astype(np.uint8), surface)
    fast = SplatRenderer(gaussians).render(AHEAD, SMALL, ("rgb", "depth", "alpha"), behind=behind)
    slow = slow_splats(gaussians, AHEAD, SMALL, surface=surface, behind=behind.rgb / 255.0)
    sure = ~slow.doubtful
    assert np.abs(fast.alpha - slow.alpha)[sure].max() < 1 / 255
    assert np.abs(fast.rgb / 255.0 - slow.rgb)[sure].max() < 1 / 255
    hit = sure & np.isfinite(slow.depth)
    assert (np.isfinite(fast.depth) == np.isfinite(slow.depth))[sure].all()
    np.testing.assert_allclose(fast.depth[hit], slow.depth[hit], rtol=2e-3)


def test_nothing_behind_is_the_same_as_no_scenery():
    gaussians = some_gaussians(np.random.default_rng(1), 40, 2)
    empty = Frame(SMALL, np.zeros((29, 37, 3), np.uint8), np.full((29, 37), np.inf, np.float32), np.zeros((29, 37), np.int32))
    with_it, without = (SplatRenderer(gaussians).render(AHEAD, SMALL, ALL, behind=b) for b in (empty, None))
    for channel in ALL:
        np.testing.assert_array_equal(getattr(with_it, channel), getattr(without, channel))
    assert_agrees(with_it, slow_splats(gaussians, AHEAD, SMALL), gaussians)


def test_missing_or_misfitting_scenery_is_refused():
    renderer = SplatRenderer(ball((1.0, 0, 0)))
    with pytest.raises(ValueError, match=r"behind\.depth is missing"):
        renderer.render(AHEAD, SMALL, ["rgb"], behind=Frame(SMALL))
    with pytest.raises(ValueError, match=r"behind\.depth is \(3, 3\)"):
        renderer.render(AHEAD, SMALL, ["depth"], behind=Frame(SMALL, depth=np.ones((3, 3), np.float32)))


def test_a_world_and_a_capture_hide_each_other():
    """The red wall stands 4 m ahead: a ball before it is seen, one behind it is not."""
    world = Renderer(red_ahead_green_left())
    wall = world.world.semantics.instances[1]
    before, beyond = ball((2.0, 0.0, 0.5), 0.3, color=(0, 0, 1), opacity=1.0, instance=wall.id + 1), ball((6.0, 0.0, 0.5), 2.0, opacity=1.0)
    pose = camera_pose(CAMERA)
    channels = ("rgb", "depth", "instance", "semantic", "normal")
    alone = world.render(pose, CAMERA, channels)
    hidden = MixedRenderer(world, SplatRenderer(beyond)).render(pose, CAMERA, channels)
    np.testing.assert_array_equal(hidden.rgb[20:28, 20:40], alone.rgb[20:28, 20:40])
    np.testing.assert_allclose(hidden.depth[20:28, 20:40], alone.depth[20:28, 20:40], rtol=1e-6)
    mixed = MixedRenderer(world, SplatRenderer(together(before, beyond))).render(pose, CAMERA, channels)
    assert mixed.instance[24, 32] == wall.id + 1
    assert mixed.depth[24, 32] == pytest.approx(2.0, abs=0.1)
    assert mixed.rgb[24, 32, 2] > 240
    assert (mixed.normal[24, 32] == 0.0).all()
    np.testing.assert_array_equal(mixed.instance[24, 20], alone.instance[24, 20])
    np.testing.assert_array_equal(mixed.semantic[24, 20], alone.semantic[24, 20])
    np.testing.assert_array_equal(mixed.normal[24, 20], alone.normal[24, 20])


def test_a_world_shows_through_a_thin_capture():
    world = Renderer(red_ahead_green_left())
    veil = ball((2.0, 0.0, 0.5), 3.0, color=(0, 0, 1), opacity=0.4)
    pose = camera_pose(CAMERA)
    mixed = MixedRenderer(world, SplatRenderer(veil)).render(pose, CAMERA, ("rgb", "depth"))
    alone = world.render(pose, CAMERA, ("rgb", "depth"))
    np.testing.assert_allclose(mixed.rgb[24, 32], 0.6 * alone.rgb[24, 32] + np.array([0, 0, 102.0]), atol=1.5)
    assert mixed.depth[24, 32] == alone.depth[24, 32]
    assert mixed.instance is None
    with pytest.raises(UnknownName, match="alpha"):
        MixedRenderer(world, SplatRenderer(veil)).render(pose, CAMERA, ["alpha"])


def test_without_a_gpu_the_cpu_is_chosen_and_the_reason_given(monkeypatch):
    monkeypatch.setattr(gpu.importlib.util, "find_spec", lambda name: None)
    choice = choose_renderer(ball((1.0, 0, 0)))
    assert isinstance(choice.renderer, SplatRenderer)
    assert choice.reason == "CPU renderer: torch is not installed"


def test_a_gpu_library_that_does_not_load_is_named(monkeypatch):
    def load(name):
        raise OSError("libcudart.so.12: cannot open shared object file\nmore")

    monkeypatch.setattr(gpu.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(gpu.importlib, "import_module", load)
    assert gpu.why_no_gpu() == "gsplat does not load (OSError: libcudart.so.12: cannot open shared object file)"


class Wrong:
    """A GPU renderer that draws something, but not the same."""

    def __init__(self, gaussians, *, background=(0.0, 0.0, 0.0)):
        self.truth = SplatRenderer(gaussians)

    def render(self, pose, camera, channels):
        frame = self.truth.render(pose, camera, channels)
        return replace(frame, rgb=frame.rgb // 2)


class Broken(Wrong):
    def render(self, pose, camera, channels):
        raise RuntimeError("no kernel image is available for execution on the device\nmore")


@pytest.mark.parametrize(("renderer", "word"), [(Wrong, "levels of 255"), (Broken, "no kernel image")])
def test_a_gpu_that_draws_something_else_is_not_chosen(monkeypatch, renderer, word):
    monkeypatch.setattr(gpu, "why_no_gpu", lambda: "")
    monkeypatch.setattr(gpu, "GsplatRenderer", renderer)
    gpu.why_not_alike.cache_clear()
    choice = choose_renderer(ball((1.0, 0, 0)))
    gpu.why_not_alike.cache_clear()
    assert isinstance(choice.renderer, SplatRenderer)
    assert word in choice.reason


def test_a_gpu_that_draws_the_same_is_chosen(monkeypatch):
    monkeypatch.setattr(gpu, "why_no_gpu", lambda: "")
    monkeypatch.setattr(gpu, "GsplatRenderer", lambda gaussians, **_: SplatRenderer(gaussians))
    gpu.why_not_alike.cache_clear()
    assert choose_renderer(ball((1.0, 0, 0))).reason.startswith("gsplat on CUDA")
    gpu.why_not_alike.cache_clear()
