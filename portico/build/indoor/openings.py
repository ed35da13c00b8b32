"""Where doors, wide openings and windows go, which way leaves stand, and which doors are shut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import shapely

from portico.build.indoor.plan import (
    DOOR_HEAD_M,
    INNER_DOOR_M,
    OUTER_WALL_M,
    Axis,
    BuildingPlan,
    Door,
    Edge,
    FloorPlan,
    Link,
    Opening,
    Rect,
    RoomPlan,
    StairCore,
    Window,
    shared_walls,
)
from portico.build.indoor.stairs import approach_depth

ENTRANCE_M = 1.7
ENTRANCE_HEAD_M = 2.3
LANE_M = 1.3
LEAF_M = 0.04
_JAMB_M = 0.16
_CLOSED_SHARE = 0.12
_CLOSABLE = frozenset(
    {"storage", "office", "server room", "print room", "guest room", "exam room", "doctor's office", "staff room", "laundry room", "cold room"}
)
_HIGH_SILLS = frozenset({"restroom", "bathroom", "storage", "stockroom"})
_WINDOWLESS = frozenset({"server room", "cold room", "stairwell"})


def place_openings(plan: BuildingPlan, rng: np.random.Generator, *, shopfront: bool) -> None:
    """Fill in the doors and windows of every storey.

    Raises:
        RuntimeError: rooms that should be joined share no wall long enough; a fault of the layout.
    """
    budget = int(_CLOSED_SHARE * sum(len(f.rooms) for f in plan.floors))
    for floor in plan.floors:
        if floor.level == 0:
            floor.doors.append(_entrance(plan, floor))
        for link in sorted(floor.links, key=lambda k: k.kind == "door"):
            floor.doors.append(_opening(floor, link, plan.stair) if link.kind == "opening" else _door(floor, link, rng))
        budget -= _shut_some(floor, budget, rng)
        _place_windows(plan, floor, shopfront and floor.level == 0)


def _entrance(plan: BuildingPlan, floor: FloorPlan) -> Door:
    """Double doors in the front wall, both leaves standing along it inside."""
    u0, u1 = plan.entrance_u - ENTRANCE_M / 2, plan.entrance_u + ENTRANCE_M / 2
    opening = Opening("u", 0.0, OUTER_WALL_M, u0, u1, 0.0, ENTRANCE_HEAD_M)
    hall = next(r for r in floor.rooms if any(opening.pierces(e) for e in r.edges()))
    v, half = OUTER_WALL_M + 0.02, ENTRANCE_M / 2
    leaves = (Rect(u0 - half - 0.02, v, u0 - 0.02, v + LEAF_M), Rect(u1 + 0.02, v, u1 + half + 0.02, v + LEAF_M))
    return Door(opening, (hall.index, None), leaves=leaves)


def _opening(floor: FloorPlan, link: Link, stair: StairCore | None) -> Door:
    """A wide way without leaves; into a stairwell only where its floor is."""
    a, b = floor.rooms[link.a], floor.rooms[link.b]
    best = None
    for ea, eb, start, end in shared_walls(a, b):
        if stair is not None and a.category == "stairwell":
            start, end = _clip_to_approach(ea, start, end, stair)
        if best is None or end - start > best[3] - best[2]:
            best = (ea, eb, start, end)
    if best is None or best[3] - best[2] < 1.2:
        raise RuntimeError(f"no room for an opening between {a.category} and {b.category}")
    ea, eb, start, end = best
    spare = 0.05 if end - start < 1.6 else 0.2
    width = min(end - start - 2 * spare, 3.2)
    middle = (start + end) / 2
    return Door(_between(ea, eb, middle - width / 2, middle + width / 2, 2.5), (link.a, link.b), kind="opening")


def _clip_to_approach(edge: Edge, start: float, end: float, stair: StairCore) -> tuple[float, float]:
    r, depth = stair.rect, approach_depth(stair)
    zones = {"u0": ("u", r.u0, r.u0 + depth), "u1": ("u", r.u1 - depth, r.u1), "v0": ("v", r.v0, r.v0 + depth), "v1": ("v", r.v1 - depth, r.v1)}
    along, low, high = zones[stair.approach]
    return (max(start, low), min(end, high)) if edge.along == along else (start, end)


def _between(ea: Edge, eb: Edge, start: float, end: float, head: float) -> Opening:
    low, high = sorted((ea.line, eb.line))
    return Opening(ea.along, low, high, start, end, 0.0, head)


def _door(floor: FloorPlan, link: Link, rng: np.random.Generator) -> Door:
    """A door near a corner of its room, its leaf standing open in that corner or along the wall."""
    a, b = floor.rooms[link.a], floor.rooms[link.b]
    for ea, eb, start, end in shared_walls(a, b):
        at_low, at_high = start + _JAMB_M, end - _JAMB_M - INNER_DOOR_M
        if at_high < at_low:
            continue
        ends = [at_low, at_high] if rng.integers(2) else [at_high, at_low]
        for at in ends + np.linspace(at_low, at_high, 12).tolist():
            opening = _between(ea, eb, at, at + INNER_DOOR_M, DOOR_HEAD_M)
            for leaf in _leaf_positions(ea, opening):
                door = Door(opening, (link.a, link.b), leaves=(leaf,))
                if _leaf_fits(leaf, a) and not _in_the_way(floor, door):
                    return door
    raise RuntimeError(f"no room for a door between {a.category} and {b.category}")


def _leaf_positions(edge: Edge, opening: Opening) -> list[Rect]:
    """Square to the wall where a side wall is near, then folded back along the wall, on either side."""
    long = opening.width - 0.03
    near_start, near_end = opening.start - edge.start < 0.4, edge.end - opening.end < 0.4
    square = [
        (near_start, edge.rect(opening.start - LEAF_M - 0.01, opening.start - 0.01, long)),
        (near_end, edge.rect(opening.end + 0.01, opening.end + LEAF_M + 0.01, long)),
    ]
    folded = [
        edge.rect(opening.start - long - 0.02, opening.start - 0.02, 0.02 + LEAF_M),
        edge.rect(opening.end + 0.02, opening.end + long + 0.02, 0.02 + LEAF_M),
    ]
    return [leaf for near, leaf in square if near] + folded


def _leaf_fits(leaf: Rect, room: RoomPlan) -> bool:
    b = room.bounds
    inside = b.u0 - 1e-6 <= leaf.u0 and b.v0 - 1e-6 <= leaf.v0 and leaf.u1 <= b.u1 + 1e-6 and leaf.v1 <= b.v1 + 1e-6
    return inside and (len(room.corners) == 4 or room.polygon.buffer(1e-6).contains(shapely.box(leaf.u0, leaf.v0, leaf.u1, leaf.v1)))


def lanes(door: Door, room: RoomPlan, depth_m: float = LANE_M) -> list[Rect]:
    """What a door keeps free in a room."""
    return [door.opening.lane(edge, depth_m) for edge in room.edges() if door.opening.pierces(edge)]


def _in_the_way(floor: FloorPlan, door: Door) -> bool:
    """Whether its leaf would stand in another door's lane, or its lane under another leaf."""
    for other in floor.doors:
        for room in {door.rooms[0], door.rooms[1]} & {other.rooms[0], other.rooms[1]}:
            if room is None:
                continue
            plan = floor.rooms[room]
            if any(lane.overlaps(leaf) for lane in lanes(door, plan) for leaf in other.leaves):
                return True
            if any(lane.overlaps(leaf) for lane in lanes(other, plan) for leaf in door.leaves):
                return True
            if any(lane.grown(0.1).overlaps(mine) for lane in lanes(other, plan, 0.3) for mine in lanes(door, plan, 0.3)):
                return True
            if any(leaf.overlaps(mine) for leaf in other.leaves for mine in door.leaves):
                return True
    return False


