"""From votes to one category per Gaussian, or none where views disagree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from portico.build.lifting.evidence import Evidence

#: A label needs so much of one vote, and to lead the second by this share of all votes.
LEAST_VOTES, LEAST_LEAD = 0.25, 0.2
#: A Gaussian of which nobody is sure takes after the nearest one that is, if it lies this near.
_REACH_M = 0.08


class Fused(NamedTuple):
    """Of N Gaussians.

    Attributes:
        category: (N,) int32, 0 where views are silent or disagree. votes: (N,) float32, how many views' worth agree.
        share: (N,) float32, of all votes.
    """

    category: NDArray[np.int32]
    votes: NDArray[np.float32]
    share: NDArray[np.float32]


def fuse(evidence: Evidence) -> Fused:
    """The label that clearly leads at each Gaussian."""
    order = np.argsort(-evidence.votes, axis=1, kind="stable")[:, :2]
    label, votes = np.take_along_axis(evidence.label, order, 1), np.take_along_axis(evidence.votes, order, 1)
    total = np.maximum(evidence.total, 1e-6)
    clear = (votes[:, 0] >= LEAST_VOTES) & (votes[:, 0] - votes[:, 1] >= LEAST_LEAD * total)
    return Fused(np.where(clear, label[:, 0], 0).astype(np.int32), votes[:, 0], (votes[:, 0] / total).astype(np.float32))


def spread(instance: NDArray[np.int32], means: NDArray[np.float32]) -> NDArray[np.int32]:
    """(N,) instances in which every 0 has given way to the instance of the nearest Gaussian within 8 cm that has one."""
    known, wanting = np.flatnonzero(instance), np.flatnonzero(instance == 0)
    result = instance.copy()
    if len(known) and len(wanting):
        gap, nearest = cKDTree(means[known]).query(means[wanting], distance_upper_bound=_REACH_M)
        near = np.isfinite(gap)
        result[wanting[near]] = instance[known[nearest[near]]]
    return result
