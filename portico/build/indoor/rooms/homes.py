"""Rooms to live in: flats, guest rooms, lounges."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement, Placed
from portico.build.indoor.rooms.grammar import best_wall, bins, dining_group, furnishes, greenery, kitchen_run, wall_decor, workplace


@furnishes("bedroom")
def bedroom(r: Arrangement) -> None:
    """Bed with nightstands, wardrobe, and a desk or a dresser."""
    r.lamps()
    bed = _bed(r, 1.6 if r.area > 9.0 else 1.4)
    r.against_wall("wardrobe", "corner", edges=r.blind_edges())
    if r.area > 12.0:
        workplace(r, r.against_wall("desk", "corner", edges=r.window_edges() or None, width=1.2))
    dresser = r.against_wall("dresser", "any")
    if dresser is not None:
        r.on_wall("mirror", 1.1, above=dresser)
        r.on_top(dresser, "lamp" if r.chance(0.5) else "vase", 0.0, 0.8)
        r.on_top(dresser, "books", 0.0, -0.6)
    if bed is not None and r.chance(0.7):
        r.rug(bed.at(0.35, 0.0), bed.yaw_rad, (1.5, min(bed.model.size[1] + 1.0, 2.6)))
    r.against_wall("laundry basket" if r.chance(0.5) else "basket", "corner", gap=0.05)
    greenery(r)
    if r.chance(0.3):
        r.against_wall("backpack", "any", gap=0.03)
    wall_decor(r, ("painting",))


def _bed(r: Arrangement, width: float) -> Placed | None:
    """Its head to a wall far from the door, nightstands with lamps on both sides."""
    for w in (width, 1.4, 0.95):
        bed = r.against_wall("bed", "middle" if r.chance(0.7) else "corner", edges=r.far_edges(), width=w)
        if bed is not None:
            break
    else:
        return None
    for side in (1, -1):
        stand = r.beside(bed, "nightstand", side)
        if stand is not None:
            r.on_top(stand, "lamp", -0.4, 0.0)
            if r.chance(0.4):
                r.on_top(stand, "books" if r.chance(0.5) else "mug", 0.9, 0.6)
    r.on_wall("painting", 1.45, above=bed)
    return bed


@furnishes("guest room")
def guest_room(r: Arrangement) -> None:
    """A hotel room."""
    r.lamps()
    _bed(r, 1.6)
    r.against_wall("wardrobe", "corner", edges=r.blind_edges())
    desk = r.against_wall("desk", "corner", edges=r.window_edges() or None, width=1.15) or r.against_wall("desk", "any", width=1.0)
    if desk is not None:
        r.in_front(desk, "chair", gap=0.04)
        r.on_top(desk, "desk lamp", -0.4, 0.8)
        r.on_top(desk, "telephone", -0.3, -0.7)
    r.on_wall("tv", 1.15)
    armchair = r.against_wall("armchair", "corner", gap=0.08)
    if armchair is not None:
        r.beside(armchair, "side table", 1, gap=0.06)
        r.beside(armchair, "floor lamp", -1, gap=0.06)
    r.against_wall("suitcase", "any", gap=0.06)
    bins(r, "trash can")
    wall_decor(r, ("painting", "mirror"))


@furnishes("living room")
def living_room(r: Arrangement) -> None:
    """Sofa opposite a television, a place to eat, and a kitchen when the flat has no other."""
    r.lamps()
    if "kitchen" not in r.neighbours:
        kitchen_run(r, best_wall(r, r.blind_edges()), wide=r.area > 22.0)
    _television_corner(r)
    if r.area > 17.0:
        dining_group(r, r.free_standing("dining table", margin=0.75, seats=4), 4)
    elif "kitchen" not in r.neighbours:
        dining_group(r, r.free_standing("round table", margin=0.7), 2)
    shelf = r.against_wall("bookshelf", "any", edges=r.blind_edges())
    if shelf is not None:
        r.beside(shelf, "plant", 1, gap=0.08)
    if r.area > 20.0 and r.chance(0.25):
        r.against_wall("piano", "any", edges=r.blind_edges())
    if r.chance(0.25):
        r.against_wall("aquarium", "any", edges=r.blind_edges())
    if "corridor" in r.neighbours:
        _entry(r)
    greenery(r, 2 if r.area > 16.0 else 1)
    wall_decor(r)


def _television_corner(r: Arrangement) -> None:
    for edge in r.far_edges():
        sofa = r.against_wall("sofa", "middle", edges=[edge])
        if sofa is not None:
            break
    else:
        armchair = r.against_wall("armchair", "corner", gap=0.06)
        if armchair is not None:
            r.beside(armchair, "floor lamp", 1)
        return
    table = r.in_front(sofa, "coffee table", gap=0.4)
    if table is not None:
        r.on_top(table, "books", 0.0, 0.6)
        r.on_top(table, "potted flower" if r.chance(0.5) else "mug", 0.0, -0.6)
        r.rug(sofa.at(0.75, 0.0), sofa.yaw_rad, (1.7, 2.4))
    opposite = [e for e in r.edges if sofa.edge is not None and e.along == sofa.edge.along and e.inward != sofa.edge.inward]
    stand = r.against_wall("tv stand", "middle", edges=opposite) or r.against_wall("tv stand", "any")
    r.on_top(stand, "tv", width=1.1)
    for side in (1, -1):
        corner = r.beside(sofa, "side table" if side > 0 else "floor lamp", side, gap=0.08)
        if side > 0 and corner is not None:
            r.on_top(corner, "lamp")
    r.on_wall("painting", 1.4, above=sofa, width=1.1)
    if r.area > 15.0:
        r.free_standing("armchair" if r.chance(0.6) else "pouf", margin=0.5)


def _entry(r: Arrangement) -> None:
    r.against_wall("shoe rack", "any", edges=r.blind_edges())
    r.against_wall("coat rack", "corner", gap=0.05)
    if r.chance(0.3):
        r.against_wall("umbrella stand", "corner", gap=0.05)


@furnishes("kitchen")
def kitchen(r: Arrangement) -> None:
    """A flat's kitchen with a table, or a commercial one."""
    r.lamps()
    if r.program == "apartments":
        kitchen_run(r, best_wall(r, r.blind_edges()))
        dining_group(r, r.in_middle("dining table", seats=4) or r.free_standing("round table", margin=0.7), 4)
        if "corridor" in r.neighbours:
            _entry(r)
        bins(r, "trash can", "recycling bin")
        wall_decor(r, ("clock", "painting"))
        return
    walls = sorted(r.blind_edges(), key=lambda e: -e.length)
    for edge in walls[:2]:
        kitchen_run(r, edge)
    for _ in range(2 if r.area > 12.0 else 1):
        r.against_wall("refrigerator", "corner", edges=r.blind_edges())
    r.against_wall("shelf", "any", edges=r.blind_edges())
    bench = r.in_middle("workbench", width=min(2.2, max(r.room.bounds.du, r.room.bounds.dv) - 2.4)) if r.area > 14.0 else None
    for left in (-0.7, 0.0, 0.7):
        r.on_top(bench, ("cooking pot", "plate", "fruit bowl")[r.number(0, 2)], 0.0, left)
    bins(r, "trash can", "recycling bin")
    r.on_wall("fire extinguisher", 0.9)


