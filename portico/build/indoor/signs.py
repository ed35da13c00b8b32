"""What people read indoors: room numbers beside doors, storeys at the stairs, and the way out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from portico.build.indoor.finishes import Finish, drawn
from portico.build.indoor.lot import Lot
from portico.build.indoor.mason import Mason, Stuff
from portico.build.indoor.plan import STOREY_M, BuildingPlan, Door, Edge, FloorPlan
from portico.world import Surface

_COLUMNS = 8
_CELL_PX = (128, 64)
_PLAQUE_M = (0.34, 0.17)
_EXIT_M = (0.56, 0.22)
_PROUD_M = 0.012
_EXIT = Finish("exit sign", "#ffffff", "indoor-exit", emission=0.3)


@dataclass(frozen=True)
class _Plaque:
    lines: tuple[str, str]
    edge: Edge
    at: float
    z: float


def hang_signs(mason: Mason, lot: Lot, plan: BuildingPlan) -> None:
    """Plaques of all rooms in one texture, and exit signs over what leads out."""
    plaques = [plaque for floor in plan.floors for plaque in _plaques(floor)]
    if plaques:
        _hang_plaques(mason, lot, plaques)
    for floor in plan.floors:
        for door in floor.doors:
            for edge in _exit_edges(floor, door):
                middle, z = (door.opening.start + door.opening.end) / 2, floor.level * STOREY_M + door.opening.head + 0.09
                stuff = Stuff(Surface.SIGN, _EXIT, mason.scene.instance("exit sign"), collides=False)
                _hang(mason, stuff, edge, middle, z, _EXIT_M, (0.0, 0.0, 1.0, 1.0))


def _plaques(floor: FloorPlan) -> list[_Plaque]:
    found = []
    for door in floor.doors:
        room, other = floor.rooms[door.rooms[0]], door.rooms[1]
        if other is None or not room.number:
            continue
        for edge in floor.rooms[other].edges():
            if door.opening.pierces(edge):
                after = door.opening.end + 0.3
                at = after if after + 0.2 < edge.end else door.opening.start - 0.3
                found.append(_Plaque((room.number, room.category), edge, at, floor.level * STOREY_M + 1.45))
    return found


def _exit_edges(floor: FloorPlan, door: Door) -> list[Edge]:
    """Wall faces from which a way leads out: inside the street door, on the corridor's side of the hall and of the stairs upstairs."""
    first = floor.rooms[door.rooms[0]]
    if door.exterior:
        return [e for e in first.edges() if door.opening.pierces(e)]
    leads_out = (floor.level == 0 and first.index in _street_rooms(floor)) or (floor.level > 0 and first.category == "stairwell")
    if door.kind != "opening" or not leads_out or door.rooms[1] is None:
        return []
    return [e for e in floor.rooms[door.rooms[1]].edges() if door.opening.pierces(e)]


def _street_rooms(floor: FloorPlan) -> set[int]:
    return {d.rooms[0] for d in floor.doors if d.exterior}


def _hang_plaques(mason: Mason, lot: Lot, plaques: list[_Plaque]) -> None:
    rows = -(-len(plaques) // _COLUMNS)
    width, height = _CELL_PX
    image = Picture.new("RGB", (_COLUMNS * width, rows * height), (58, 64, 70))
    draw = ImageDraw.Draw(image)
    large, small = ImageFont.load_default(size=34), ImageFont.load_default(size=15)
    texture = "indoor-plaques-" + re.sub(r"[^A-Za-z0-9_-]", "-", lot.id)
    finish = Finish(texture, "#ffffff", texture)
    for k, plaque in enumerate(plaques):
        x, y = (k % _COLUMNS) * width, (k // _COLUMNS) * height
        draw.rectangle((x + 2, y + 2, x + width - 3, y + height - 3), outline=(196, 200, 204), width=2)
        draw.text((x + width / 2, y + 23), plaque.lines[0], fill=(250, 250, 248), font=large, anchor="mm")
        draw.text((x + width / 2, y + 50), plaque.lines[1], fill=(206, 214, 220), font=small, anchor="mm")
        stuff = Stuff(Surface.SIGN, finish, mason.scene.instance("room sign"), collides=False)
        u0, v1 = (k % _COLUMNS) / _COLUMNS, 1.0 - (k // _COLUMNS) / rows
        _hang(mason, stuff, plaque.edge, plaque.at, plaque.z, _PLAQUE_M, (u0, v1 - 1.0 / rows, u0 + 1.0 / _COLUMNS, v1))
    mason.scene.textures[texture] = np.asarray(image)


def _hang(mason: Mason, stuff: Stuff, edge: Edge, at: float, z: float, size: tuple[float, float], uv: tuple[float, float, float, float]) -> None:
    """A printed rectangle a hair off a wall face, its lower edge at z; seen from the room it reads left to right."""
    half = size[0] / 2 if (edge.along == "u") == (edge.inward < 0) else -size[0] / 2
    (lu, lv), (ru, rv) = edge.point(at - half, _PROUD_M), edge.point(at + half, _PROUD_M)
    u0, v0, u1, v1 = uv
    mason.quad(stuff, [(lu, lv, z), (ru, rv, z), (ru, rv, z + size[1]), (lu, lv, z + size[1])], [(u0, v0), (u1, v0), (u1, v1), (u0, v1)])


@drawn("indoor-exit")
def _exit_sign(rng: np.random.Generator) -> np.ndarray:
    image = Picture.new("RGB", (128, 50), (18, 122, 62))
    draw = ImageDraw.Draw(image)
    draw.text((46, 25), "EXIT", fill=(255, 255, 255), font=ImageFont.load_default(size=32), anchor="mm")
    draw.polygon([(98, 10), (118, 25), (98, 40), (98, 30), (88, 30), (88, 20), (98, 20)], fill=(255, 255, 255))
    return np.asarray(image, np.float64) / 255.0
