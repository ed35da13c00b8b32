"""Walls, floors, ceilings, roof and facade of a plan, with real openings in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely

from portico.build.indoor import finishes as look
from portico.build.indoor.finishes import Finish, paint, textured
from portico.build.indoor.mason import Mason, Stuff
from portico.build.indoor.plan import CLEAR_M, OUTER_WALL_M, STOREY_M, Axis, BuildingPlan, Edge, FloorPlan, Opening, RoomPlan
from portico.build.indoor.stairs import approach_rect, handrails, stair_blocks
from portico.world import Surface

PARAPET_M = 0.5
_FOOTING_M = 0.3
_SKIRTING_M = 0.09


@dataclass(frozen=True)
class Style:
    """The choices of finish that one building sticks to."""

    facade: Finish
    plinth: Finish
    trim: Finish
    frame: Finish
    door: Finish
    skirting: Finish
    hall_floor: Finish
    corridor_floor: Finish
    wood_floor: Finish
    soft_floor: Finish
    wet_floor: Finish
    walls: Finish
    accent: Finish
    wet_walls: Finish

    @staticmethod
    def choose(program: str, rng: np.random.Generator) -> Style:
        """A style that suits the program."""

        def pick(options: tuple[Finish, ...]) -> Finish:
            return options[int(rng.integers(len(options)))]

        hard = pick(look.LINOS)
        stone = pick(look.STONES)
        return Style(
            facade=pick(look.FACADES),
            plinth=pick(look.PLINTHS),
            trim=paint(("#f2efe8", "#5c4a3a", "#8d8f91", "#e8e2d4")[int(rng.integers(4))]),
            frame=paint(("#3c4147", "#f4f3ef", "#5b4636", "#2f4a44")[int(rng.integers(4))]),
            door=paint(("#9c7148", "#c8a678", "#d9d6cf", "#6f7f86", "#7d5a3c")[int(rng.integers(5))]),
            skirting=paint(("#f2efe8", "#6b5644", "#9a9c9d")[int(rng.integers(3))]),
            hall_floor=pick(look.WOODEN_FLOORS) if program == "cafe" else textured("slabs", "#dedad2", 1.2) if program == "supermarket" else stone,
            corridor_floor={"school": hard, "clinic": hard, "hotel": pick(look.HOTEL_CARPETS)}.get(program, stone),
            wood_floor=pick(look.WOODEN_FLOORS),
            soft_floor=hard if program in ("school", "clinic") else pick(look.CARPETS),
            wet_floor=pick(look.TILES),
            walls=pick(look.WALL_PAINTS),
            accent=pick(look.WARM_PAINTS),
            wet_walls=pick(look.BATH_WALLS),
        )

    def floor_of(self, category: str) -> Finish:
        """By what a room is for."""
        if category in _WET:
            return self.wet_floor
        if category in _HALLS:
            return self.hall_floor
        if category in ("corridor", "stairwell"):
            return self.corridor_floor
        if category in _BARE:
            return look.CONCRETE
        return self.wood_floor if category in _WOODEN else self.soft_floor

    def walls_of(self, category: str) -> Finish:
        """By what a room is for."""
        if category in ("bathroom", "restroom"):
            return self.wet_walls
        return self.accent if category in _ACCENTED else self.walls


_WET = frozenset({"bathroom", "restroom", "kitchen", "kitchenette", "laundry room", "laboratory"})
_HALLS = frozenset({"lobby", "waiting room", "cafe", "sales floor", "cafe lounge"})
_BARE = frozenset({"storage", "stockroom", "server room", "cold room"})
_WOODEN = frozenset({"living room", "bedroom", "library", "dining room", "lounge", "music room", "gym", "art room"})
_FEATURED = frozenset({"office", "meeting room", "open office", "lobby", "waiting room", "classroom", "staff room", "exam room", "kitchen", "gym"})
_ACCENTED = frozenset({"living room", "bedroom", "guest room", "lounge", "cafe", "cafe lounge", "dining room", "library", "conference room"})


def build_shell(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    """Everything of a building that does not move."""
    for floor in plan.floors:
        z = floor.level * STOREY_M
        for room in floor.rooms:
            _room(mason, plan, floor, room, z, style)
        for door in floor.doors:
            _reveal(mason, door.opening, z, style.trim, "wall", threshold=style.floor_of(floor.rooms[door.rooms[0]].category))
        for window in floor.windows:
            _reveal(mason, window.opening, z, style.trim, "window")
    _stairs(mason, plan, style)
    _facade(mason, plan, style)
    _relief(mason, plan, style)
    _roof(mason, plan, style)


def solid_parts(start: float, end: float, low: float, high: float, openings: list[Opening]) -> Iterator[tuple[float, float, float, float]]:
    """(s0, s1, z0, z1) rectangles of a wall face around its openings, whose heights count from ``low``."""
    at = start
    for o in sorted(openings, key=lambda o: o.start):
        if o.start > at + 1e-9:
            yield at, o.start, low, high
        if o.sill > 1e-9:
            yield o.start, o.end, low, low + o.sill
        if low + o.head < high - 1e-9:
            yield o.start, o.end, low + o.head, high
        at = o.end
    if at < end - 1e-9:
        yield at, end, low, high


def wall_quad(mason: Mason, stuff: Stuff, along: Axis, line: float, facing: int, part: tuple[float, float, float, float]) -> None:
    """An upright rectangle on a line, seen from the side that ``facing`` (+1 or -1) points to across it."""
    s0, s1, z0, z1 = part
    if (along == "u") == (facing > 0):
        s0, s1 = s1, s0
    ring = ((s0, z0), (s1, z0), (s1, z1), (s0, z1))
    mason.quad(stuff, [(s, line, z) if along == "u" else (line, s, z) for s, z in ring])


def _room(mason: Mason, plan: BuildingPlan, floor: FloorPlan, room: RoomPlan, z: float, style: Style) -> None:
    stairwell, top = room.category == "stairwell" and plan.stair is not None, floor.level == len(plan.floors) - 1
    ground = room.polygon
    if stairwell and plan.stair is not None:
        ground = shapely.Polygon(approach_rect(plan.stair).corners())
    mason.level(Stuff(Surface.FLOOR, style.floor_of(room.category), mason.structure("floor")), ground, z)
    # Below the landing that a flight climbs to, the ceiling counts as stair: a body on the last steps is ahead of it, not under it.
    underside = Surface.STAIRS if stairwell and not top else Surface.CEILING
    mason.level(Stuff(underside, look.CEILING, mason.structure("ceiling")), room.polygon if top else ground, z + CLEAR_M, up=False)
    wall = Stuff(Surface.WALL, style.walls_of(room.category), mason.structure("wall"))
    accent = Stuff(Surface.WALL, style.accent, mason.structure("wall"))
    skirting = Stuff(Surface.WALL, style.skirting, mason.structure("wall"))
    height = STOREY_M if stairwell and not top else CLEAR_M
    feature = (room.index * 7 + floor.level * 3) % 8 if room.category in _FEATURED else -1
    for k, edge in enumerate(room.edges()):
        holes = [d.opening for d in floor.doors if d.opening.pierces(edge)] + [w.opening for w in floor.windows if w.opening.pierces(edge)]
        for s0, s1, z0, z1 in solid_parts(edge.start, edge.end, z, z + height, holes):
            foot = z0 + _SKIRTING_M
            if z0 == z and not stairwell and room.category not in ("bathroom", "restroom"):
                wall_quad(mason, skirting, edge.along, edge.line, edge.inward, (s0, s1, z0, foot))
                z0 = foot
            wall_quad(mason, accent if k == feature else wall, edge.along, edge.line, edge.inward, (s0, s1, z0, z1))
        for door in floor.doors:
            if door.opening.pierces(edge):
                _casing(mason, edge, door.opening, z, style)


def _casing(mason: Mason, edge: Edge, o: Opening, z: float, style: Style) -> None:
    """A flat frame around a door, a hair proud of the wall."""
    stuff = Stuff(Surface.WALL, style.trim, mason.structure("door"), collides=False)
    width, line = 0.07, edge.line + edge.inward * 0.008
    left, right = max(o.start - width, edge.start), min(o.end + width, edge.end)
    for part in ((left, o.start, z, z + o.head), (o.end, right, z, z + o.head), (left, right, z + o.head, z + o.head + width)):
        wall_quad(mason, stuff, edge.along, line, edge.inward, part)


def _reveal(mason: Mason, o: Opening, z: float, finish: Finish, category: str, threshold: Finish | None = None) -> None:
    """The inner faces of a hole through a wall; a door's has a floor."""
    stuff = Stuff(Surface.WALL, finish, mason.structure(category))
    other: Axis = "v" if o.along == "u" else "u"
    wall_quad(mason, stuff, other, o.start, 1, (o.low, o.high, z + o.sill, z + o.head))
    wall_quad(mason, stuff, other, o.end, -1, (o.low, o.high, z + o.sill, z + o.head))
    r = o.rect()
    plate = shapely.box(r.u0, r.v0, r.u1, r.v1)
    mason.level(stuff, plate, z + o.head, up=False)
    if threshold is None:
        mason.level(stuff, plate, z + o.sill)
    else:
        mason.level(Stuff(Surface.FLOOR, threshold, mason.structure("floor")), plate, z)


