import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_splats import AHEAD, SMALL, ball, gaussians_of, harmonics, slow_splats, some_gaussians, together

from portico.build.splats import read_splats
from portico.errors import UnknownName
from portico.geometry import Pose
from portico.interface import Camera
from portico.render.splats import SplatRenderer

ALL = ("rgb", "depth", "instance", "alpha")


def assert_agrees(fast, slow, gaussians):
    sure = ~slow.doubtful
    assert np.abs(fast.alpha - slow.alpha)[sure].max(initial=0.0) < 1 / 255
    assert np.abs(fast.rgb / 255.0 - slow.rgb)[sure].max(initial=0.0) < 1 / 255
    assert (np.isfinite(fast.depth) == np.isfinite(slow.depth))[sure].all()
    hit = sure & np.isfinite(slow.depth)
    # What lies behind the last ten-thousandth of light is left out.
    np.testing.assert_allclose(fast.depth[hit], slow.depth[hit], rtol=2e-3, atol=2e-4 * np.linalg.norm(gaussians.means, axis=1).max(initial=0.0))
    assert_labels_agree(fast.instance, slow, gaussians, hit)


def assert_labels_agree(instance, slow, gaussians, where):
    """The label shown is that of a Gaussian which counts as much as any, to rounding."""
    counts = np.where(instance[:, :, None] == gaussians.instance, slow.weight, 0.0).max(axis=2, initial=0.0)
    assert (counts >= slow.weight.max(axis=2, initial=0.0) - 1e-3)[where].all()


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 40), degree=st.integers(0, 3))
def test_every_pixel_agrees_with_the_naive_sum(seed, count, degree):
    rng = np.random.default_rng(seed)
    gaussians = some_gaussians(rng, count, degree, low_m=(-1.0, 3.0))
    pose = Pose(*rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.3, 0.3)).matrix() @ Camera(pitch_rad=rng.uniform(-0.3, 0.3)).T_base_camera()
    background = tuple(rng.uniform(0.0, 1.0, 3))
    fast = SplatRenderer(gaussians, background=background).render(pose, SMALL, ALL)
    assert_agrees(fast, slow_splats(gaussians, pose, SMALL, background), gaussians)


@pytest.mark.parametrize(
    ("low_m", "log_sizes"),
    [
        pytest.param((0.19, 0.23), (-6.0, -2.0), id="at the near plane"),
        pytest.param((-3.0, -0.1), (-3.0, 1.0), id="behind the camera"),
        pytest.param((0.5, 30.0), (1.0, 5.0), id="huge"),
        pytest.param((0.3, 3.0), (-9.0, 1.5), id="needles and discs"),
        pytest.param((0.3, 3.0), (-12.0, -9.0), id="smaller than a pixel"),
    ],
)
@pytest.mark.parametrize("opacity", [None, 1.0, 0.01])
def test_unusual_gaussians_agree_with_the_naive_sum(low_m, log_sizes, opacity):
    for seed in range(6):
        gaussians = some_gaussians(np.random.default_rng(seed), 25, 1, low_m=low_m, log_sizes=log_sizes, opacity=opacity)
        assert_agrees(SplatRenderer(gaussians).render(AHEAD, SMALL, ALL), slow_splats(gaussians, AHEAD, SMALL), gaussians)


@pytest.mark.parametrize("name", ["plant.splat", "tower.spz"])
def test_real_captures_agree_with_the_naive_sum(shared, name):
    """Harmonics of degree 0 and 3; a tenth of the plant and of the tower, from outside."""
    gaussians = read_splats(shared / "data" / "splat" / name).gaussians
    some = gaussians.chosen(np.random.default_rng(0).choice(len(gaussians), 2000, replace=False))
    low, high = np.percentile(some.means, [5, 95], axis=0)
    pose = Pose(*(low + high) / 2).matrix() @ Camera(x=-1.2 * float(np.linalg.norm(high - low)), z=0.0).T_base_camera()
    assert_agrees(SplatRenderer(some, background=(1.0, 1.0, 1.0)).render(pose, SMALL, ALL), slow_splats(some, pose, SMALL, (1.0, 1.0, 1.0)), some)