def _shut_some(floor: FloorPlan, budget: int, rng: np.random.Generator) -> int:
    """Shut a few doors of rooms that lead nowhere else; returns how many rooms that cuts off."""
    ways = {r.index: sum(r.index in d.rooms for d in floor.doors) for r in floor.rooms}
    shut = 0
    for i, door in enumerate(floor.doors):
        room = floor.rooms[door.rooms[0]]
        leaf_room = ways[room.index] == 1 or room.category == "guest room"
        cost = ways[room.index]
        if door.kind != "door" or door.exterior or room.category not in _CLOSABLE or not leaf_room or cost > budget - shut:
            continue
        if rng.random() < 0.3:
            floor.doors[i] = replace(door, state="closed", leaves=(door.opening.rect(),))
            shut += cost
    return shut


def _place_windows(plan: BuildingPlan, floor: FloorPlan, shopfront: bool) -> None:
    """A regular grid of bays on every side of the building, cut where a room's walls allow."""
    sides: tuple[tuple[Axis, float, float, float], ...] = (
        ("u", 0.0, OUTER_WALL_M, plan.width_m),
        ("u", plan.depth_m - OUTER_WALL_M, plan.depth_m, plan.width_m),
        ("v", 0.0, OUTER_WALL_M, plan.depth_m),
        ("v", plan.width_m - OUTER_WALL_M, plan.width_m, plan.depth_m),
    )
    for along, low, high, length in sides:
        bays = max(1, round(length / 2.7))
        pitch = length / bays
        glazed = shopfront and along == "u" and low == 0.0
        sill, head, width = (0.35, 2.5, pitch - 0.5) if glazed else (0.9, 2.2, min(1.5, pitch - 0.6))
        for k in range(bays):
            middle = (k + 0.5) * pitch
            _place_window(floor, Opening(along, low, high, middle - width / 2, middle + width / 2, sill, head), glazed)
    for room in floor.rooms:
        if room.category not in _WINDOWLESS and room.category != "sales floor":
            _window_of_its_own(plan, floor, room)


