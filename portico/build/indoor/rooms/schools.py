"""Rooms to learn in: classrooms, libraries, music and art rooms."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement, heading
from portico.build.indoor.furniture.assembly import BRIGHTS, choose
from portico.build.indoor.plan import Edge
from portico.build.indoor.rooms.grammar import bins, dining_group, equip_desk, facing, furnishes, greenery, wall_decor, workplace


@furnishes("classroom", "computer lab")
def classroom(r: Arrangement) -> None:
    """Rows of desks towards the board, the teacher's desk before it."""
    r.lamps()
    lab = r.room.category == "computer lab"
    edge = _board_wall(r)
    board = r.place_against_wall(r.make("whiteboard", width=min(3.2, edge.length - 1.5)), "middle", edges=[edge], bottom=0.95, gap=0.004)
    middle = (edge.start + edge.end) / 2
    desk = r.put(r.make("desk", width=1.4), edge.point(middle + 0.25 * edge.length, 1.55), facing(edge))
    if desk is not None:
        r.in_front(desk, "office chair", gap=0.05)
    _pupils(r, edge, lab)
    back = [e for e in r.edges if e.along == edge.along and e.inward != edge.inward]
    for category in ("bookshelf", "locker", "cabinet"):
        piece = r.against_wall(category, "any", edges=[e for e in back if e in r.blind_edges()] or r.blind_edges())
        if category == "cabinet":
            r.on_top(piece, "globe")
    if board is None:
        r.on_wall("whiteboard", 0.95)
    r.on_wall("poster", 1.2, kind=2)
    r.on_wall("bulletin board", 1.1)
    wall_decor(r, ("clock",))
    bins(r, "trash can")
    greenery(r)


def _board_wall(r: Arrangement) -> Edge:
    """A wall without windows at a short end of the rows, not the one with the door if that can be."""
    doors = [e for e in r.edges if any(e.rect(e.start, e.end, 0.2).overlaps(lane) for lane in r.lanes)]
    blind = r.blind_edges()
    choices = [e for e in blind if e not in doors] or blind or r.edges
    return max(choices, key=lambda e: e.length)


def _pupils(r: Arrangement, edge: Edge, lab: bool) -> None:
    b = r.room.bounds
    deep = b.dv if edge.along == "u" else b.du
    color = choose(r.rng, BRIGHTS)
    pitch = 1.95 if lab else 1.6
    columns = max(1, int((edge.length - 1.0) / pitch))
    step = (edge.length - 0.9) / columns
    apart = 1.75 if lab else 1.45
    rows = max(1, int((deep - 2.9) / apart))
    for row in range(rows):
        for column in range(columns):
            at, away = edge.start + 0.45 + (column + 0.5) * step, 3.0 + row * apart
            model = r.make("desk", width=1.2) if lab else r.make("school desk")
            yaw = heading(edge) if lab else facing(edge)
            desk = r.put(model, edge.point(at, away), yaw)
            if desk is None:
                continue
            if lab:
                equip_desk(r, desk)
                r.in_front(desk, "office chair", gap=0.04)
            else:
                r.behind(desk, "school chair", gap=0.03, color=color)
                if r.chance(0.3):
                    r.on_top(desk, "books" if r.chance(0.7) else "laptop", 0.0, 0.3)


@furnishes("library")
def library(r: Arrangement) -> None:
    """Shelves along the walls, reading tables, a globe."""
    r.lamps()
    for _ in range(int(np.clip(r.area / 5.0, 3, 10))):
        r.against_wall("bookshelf", "corner", edges=r.blind_edges(), width=1.2)
    for _ in range(int(np.clip(r.area / 16.0, 1, 3))):
        table = r.free_standing("dining table", margin=1.0, seats=4)
        dining_group(r, table, 4)
        r.on_top(table, "books", 0.5, 0.8)
    desk = r.against_wall("desk", "corner")
    workplace(r, desk)
    armchair = r.against_wall("armchair", "corner", gap=0.08)
    if armchair is not None:
        r.beside(armchair, "floor lamp", 1)
    cabinet = r.against_wall("cabinet", "any")
    r.on_top(cabinet, "globe")
    r.on_wall("poster", 1.2, kind=2)
    greenery(r, 2)
    wall_decor(r)


@furnishes("music room")
def music_room(r: Arrangement) -> None:
    """A piano, chairs in an arc before it, loudspeakers."""
    r.lamps()
    piano = r.against_wall("piano", "middle", edges=r.blind_edges())
    if piano is not None:
        r.in_front(piano, "stool", gap=0.08)
        for k, angle in enumerate(np.linspace(-0.9, 0.9, 7)):
            center = piano.at(2.5 + 0.3 * (k % 2), float(2.2 * np.sin(angle)))
            r.put(r.make("chair"), center, float(piano.yaw_rad + np.pi))
    for _ in range(2):
        r.against_wall("speaker", "corner", gap=0.08)
    r.against_wall("bookshelf", "any", edges=r.blind_edges())
    r.against_wall("cabinet", "any", edges=r.blind_edges())
    r.on_wall("whiteboard", 0.95)
    greenery(r)
    wall_decor(r)


@furnishes("art room")
def art_room(r: Arrangement) -> None:
    """Benches with stools, easels, a sink."""
    r.lamps()
    for _ in range(int(np.clip(r.area / 12.0, 1, 4))):
        bench = r.free_standing("workbench", margin=1.0, width=1.8)
        if bench is not None:
            for left in (-0.5, 0.5):
                r.in_front(bench, "stool", left=left)
            r.on_top(bench, "vase" if r.chance(0.5) else "fruit bowl")
    for _ in range(4):
        r.free_standing("easel", margin=0.5)
    r.against_wall("kitchen sink", "any")
    r.against_wall("shelf", "any", edges=r.blind_edges())
    r.against_wall("cabinet", "any", edges=r.blind_edges())
    for _ in range(3):
        r.on_wall("painting", 1.4)
    bins(r, "trash can")
