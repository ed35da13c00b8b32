"""Rooms that people come into from the street, and the corridors behind them."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement, Placed
from portico.build.indoor.plan import Edge
from portico.build.indoor.rooms.grammar import bins, furnishes, greenery, wall_decor


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
        reception(r)
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


def reception(r: Arrangement) -> Placed | None:
    """A desk that looks into the hall with its back towards a side wall, room to sit behind it."""
    b = r.room.bounds
    for edge in sorted(side_walls(r), key=lambda e: -e.length):
        for share in (0.6, 0.45, 0.75, 0.3):
            model = r.make("reception desk")
            at = edge.start + share * edge.length
            desk = r.put(model, edge.point(at, 1.45), 0.0 if edge.inward > 0 else np.pi)
            if desk is not None:
                at_reception(r, desk)
                return desk
    desk = r.put(r.make("reception desk"), (b.center[0], b.v1 - 2.2), -np.pi / 2)
    at_reception(r, desk)
    return desk


def at_reception(r: Arrangement, desk: Placed | None) -> None:
    """Chair and screen behind a reception desk."""
    if desk is None:
        return
    r.behind(desk, "office chair", gap=0.04)
    r.on_top(desk, "monitor", -0.75, 0.4, turn=np.pi, height=0.74)
    r.on_top(desk, "telephone", -0.75, -0.6, turn=np.pi, height=0.74)
    r.on_top(desk, "potted flower", 0.95, 0.85, height=1.1)


def side_walls(r: Arrangement) -> list[Edge]:
    """Walls left and right of someone who comes in."""
    return [e for e in r.edges if e.along == "v"]


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
    reception(r)
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
