"""Points spread over triangles lie on them, leave no hole, and share one lattice where two halves make a rectangle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from portico.build import RECIPES
from portico.build.captures.generated import build_capture
from portico.build.captures.spread import cover, sample
from portico.robots import embodiment
from portico.space import build_space

coordinate = st.floats(-3.0, 3.0)
point = st.tuples(coordinate, coordinate, coordinate)


def placed(triangles, face, weights):
    return (weights[:, :, None] * triangles[face]).sum(axis=1)


@given(st.tuples(point, point, point))
def test_points_lie_in_their_triangle_and_leave_no_hole(corners):
    triangles = np.array([corners], float)
    area = 0.5 * np.linalg.norm(np.cross(triangles[0, 1] - triangles[0, 0], triangles[0, 2] - triangles[0, 0]))
    face, weights = cover(triangles, 0.1)
    assert (weights >= -1e-9).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    if area < 1e-6:
        return
    _, inside = sample("probe", np.array([400]))
    gap, _ = cKDTree(placed(triangles, face, weights)).query(placed(triangles, np.zeros(400, int), inside))
    assert gap.max() <= 0.21


def test_two_halves_of_a_rectangle_share_a_lattice():
    a, b, c, d = np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], float)
    triangles = np.array([[a, b, c], [c, d, a]])
    points = placed(triangles, *cover(triangles, 0.05))
    lattice = points[np.abs(points[:, 0] - 2.0 * points[:, 1]) > 1e-6]
    rows, columns = np.unique(np.round(lattice[:, 0], 6)), np.unique(np.round(lattice[:, 1], 6))
    assert (len(rows), len(columns)) == (40, 20)
    np.testing.assert_allclose([rows[0], rows[-1], columns[0], columns[-1]], [0.025, 1.975, 0.025, 0.975])
    assert 800 <= len(points) <= 930


def test_the_capture_recipe_knows_its_rooms_and_can_be_walked():
    world = RECIPES["capture"](5, program="cafe", spacing_m=0.08)
    assert world.manifest.content_hash == build_capture(5, "cafe", spacing_m=0.08).manifest.content_hash
    labels = {label.id for label in world.semantics.instances}
    assert set(np.unique(world.appearance.gaussians.instance)) | set(np.unique(world.geometry.instance)) <= labels
    assert len(world.semantics.objects) > 20
    assert build_space(world, embodiment("spot")).roomy.sum() * 0.05**2 > 20.0