def _stairs(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    if plan.stair is None:
        return
    stone = Stuff(Surface.STAIRS, textured("terrazzo", "#c9c4b8", 0.6), mason.structure("stairs"))
    made = {
        "stairs": stone,
        "fascia": stone,
        "wall": Stuff(Surface.WALL, style.walls, mason.structure("wall")),
        "railing": Stuff(Surface.WALL, paint("#5a4636"), mason.structure("railing")),
    }
    nosing = Stuff(Surface.STAIRS, paint("#4a4a48"), mason.structure("stairs"), collides=False)
    for kind, low, high in stair_blocks(plan.stair, len(plan.floors)):
        if kind == "nosing":
            mason.level(nosing, shapely.box(low[0], low[1], high[0], high[1]), low[2])
        else:
            mason.block(made[kind], low, high, open_along="z" if kind == "fascia" else None)
    for corners in handrails(plan.stair, len(plan.floors)):
        mason.hexahedron(made["railing"], corners)


def _facade(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    """Outer faces, storey by storey, on a plinth and under a parapet."""
    top = len(plan.floors) * STOREY_M
    wall = Stuff(Surface.WALL, style.facade, mason.structure("wall"), indoor=False)
    plinth = Stuff(Surface.WALL, style.plinth, mason.structure("wall"), indoor=False)
    band = Stuff(Surface.WALL, style.trim, mason.structure("wall"), indoor=False)
    sides: tuple[tuple[Axis, float, int, float], ...] = (
        ("u", 0.0, -1, plan.width_m),
        ("u", plan.depth_m, 1, plan.width_m),
        ("v", 0.0, -1, plan.depth_m),
        ("v", plan.width_m, 1, plan.depth_m),
    )
    for along, line, facing, length in sides:
        wall_quad(mason, plinth, along, line, facing, (0.0, length, -_FOOTING_M, 0.0))
        wall_quad(mason, band, along, line, facing, (0.0, length, top + PARAPET_M - 0.18, top + PARAPET_M))
        wall_quad(mason, wall, along, line, facing, (0.0, length, top, top + PARAPET_M - 0.18))
        for floor in plan.floors:
            z = floor.level * STOREY_M
            holes = [d.opening for d in floor.doors if d.exterior] + [w.opening for w in floor.windows]
            holes = [o for o in holes if o.along == along and min(abs(o.low - line), abs(o.high - line)) < 1e-6]
            for s0, s1, z0, z1 in solid_parts(0.0, length, z, z + STOREY_M, holes):
                if floor.level == 0 and z0 == 0.0:
                    cut = min(z1, 0.35)
                    wall_quad(mason, plinth, along, line, facing, (s0, s1, 0.0, cut))
                    z0 = cut
                if z1 > z0 + 1e-9:
                    wall_quad(mason, wall, along, line, facing, (s0, s1, z0, z1))


def _relief(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    """String courses between storeys, a cornice, and sills: a hand's breadth that catches the light."""
    stuff = Stuff(Surface.WALL, style.trim, mason.structure("wall"), indoor=False)
    top = len(plan.floors) * STOREY_M + PARAPET_M
    courses = [(level * STOREY_M - 0.18, level * STOREY_M - 0.02, 0.04) for level in range(1, len(plan.floors))] + [(top - 0.18, top, 0.1)]
    for z0, z1, reach in courses:
        mason.block(stuff, (-reach, -reach, z0), (plan.width_m + reach, 0.0, z1))
        mason.block(stuff, (-reach, plan.depth_m, z0), (plan.width_m + reach, plan.depth_m + reach, z1))
        mason.block(stuff, (-reach, 0.0, z0), (0.0, plan.depth_m, z1), open_along="v")
        mason.block(stuff, (plan.width_m, 0.0, z0), (plan.width_m + reach, plan.depth_m, z1), open_along="v")
    for floor in plan.floors:
        for window in floor.windows:
            o, z = window.opening, floor.level * STOREY_M + window.opening.sill
            low, high = (o.low - 0.05, o.low) if o.low <= 0.0 else (o.high, o.high + 0.05)
            ends = ((o.start - 0.06, low), (o.end + 0.06, high)) if o.along == "u" else ((low, o.start - 0.06), (high, o.end + 0.06))
            mason.level(stuff, shapely.box(*ends[0], *ends[1]), z)
            outer, facing = (low, -1) if o.low <= 0.0 else (high, 1)
            wall_quad(mason, stuff, o.along, outer, facing, (o.start - 0.06, o.end + 0.06, z - 0.07, z))


def _roof(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    top = len(plan.floors) * STOREY_M
    roof = Stuff(Surface.ROOF, look.ROOFING, mason.structure("roof"), indoor=False)
    coping = Stuff(Surface.ROOF, style.trim, mason.structure("roof"), indoor=False)
    outer = shapely.box(0.0, 0.0, plan.width_m, plan.depth_m)
    inner = outer.buffer(-OUTER_WALL_M, join_style="mitre")
    mason.level(roof, inner, top)
    mason.level(coping, outer.difference(inner), top + PARAPET_M)
    for along, low, high, end in (
        ("u", OUTER_WALL_M, plan.depth_m - OUTER_WALL_M, plan.width_m),
        ("v", OUTER_WALL_M, plan.width_m - OUTER_WALL_M, plan.depth_m),
    ):
        part = (OUTER_WALL_M, end - OUTER_WALL_M, top, top + PARAPET_M)
        wall_quad(mason, roof, "u" if along == "u" else "v", low, 1, part)
        wall_quad(mason, roof, "u" if along == "u" else "v", high, -1, part)
