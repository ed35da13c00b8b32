"""Where things of the category asked for were seen, and how far they are."""

from __future__ import annotations

import numpy as np

from portico.geometry import Floats
from portico.interface import Observation
from portico.policies.detectors import Detector
from portico.policies.pilot import Pilot, depth_frame
from portico.policies.value_map import back_project

_RANGE_M, _FEW_PIXELS, _CELL_M = 12.0, 3, 0.1
#: On the floor of somebody who stands at z is what lies from a little below to a storey above.
_BELOW_M, _ABOVE_M = 0.4, 2.6


class Things:
    """Cells of 0.1 m in which a detector saw the category, in the frame of a pilot's map."""

    def __init__(self, detector: Detector, category: str) -> None:
        self._detector, self._category = detector, category
        self._cells: set[tuple[int, int, int]] = set()
        self._points: Floats = np.zeros((0, 3))
        self.in_view = False

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Look for the category in the newest image, which the pilot has entered."""
        frame = depth_frame(observation)
        assert frame.depth is not None
        mask = self._detector.detect(frame, self._category) & np.isfinite(frame.depth) & (frame.depth < _RANGE_M)
        self.in_view = int(mask.sum()) >= _FEW_PIXELS
        if not self.in_view:
            return
        T = pilot.base @ frame.camera.T_base_camera()
        points = back_project(frame, mask) @ T[:3, :3].T + T[:3, 3]
        before = len(self._cells)
        self._cells |= {(int(i), int(j), int(k)) for i, j, k in np.unique(np.floor(points / _CELL_M).astype(int), axis=0)}
        if len(self._cells) > before:
            self._points = (np.array(sorted(self._cells), dtype=np.float64) + 0.5) * _CELL_M

    @property
    def seen(self) -> bool:
        """Whether any was seen at all."""
        return bool(self._cells)

    def nearest_m(self, pilot: Pilot) -> float:
        """Distance, from above, to the nearest that was seen on this floor; inf without one."""
        p, points = pilot.pose, self._points
        level = points[(points[:, 2] > p.z - _BELOW_M) & (points[:, 2] < p.z + _ABOVE_M)]
        return float(np.hypot(level[:, 0] - p.x, level[:, 1] - p.y).min()) if len(level) else float("inf")
