"""A turned capture looks from the turned side as the old one looked from the old side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from splat_samples import captures, covariances, random_gaussians

from portico.build.splats import evaluate_basis, turned
from portico.build.splats.harmonics import band_rotations
from portico.errors import ImportFailed

rotations = st.integers(0, 2**32 - 1).map(lambda seed: Rotation.random(rng=np.random.default_rng(seed)).as_matrix())


def similarity(rotation, scale=1.0, shift=(0.0, 0.0, 0.0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = scale * rotation, shift
    return T


def directions(seed, count=20):
    vectors = np.random.default_rng(seed).normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(gaussians=captures(), rotation=rotations, seed=st.integers(0, 1000))
def test_turned_colours_in_turned_directions_are_the_old_colours(gaussians, rotation, seed):
    after = turned(gaussians, similarity(rotation, 2.5, (1.0, -2.0, 3.0)))
    views = directions(seed)
    before = np.einsum("mk,nkc->nmc", evaluate_basis(views, gaussians.degree), gaussians.sh)
    again = np.einsum("mk,nkc->nmc", evaluate_basis(views @ rotation.T, gaussians.degree), after.sh)
    assert np.allclose(before, again, atol=2e-6)


@given(gaussians=captures(), rotation=rotations, scale=st.floats(0.01, 100.0))
def test_shapes_and_centres_turn_together(gaussians, rotation, scale):
    shift = np.array([1.0, -2.0, 3.0])
    after = turned(gaussians, similarity(rotation, scale, shift))
    assert np.allclose(after.means, scale * gaussians.means.astype(float) @ rotation.T + shift, rtol=1e-6, atol=1e-6)
    expected = scale**2 * rotation @ covariances(gaussians) @ rotation.T
    assert np.allclose(covariances(after), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    assert np.array_equal(after.opacity, gaussians.opacity)


@given(first=rotations, second=rotations)
def test_turning_twice_is_turning_by_the_product(first, second):
    gaussians = random_gaussians(0, 10, 3)
    twice = turned(turned(gaussians, similarity(first, 2.0, (1, 0, 0))), similarity(second, 0.5, (0, 1, 0)))
    once = turned(gaussians, similarity(second, 0.5, (0, 1, 0)) @ similarity(first, 2.0, (1, 0, 0)))
    assert np.allclose(twice.means, once.means, atol=1e-5)
    assert np.allclose(twice.sh, once.sh, atol=1e-5)
    assert np.allclose(np.abs((twice.rotations_wxyz * once.rotations_wxyz).sum(axis=1)), 1.0, atol=1e-6)


@given(rotation=rotations)
def test_bands_turn_without_loss(rotation):
    for degree, matrix in enumerate(band_rotations(rotation, 3), start=1):
        assert matrix.shape == (2 * degree + 1, 2 * degree + 1)
        assert np.allclose(matrix @ matrix.T, np.eye(2 * degree + 1), atol=1e-10)


def test_harmonics_are_orthonormal():
    # Gauss-Legendre in z times even steps in azimuth is exact for these polynomials.
    nodes, weights = np.polynomial.legendre.leggauss(8)
    azimuth = np.arange(16) * np.pi / 8
    z, a = (each.ravel() for each in np.meshgrid(nodes, azimuth, indexing="ij"))
    views = np.column_stack([np.sqrt(1 - z * z) * np.cos(a), np.sqrt(1 - z * z) * np.sin(a), z])
    basis = evaluate_basis(views, 3)
    assert np.allclose(basis.T @ (basis * (np.repeat(weights, 16) * np.pi / 8)[:, None]), np.eye(16), atol=1e-12)


def test_the_first_degree_has_the_signs_of_inria():
    first = evaluate_basis(np.eye(3), 1)[:, 1:]
    assert np.allclose(first, 0.4886025 * np.array([[0, 0, -1], [-1, 0, 0], [0, 1, 0]]), atol=1e-6)


def test_nothing_changes_without_a_turn():
    gaussians = random_gaussians(4, 30, 3)
    same = turned(gaussians, np.eye(4))
    assert np.array_equal(same.means, gaussians.means)
    assert np.allclose(same.sh, gaussians.sh, atol=1e-6)
    assert np.allclose(same.rotations_wxyz, gaussians.rotations_wxyz, atol=1e-6)


@pytest.mark.parametrize(
    ("linear", "message"),
    [
        (np.diag([1.0, 1.0, -1.0]), "mirrors"),
        (np.diag([1.0, 2.0, 1.0]), "stretches"),
        (np.diag([1.0, 1.0, 0.0]), "flattens"),
        (np.full((3, 3), np.nan), "matrix"),
    ],
)
def test_what_is_no_similarity_is_refused(linear, message):
    T = np.eye(4)
    T[:3, :3] = linear
    with pytest.raises(ImportFailed, match=message):
        turned(random_gaussians(0, 3), T)
