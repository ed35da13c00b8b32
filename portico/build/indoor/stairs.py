"""Dog-leg stairs: two flights with a half landing, solid below on the ground floor, guarded at the top.

In the frame of a core, a runs from the entry side towards the half landing and b across the flights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portico.build.indoor.plan import CLEAR_M, STOREY_M, Rect, StairCore

RISERS = 18
RISER_M = STOREY_M / RISERS
TREAD_M = 0.29
LANDING_M = 1.36
_STEPS = RISERS // 2 - 1
_FLIGHT_M = _STEPS * TREAD_M
_WAIST_M = 0.26
_SPINE_M = 0.12
_GUARD_M = 1.0
_NOSING_M = 0.05
_PROUD_M = 0.004
_RAIL_M = 0.95
_RAIL_THICK_M = 0.05

Corner = tuple[float, float, float]
Block = tuple[str, Corner, Corner]


@dataclass(frozen=True)
class _Frame:
    """Core coordinates (a, b) to board coordinates."""

    core: StairCore

    @property
    def length(self) -> float:
        r = self.core.rect
        return r.dv if self.core.approach in ("v0", "v1") else r.du

    @property
    def width(self) -> float:
        r = self.core.rect
        return r.du if self.core.approach in ("v0", "v1") else r.dv

    def rect(self, a0: float, a1: float, b0: float, b1: float) -> Rect:
        r = self.core.rect
        if self.core.approach == "v0":
            return Rect(r.u0 + b0, r.v0 + a0, r.u0 + b1, r.v0 + a1)
        if self.core.approach == "v1":
            return Rect(r.u0 + b0, r.v1 - a1, r.u0 + b1, r.v1 - a0)
        if self.core.approach == "u0":
            return Rect(r.u0 + a0, r.v0 + b0, r.u0 + a1, r.v0 + b1)
        return Rect(r.u1 - a1, r.v0 + b0, r.u1 - a0, r.v0 + b1)


def approach_depth(core: StairCore) -> float:
    """How much of the core, from its entry side, is floor rather than flights."""
    return _Frame(core).length - LANDING_M - _FLIGHT_M


def approach_rect(core: StairCore) -> Rect:
    """The part of the core that is floor on every storey."""
    frame = _Frame(core)
    return frame.rect(0.0, approach_depth(core), 0.0, frame.width)


def stair_blocks(core: StairCore, floors: int) -> Iterator[Block]:
    """Solid pieces as (kind, low corner, high corner) in board coordinates; kinds are stairs, fascia (no top), nosing (flat), wall and railing."""
    frame = _Frame(core)
    lane = (frame.width - _SPINE_M) / 2.0
    start, turn = approach_depth(core), frame.length - LANDING_M

    def block(kind: str, a: tuple[float, float], b: tuple[float, float], z: tuple[float, float]) -> Block:
        r = frame.rect(a[0], a[1], b[0], b[1])
        return (kind, (r.u0, r.v0, z[0]), (r.u1, r.v1, z[1]))

    for level in range(floors - 1):
        yield from _storey(block, level, start, turn, frame.length, frame.width, lane)
    top = (floors - 1) * STOREY_M
    yield block("wall", (start, turn), (lane, frame.width - lane), (0.0, top + _GUARD_M))
    yield block("wall", (start, start + 0.1), (0.0, lane), (top - (STOREY_M - CLEAR_M), top + _GUARD_M))
    yield block("railing", (start - 0.03, start + 0.13), (0.0, frame.width - lane), (top + _GUARD_M, top + _GUARD_M + 0.05))
    for level in range(1, floors):
        z = level * STOREY_M
        yield block("fascia", (start - 0.01, start), (0.0, frame.width), (z - (STOREY_M - CLEAR_M), z - _PROUD_M))


def handrails(core: StairCore, floors: int) -> Iterator[NDArray[np.float64]]:
    """(8, 3) corners of the sloped rails on both walls of every flight, ordered like a block's."""
    frame = _Frame(core)
    lane = (frame.width - _SPINE_M) / 2.0
    start, turn = approach_depth(core), frame.length - LANDING_M
    for level in range(floors - 1):
        for b, up in ((0.0, True), (lane - _RAIL_THICK_M, True), (frame.width - lane, False), (frame.width - _RAIL_THICK_M, False)):
            foot = frame.rect(start, start, b, b) if up else frame.rect(turn, turn, b, b)
            z = level * STOREY_M + (0.0 if up else STOREY_M / 2) + RISER_M + _RAIL_M
            r = frame.rect(start, turn, b, b + _RAIL_THICK_M)
            corners = [(u, v, z + k) for k in (0.0, _RAIL_THICK_M) for v in (r.v0, r.v1) for u in (r.u0, r.u1)]
            away = [max(abs(u - foot.u0), abs(v - foot.v0)) > _FLIGHT_M / 2 for u, v, _ in corners]
            rail: NDArray[np.float64] = np.asarray(corners, dtype=np.float64)
            rail[away, 2] += STOREY_M / 2 - RISER_M
            yield rail


def _storey(block: Callable[..., Block], level: int, start: float, turn: float, length: float, width: float, lane: float) -> Iterator[Block]:
    base = level * STOREY_M
    for i in range(1, _STEPS + 1):
        z = base + i * RISER_M
        low = 0.0 if level == 0 else z - _WAIST_M
        yield block("stairs", (start + (i - 1) * TREAD_M, start + i * TREAD_M), (0.0, lane), (low, z))
        z = base + (_STEPS + 1 + i) * RISER_M
        yield block("stairs", (turn - i * TREAD_M, turn - (i - 1) * TREAD_M), (width - lane, width), (z - _WAIST_M, z))
    half = base + (_STEPS + 1) * RISER_M
    yield block("stairs", (turn, length), (0.0, width), (half - _WAIST_M, half))
    for i in range(1, _STEPS + 2):
        z, edge = base + i * RISER_M + _PROUD_M, start + (i - 1) * TREAD_M
        yield block("nosing", (edge, edge + _NOSING_M), (0.0, lane), (z, z))
        z, edge = half + i * RISER_M + _PROUD_M, turn - (i - 1) * TREAD_M
        yield block("nosing", (edge - _NOSING_M, edge), (width - lane, width), (z, z))
    if level == 0:
        yield block("wall", (start, start + 0.1), (width - lane, width), (0.0, CLEAR_M - 0.13))
