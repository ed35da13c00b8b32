"""Floor plans from a program: corridors, bands of rooms along them, the stair core, and what flats are divided into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portico.build.indoor.divide import divide_unit
from portico.build.indoor.plan import INNER_WALL_M, OUTER_WALL_M, BuildingPlan, FloorPlan, Rect, Side, StairCore
from portico.build.indoor.programs import UNITS, Program, Storey, Unit

STAIR_LENGTH_M = 5.1
STAIR_WIDTH_M = 3.0
_MIN_ROOM_M = 2.4
_SLENDER = 2.7


@dataclass
class Band:
    """A strip of rooms: its rectangle, the side on which its corridor lies, and that corridor's room index."""

    rect: Rect
    side: Side
    corridor: int
    service: bool = False

    @property
    def length(self) -> float:
        """Along the corridor."""
        return self.rect.du if self.side in ("v0", "v1") else self.rect.dv

    @property
    def depth(self) -> float:
        """Away from the corridor."""
        return self.rect.dv if self.side in ("v0", "v1") else self.rect.du

    def cut(self, start: float, length: float) -> Rect:
        """A piece of it, ``start`` metres from its low end."""
        r = self.rect
        if self.side in ("v0", "v1"):
            return Rect(r.u0 + start, r.v0, r.u0 + start + length, r.v1)
        return Rect(r.u0, r.v0 + start, r.u1, r.v0 + start + length)


def plan_building(width_m: float, depth_m: float, program: Program, floors: int, rng: np.random.Generator) -> BuildingPlan:
    """Rooms and links of every storey; doors and windows are still to be placed."""
    if program.layout == "hall":
        return _hall_plan(width_m, depth_m, program, floors, rng)
    if depth_m > width_m and width_m < 16.0:
        return _deep_plan(width_m, depth_m, program, floors, rng)
    return _wide_plan(width_m, depth_m, program, floors, rng)


def _wide_plan(width_m: float, depth_m: float, program: Program, floors: int, rng: np.random.Generator) -> BuildingPlan:
    """One corridor along the front, or two with a core of service rooms between them."""
    double = depth_m >= program.double_from_m
    lines = _across_double(depth_m, program, rng) if double else _across_single(depth_m, program, floors, rng)
    left, right = OUTER_WALL_M, width_m - OUTER_WALL_M
    front, first, *core, back = lines
    hall_m = min(float(rng.uniform(*program.hall_m)), 0.45 * width_m)
    hall_u = float(rng.uniform(0.35, 0.65)) * width_m
    hall = _snug(Rect(hall_u - hall_m / 2, front[0], hall_u + hall_m / 2, front[1]), left, right)
    stair_band = core[0] if double else back
    stair = _stair_in(stair_band, hall_u, left, right, "v0", rng) if floors > 1 else None
    plans = []
    for level in range(floors):
        plan = FloorPlan(level)
        storey = program.ground if level == 0 else program.upper
        corridor = plan.add("corridor", Rect(left, first[0], right, first[1]))
        room = plan.add(program.hall if level == 0 else program.upper_hall, hall)
        plan.link(room, corridor, "opening")
        bands = [Band(r, "v1", corridor) for r in _beside(Rect(left, front[0], right, front[1]), hall)]
        taken = _add_stair(plan, stair, corridor)
        if double:
            second = plan.add("corridor", Rect(left, core[1][0], right, core[1][1]))
            bands += _core_bands(plan, Rect(left, core[0][0], right, core[0][1]), taken, corridor, second, rng)
            bands.append(Band(Rect(left, back[0], right, back[1]), "v0", second))
        else:
            bands += [Band(r, "v0", corridor) for r in _beside(Rect(left, back[0], right, back[1]), taken)]
        fill(plan, bands, storey, rng)
        plans.append(plan)
    return BuildingPlan(width_m, depth_m, tuple(plans), stair, (hall.u0 + hall.u1) / 2)


def _deep_plan(width_m: float, depth_m: float, program: Program, floors: int, rng: np.random.Generator) -> BuildingPlan:
    """The hall across the front, one corridor from it to the back, rooms on both sides."""
    left, right, back = OUTER_WALL_M, width_m - OUTER_WALL_M, depth_m - OUTER_WALL_M
    usable = width_m - 2 * OUTER_WALL_M - program.corridor_m - 2 * INNER_WALL_M
    west = max(3.0, min(usable - _MIN_ROOM_M, float(rng.uniform(0.45, 0.6)) * usable))
    c0 = left + west + INNER_WALL_M
    c1 = c0 + program.corridor_m
    hall = Rect(left, OUTER_WALL_M, right, OUTER_WALL_M + min(float(rng.uniform(*program.hall_m)), 0.35 * depth_m))
    start = hall.v1 + INNER_WALL_M
    west_band = Rect(left, start, left + west, back)
    stair = None
    if floors > 1:
        upright = west >= STAIR_LENGTH_M
        length = STAIR_WIDTH_M if upright else STAIR_LENGTH_M
        stair = StairCore(Rect(left, start, left + west, start + length), "u1" if upright else "v0")
    plans = []
    for level in range(floors):
        plan = FloorPlan(level)
        corridor = plan.add("corridor", Rect(c0, start, c1, back))
        room = plan.add(program.hall if level == 0 else program.upper_hall, hall)
        plan.link(room, corridor, "opening")
        taken = _add_stair(plan, stair, corridor)
        bands = [Band(r, "u1", corridor) for r in _beyond(west_band, taken)]
        bands.append(Band(Rect(c1 + INNER_WALL_M, start, right, back), "u0", corridor))
        fill(plan, bands, program.ground if level == 0 else program.upper, rng)
        plans.append(plan)
    return BuildingPlan(width_m, depth_m, tuple(plans), stair, width_m / 2)


