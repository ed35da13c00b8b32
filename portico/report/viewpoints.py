"""Which of the proposed pictures to take: those from which most is seen, the kinds of subject taking turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from portico.geometry import Floats, Pose
from portico.interface import Camera
from portico.render import WorldRenderer
from portico.report.footing import Footing
from portico.report.subjects import Stand, Subject, subjects
from portico.world import World

#: Subjects looked at per kind; more would cost time and change little on one sheet.
_EXAMINED = 24
#: The best of so many neighbours in the order goes first, so that one dull square does not stand for all of them.
_RIVALS = 2
#: Stands tried per subject, and how many unblocked ones are enough to choose from: a thumbnail of a town takes tens of milliseconds.
_TRIED, _ENOUGH = 8, 3
#: A stand is of no use when more of the thumbnail than this is nearer than a stride; a capture shows nothing where nobody looked.
_MOST_NEAR, _MOST_EMPTY = 0.3, 0.5
_STRIDE_M = 0.9


@dataclass(frozen=True)
class Viewpoint:
    """A chosen picture."""

    kind: str
    caption: str
    pose: Pose


def choose_viewpoints(world: World, renderer: WorldRenderer, camera: Camera, count: int) -> list[Viewpoint]:
    """Up to ``count`` viewpoints, kind by kind; the same world gives the same ones."""
    judge = _Judge(renderer, camera, captured=world.appearance.gaussians is not None)
    queues = [_chosen(_spread(kind), judge) for kind in subjects(world, Footing(world)) if kind]
    chosen: list[Viewpoint] = []
    while queues and len(chosen) < count:
        for queue in list(queues):
            viewpoint = next(queue, None)
            if viewpoint is None:
                queues.remove(queue)
            elif len(chosen) < count:
                chosen.append(viewpoint)
    order = list(dict.fromkeys(v.kind for v in chosen))
    return sorted(chosen, key=lambda v: order.index(v.kind))


def _chosen(candidates: list[Subject], judge: _Judge) -> Iterator[Viewpoint]:
    """Winners among rivals first, then the losers."""
    losers: list[Viewpoint] = []
    for first in range(0, len(candidates), _RIVALS):
        rated = []
        for subject in candidates[first : first + _RIVALS]:
            if found := _unblocked(subject, judge):
                score, stand = max(found, key=lambda entry: entry[0])
                rated.append((score, Viewpoint(subject.kind, subject.caption, stand.pose)))
        rated.sort(key=lambda entry: -entry[0])
        losers += [viewpoint for _, viewpoint in rated[1:]]
        yield from (viewpoint for _, viewpoint in rated[:1])
    yield from losers


def _unblocked(subject: Subject, judge: _Judge) -> list[tuple[float, Stand]]:
    found: list[tuple[float, Stand]] = []
    for stand in islice(subject.stands(), _TRIED):
        score = judge.score(stand)
        found += [(score, stand)] if score > 0.0 else []
        if len(found) == _ENOUGH:
            break
    return found


def _spread(candidates: list[Subject]) -> list[Subject]:
    """Farthest-point order, so that the first few lie all over the world; the first listed comes first."""
    positions = np.stack([s.position for s in candidates])
    left = np.full(len(candidates), np.inf)
    order, here = [], 0
    for _ in range(min(len(candidates), _EXAMINED)):
        order.append(candidates[here])
        left = np.minimum(left, np.linalg.norm(positions - positions[here], axis=1))
        left[here] = -1.0
        here = int(np.argmax(left))
    return order


class _Judge:
    """Rates stands on a thumbnail's depth and instances."""

    def __init__(self, renderer: WorldRenderer, camera: Camera, *, captured: bool) -> None:
        self._renderer = renderer
        self._captured = captured
        self._camera = camera.resized(96, 72)

    def score(self, stand: Stand) -> float:
        """0 when the view is blocked; else more for a target in sight and near, for room and for many things to see."""
        T_world_camera = stand.pose.matrix() @ self._camera.T_base_camera()
        frame = self._renderer.render(T_world_camera, self._camera, ("depth", "instance"))
        assert frame.depth is not None
        assert frame.instance is not None
        # The lower quarter is the ground at one's feet, which is always near.
        near = float((frame.depth[:54] < _STRIDE_M).mean())
        if near > _MOST_NEAR or (stand.target is not None and not self._in_sight(stand.target, T_world_camera, frame.depth)):
            return 0.0
        # Open sky is what cities are under; a capture of a place has holes instead.
        empty = float(np.isinf(frame.depth).mean()) if self._captured else 0.0
        if empty > _MOST_EMPTY:
            return 0.0
        things = min(len(np.unique(frame.instance)), 25) / 25.0
        room = float(np.clip(np.median(np.minimum(frame.depth, 30.0)) / 10.0, 0.0, 1.0))
        return 1.0 + things + (0.3 if stand.target is not None else 1.0) * room - 2.0 * near - 2.0 * empty

    def _in_sight(self, target: Floats, T_world_camera: Floats, depth: NDArray[np.float32]) -> bool:
        x, y, z = np.linalg.inv(T_world_camera)[:3] @ np.append(target, 1.0)
        if z <= 0.0:
            return False
        column, row = (int(self._camera.focal_px * v / z + 0.5 * n) for v, n in ((x, self._camera.width), (y, self._camera.height)))
        inside = 0 <= column < self._camera.width and 0 <= row < self._camera.height
        return inside and bool(depth[row, column] > z - 0.7)