def _place_window(floor: FloorPlan, wish: Opening, storefront: bool) -> None:
    for room in floor.rooms:
        if room.category in _WINDOWLESS or (room.category == "sales floor" and not storefront):
            continue
        for edge in room.edges():
            if edge.along != wish.along or not min(abs(edge.line - wish.low), abs(edge.line - wish.high)) < 1e-6:
                continue
            start, end = max(wish.start, edge.start + 0.2), min(wish.end, edge.end - 0.2)
            start, end = _clear_of_doors(floor, wish, start, end)
            if end - start < 0.7:
                continue
            _add_window(floor, room, replace(wish, start=start, end=end), storefront)


def _add_window(floor: FloorPlan, room: RoomPlan, opening: Opening, storefront: bool) -> None:
    sill = 1.5 if room.category in _HIGH_SILLS else opening.sill
    floor.windows.append(Window(replace(opening, sill=sill), storefront))


def _window_of_its_own(plan: BuildingPlan, floor: FloorPlan, room: RoomPlan) -> None:
    """For an outer wall of a room that no bay of the grid fits into."""
    outer = {("u", OUTER_WALL_M), ("u", plan.depth_m - OUTER_WALL_M), ("v", OUTER_WALL_M), ("v", plan.width_m - OUTER_WALL_M)}
    for edge in room.edges():
        is_outer = any(edge.along == along and abs(edge.line - line) < 1e-6 for along, line in outer)
        holes = [w.opening for w in floor.windows] + [d.opening for d in floor.doors]
        if not is_outer or edge.length < 1.4 or any(o.pierces(edge) for o in holes):
            continue
        half, middle = min(1.3, edge.length - 0.6) / 2, (edge.start + edge.end) / 2
        low, high = sorted((edge.line, edge.line - edge.inward * OUTER_WALL_M))
        _add_window(floor, room, Opening(edge.along, low, high, middle - half, middle + half, 0.9, 2.2), False)


def _clear_of_doors(floor: FloorPlan, wish: Opening, start: float, end: float) -> tuple[float, float]:
    """The longer part of a stretch that an exterior door and its leaves leave."""
    for door in floor.doors:
        o = door.opening
        if not door.exterior or o.along != wish.along or abs(o.low - wish.low) > 1e-6:
            continue
        low, high = o.start - ENTRANCE_M / 2 - 0.1, o.end + ENTRANCE_M / 2 + 0.1
        if low < end and start < high:
            parts = [(start, min(end, low)), (max(start, high), end)]
            start, end = max(parts, key=lambda p: p[1] - p[0])
    return start, end