def _hall_plan(width_m: float, depth_m: float, program: Program, floors: int, rng: np.random.Generator) -> BuildingPlan:
    """A large room behind the entrance and a band of service rooms at its back."""
    left, right = OUTER_WALL_M, width_m - OUTER_WALL_M
    inner = depth_m - 2 * OUTER_WALL_M - INNER_WALL_M
    deep = max(3.0 if floors > 1 else 2.6, min(5.0, float(rng.uniform(0.26, 0.34)) * inner))
    line = depth_m - OUTER_WALL_M - deep
    hall = Rect(left, OUTER_WALL_M, right, line - INNER_WALL_M)
    stair = None
    if floors > 1:
        on_left = bool(rng.integers(2))
        core = Rect(left, line, left + STAIR_LENGTH_M, depth_m - OUTER_WALL_M) if on_left else Rect(right - STAIR_LENGTH_M, line, right, depth_m - OUTER_WALL_M)
        stair = StairCore(core, "u1" if on_left else "u0")
    plans = []
    for level in range(floors):
        plan = FloorPlan(level)
        room = plan.add(program.hall if level == 0 else program.upper_hall, hall)
        taken = _add_stair(plan, stair, room)
        bands = [Band(r, "v0", room) for r in _beside(Rect(left, line, right, depth_m - OUTER_WALL_M), taken)]
        fill(plan, bands, program.ground if level == 0 else program.upper, rng)
        plans.append(plan)
    return BuildingPlan(width_m, depth_m, tuple(plans), stair, float(rng.uniform(0.35, 0.65)) * width_m)


