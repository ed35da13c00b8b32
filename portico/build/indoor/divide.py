"""Units of several rooms: flats and guest suites, laid out from the corridor inwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from portico.build.indoor.plan import INNER_WALL_M, FloorPlan, Rect, Side

_BATH_M = 2.4
_DEEP_FLAT_M = 5.0
_KITCHEN_FLAT_M = 6.8
_DEEP_SUITE_M = 5.3


@dataclass(frozen=True)
class _Corner:
    """A unit seen from its corridor: a along it, d away from it."""

    rect: Rect
    side: Side
    mirrored: bool

    @property
    def along(self) -> float:
        return self.rect.du if self.side in ("v0", "v1") else self.rect.dv

    @property
    def depth(self) -> float:
        return self.rect.dv if self.side in ("v0", "v1") else self.rect.du

    def piece(self, a0: float, a1: float, d0: float, d1: float) -> Rect:
        """The rectangle of a stretch along the corridor between two distances from it."""
        if self.mirrored:
            a0, a1 = self.along - a1, self.along - a0
        r = self.rect
        if self.side == "v0":
            return Rect(r.u0 + a0, r.v0 + d0, r.u0 + a1, r.v0 + d1)
        if self.side == "v1":
            return Rect(r.u0 + a0, r.v1 - d1, r.u0 + a1, r.v1 - d0)
        if self.side == "u0":
            return Rect(r.u0 + d0, r.v0 + a0, r.u0 + d1, r.v0 + a1)
        return Rect(r.u1 - d1, r.v0 + a0, r.u1 - d0, r.v0 + a1)


def divide_unit(plan: FloorPlan, category: str, rect: Rect, side: Side, corridor: int, rng: np.random.Generator) -> None:
    """Add a unit's rooms and the links between them and to its corridor."""
    corner = _Corner(rect, side, bool(rng.integers(2)))
    if category == "flat":
        _flat(plan, corner, corridor, rng)
    elif category == "guest suite":
        _guest_suite(plan, corner, corridor)
    else:
        plan.link(plan.add(category, rect), corridor)


def _flat(plan: FloorPlan, c: _Corner, corridor: int, rng: np.random.Generator) -> None:
    if c.depth < _DEEP_FLAT_M:
        return _shallow_flat(plan, c, corridor)
    private = float(np.clip(c.along * rng.uniform(0.38, 0.44), 2.8, 4.4))
    split = c.along - private
    bath = plan.add("bathroom", c.piece(split, c.along, 0.0, _BATH_M))
    bedroom = plan.add("bedroom", c.piece(split, c.along, _BATH_M + INNER_WALL_M, c.depth))
    inner = split - INNER_WALL_M
    if c.depth < _KITCHEN_FLAT_M:
        living = plan.add("living room", c.piece(0.0, inner, 0.0, c.depth))
        plan.link(living, corridor)
        plan.link(bath, living)
    else:
        kitchen_depth = 3.2
        kitchen = plan.add("kitchen", c.piece(0.0, inner, 0.0, kitchen_depth))
        living = plan.add("living room", c.piece(0.0, inner, kitchen_depth + INNER_WALL_M, c.depth))
        plan.link(kitchen, corridor)
        plan.link(living, kitchen, "opening")
        plan.link(bath, kitchen)
    plan.link(bedroom, living)
    return None


def _shallow_flat(plan: FloorPlan, c: _Corner, corridor: int) -> None:
    """Bedroom, living room and bathroom in a row."""
    bedroom_m = min(3.2, c.along - _BATH_M - 3.2 - 2 * INNER_WALL_M)
    if bedroom_m < _BATH_M:
        living = plan.add("living room", c.piece(0.0, c.along - _BATH_M - INNER_WALL_M, 0.0, c.depth))
    else:
        bedroom = plan.add("bedroom", c.piece(0.0, bedroom_m, 0.0, c.depth))
        living = plan.add("living room", c.piece(bedroom_m + INNER_WALL_M, c.along - _BATH_M - INNER_WALL_M, 0.0, c.depth))
        plan.link(bedroom, living)
    bath = plan.add("bathroom", c.piece(c.along - _BATH_M, c.along, 0.0, c.depth))
    plan.link(living, corridor)
    plan.link(bath, living)


def _guest_suite(plan: FloorPlan, c: _Corner, corridor: int) -> None:
    """A bedroom with its bathroom beside the entry, or beside the bedroom where the band is shallow."""
    split = c.along - _BATH_M
    if c.depth < _DEEP_SUITE_M:
        bath = plan.add("bathroom", c.piece(split, c.along, 0.0, c.depth))
        room = plan.add("guest room", c.piece(0.0, split - INNER_WALL_M, 0.0, c.depth))
    else:
        bath_rect = c.piece(split, c.along, 0.0, _BATH_M)
        bath = plan.add("bathroom", bath_rect)
        whole = c.piece(0.0, c.along, 0.0, c.depth)
        cut = c.piece(split - INNER_WALL_M, c.along, 0.0, _BATH_M + INNER_WALL_M)
        room = plan.add("guest room", _polygon(whole).difference(_polygon(cut)))
    plan.link(room, corridor)
    plan.link(bath, room)


def _polygon(rect: Rect) -> shapely.Polygon:
    return shapely.Polygon(rect.corners())
