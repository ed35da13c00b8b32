"""Rooms that people walk into from the street: lobbies, waiting rooms, shops, cafes; and corridors, wards and counters."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement, Placed
from portico.build.indoor.grammar import best_wall, bins, furnishes, greenery, wall_decor, workplace
from portico.build.indoor.grammar_work import at_reception
from portico.build.indoor.plan import Edge


def _toward_entrance(r: Arrangement) -> float:
    """Heading of the street side."""
    return -np.pi / 2


def _side_walls(r: Arrangement) -> list[Edge]:
    """Walls left and right of someone who comes in."""
    return [e for e in r.edges if e.along == "v"]


@furnishes("lobby")
def lobby(r: Arrangement) -> None:
    """By program: reception and seats, letter boxes, lockers."""
    r.lamps()
    if r.program == "apartments":
        r.against_wall("mailbox", "any", edges=r.blind_edges(), columns=6)
        r.against_wall("bench", "any")
        r.against_wall("umbrella stand", "corner", gap=0.05)
        r.on_wall("bulletin board", 1.1)
        r.against_wall("suitcase" if r.chance(0.3) else "box", "any", gap=0.05)
    elif r.program == "school":
        for _ in range(3):
            r.against_wall("locker", "any", edges=r.blind_edges(), doors=5)
        r.against_wall("bench", "any", edges=r.blind_edges())
        r.on_wall("bulletin board", 1.1)
        r.against_wall("information board", "any", gap=0.04)
        r.against_wall("backpack", "any", gap=0.03)
    else:
        _reception(r)
        _seats(r)
    if r.program == "hotel":
        for _ in range(2):
            r.against_wall("suitcase", "any", gap=0.06)
        r.against_wall("luggage cart", "any", gap=0.05)
    r.against_wall("information board" if r.program != "apartments" else "coat rack", "any", gap=0.04)
    r.against_wall("newspaper rack", "any", edges=r.blind_edges())
    greenery(r, 3)
    bins(r, "trash can")
    wall_decor(r, ("clock", "painting", "painting"))
    r.on_wall("fire extinguisher", 0.9)


def _reception(r: Arrangement) -> Placed | None:
    """A desk that looks into the hall with its back towards a side wall, room to sit behind it."""
    b = r.room.bounds
    for edge in sorted(_side_walls(r), key=lambda e: -e.length):
        for share in (0.6, 0.45, 0.75, 0.3):
            model = r.make("reception desk")
            at = edge.start + share * edge.length
            desk = r.put(model, edge.point(at, 1.45), 0.0 if edge.inward > 0 else np.pi)
            if desk is not None:
                at_reception(r, desk)
                return desk
    desk = r.put(r.make("reception desk"), (b.center[0], b.v1 - 2.2), _toward_entrance(r))
    at_reception(r, desk)
    return desk


def _seats(r: Arrangement) -> None:
    """A sofa with a table, and a chair across."""
    for _ in range(2 if r.area > 35.0 else 1):
        sofa = r.against_wall("sofa", "any")
        if sofa is None:
            continue
        table = r.in_front(sofa, "coffee table", gap=0.42)
        r.on_top(table, "books")
        r.rug(sofa.at(0.8, 0.0), sofa.yaw_rad, (1.7, 2.3))
        r.beside(sofa, "armchair", 1, gap=0.25)
        r.beside(sofa, "floor lamp", -1, gap=0.08)


@furnishes("waiting room")
def waiting_room(r: Arrangement) -> None:
    """A reception, rows of seats, something to look at."""
    r.lamps()
    _reception(r)
    for _ in range(int(np.clip(r.area / 9.0, 2, 6))):
        r.against_wall("waiting bench", "any", seats=r.number(2, 4))
    for category in ("water cooler", "newspaper rack", "aquarium", "wheelchair", "information board"):
        r.against_wall(category, "any", edges=r.blind_edges(), gap=0.04)
    greenery(r, 2)
    bins(r, "trash can")
    r.on_wall("tv", 1.6)
    r.on_wall("poster", 1.2, kind=1)
    wall_decor(r, ("clock", "painting"))
    r.on_wall("fire extinguisher", 0.9)


@furnishes("corridor")
def corridor(r: Arrangement) -> None:
    """What leaves the way free: pictures, an extinguisher, a plant; lockers where it is wide."""
    r.lamps(spacing_m=4.0)
    b = r.room.bounds
    wide = min(b.du, b.dv) >= 2.5
    length = max(b.du, b.dv)
    for _ in range(max(1, int(length / 14.0))):
        r.on_wall("fire extinguisher", 0.95)
    if wide:
        for _ in range(int(length / 5.0)):
            r.against_wall("locker", "any", edges=r.blind_edges(), doors=r.number(3, 6))
    things = {
        "office": ("water cooler", "recycling bin"),
        "clinic": ("wheelchair", "medical cart"),
        "hotel": ("side table", "cleaning cart"),
        "school": ("bench", "trash can"),
        "apartments": ("shoe rack", "umbrella stand"),
    }.get(r.program, ("trash can",))
    for category in things:
        r.against_wall(category, "any", edges=r.blind_edges(), gap=0.03)
    for _ in range(max(1, int(length / 9.0))):
        r.on_wall("painting", 1.5)
    greenery(r, 1 + int(length > 15.0))
    if r.program in ("school", "office", "clinic"):
        r.on_wall("bulletin board", 1.1)
    r.on_wall("clock", 1.95)


@furnishes("cafe")
def cafe(r: Arrangement) -> None:
    """A counter with cakes and a menu, tables, a sofa corner."""
    r.lamps("pendant lamp", spacing_m=2.6)
    _counter(r)
    sofa = r.against_wall("sofa", "corner", edges=_side_walls(r))
    if sofa is not None:
        r.in_front(sofa, "coffee table", gap=0.4)
        r.on_wall("painting", 1.4, above=sofa)
    r.against_wall("newspaper rack", "any", edges=r.blind_edges())
    r.against_wall("coat rack", "corner", gap=0.06)
    r.against_wall("umbrella stand", "corner", gap=0.05)
    greenery(r, 2)
    _tables(r)
    bins(r, "trash can")
    wall_decor(r, ("painting", "painting", "clock"))
    r.on_wall("fire extinguisher", 0.9)


def _counter(r: Arrangement) -> None:
    """The bar before a side wall, the barista between; the case with cakes next to the till."""
    for edge in sorted(_side_walls(r), key=lambda e: (any(e.rect(e.start, e.end, 0.3).overlaps(lane) for lane in r.lanes), -e.length)):
        length = float(np.clip(edge.length - 3.6, 1.6, 3.0))
        for share in (0.62, 0.5, 0.75, 0.4):
            at = edge.start + share * edge.length
            yaw = 0.0 if edge.inward > 0 else np.pi
            bar = r.put(r.make("coffee counter", width=length), edge.point(at, 1.75), yaw)
            if bar is None:
                continue
            r.on_top(bar, "coffee machine", -0.2, 0.6, turn=np.pi)
            r.on_top(bar, "cash register", -0.2, -0.55, turn=np.pi)
            r.on_top(bar, "potted flower", 0.0, 0.0)
            r.beside(bar, "display case", -1, gap=0.02)
            back = r.stand(r.make("kitchen counter", width=length), edge, at)
            r.on_top(back, "microwave", -0.5, 0.8, height=0.9)
            r.on_top(back, "kettle", -0.5, 0.0, height=0.9)
            r.on_wall("menu board", 1.6, above=back)
            for left in (-0.6, 0.2):
                r.in_front(bar, "bar stool", gap=0.15, left=left * length / 2)
            return


def _tables(r: Arrangement) -> None:
    """Round tables on a loose grid."""
    b = r.room.bounds
    columns, rows = max(1, int((b.du - 0.6) / 2.2)), max(1, int((b.dv - 1.4) / 2.1))
    for i in range(columns):
        for j in range(rows):
            if r.chance(0.15):
                continue
            jitter = r.rng.uniform(-0.12, 0.12, 2)
            center = (b.u0 + (i + 0.5) * b.du / columns + jitter[0], b.v0 + 0.5 + (j + 0.5) * (b.dv - 0.5) / rows + jitter[1])
            table = r.put(r.make("round table", radius=0.36), (float(center[0]), float(center[1])), float(r.rng.integers(2)) * np.pi / 2)
            if table is None:
                continue
            r.around(table, "chair", r.number(2, 3))
            if r.chance(0.6):
                r.on_top(table, "mug" if r.chance(0.5) else "potted flower")


@furnishes("sales floor")
def sales_floor(r: Arrangement) -> None:
    """Tills by the entrance, aisles of shelves, coolers along the walls."""
    r.lamps(spacing_m=3.6)
    b = r.room.bounds
    front = float(np.clip(0.36 * b.dv, 2.6, 4.8))
    _tills(r, front)
    _coolers(r)
    aisles = max(1, int((b.du - 3.4) / 2.35))
    length = float(np.clip(b.dv - front - 2.6, 1.2, 9.0))
    for k in range(aisles):
        u = b.u0 + 1.7 + (k + 0.5) * (b.du - 3.4) / aisles
        pieces = 2 if length > 6.0 else 1
        each = length / pieces - (0.6 if pieces == 2 else 0.0)
        for part in range(pieces):
            v = b.v0 + front + 0.4 + each / 2 + part * (each + 1.2)
            r.put(r.make("store shelf", length=each), (u, v), 0.0)
    for _ in range(2):
        r.free_standing("produce stand", margin=1.2)
    for _ in range(3):
        cart = r.against_wall("shopping cart", "any", edges=[e for e in r.edges if e.along == "u"] or None, gap=0.05)
        if cart is not None:
            r.beside(cart, "shopping cart", 1, gap=0.06)
    for _ in range(2):
        r.against_wall("shopping baskets", "any", gap=0.04)
    greenery(r)
    bins(r, "trash can")
    r.on_wall("clock", 2.0)
    r.on_wall("fire extinguisher", 0.9)


def _tills(r: Arrangement, front: float) -> None:
    b = r.room.bounds
    count = int(np.clip((b.du - 5.0) / 2.1, 1, 5))
    left = bool(r.rng.integers(2))
    for k in range(count):
        offset = 1.3 + k * 1.85
        u = b.u0 + offset if left else b.u1 - offset
        till = r.put(r.make("checkout counter"), (u, b.v0 + max(1.5, front / 2)), -np.pi / 2)
        if till is not None:
            r.put(r.make("stool"), till.at(-0.5, 0.52), till.yaw_rad)


def _coolers(r: Arrangement) -> None:
    back = [e for e in r.edges if e.along == "u" and e.inward < 0]
    for edge in [*_side_walls(r), *back]:
        at = edge.start + (3.2 if edge.along == "v" else 0.9)
        while at < edge.end - 1.2:
            kind = ("refrigerated case", "wall shelf", "freezer")[int(r.rng.choice(3, p=[0.45, 0.4, 0.15]))]
            model = r.make(kind, **({"length": 1.9} if kind == "wall shelf" else {"width": 1.9}))
            piece = r.stand(model, edge, at + 0.95)
            at += 1.95 if piece is not None else 0.5


@furnishes("exam room")
def exam_room(r: Arrangement) -> None:
    """A couch, a desk, instruments."""
    r.lamps()
    r.against_wall("exam bed", "corner", edges=r.far_edges())
    workplace(r, r.against_wall("desk", "any", width=1.3))
    basin = r.against_wall("sink", "any", edges=r.blind_edges())
    if basin is not None:
        r.on_wall("mirror", 1.12, above=basin)
    r.against_wall("medical cart", "any", gap=0.04)
    r.against_wall("stool", "any", gap=0.1)
    r.on_wall("medicine cabinet", 1.35)
    r.on_wall("poster", 1.2, kind=r.number(0, 1))
    if r.chance(0.5):
        r.against_wall("scale", "corner", gap=0.05)
    r.against_wall("chair", "any", gap=0.04)
    bins(r, "trash can")
    wall_decor(r, ("clock",))


@furnishes("ward")
def ward(r: Arrangement) -> None:
    """Beds side by side with a stand and a cabinet each."""
    r.lamps()
    edge = best_wall(r, r.blind_edges())
    count = max(1, int((edge.length - 1.0) / 2.2))
    for k in range(count):
        at = edge.start + (k + 0.5) * edge.length / count
        bed = r.stand(r.make("hospital bed"), edge, at)
        if bed is None:
            continue
        r.beside(bed, "nightstand", 1, gap=0.08)
        r.beside(bed, "iv stand", -1, gap=0.08)
    r.against_wall("wheelchair", "any", gap=0.05)
    r.against_wall("medical cart", "any", gap=0.05)
    r.against_wall("chair", "any", gap=0.05)
    r.against_wall("wardrobe", "corner", edges=r.blind_edges())
    r.on_wall("tv", 1.6)
    greenery(r)
    bins(r, "trash can")
    wall_decor(r, ("clock", "painting"))


@furnishes("pharmacy")
def pharmacy(r: Arrangement) -> None:
    """A counter, medicine on shelves."""
    r.lamps()
    desk = _reception(r)
    r.on_top(desk, "cash register", -0.6, -0.1, turn=np.pi, height=0.74)
    for _ in range(int(np.clip(r.area / 6.0, 2, 4))):
        r.against_wall("wall shelf", "any", edges=r.blind_edges(), length=1.4)
    r.against_wall("refrigerator", "corner", edges=r.blind_edges())
    r.on_wall("medicine cabinet", 1.35)
    r.against_wall("scale", "corner", gap=0.05)
    r.against_wall("chair", "any", gap=0.04)
    bins(r, "trash can")
    wall_decor(r, ("clock",))


@furnishes("nurses' station")
def nurses_station(r: Arrangement) -> None:
    """A desk that sees the corridor, files, carts."""
    r.lamps()
    for _ in range(2):
        workplace(r, r.against_wall("desk", "any", width=1.3))
    for category in ("filing cabinet", "medical cart", "bookshelf", "water cooler", "refrigerator"):
        r.against_wall(category, "any", edges=r.blind_edges(), gap=0.03)
    r.on_wall("bulletin board", 1.1)
    r.on_wall("medicine cabinet", 1.35)
    wall_decor(r, ("clock",))
    bins(r, "trash can")


@furnishes("cold room")
def cold_room(r: Arrangement) -> None:
    """Shelves, freezers, pallets."""
    r.lamps()
    for _ in range(2):
        r.against_wall("freezer", "corner", width=1.5)
    for _ in range(int(np.clip(r.area / 4.0, 2, 5))):
        r.against_wall("shelf", "corner", files=0.0)
    for _ in range(2):
        r.against_wall("pallet", "any", gap=0.06)
    r.against_wall("box", "any", gap=0.05)