def _across_single(depth_m: float, program: Program, floors: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """(low, high) of the front band, the corridor and the back band."""
    usable = depth_m - 2 * OUTER_WALL_M - program.corridor_m - 2 * INNER_WALL_M
    back = float(rng.uniform(0.45, 0.55)) * usable
    if floors > 1:
        back = max(back, STAIR_LENGTH_M if usable >= STAIR_LENGTH_M + 3.6 else STAIR_WIDTH_M)
    front = usable - back
    c0 = OUTER_WALL_M + front + INNER_WALL_M
    c1 = c0 + program.corridor_m
    return [(OUTER_WALL_M, OUTER_WALL_M + front), (c0, c1), (c1 + INNER_WALL_M, depth_m - OUTER_WALL_M)]


def _across_double(depth_m: float, program: Program, rng: np.random.Generator) -> list[tuple[float, float]]:
    """(low, high) of the front band, first corridor, core, second corridor and back band."""
    usable = depth_m - 2 * OUTER_WALL_M - 2 * program.corridor_m - 4 * INNER_WALL_M
    core = float(np.clip(0.25 * usable, 3.2, 5.3))
    front = (usable - core) * float(rng.uniform(0.46, 0.54))
    lines, at = [], OUTER_WALL_M
    for size in (front, program.corridor_m, core, program.corridor_m, usable - core - front):
        lines.append((at, at + size))
        at += size + INNER_WALL_M
    return lines


def _snug(hall: Rect, left: float, right: float) -> Rect:
    """The hall, stretched to the wall where what is left beside it would be no room."""
    u0 = left if hall.u0 - INNER_WALL_M - left < _MIN_ROOM_M + 0.3 else hall.u0
    u1 = right if right - hall.u1 - INNER_WALL_M < _MIN_ROOM_M + 0.3 else hall.u1
    return Rect(u0, hall.v0, u1, hall.v1)


def _beside(band: Rect, taken: Rect | None) -> list[Rect]:
    """What is left of a band along u, left and right of a piece."""
    if taken is None:
        return [band]
    parts = [Rect(band.u0, band.v0, taken.u0 - INNER_WALL_M, band.v1), Rect(taken.u1 + INNER_WALL_M, band.v0, band.u1, band.v1)]
    return [p for p in parts if p.du >= _MIN_ROOM_M]


def _beyond(band: Rect, taken: Rect | None) -> list[Rect]:
    """What is left of a band along v behind a piece at its start."""
    return [band] if taken is None else [Rect(band.u0, taken.v1 + INNER_WALL_M, band.u1, band.v1)]


def _stair_in(band: tuple[float, float], near_u: float, left: float, right: float, side: Side, rng: np.random.Generator) -> StairCore:
    """A stair core in a band along u near the entrance, leaving rooms or nothing on both sides."""
    upright = band[1] - band[0] >= STAIR_LENGTH_M
    length = STAIR_WIDTH_M if upright else STAIR_LENGTH_M
    u0 = float(np.clip(near_u - length / 2 + rng.uniform(-2.0, 2.0), left, right - length))
    u0 = left if u0 - left < _MIN_ROOM_M + 0.3 else u0
    u0 = right - length if right - u0 - length < _MIN_ROOM_M + 0.3 else u0
    core = Rect(u0, band[0], u0 + length, band[1])
    if upright:
        return StairCore(core, side)
    return StairCore(core, "u0" if rng.integers(2) else "u1")


def _add_stair(plan: FloorPlan, stair: StairCore | None, corridor: int) -> Rect | None:
    if stair is None:
        return None
    room = plan.add("stairwell", stair.rect)
    plan.link(room, corridor, "opening")
    return stair.rect


def _core_bands(plan: FloorPlan, core: Rect, taken: Rect | None, first: int, second: int, rng: np.random.Generator) -> list[Band]:
    """Cross passages at both ends of the core join the corridors; the rest serves either of them."""
    width = plan.rooms[first].bounds.dv
    west, east = Rect(core.u0, core.v0, core.u0 + width, core.v1), Rect(core.u1 - width, core.v0, core.u1, core.v1)
    inner = Rect(west.u1 + INNER_WALL_M, core.v0, east.u0 - INNER_WALL_M, core.v1)
    for passage in (west, east):
        if taken is not None and passage.grown(INNER_WALL_M).overlaps(taken):
            inner = Rect(core.u0, inner.v0, inner.u1, inner.v1) if passage is west else Rect(inner.u0, inner.v0, core.u1, inner.v1)
            continue
        room = plan.add("corridor", passage)
        plan.link(room, first, "opening")
        plan.link(room, second, "opening")
    serves_first = bool(rng.integers(2))
    bands = []
    for rect in _beside(inner, taken):
        bands.append(Band(rect, "v0" if serves_first else "v1", first if serves_first else second, service=True))
        serves_first = not serves_first
    return bands


def fill(plan: FloorPlan, bands: list[Band], storey: Storey, rng: np.random.Generator) -> None:
    """Divide the bands into units: first what the storey needs, then what it may have."""
    chosen: list[list[Unit]] = [[] for _ in bands]
    counts: dict[str, int] = {}

    def room_left(i: int) -> float:
        return bands[i].length - sum(_least(u, bands[i]) + INNER_WALL_M for u in chosen[i])

    def take(i: int, unit: Unit) -> None:
        chosen[i].append(unit)
        counts[unit.category] = counts.get(unit.category, 0) + 1

    core = [i for i, band in enumerate(bands) if band.service]
    for name in storey.required:
        unit = UNITS[name]
        order = core if core and name in storey.service else [i for i in range(len(bands)) if i not in core]
        fitting = [i for i in order if bands[i].depth >= unit.min_depth_m and room_left(i) >= _least(unit, bands[i])]
        if fitting:
            take(fitting[int(rng.integers(len(fitting)))], unit)
    for i, band in enumerate(bands):
        names = storey.service if band.service else storey.optional
        while True:
            slack = room_left(i) + INNER_WALL_M - sum(u.max_m - _least(u, band) for u in chosen[i] if u.max_m > _least(u, band))
            options = [UNITS[n] for n in dict.fromkeys(names)]
            options = [u for u in options if band.depth >= u.min_depth_m and _least(u, band) <= room_left(i) and counts.get(u.category, 0) < u.at_most]
            if not options or (slack <= 0.0 and chosen[i]):
                break
            weights = np.array([u.weight for u in options])
            take(i, options[int(rng.choice(len(options), p=weights / weights.sum()))])
        if not chosen[i]:
            take(i, UNITS["storage"])
        _lay_out(plan, band, chosen[i], rng)


def _least(unit: Unit, band: Band) -> float:
    """Smallest width of a unit in a band: deep bands make rooms wider, so that none is a corridor itself."""
    return max(unit.min_m, band.depth / _SLENDER)


def _lay_out(plan: FloorPlan, band: Band, units: list[Unit], rng: np.random.Generator) -> None:
    units = [units[int(i)] for i in rng.permutation(len(units))]
    least = np.array([_least(u, band) for u in units])
    slack = band.length - INNER_WALL_M * (len(units) - 1) - least.sum()
    give = np.array([max(u.max_m - low, 0.3) for u, low in zip(units, least, strict=True)]) * rng.uniform(0.7, 1.3, len(units))
    widths = least + slack * give / give.sum()
    at = 0.0
    for unit, width in zip(units, widths.tolist(), strict=True):
        divide_unit(plan, unit.category, band.cut(at, width), band.side, band.corridor, rng)
        at += width + INNER_WALL_M
