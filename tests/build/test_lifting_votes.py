"""Votes of views: the kernels agree with a slow count, strong labels are never lost, masks of many views are followed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from portico.build.lifting.evidence import _cast, _support, _tally
from portico.build.lifting.tracks import follow


def slow_tally(gaussian, weight, labels):
    found = defaultdict(lambda: defaultdict(float))
    for (r, c, k), g in np.ndenumerate(gaussian):
        if labels[r, c] > 0 and g >= 0:
            found[int(g)][int(labels[r, c])] += float(weight[r, c, k])
    return found


@given(st.integers(0, 2**32 - 1))
def test_a_view_counts_weight_by_gaussian_and_label(seed):
    rng = np.random.default_rng(seed)
    gaussian = rng.integers(-1, 12, (6, 7, 3)).astype(np.int32)
    weight, labels = rng.random((6, 7, 3)).astype(np.float32), rng.integers(-1, 6, (6, 7)).astype(np.int32)
    row = np.full(12, -1, np.int32)
    seen, label, votes = _tally(gaussian, weight, labels, row)
    assert (row == -1).all()
    slow = slow_tally(gaussian, weight, labels)
    assert sorted(seen.tolist()) == sorted(slow)
    for k, g in enumerate(seen):
        mine = {int(a): v for a, v in zip(label[k], votes[k], strict=True) if a >= 0}
        assert mine.keys() == slow[int(g)].keys()
        assert all(abs(mine[a] - slow[int(g)][a]) < 1e-4 for a in mine)


@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0.125, 1.0)), min_size=1, max_size=80))
def test_a_label_with_more_than_a_seventh_of_the_votes_is_kept(cast):
    label, votes, total = np.full((1, 6), -1, np.int32), np.zeros((1, 6), np.float32), np.zeros(1, np.float32)
    true = defaultdict(float)
    for name, amount in cast:
        _cast(np.zeros(1, np.int32), np.array([[name, -1, -1, -1, -1, -1]], np.int32), np.array([[amount, 0, 0, 0, 0, 0]], np.float32), label, votes, total)
        true[name] += np.float32(amount)
    whole = sum(true.values())
    assert abs(total[0] - whole) < 1e-3
    for name, amount in true.items():
        kept = float(votes[0][label[0] == name].sum())
        assert amount - whole / 7 - 1e-3 <= kept <= amount + 1e-3


@given(arrays(np.int64, (5, 6), elements=st.integers(0, 3)))
def test_a_pixel_counts_by_what_its_neighbours_say(labels):
    padded = np.pad(labels, 1, mode="edge")
    slow = [[((padded[r : r + 3, c : c + 3] == labels[r, c]).sum() - 1) / 8 for c in range(6)] for r in range(5)]
    np.testing.assert_allclose(_support(labels), np.square(slow), atol=1e-6)


def test_masks_are_followed_though_every_view_counts_anew():
    rng = np.random.default_rng(0)
    true = np.repeat([1, 2, 3], 100)
    pairs = []
    for _view in range(6):
        part = np.sort(rng.choice(300, 200, replace=False))
        number = rng.permutation(10)[true[part]] + 1
        wrong = rng.random(200) < 0.1
        number[wrong] = rng.permutation(number[wrong])
        pairs.append(np.stack([part, number], axis=1))
    thing, apart = follow(pairs, 310)
    groups = [np.bincount(thing[true_id : true_id + 100]).argmax() for true_id in (0, 100, 200)]
    assert len(set(groups)) == 3
    assert all((thing[first : first + 100] == group).mean() > 0.95 for first, group in zip((0, 100, 200), groups, strict=True))
    assert (thing[300:] == 0).all()
    assert apart[groups[0], groups[1]]


def test_halves_that_no_view_showed_together_are_not_held_apart():
    left, right = np.stack([np.arange(50), np.full(50, 4)], axis=1), np.stack([np.arange(50, 100), np.full(50, 4)], axis=1)
    thing, apart = follow([left, right], 100)
    assert thing[0] != thing[99]
    assert not apart[thing[0], thing[99]]