@furnishes("bathroom")
def bathroom(r: Arrangement) -> None:
    """Basin, toilet, tub or shower, and laundry where there is room."""
    r.lamps(spacing_m=2.6)
    tub = r.against_wall("bathtub", "corner", edges=r.far_edges()) if r.area > 5.2 or r.chance(0.5) else None
    if tub is None:
        r.against_wall("shower", "corner", edges=r.far_edges(), gap=0.01)
    r.against_wall("toilet", "corner", edges=r.far_edges())
    basin = r.against_wall("sink", "any")
    if basin is not None:
        r.on_wall("mirror", 1.12, above=basin)
        r.on_top(basin, "mug", -0.9, 0.9, height=0.86)
    if r.program == "apartments" and r.chance(0.6):
        r.against_wall("washing machine", "corner")
    r.on_wall("towel rack", 0.95)
    if r.program == "apartments" and r.chance(0.5):
        r.against_wall("laundry basket", "corner", gap=0.03)
    bins(r, "trash can")
    if r.chance(0.5):
        r.rug(r.room.bounds.center, 0.0, (0.6, 0.9))


@furnishes("laundry room")
def laundry_room(r: Arrangement) -> None:
    """Machines along a wall."""
    r.lamps()
    edge = best_wall(r, r.blind_edges())
    count = max(2, min(5, int((edge.length - 0.4) / 0.62)))
    models = [r.make("washing machine" if k % 3 < 2 else "dryer") for k in range(count)]
    for piece in r.row(edge, edge.end - count * 0.61 - 0.05, models):
        if piece is not None and r.chance(0.35):
            r.on_top(piece, "basket")
    r.against_wall("shelf", "any", edges=r.blind_edges())
    r.against_wall("bench", "any", width=1.2)
    if r.area > 9.0:
        r.against_wall("ironing board", "any", gap=0.06)
    for _ in range(2):
        r.against_wall("laundry basket", "any", gap=0.03)
    wall_decor(r, ("clock",))


