"""Voxels of one category that touch are one part, as a plain labelling of the grid finds; large Gaussians reach across voxels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from portico.build.lifting.islands import VOXEL_M, cells_of, parts_of
from portico.world import Gaussians

NOBODY = np.zeros((1, 1), np.bool_)


def gaussians_at(points, scale=0.01, rotation=(1.0, 0.0, 0.0, 0.0)):
    count = len(points)
    return Gaussians(
        np.asarray(points, np.float32),
        np.tile(np.float32(rotation), (count, 1)),
        np.tile(np.broadcast_to(np.float32(scale), 3), (count, 1)),
        np.full(count, 0.9, np.float32),
        np.zeros((count, 1, 3), np.float32),
        np.zeros(count, np.int32),
    )


@given(arrays(np.int8, (5, 6, 4), elements=st.sampled_from([0, 0, 0, 1, 2])))
def test_parts_are_those_of_a_plain_labelling(grid):
    index = np.argwhere(grid > 0)
    category = grid[tuple(index.T)].astype(np.int32)
    cells = cells_of(gaussians_at((index + 0.5) * VOXEL_M), np.arange(len(index)), category)
    part = parts_of(cells, np.zeros(len(index), np.int64), NOBODY)
    for kind in (1, 2):
        plain = ndimage.label(grid == kind, structure=np.ones((3, 3, 3)))[0]
        mine, true = part[cells.category == kind], plain[tuple(cells.index[cells.category == kind].T)]
        assert len(set(zip(mine.tolist(), true.tolist(), strict=True))) == len(set(mine.tolist())) == len(set(true.tolist()))


def test_large_gaussians_join_what_lies_within_their_reach():
    points = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]]
    for scale, parts in (((0.01, 0.01, 0.01), 2), ((0.16, 0.01, 0.01), 1), ((0.01, 0.16, 0.01), 2)):
        cells = cells_of(gaussians_at(points, scale), np.arange(2), np.ones(2, np.int32))
        assert parts_of(cells, np.zeros(2, np.int64), NOBODY).max() + 1 == parts
    turned = gaussians_at(points, (0.01, 0.16, 0.01), (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)))
    assert parts_of(cells_of(turned, np.arange(2), np.ones(2, np.int32)), np.zeros(2, np.int64), NOBODY).max() == 0


def test_what_views_showed_as_two_stays_two_and_the_unknown_goes_to_one():
    row = np.column_stack([np.arange(12) * VOXEL_M + 0.01, np.zeros(12), np.zeros(12)])
    thing = np.array([1] * 5 + [0, 0] + [2] * 5)
    cells = cells_of(gaussians_at(row), np.arange(12), np.ones(12, np.int32))
    apart = np.array([[False, False, False], [False, True, True], [False, True, True]])
    part = parts_of(cells, thing, apart)
    assert len(set(part.tolist())) == 2
    assert part[0] == part[4] != part[7] == part[11]
    assert parts_of(cells, thing, np.zeros((3, 3), np.bool_)).max() == 0
