"""Rooms to work in, and the service rooms of any building."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement, heading
from portico.build.indoor.plan import Edge
from portico.build.indoor.rooms.grammar import best_wall, bins, dining_group, furnishes, greenery, kitchen_run, wall_decor, workplace


@furnishes("office", "doctor's office")
def office(r: Arrangement) -> None:
    """One desk for every eight square metres, files, a plant."""
    r.lamps()
    for _ in range(int(np.clip(r.area / 8.0, 1, 4))):
        workplace(r, r.against_wall("desk", "any"))
    if r.room.category == "doctor's office":
        r.against_wall("exam bed", "corner")
        r.on_wall("poster", 1.2, kind=1)
        r.on_wall("poster", 1.2, kind=0)
        r.against_wall("scale", "corner", gap=0.05)
    for category in ("filing cabinet", "bookshelf", "cabinet"):
        if r.chance(0.75):
            piece = r.against_wall(category, "any", edges=r.blind_edges())
            if category == "cabinet" and r.chance(0.6):
                r.on_top(piece, "printer")
    if r.area > 11.0:
        table = r.free_standing("round table", margin=0.7)
        dining_group(r, table, 2)
    if r.chance(0.5):
        r.against_wall("coat rack", "corner", gap=0.05)
    if r.chance(0.7):
        greenery(r)
    bins(r, "trash can")
    if r.chance(0.6):
        r.on_wall("whiteboard", 0.95, width=1.5)
    wall_decor(r, ("painting", "clock"))


@furnishes("open office")
def open_office(r: Arrangement) -> None:
    """Desks back to back in rows, and a place to meet."""
    r.lamps()
    b = r.room.bounds
    along = "u" if b.du >= b.dv else "v"
    low, high = (b.u0, b.u1) if along == "u" else (b.v0, b.v1)
    across_low, across_high = (b.v0, b.v1) if along == "u" else (b.u0, b.u1)
    lines = max(1, int((across_high - across_low - 0.4) / 3.9))
    per_line = max(1, int((high - low - 2.0) / 1.66))
    for i in range(lines):
        across = across_low + (i + 0.5) * (across_high - across_low) / lines
        start = (low + high - per_line * 1.5) / 2
        for k in range(per_line):
            if k % 4 == 3:
                continue
            at = start + (k + 0.5) * 1.5
            for side in (1, -1):
                center = (at, across + side * 0.375) if along == "u" else (across + side * 0.375, at)
                yaw = (np.pi / 2 if along == "u" else 0.0) + (0.0 if side > 0 else np.pi)
                workplace(r, r.put(r.make("desk", width=1.46), center, float(yaw)), second_screen=0.5)
    for _ in range(2):
        cabinet = r.against_wall("filing cabinet", "any", edges=r.blind_edges())
        if cabinet is not None:
            r.beside(cabinet, "plant", 1, gap=0.06)
    for category in ("copier", "bookshelf", "cabinet", "coat rack"):
        r.against_wall(category, "any", edges=r.blind_edges())
    greenery(r, 2)
    bins(r, "recycling bin", "trash can")
    r.on_wall("whiteboard", 0.95)
    wall_decor(r)


@furnishes("meeting room", "conference room")
def meeting_room(r: Arrangement) -> None:
    """A long table with chairs, a screen at its end, a whiteboard."""
    r.lamps()
    b = r.room.bounds
    long, short = max(b.du, b.dv), min(b.du, b.dv)
    length = float(np.clip(long - 2.7, 1.4, 4.2))
    table = r.in_middle("conference table", length=length, width=float(np.clip(short - 2.6, 0.9, 1.4)))
    if table is not None:
        r.around(table, "office chair", 2 * int(length / 0.75))
        r.on_top(table, "laptop", 0.7, 0.5)
        r.on_top(table, "bottle", 0.0, 0.85)
        r.on_top(table, "mug", -0.6, -0.5)
    ends = [e for e in r.edges if (e.along == "v") == (b.du >= b.dv)]
    if r.on_wall("projector screen", 1.1, width=min(2.0, short - 1.0)) is None:
        r.place_against_wall(r.make("tv"), "middle", edges=ends, bottom=1.15, gap=0.004)
    r.on_wall("whiteboard", 0.95, width=1.8)
    cabinet = r.against_wall("cabinet", "any", edges=r.blind_edges())
    r.on_top(cabinet, "coffee machine" if r.chance(0.5) else "vase")
    greenery(r)
    wall_decor(r, ("clock", "painting"))


@furnishes("kitchenette")
def kitchenette(r: Arrangement) -> None:
    """A kitchen for a storey: worktop, machines, a table."""
    r.lamps()
    kitchen_run(r, best_wall(r, r.blind_edges()), wide=r.area > 14.0)
    r.against_wall("vending machine", "corner", edges=r.blind_edges())
    r.against_wall("water cooler", "any", edges=r.blind_edges())
    for _ in range(int(np.clip(r.area / 10.0, 1, 3))):
        dining_group(r, r.free_standing("round table", margin=0.7), r.number(2, 3))
    bins(r, "trash can", "recycling bin")
    wall_decor(r, ("clock", "painting"))
    r.on_wall("bulletin board", 1.1)


@furnishes("print room")
def print_room(r: Arrangement) -> None:
    """Copiers, paper, post."""
    r.lamps()
    for _ in range(int(np.clip(r.area / 7.0, 1, 2))):
        r.against_wall("copier", "any", edges=r.blind_edges())
    cabinet = r.against_wall("cabinet", "any", edges=r.blind_edges(), width=1.2)
    r.on_top(cabinet, "printer", 0.0, 0.7)
    r.on_top(cabinet, "books", 0.0, -0.7)
    r.against_wall("shelf", "any", edges=r.blind_edges())
    table = r.against_wall("table", "any", size=(0.7, 1.3))
    r.on_top(table, "box")
    for category in ("box", "recycling bin", "trash can"):
        r.against_wall(category, "any", gap=0.03)
    r.on_wall("bulletin board", 1.1)
    r.on_wall("clock", 1.9)


@furnishes("server room")
def server_room(r: Arrangement) -> None:
    """Racks in a row and a console."""
    r.lamps()
    edge = best_wall(r, r.blind_edges())
    count = int(np.clip((edge.length - 1.4) / 0.64, 1, 6))
    r.row(edge, edge.end - count * 0.64 - 0.1, [r.make("server rack") for _ in range(count)], gap=0.03)
    workplace(r, r.against_wall("desk", "corner", width=1.2))
    r.against_wall("shelf", "any", edges=r.blind_edges())
    r.against_wall("box", "any", gap=0.05)
    r.on_wall("fire extinguisher", 0.9)


@furnishes("staff room")
def staff_room(r: Arrangement) -> None:
    """A table, lockers, a sofa, coffee."""
    r.lamps()
    kitchen_run(r, best_wall(r, r.blind_edges()), wide=False)
    dining_group(r, r.in_middle("dining table", seats=4), 4)
    r.against_wall("locker", "any", edges=r.blind_edges(), doors=4)
    r.against_wall("sofa", "any", width=1.5)
    r.against_wall("water cooler", "any", edges=r.blind_edges())
    r.on_wall("bulletin board", 1.1)
    r.against_wall("coat rack", "corner", gap=0.05)
    bins(r, "trash can", "recycling bin")
    wall_decor(r, ("clock", "painting"))


@furnishes("restroom")
def restroom(r: Arrangement) -> None:
    """Stalls along one wall, basins along another."""
    r.lamps(spacing_m=2.6)
    b = r.room.bounds
    if min(b.du, b.dv) >= 2.6 and max(b.du, b.dv) >= 3.4:
        _stalls(r)
    else:
        r.against_wall("toilet", "corner", edges=r.far_edges())
    basins = 2 if r.area > 8.0 else 1
    stand = r.against_wall("washstand", "any", edges=r.blind_edges(), basins=basins) or r.against_wall("sink", "any")
    if stand is not None:
        r.on_wall("mirror", 1.12, above=stand, width=stand.model.size[1] - 0.1)
    r.on_wall("hand dryer", 1.1)
    bins(r, "trash can")


def _stalls(r: Arrangement) -> None:
    """Toilets a metre apart from the far end of the longest wall on, panels between them."""
    for edge in sorted(r.edges, key=lambda e: -e.length)[:2]:
        door_low = bool(r.lanes) and _position(edge, r.lanes[0].center) < (edge.start + edge.end) / 2
        count = int(np.clip((edge.length - 1.6) / 1.0, 1, 4))
        placed = 0
        for k in range(count):
            step = 0.5 + k * 1.0
            at = edge.end - step if door_low else edge.start + step
            toilet = r.stand(r.make("toilet"), edge, at)
            if toilet is None:
                continue
            placed += 1
            r.put(r.make("toilet stall"), edge.point(at - 0.5 if door_low else at + 0.5, 0.72), heading(edge))
        if placed:
            return


def _position(edge: Edge, point: tuple[float, float]) -> float:
    return point[0] if edge.along == "u" else point[1]
