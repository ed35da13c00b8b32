"""The ground a walker is trained on: lanes of flat, rough, stepped and sloping ground side by side in one height field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELL_M = 0.05
LANE_M, LENGTH_M = 3.0, 14.0
_LOWEST_M, _SPAN_M = -3.0, 8.0
#: Flat places of every lane, where robots start.
STARTS_M = (0.8, 7.0, 13.2)
KINDS = ("flat", "rough", "curbs", "stairs", "slope")
FRICTIONS = (0.35, 0.5, 0.8, 1.0)
SPOT = Path(__file__).parent.parent / "portico" / "robots" / "physics" / "models" / "spot.xml"


@dataclass(frozen=True)
class Lane:
    """One lane: its kind, how hard it is (0 to 1) and the y of its middle, metres."""

    kind: str
    level: float
    y_m: float


def lanes(levels: int = 4) -> list[Lane]:
    """All lanes, every kind at every level, harder ones farther left."""
    pairs = [(kind, n / (levels - 1)) for n in range(levels) for kind in KINDS]
    return [Lane(kind, level, LANE_M * (n + 0.5)) for n, (kind, level) in enumerate(pairs)]


def profile(kind: str, level: float, x: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """Heights at x, y (same shape), metres; flat around ``STARTS_M``, up in the first half and down in the second."""
    if kind == "rough":
        cells = rng.uniform(-1.0, 1.0, x.shape) * (0.01 + 0.04 * level)
        return np.where(_near_start(x), 0.0, cells)
    if kind == "curbs":
        height = 0.08 + 0.13 * level
        return height * (((x > 2.5) & (x < 4.0)) | ((x > 5.0) & (x < 9.0)) | ((x > 10.0) & (x < 11.5)))
    if kind == "stairs":
        rise, tread, count = 0.08 + 0.11 * level, 0.29, 12
        up = np.clip(np.floor((x - 2.2) / tread) + 1, 0, count)
        down = np.clip(np.floor((x - 8.3) / tread) + 1, 0, count)
        return rise * (up - down)
    if kind == "slope":
        grade = np.tan(np.deg2rad(8.0 + 14.0 * level))
        return grade * (np.clip(x - 2.0, 0.0, 3.8) - np.clip(x - 8.2, 0.0, 3.8))
    return np.zeros_like(x)


def _near_start(x: Floats) -> NDArray[np.bool_]:
    return np.min(np.abs(x[..., None] - np.array(STARTS_M)), axis=-1) < 0.6


class Course:
    """The lanes as a height field, in one MuJoCo model per friction.

    Args:
        seed: of the rough lanes.
    """

    def __init__(self, seed: int) -> None:
        self.lanes = lanes()
        rng = np.random.default_rng(seed)
        x = np.arange(round(LENGTH_M / CELL_M) + 1) * CELL_M
        y = np.arange(round(len(self.lanes) * LANE_M / CELL_M) + 1) * CELL_M
        self.height = np.zeros((len(y), len(x)))
        for lane in self.lanes:
            rows = np.abs(y - lane.y_m) < LANE_M / 2 + 0.5 * CELL_M
            self.height[rows] = profile(lane.kind, lane.level, *np.meshgrid(x, y[rows]), rng)
        spec = mujoco.MjSpec.from_file(str(SPOT))
        size = [LENGTH_M / 2, y[-1] / 2, _SPAN_M, 1.0]
        data = ((self.height - _LOWEST_M) / _SPAN_M).ravel()
        spec.add_hfield(name="ground", nrow=len(y), ncol=len(x), size=size, userdata=data.tolist())
        middle = [LENGTH_M / 2, y[-1] / 2, _LOWEST_M]
        spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=middle, contype=1, conaffinity=2)
        self.models = []
        for friction in FRICTIONS:
            model = spec.compile()
            # The compiler stretches heights to 0..1 of the span; the lowest here are not at its lower end.
            model.hfield_data[:] = data
            for leg in ("fl", "fr", "hl", "hr"):
                model.geom(f"{leg}_foot").friction[0] = friction
            self.models.append(model)

    def heights(self, points: Floats) -> Floats:
        """Heights at points (N, 2), (N,), metres; bilinear."""
        out = np.empty(len(points))
        _interpolate(self.height, np.ascontiguousarray(points), out)
        return out


@njit(cache=True, nogil=True)
def _interpolate(height, points, out):  # type: ignore[no-untyped-def]
    rows, columns = height.shape
    for n in range(points.shape[0]):
        u = min(max(points[n, 0] / CELL_M, 0.0), columns - 1.001)
        v = min(max(points[n, 1] / CELL_M, 0.0), rows - 1.001)
        i, j = int(u), int(v)
        u, v = u - i, v - j
        out[n] = (1 - v) * ((1 - u) * height[j, i] + u * height[j, i + 1]) + v * ((1 - u) * height[j + 1, i] + u * height[j + 1, i + 1])
