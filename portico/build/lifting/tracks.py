"""Which masks of different views show the same thing: each view counts its things anew, and every Gaussian follows the majority."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix

#: Masks of fewer Gaussians are noise; two show one thing when they share this much of the smaller one.
_LEAST_MASK, _LEAST_SHARED = 8, 0.5


def follow(pairs: Sequence[NDArray[np.int64]], gaussians: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The thing of every Gaussian, from what each view calls it.

    Masks are joined by falling overlap, never two of one view; then each Gaussian goes to the thing that most of its views name.

    Args:
        pairs: per view, (P, 2): a Gaussian and the view's number for the thing that it is part of.

    Returns:
        (N,) things, 0 where no view tells; and (T + 1, T + 1) whether some view showed two things at once, and so as two.
    """
    members, view = _masks(pairs, gaussians)
    thing = _joined(members, view)
    count = int(thing.max(initial=0))
    named = coo_matrix((np.ones(len(thing), np.int64), (np.arange(len(thing)), thing)), shape=(len(thing), count + 1)).tocsr()
    votes = (members.T @ named).tocsr()
    result = np.zeros(gaussians, np.int64)
    if votes.nnz:
        result = np.where(votes.getnnz(axis=1) > 0, np.asarray(votes.argmax(axis=1)).ravel(), 0)
    shown = coo_matrix((np.ones(len(thing), np.int64), (view, thing)), shape=(len(pairs), count + 1)).tocsr()
    return result, np.asarray((shown.T @ shown).toarray() > 0)


def _masks(pairs: Sequence[NDArray[np.int64]], gaussians: int) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Masks as rows over Gaussians, (M, N), and the view of each (M,)."""
    rows, columns, views = [], [], []
    count = 0
    for number, pair in enumerate(pairs):
        _, mask, size = np.unique(pair[:, 1], return_inverse=True, return_counts=True)
        large = size >= _LEAST_MASK
        place = np.where(large, count + np.cumsum(large) - 1, -1)[mask.ravel()]
        rows.append(place[place >= 0])
        columns.append(pair[place >= 0, 0])
        views.append(np.full(int(large.sum()), number))
        count += int(large.sum())
    row, column = np.concatenate(rows), np.concatenate(columns)
    return coo_matrix((np.ones(len(row), np.int64), (row, column)), shape=(count, gaussians)).tocsr(), np.concatenate(views)


def _joined(members: csr_matrix, view: NDArray[np.int64]) -> NDArray[np.int64]:
    """(M,) things from 1 on: masks joined by falling overlap unless their groups hold masks of one view."""
    shared = coo_matrix(members @ members.T)
    size = members.getnnz(axis=1)
    upper = (shared.row < shared.col) & (view[shared.row] != view[shared.col])
    a, b = shared.row[upper], shared.col[upper]
    overlap = shared.data[upper] / np.minimum(size[a], size[b])
    order = np.lexsort((b, a, -shared.data[upper], -np.round(overlap, 6)))
    group = np.arange(len(view))
    views = [{int(v)} for v in view]
    for k in order[overlap[order] >= _LEAST_SHARED]:
        first, second = group[a[k]], group[b[k]]
        if first != second and views[first].isdisjoint(views[second]):
            group[group == second] = first
            views[first] |= views[second]
    return np.asarray(np.unique(group, return_inverse=True)[1].ravel() + 1)
