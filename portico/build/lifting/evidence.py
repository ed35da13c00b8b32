"""What views say of Gaussians: votes cast by blending weight, at most one per view and Gaussian, kept for the strongest labels of each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.build.lifting.views import LabelView
from portico.geometry import Floats
from portico.interface import Camera
from portico.render.splats import SplatRenderer

#: Gaussians that share a pixel, and labels that a Gaussian remembers. What is behind the sixth hides a tenth of a pixel.
_LAYERS, _SLOTS = 6, 6
#: A pixel's label is about the surface that counts most there, not about what shimmers through from farther behind than this.
_BEHIND_M = 0.1
#: Share of a pixel's weight that one surface needs, so that the label is surely about it; and of a Gaussian's that one instance needs.
_CLEAR, _PURE = 0.9, 0.75
#: Blending weight, in pixels, that a Gaussian needs in a view for a whole vote.
_WHOLE_VOTE_PX = 0.5
#: A depth image keeps every so many pixels; it only answers what was seen through.
_DEPTH_STRIDE = 2


@dataclass(frozen=True)
class Sight:
    """How far a view saw, thinned.

    Attributes:
        T_world_camera: (4, 4). camera: of the thinned image. depth: (h, w) float32, z-depth, inf where the capture hides less than half.
    """

    T_world_camera: Floats
    camera: Camera
    depth: NDArray[np.float32]


@dataclass
class Evidence:
    """Votes on the labels of N Gaussians, view after view.

    A view has one vote per Gaussian, shared among labels by blending weight, so that a close look counts no more than a distant one; it
    is less than one where the Gaussian shows in less than half a pixel. Six labels are kept per Gaussian; when a seventh comes, the
    weakest ones give way as in Misra and Gries (1982), who prove that a label with more than a seventh of all votes is never lost.

    Attributes:
        label: (N, 6) int32, -1 where free. votes: (N, 6) float32. total: (N,) float32, all votes, those on forgotten labels too.
        sights: one per view. views: how many were added, ``useful`` how many of them saw a labelled Gaussian.
        pairs: per view with instances, (P, 2) int64: Gaussian and the instance that most of its weight lies on, where that is clear.
    """

    renderer: SplatRenderer
    label: NDArray[np.int32] = field(init=False)
    votes: NDArray[np.float32] = field(init=False)
    total: NDArray[np.float32] = field(init=False)
    sights: list[Sight] = field(default_factory=list)
    pairs: list[NDArray[np.int64]] = field(default_factory=list)
    views: int = 0
    useful: int = 0

    def __post_init__(self) -> None:
        count = len(self.renderer.gaussians)
        self.label = np.full((count, _SLOTS), -1, np.int32)
        self.votes = np.zeros((count, _SLOTS), np.float32)
        self.total = np.zeros(count, np.float32)
        self._row = np.full(count, -1, np.int32)

    def add(self, view: LabelView) -> None:
        """Let a view vote."""
        T, camera = np.asarray(view.T_world_camera, np.float64), view.camera
        gaussian, weight = self._surface(T, *self.renderer.weights(T, camera, _LAYERS))
        self.sights.append(self._sight(T, camera, gaussian, weight))
        seen, label, votes = self._tally(gaussian, weight * _support(view.labels)[:, :, None], view.labels)
        _cast(seen, label, votes, self.label, self.votes, self.total)
        self.views += 1
        self.useful += bool((votes > 0.0).any())
        if view.instances is not None:
            owners, instance, share = self._tally(gaussian, weight * _support(view.instances)[:, :, None], view.instances)
            first = (share[:, 0] > 0.0) & (share[:, 0] >= _PURE * share.sum(axis=1))
            self.pairs.append(np.stack([owners[first].astype(np.int64), instance[first, 0].astype(np.int64)], axis=1))

    def _surface(self, T: Floats, gaussian: NDArray[np.int32], weight: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Of the Gaussians (H, W, 6) of every pixel, strongest first, those of the first one's surface; weights of the others are 0.

        So are all of a pixel that shows two surfaces: the edge of one, and what lies behind. Its label may be about either.
        """
        z = ((self.renderer.gaussians.means - T[:3, 3].astype(np.float32)) @ T[:3, 2].astype(np.float32))[np.maximum(gaussian, 0)]
        front = np.where((gaussian >= 0) & (z <= z[:, :, :1] + _BEHIND_M), weight, np.float32(0.0))
        clear = front.sum(axis=2) >= _CLEAR * weight.sum(axis=2)
        return gaussian, np.where(clear[:, :, None], front, np.float32(0.0))

    def _tally(
        self, gaussian: NDArray[np.int32], weight: NDArray[np.float32], labels: NDArray[np.integer]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Of one view: the Gaussians that labelled pixels show (V,), their labels (V, 6), strongest first, and votes (V, 6)."""
        seen, label, votes = _tally(gaussian, weight, np.ascontiguousarray(labels, np.int32), self._row)
        order = np.argsort(-votes, axis=1, kind="stable")
        label, votes = np.take_along_axis(label, order, 1), np.take_along_axis(votes, order, 1)
        mass = votes.sum(axis=1, keepdims=True)
        return seen, label, votes / np.maximum(mass, _WHOLE_VOTE_PX)

    def _sight(self, T: Floats, camera: Camera, gaussian: NDArray[np.int32], weight: NDArray[np.float32]) -> Sight:
        some, shares = gaussian[::_DEPTH_STRIDE, ::_DEPTH_STRIDE], weight[::_DEPTH_STRIDE, ::_DEPTH_STRIDE]
        # No Gaussian at all counts as one of no weight.
        z = (self.renderer.gaussians.means[np.maximum(some, 0)] - T[:3, 3]) @ T[:3, 2]
        mass = shares.sum(axis=2)
        depth = np.where(mass >= 0.5, (z * shares).sum(axis=2) / np.maximum(mass, 1e-6), np.inf)
        # Each kept pixel stands for its own centre: half a pixel off would matter to nobody here.
        return Sight(T, camera.resized(some.shape[1], some.shape[0]), depth.astype(np.float32))


def _support(labels: NDArray[np.integer]) -> NDArray[np.float32]:
    """(H, W) how much each pixel counts: the square of the share of its eight neighbours that say the same. Lone wrong pixels fall silent."""
    padded = np.pad(labels, 1, mode="edge")
    height, width = labels.shape
    same = np.zeros(labels.shape, np.float32)
    for row in range(3):
        for column in range(3):
            same += padded[row : row + height, column : column + width] == labels
    return ((same - 1.0) / 8.0) ** 2


@njit(cache=True)
def _tally(gaussian, weight, labels, row):  # type: ignore[no-untyped-def]
    """Weight per visible Gaussian and label; ``row`` (N,) comes and goes as -1."""
    height, width, layers = gaussian.shape
    seen = np.empty(height * width * layers, np.int32)
    count = 0
    for r in range(height):
        for c in range(width):
            if labels[r, c] > 0:
                for k in range(layers):
                    g = gaussian[r, c, k]
                    if g >= 0 and row[g] < 0:
                        row[g] = count
                        seen[count] = g
                        count += 1
    label, votes = np.full((count, _SLOTS), -1, np.int32), np.zeros((count, _SLOTS), np.float32)
    for r in range(height):
        for c in range(width):
            if labels[r, c] > 0:
                for k in range(layers):
                    g = gaussian[r, c, k]
                    if g >= 0:
                        _give(label, votes, row[g], labels[r, c], weight[r, c, k])
    for k in range(count):
        row[seen[k]] = -1
    return seen[:count], label, votes


@njit(cache=True)
def _give(label, votes, n, name, amount):  # type: ignore[no-untyped-def]
    """Add to a label of row n. Where no slot is free, all lose as much as the weaker of newcomer and weakest."""
    weakest = 0
    for s in range(_SLOTS):
        if label[n, s] == name:
            votes[n, s] += amount
            return
        if votes[n, s] < votes[n, weakest]:
            weakest = s
    loss = min(amount, votes[n, weakest])
    if loss > 0.0:
        for s in range(_SLOTS):
            votes[n, s] -= loss
            if votes[n, s] <= 0.0:
                label[n, s], votes[n, s] = -1, 0.0
    if amount > loss:
        label[n, weakest], votes[n, weakest] = name, amount - loss


@njit(cache=True)
def _cast(seen, label, votes, all_label, all_votes, total):  # type: ignore[no-untyped-def]
    for k in range(len(seen)):
        n = seen[k]
        for s in range(_SLOTS):
            if label[k, s] >= 0:
                _give(all_label, all_votes, n, label[k, s], votes[k, s])
                total[n] += votes[k, s]
