"""Gaussians made from a mesh lie on it, cover it and carry its labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from portico.build import RECIPES
from portico.build.captures import gaussians_of
from portico.build.primitives import box
from portico.build.scene import Scene
from portico.errors import WorldError
from portico.world import Provenance, Surface
from portico.world.gaussians import SH_C0


@pytest.fixture(scope="module")
def crate():
    scene = Scene()
    red = scene.material("red", (0.6, 0.1, 0.1))
    scene.add_mesh(*box((1.0, 0.5, 0.25), (2.0, 1.0, 0.5)), surface=Surface.FURNITURE, instance=scene.instance("crate"), material=red)
    return scene.world("crate", "outdoor", Provenance(source="test", licence="CC0-1.0"))


def test_they_lie_on_the_surface_facing_out(crate):
    gaussians = gaussians_of(crate, spacing_m=0.05)
    on_side = np.isclose(gaussians.means, [0.0, 0.0, 0.0], atol=1e-6) | np.isclose(gaussians.means, [2.0, 1.0, 0.5], atol=1e-6)
    assert on_side.any(axis=1).all()
    w, x, y, z = gaussians.rotations_wxyz.T
    axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    outward = np.where(np.isclose(gaussians.means, 0.0, atol=1e-6), -1.0, 0.0) + np.where(np.isclose(gaussians.means, [2.0, 1.0, 0.5], atol=1e-6), 1.0, 0.0)
    once = np.abs(outward).sum(axis=1) == 1
    assert np.allclose(axis[once], outward[once], atol=1e-5)
    assert set(gaussians.instance.tolist()) == set(crate.geometry.instance.tolist())


def test_no_hole_is_wider_than_the_spacing(crate):
    gaussians = gaussians_of(crate, spacing_m=0.05)
    grid = np.stack(np.meshgrid(np.arange(0.0, 2.0, 0.01), np.arange(0.0, 1.0, 0.01), [0.5]), axis=-1).reshape(-1, 3)
    gap, _ = cKDTree(gaussians.means).query(grid)
    assert gap.max() < 0.06
    assert gaussians.scales_m[:, :2].max() < 0.06


def test_the_same_world_gives_the_same_gaussians(crate):
    first, second = gaussians_of(crate), gaussians_of(crate)
    assert all(np.array_equal(getattr(first, n), getattr(second, n)) for n in ("means", "rotations_wxyz", "scales_m", "sh"))


def test_colours_are_lit_and_in_range(crate):
    color = gaussians_of(crate).sh[:, 0] * SH_C0 + 0.5
    assert color.min() >= -1e-6
    assert color.max() <= 1.0 + 1e-6
    assert (color[:, 0] > color[:, 1]).all()


def test_an_apartment_keeps_every_label():
    world = RECIPES["indoor"](3)
    gaussians = gaussians_of(world, spacing_m=0.1)
    assert set(np.unique(gaussians.instance)) == set(np.unique(world.geometry.instance))


@pytest.mark.parametrize("spacing", [0.0, -1.0, 1e-5])
def test_impossible_spacings_are_refused(crate, spacing):
    with pytest.raises(WorldError, match="spacing"):
        gaussians_of(crate, spacing_m=spacing)