@pytest.mark.parametrize("field", ["means", "rotations_wxyz", "scales_m", "opacity"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, 0.0])
def test_broken_gaussians_do_not_spoil_the_rest(field, value):
    """Readers refuse them; should one come through, it is not drawn, or at least hurts no memory."""
    good, broken = ball((1.0, 0, 0), 0.2), ball((0.9, 0.3, 0))
    getattr(broken, field)[:] = value
    frame = SplatRenderer(together(good, broken)).render(AHEAD, SMALL, ALL)
    assert np.isfinite(frame.alpha).all()
    if np.isnan(value):
        np.testing.assert_array_equal(frame.rgb, SplatRenderer(good).render(AHEAD, SMALL, ["rgb"]).rgb)


def test_a_needle_across_the_image_is_a_clean_line():
    sh = np.full((1, 1, 3), 1.0)
    turn = [np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0]
    needle = gaussians_of([[2.0, 0.0, 0.0]], [turn], [[0.01, 500.0, 0.01]], [0.9], sh, [1])
    camera = Camera(width=320, height=320)
    alpha = SplatRenderer(needle).render(Pose(0, 0).matrix() @ Camera(z=0.0).T_base_camera(), camera, ["alpha"]).alpha
    rows, columns = np.indices(alpha.shape)
    assert (alpha[np.abs(rows - columns) <= 1] > 0.6).all()
    assert (alpha[np.abs(rows - columns) > 15] == 0.0).all()


def test_a_gaussian_stands_where_projection_says():
    camera = Camera(width=64, height=48, z=0.0)
    for name, center, (row, column) in [
        ("ahead", (2.0, 0.0, 0.0), (24, 32)),
        ("left", (2.0, 1.0, 0.0), (24, 16)),
        ("right", (2.0, -1.0, 0.0), (24, 48)),
        ("up", (2.0, 0.0, 1.0), (8, 32)),
        ("down", (2.0, 0.0, -1.0), (40, 32)),
    ]:
        frame = SplatRenderer(ball(center)).render(Pose(0, 0).matrix() @ camera.T_base_camera(), camera, ["alpha", "depth"])
        middle = np.average(np.indices(frame.alpha.shape).reshape(2, -1) + 0.5, axis=1, weights=frame.alpha.ravel())
        np.testing.assert_allclose(middle, (row, column), atol=0.05, err_msg=name)
        assert frame.depth[row, column] == pytest.approx(2.0)
    seen_from_behind = SplatRenderer(ball((2.0, 0.0, 0.0))).render(Pose(0, 0, 0, np.pi).matrix() @ camera.T_base_camera(), camera, ["alpha"])
    assert (seen_from_behind.alpha == 0.0).all()


def test_opacity_falls_as_a_normal_distribution_does():
    camera = Camera(width=201, height=201, z=0.0)
    sigma_px = 0.2 / 2.0 * camera.focal_px
    alpha = SplatRenderer(ball((2.0, 0.0, 0.0), 0.2, opacity=0.8)).render(Pose(0, 0).matrix() @ camera.T_base_camera(), camera, ["alpha"]).alpha
    offset = np.arange(201) - 100.0
    expected = 0.8 * np.exp(-0.5 * offset**2 / (sigma_px**2 + 0.3))
    np.testing.assert_allclose(alpha[100], np.where(expected >= 1 / 255, expected, 0.0), atol=1e-4)


def test_nearer_hides_farther_and_background_shows_through_the_rest():
    camera = Camera(width=9, height=9, z=0.0)
    pose = Pose(0, 0).matrix() @ camera.T_base_camera()
    near, far = ball((1.0, 0, 0), 1.0, color=(1, 0, 0), opacity=0.4, instance=3), ball((2.0, 0, 0), 2.0, color=(0, 1, 0), opacity=0.6, instance=7)
    for both in (together(near, far), together(far, near)):
        frame = SplatRenderer(both, background=(0.0, 0.0, 1.0)).render(pose, camera, ALL)
        np.testing.assert_allclose(frame.rgb[4, 4], [102, 91.8, 61.2], atol=1)
        assert frame.depth[4, 4] == pytest.approx(2.0), "the nearer one hides less than half"
        assert frame.instance[4, 4] == 3


