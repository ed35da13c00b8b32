"""Cafes and supermarkets."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement
from portico.build.indoor.rooms.entrances import side_walls
from portico.build.indoor.rooms.grammar import bins, furnishes, greenery, wall_decor


@furnishes("cafe")
def cafe(r: Arrangement) -> None:
    """A counter with cakes and a menu, tables, a sofa corner."""
    r.lamps("pendant lamp", spacing_m=2.6)
    _counter(r)
    sofa = r.against_wall("sofa", "corner", edges=side_walls(r))
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
    for edge in sorted(side_walls(r), key=lambda e: (any(e.rect(e.start, e.end, 0.3).overlaps(lane) for lane in r.lanes), -e.length)):
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
    for edge in [*side_walls(r), *back]:
        at = edge.start + (3.2 if edge.along == "v" else 0.9)
        while at < edge.end - 1.2:
            kind = ("refrigerated case", "wall shelf", "freezer")[int(r.rng.choice(3, p=[0.45, 0.4, 0.15]))]
            model = r.make(kind, **({"length": 1.9} if kind == "wall shelf" else {"width": 1.9}))
            piece = r.stand(model, edge, at + 0.95)
            at += 1.95 if piece is not None else 0.5


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
