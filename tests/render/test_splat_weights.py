import numpy as np
import pytest
from slow_splats import AHEAD, SMALL, ball, slow_splats, some_gaussians

from portico.interface import Camera
from portico.render.splats import SplatRenderer


@pytest.fixture(scope="module")
def gaussians():
    return some_gaussians(np.random.default_rng(11), 60, 0, low_m=(0.3, 4.0), log_sizes=(-4.0, -1.0))


@pytest.fixture(scope="module")
def slow(gaussians):
    return slow_splats(gaussians, AHEAD, SMALL)


def test_the_strongest_are_the_naive_sums_largest(gaussians, slow):
    found = SplatRenderer(gaussians).weights(AHEAD, SMALL, top=3)
    expected = -np.sort(-slow.weight, axis=2)[:, :, :3]
    np.testing.assert_allclose(found.weight[~slow.doubtful], expected[~slow.doubtful], atol=1e-3)
    assert ((found.gaussian < 0) == (found.weight == 0.0)).all()
    own = np.take_along_axis(slow.weight, np.maximum(found.gaussian, 0), axis=2)
    np.testing.assert_allclose(np.where(found.gaussian < 0, 0.0, own)[~slow.doubtful], found.weight[~slow.doubtful], atol=1e-3)


def test_all_weights_of_a_pixel_add_up_to_its_alpha(gaussians):
    renderer = SplatRenderer(gaussians)
    found = renderer.weights(AHEAD, SMALL, top=len(gaussians))
    np.testing.assert_allclose(found.weight.sum(axis=2), renderer.render(AHEAD, SMALL, ["alpha"]).alpha, atol=1e-5)


def test_weights_are_summed_per_gaussian_and_label(gaussians, slow):
    labels = np.random.default_rng(3).integers(-2, 5, (SMALL.height, SMALL.width))
    total = SplatRenderer(gaussians).accumulate(AHEAD, SMALL, labels, 4)
    expected = np.stack([slow.weight[labels == label].sum(axis=0) for label in range(4)], axis=1)
    np.testing.assert_allclose(total, expected, rtol=2e-3, atol=0.05)
    assert total.dtype == np.float32


def test_views_add_up_in_place(gaussians):
    renderer, labels = SplatRenderer(gaussians), np.zeros((SMALL.height, SMALL.width), np.int64)
    once = renderer.accumulate(AHEAD, SMALL, labels, 2)
    total = once.copy()
    assert renderer.accumulate(AHEAD, SMALL, labels, 2, into=total) is total
    np.testing.assert_allclose(total, 2 * once, rtol=1e-6)


@pytest.mark.parametrize("threads", [2, 5])
def test_sums_are_the_same_for_any_number_of_threads(monkeypatch, threads):
    renderer = SplatRenderer(some_gaussians(np.random.default_rng(5), 5000, 0, low_m=(0.1, 6.0), log_sizes=(-5.0, -2.0)))
    camera = Camera(width=200, height=150)
    labels = np.random.default_rng(6).integers(0, 9, (150, 200))
    monkeypatch.setattr("portico.render.splats.renderer.get_num_threads", lambda: 1)
    one = renderer.accumulate(AHEAD, camera, labels, 9), *renderer.weights(AHEAD, camera)
    monkeypatch.setattr("portico.render.splats.renderer.get_num_threads", lambda: threads)
    many = renderer.accumulate(AHEAD, camera, labels, 9), *renderer.weights(AHEAD, camera)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)


def test_arrays_that_do_not_fit_are_refused():
    renderer, labels = SplatRenderer(ball((1.0, 0, 0))), np.zeros((SMALL.height, SMALL.width), np.int32)
    with pytest.raises(ValueError, match="label_image"):
        renderer.accumulate(AHEAD, SMALL, labels[:5], 3)
    with pytest.raises(ValueError, match="into"):
        renderer.accumulate(AHEAD, SMALL, labels, 3, into=np.zeros((1, 3)))
    with pytest.raises(ValueError, match="top"):
        renderer.weights(AHEAD, SMALL, top=0)