@furnishes("lounge", "cafe lounge")
def lounge(r: Arrangement) -> None:
    """Sofas around low tables, a drink from the machine, something to read."""
    r.lamps("pendant lamp" if r.chance(0.4) else "ceiling lamp")
    for _ in range(2 if r.area > 24.0 else 1):
        sofa = r.against_wall("sofa", "any")
        if sofa is None:
            continue
        r.rug(sofa.at(0.8, 0.0), sofa.yaw_rad, (1.7, 2.4))
        table = r.in_front(sofa, "coffee table", gap=0.42)
        r.on_top(table, "books")
        if table is not None and r.chance(0.7):
            r.in_front(table, "armchair", gap=0.45)
    tables = int(np.clip(r.area / 14.0, 1, 6)) if r.room.category == "cafe lounge" else 1
    for _ in range(tables):
        dining_group(r, r.free_standing("round table", margin=0.8), r.number(2, 3))
    if r.room.category == "lounge":
        r.against_wall("vending machine", "corner", edges=r.blind_edges())
        r.on_wall("tv", 1.25)
    r.against_wall("bookshelf", "any", edges=r.blind_edges())
    r.against_wall("water cooler", "any", edges=r.blind_edges())
    if r.area > 26.0 and r.chance(0.4):
        r.against_wall("piano", "any", edges=r.blind_edges())
    greenery(r, 2)
    bins(r, "recycling bin")
    wall_decor(r)


@furnishes("gym")
def gym(r: Arrangement) -> None:
    """Treadmills towards the window, bikes, weights, a mirror."""
    r.lamps()
    count = int(np.clip(r.area / 9.0, 1, 4))
    for k in range(count):
        r.against_wall("treadmill" if k % 2 == 0 else "exercise bike", "any", gap=0.1)
    r.against_wall("dumbbell rack", "any", edges=r.blind_edges())
    r.against_wall("bench", "any", width=1.2, gap=0.05)
    r.against_wall("water cooler", "corner")
    r.on_wall("mirror", 0.95, width=1.6)
    r.on_wall("towel rack", 0.95)
    r.on_wall("tv", 1.5)
    greenery(r)
    wall_decor(r, ("clock",))


@furnishes("dining room")
def dining_room(r: Arrangement) -> None:
    """Tables in rows and a buffet."""
    r.lamps("pendant lamp")
    edge = best_wall(r, r.blind_edges())
    buffet = r.against_wall("cabinet", "middle", edges=[edge], width=min(2.4, edge.length - 1.0))
    for k, category in enumerate(("coffee machine", "fruit bowl", "bottle")):
        r.on_top(buffet, category, -0.2, (-0.85, 0.0, 0.85)[k])
    b = r.room.bounds
    for u in _spread(b.u0, b.u1, 2.6):
        for v in _spread(b.v0, b.v1, 2.5):
            table = r.put(r.make("dining table", seats=4), (u, v), 0.0)
            dining_group(r, table, 4)
            if table is not None:
                for side in (-0.75, 0.75):
                    r.on_top(table, "plate", side, 0.55, turn=0.0 if side < 0 else np.pi)
    greenery(r, 2)
    wall_decor(r, ("painting", "painting", "clock"))


def _spread(low: float, high: float, pitch: float) -> list[float]:
    """Middles of equal stretches about ``pitch`` long."""
    count = max(1, int((high - low - 0.5) / pitch))
    step = (high - low) / count
    return [low + (k + 0.5) * step for k in range(count)]


@furnishes("storage", "stockroom")
def storage(r: Arrangement) -> None:
    """Shelves, boxes, and what is needed to keep a house."""
    r.lamps()
    for _ in range(int(np.clip(r.area / 3.5, 2, 9))):
        r.against_wall("shelf", "corner", edges=r.blind_edges(), files=0.25)
    things = ["box", "box", "box", "ladder", "cleaning cart", "hand truck", "basket"]
    if r.area > 12.0:
        things += ["pallet", "pallet", "pallet", "box"]
    for category in things:
        if r.chance(0.7):
            r.against_wall(category, "any", gap=0.05)