def test_at_the_same_depth_the_lower_index_goes_first():
    camera = Camera(width=9, height=9, z=0.0)
    red, green = (ball((1.0, 0, 0), 1.0, color=c, opacity=0.6) for c in ((1, 0, 0), (0, 1, 0)))
    colors = [
        SplatRenderer(both).render(Pose(0, 0).matrix() @ camera.T_base_camera(), camera, ["rgb"]).rgb[4, 4]
        for both in (together(red, green), together(green, red))
    ]
    np.testing.assert_allclose(colors, [[153, 61, 0], [61, 153, 0]], atol=1)


def test_little_opacity_gives_no_depth_and_no_label():
    frame = SplatRenderer(ball((1.0, 0, 0), 1.0, opacity=0.4)).render(AHEAD, SMALL, ALL)
    assert np.isinf(frame.depth).all()
    assert (frame.instance == 0).all()
    assert frame.alpha.max() == pytest.approx(0.4, abs=1e-3)


def test_only_channels_asked_for_are_there_and_unknown_ones_are_named():
    renderer = SplatRenderer(ball((1.0, 0, 0)))
    frame = renderer.render(AHEAD, SMALL, ["depth"])
    assert frame.depth.dtype == np.float32
    assert frame.rgb is None
    assert frame.alpha is None
    with pytest.raises(UnknownName, match="normals"):
        renderer.render(AHEAD, SMALL, ["normals"])
    with pytest.raises(ValueError, match="near_m"):
        SplatRenderer(ball((1.0, 0, 0)), near_m=0.0)
    with pytest.raises(ValueError, match="not finite"):
        renderer.render(AHEAD * np.nan, SMALL, ["rgb"])


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_images_are_the_same_for_any_number_of_threads(monkeypatch, threads):
    gaussians = some_gaussians(np.random.default_rng(5), 9000, 2, low_m=(0.1, 6.0), log_sizes=(-5.0, -2.0))
    renderer, camera = SplatRenderer(gaussians), Camera(width=200, height=150)
    monkeypatch.setattr("portico.render.splats.renderer.get_num_threads", lambda: 1)
    one = renderer.render(AHEAD, camera, ALL)
    monkeypatch.setattr("portico.render.splats.renderer.get_num_threads", lambda: threads)
    many = renderer.render(AHEAD, camera, ALL)
    for channel in ALL:
        np.testing.assert_array_equal(getattr(one, channel), getattr(many, channel))


def test_spherical_harmonics_are_orthonormal():
    rng = np.random.default_rng(0)
    rays = rng.normal(size=(400_000, 3))
    basis = harmonics(rays / np.linalg.norm(rays, axis=1, keepdims=True))
    np.testing.assert_allclose(4 * np.pi * basis.T @ basis / len(rays), np.eye(16), atol=0.03)


def test_a_first_degree_lobe_shines_away_from_its_axis():
    """Coefficient 3 is that of -x: seen along +x the colour loses it, seen along -x it gains."""
    sh = np.zeros((1, 4, 3))
    sh[0, 3, 0] = 0.5
    lobe = gaussians_of([[0.0, 0.0, 0.0]], [[1, 0, 0, 0]], [[0.3] * 3], [1.0], sh, [1])
    camera = Camera(width=9, height=9, z=0.0)
    from_west, from_east = (
        SplatRenderer(lobe).render(Pose(x, 0, 0, yaw).matrix() @ camera.T_base_camera(), camera, ["rgb"]).rgb[4, 4] for x, yaw in ((-2, 0), (2, np.pi))
    )
    np.testing.assert_allclose(from_west / 0.99, [255 * (0.5 - 0.4886 * 0.5), 127.5, 127.5], atol=1.5)
    np.testing.assert_allclose(from_east / 0.99, [255 * (0.5 + 0.4886 * 0.5), 127.5, 127.5], atol=1.5)
