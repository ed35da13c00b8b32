"""Placing furniture in one room: nothing overlaps, doors keep their lanes, and a robot still gets from door to door.

Positions are on the drawing board; heights count from the room's floor. A piece's heading is where its front looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import shapely

from portico.build.indoor.furniture import CATALOGUE, Model, make
from portico.build.indoor.furniture.assembly import DARKS, FABRICS, WOODS, choose
from portico.build.indoor.lot import Point
from portico.build.indoor.openings import lanes
from portico.build.indoor.plan import CLEAR_M, Edge, FloorPlan, Rect, RoomPlan
from portico.build.indoor.ways import Ways

_TALL_M = 1.2
_PLAQUE_M = 0.52
_BODY_M = 0.95
_CLOSE_M = 0.012
Where = Literal["corner", "middle", "any"]


@dataclass(frozen=True)
class Placed:
    """A piece in its place: footprint centre, heading, height of its lower edge, and the wall it stands against."""

    model: Model
    center: Point
    yaw_rad: float
    bottom: float
    rect: Rect
    edge: Edge | None = None

    @property
    def top(self) -> float:
        """Height of its upper edge."""
        return self.bottom + self.model.size[2]

    def at(self, forward: float, left: float) -> Point:
        """A point in the piece's own axes."""
        c, s = np.cos(self.yaw_rad), np.sin(self.yaw_rad)
        return (float(self.center[0] + c * forward - s * left), float(self.center[1] + s * forward + c * left))


class Arrangement:
    """One room being furnished."""

    def __init__(self, floor: FloorPlan, room: RoomPlan, program: str, rng: np.random.Generator) -> None:
        self.room, self.program, self.rng = room, program, rng
        self.placed: list[Placed] = []
        self._shared = {"wood": choose(rng, WOODS), "fabric": choose(rng, FABRICS + DARKS)}
        self.edges = sorted(room.edges(), key=lambda e: -e.length)
        doors = [d for d in floor.doors if room.index in d.rooms]
        self.lanes = [lane for door in doors for lane in lanes(door, room)]
        self.windows = [w.opening for w in floor.windows]
        self._walls = [(d.opening, 0.0, d.opening.head + 0.4) for d in doors] + [(w, w.sill, w.head) for w in self.windows]
        self._leaves = [leaf for d in doors if d.state == "open" and d.rooms[0] == room.index for leaf in d.leaves]
        self._polygon = room.polygon
        self._is_rect = len(room.corners) == 4
        self._ways = Ways(room, self._leaves, [lane for door in doors if door.state == "open" for lane in lanes(door, room, 1.1)])
        others = {i for door in doors for i in door.rooms if i is not None and i != room.index}
        self.neighbours = {floor.rooms[i].category for i in others}
        self.has_entrance = any(door.exterior for door in doors)

    @property
    def area(self) -> float:
        """Square metres."""
        return float(self._polygon.area)

    def chance(self, probability: float) -> bool:
        """True that often."""
        return bool(self.rng.random() < probability)

    def number(self, low: int, high: int) -> int:
        """A whole number between two, both included."""
        return int(self.rng.integers(low, high + 1))

    def make(self, category: str, **options: Any) -> Model:
        """A piece from the catalogue, in the room's own wood and fabric where it has either."""
        known = CATALOGUE[category].options
        shared = {name: color for name, color in self._shared.items() if name in known}
        return make(category, self.rng, **{**shared, **options})

    def put(self, model: Model, center: Point, yaw_rad: float, bottom: float = 0.0, edge: Edge | None = None) -> Placed | None:
        """Put a piece down if it fits there."""
        rect = _footprint(model, center, yaw_rad)
        piece = Placed(model, center, yaw_rad, bottom, rect, edge)
        if not self._fits(piece):
            return None
        if model.collides and bottom < _BODY_M and not self._ways.narrow(rect):
            return None
        self.placed.append(piece)
        return piece

    def against_wall(
        self, category: str, where: Where = "any", *, edges: Sequence[Edge] | None = None, bottom: float = 0.0, gap: float = 0.015, **options: Any
    ) -> Placed | None:
        """Stand or hang a piece with its back to a wall."""
        return self.place_against_wall(self.make(category, **options), where, edges=edges, bottom=bottom, gap=gap)

    def place_against_wall(
        self, model: Model, where: Where = "any", *, edges: Sequence[Edge] | None = None, bottom: float = 0.0, gap: float = 0.015
    ) -> Placed | None:
        """The same with a piece that is there already."""
        for edge, at in self._wall_spots(model, where, edges):
            piece = self.stand(model, edge, at, bottom, gap)
            if piece is not None:
                return piece
        return None

    def stand(self, model: Model, edge: Edge, at: float, bottom: float = 0.0, gap: float = 0.015) -> Placed | None:
        """Its back to a wall, its middle at a position along it."""
        if self._covers_hole(edge, at, model, bottom):
            return None
        return self.put(model, edge.point(at, gap + model.size[0] / 2), heading(edge), bottom, edge)

    def row(self, edge: Edge, start: float, models: Sequence[Model], gap: float = 0.01) -> list[Placed | None]:
        """Pieces side by side along a wall from a position on; None for each that does not fit."""
        row: list[Placed | None] = []
        for model in models:
            row.append(self.stand(model, edge, start + model.size[1] / 2))
            start += model.size[1] + gap
        return row

    def on_wall(self, category: str, bottom: float, *, above: Placed | None = None, **options: Any) -> Placed | None:
        """Hang a piece on a wall, over another piece if that stands against one."""
        model = self.make(category, **options)
        if above is None:
            return self.place_against_wall(model, "any", bottom=bottom, gap=0.004)
        if above.edge is None:
            return None
        at = above.center[0] if above.edge.along == "u" else above.center[1]
        return self.stand(model, above.edge, at, bottom, 0.004)

    def beside(self, piece: Placed, category: str, side: int, gap: float = 0.05, **options: Any) -> Placed | None:
        """Next to a piece on its left (+1) or right (-1), backs in line."""
        model = self.make(category, **options)
        left = side * (piece.model.size[1] / 2 + model.size[1] / 2 + gap)
        forward = (model.size[0] - piece.model.size[0]) / 2
        center = piece.at(forward, left)
        if piece.edge is not None:
            at = center[0] if piece.edge.along == "u" else center[1]
            if self._covers_hole(piece.edge, at, model, 0.0):
                return None
        return self.put(model, center, piece.yaw_rad, 0.0, piece.edge)

    def in_front(self, piece: Placed, category: str, gap: float = 0.03, *, left: float = 0.0, turned: bool = True, **options: Any) -> Placed | None:
        """Before a piece, looking at it, or the way it looks."""
        model = self.make(category, **options)
        center = piece.at(piece.model.size[0] / 2 + model.size[0] / 2 + gap, left)
        return self.put(model, center, piece.yaw_rad + (np.pi if turned else 0.0))

    def behind(self, piece: Placed, category: str, gap: float = 0.03, *, left: float = 0.0, **options: Any) -> Placed | None:
        """At the back of a piece, looking at it."""
        model = self.make(category, **options)
        return self.put(model, piece.at(-(piece.model.size[0] / 2 + model.size[0] / 2 + gap), left), piece.yaw_rad)

    def around(self, table: Placed, category: str, count: int, gap: float = 0.03, **options: Any) -> list[Placed]:
        """Seats along the long sides of a table, and at its ends when more are asked for."""
        dx, dy = table.model.size[0], table.model.size[1]
        per_side = max(1, min((count + 1) // 2, int(dy / 0.58)))
        spots = [(side * dx / 2, (k + 0.5) * dy / per_side - dy / 2, side, 0) for k in range(per_side) for side in (1, -1)]
        spots += [(0.0, side * dy / 2, 0, side) for side in (1, -1)]
        seats = []
        for forward, left, sx, sy in spots[:count]:
            model = self.make(category, **options)
            reach = model.size[0] / 2 + gap
            yaw = table.yaw_rad + np.arctan2(-sy, -sx)
            seat = self.put(model, table.at(forward + sx * reach, left + sy * reach), float(yaw))
            seats += [seat] if seat is not None else []
        return seats

    def on_top(
        self, piece: Placed | None, category: str, forward: float = 0.0, left: float = 0.0, *, turn: float = 0.0, height: float | None = None, **options: Any
    ) -> Placed | None:
        """On a piece, ``forward`` and ``left`` in shares of its half size (-1..1)."""
        if piece is None:
            return None
        model = self.make(category, **options)
        room_x, room_y = (piece.model.size[0] - model.size[0]) / 2, (piece.model.size[1] - model.size[1]) / 2
        center = piece.at(forward * max(room_x, 0.0), left * max(room_y, 0.0))
        bottom = piece.bottom + (piece.model.size[2] if height is None else height) + 0.002
        return self.put(model, center, piece.yaw_rad + turn, bottom)

    def free_standing(self, category: str, *, tries: int = 14, margin: float = 0.9, **options: Any) -> Placed | None:
        """Somewhere in the open part of the room, square to the walls, with a way around it."""
        model = self.make(category, **options)
        b = self.room.bounds
        for _ in range(tries):
            yaw = float(self.rng.integers(4)) * np.pi / 2
            d = _footprint(model, (0.0, 0.0), yaw)
            low_u, high_u, low_v, high_v = b.u0 + d.du / 2 + margin, b.u1 - d.du / 2 - margin, b.v0 + d.dv / 2 + margin, b.v1 - d.dv / 2 - margin
            if low_u > high_u or low_v > high_v:
                continue
            piece = self.put(model, (float(self.rng.uniform(low_u, high_u)), float(self.rng.uniform(low_v, high_v))), yaw)
            if piece is not None:
                return piece
        return None

    def in_middle(self, category: str, *, along: Literal["u", "v"] | None = None, **options: Any) -> Placed | None:
        """In the middle of the room, its width along the room's long side, or shifted a little where a door is in the way."""
        model = self.make(category, **options)
        b = self.room.bounds
        along = along or ("u" if b.du >= b.dv else "v")
        yaw = np.pi / 2 if along == "u" else 0.0
        for shift in (0.0, 0.4, -0.4, 0.8, -0.8):
            for across in (0.0, 0.3, -0.3, 0.6, -0.6):
                move = (shift, across) if along == "u" else (across, shift)
                piece = self.put(model, (b.center[0] + move[0], b.center[1] + move[1]), float(yaw))
                if piece is not None:
                    return piece
        return None

    def rug(self, center: Point, yaw_rad: float, size: tuple[float, float]) -> Placed | None:
        """A rug, cut to what the walls leave, under whatever stands there."""
        return self.put(self.make("rug", size=size), center, yaw_rad)

    def lamps(self, category: str = "ceiling lamp", spacing_m: float = 3.2) -> None:
        """A grid of lamps under the ceiling."""
        b = self.room.bounds
        nu, nv = max(1, round(b.du / spacing_m)), max(1, round(b.dv / spacing_m))
        model = self.make(category)
        for i in range(nu):
            for j in range(nv):
                center = (b.u0 + (i + 0.5) * b.du / nu, b.v0 + (j + 0.5) * b.dv / nv)
                self.put(model, center, 0.0 if b.du > b.dv else np.pi / 2, CLEAR_M - model.size[2] - 0.004)

    def window_edges(self) -> list[Edge]:
        """Walls with windows."""
        return [e for e in self.edges if any(w.pierces(e) for w in self.windows)]

    def blind_edges(self) -> list[Edge]:
        """Walls without windows, in random order."""
        blind = [e for e in self.edges if not any(w.pierces(e) for w in self.windows)]
        return [blind[int(i)] for i in self.rng.permutation(len(blind))]

    def far_edges(self) -> list[Edge]:
        """Walls by distance from the first door, farthest first."""
        if not self.lanes:
            return self.edges
        du, dv = self.lanes[0].center

        def distance(edge: Edge) -> float:
            u, v = edge.point((edge.start + edge.end) / 2)
            return -float(np.hypot(u - du, v - dv))

        return sorted(self.edges, key=distance)

    def _wall_spots(self, model: Model, where: Where, edges: Sequence[Edge] | None) -> Iterator[tuple[Edge, float]]:
        if edges is None:
            edges = [self.edges[int(i)] for i in self.rng.permutation(len(self.edges))]
        half = model.size[1] / 2 + _CLOSE_M
        for edge in edges:
            low, high = edge.start + half, edge.end - half
            if low > high:
                continue
            middle = (low + high) / 2
            drawn = self.rng.uniform(low, high, 5).tolist()
            ends = [low, high] if self.rng.integers(2) else [high, low]
            sweep = np.arange(low, high, 0.3).tolist()
            order = {
                "corner": ends + sweep,
                "middle": [middle, *(middle + s for s in (-0.4, 0.4, -0.8, 0.8) if low <= middle + s <= high), *drawn],
                "any": drawn + ends,
            }
            for at in order[where]:
                yield edge, at

    def _covers_hole(self, edge: Edge, at: float, model: Model, bottom: float) -> bool:
        """Whether it would stand before a window that it is too tall for, or hang over any opening."""
        low, high = at - model.size[1] / 2, at + model.size[1] / 2
        top = bottom + model.size[2]
        hung = bottom > 0.1
        for opening, sill, head in self._walls:
            beside = _PLAQUE_M if hung and sill == 0.0 else 0.0
            if (
                opening.pierces(edge)
                and opening.start - beside < high
                and low < opening.end + beside
                and bottom < head
                and top > max(sill, 0.0 if hung else _TALL_M)
            ):
                return True
        return False

    def _fits(self, piece: Placed) -> bool:
        rect, model = piece.rect, piece.model
        b = self.room.bounds
        if rect.u0 < b.u0 or rect.v0 < b.v0 or rect.u1 > b.u1 or rect.v1 > b.v1 or piece.top > CLEAR_M:
            return False
        if not self._is_rect and not self._polygon.covers(shapely.box(rect.u0, rect.v0, rect.u1, rect.v1)):
            return False
        low = piece.bottom
        if model.collides and low < 2.0 and any(lane.overlaps(rect) for lane in self.lanes):
            return False
        if low < 2.1 and model.collides and any(leaf.overlaps(rect, -_CLOSE_M) for leaf in self._leaves):
            return False
        for other in self.placed:
            flat = (not other.model.collides and other.top < 0.1) or (not model.collides and piece.top < 0.1)
            both_flat = other.top < 0.1 and piece.top < 0.1
            if (not flat or both_flat) and other.bottom < piece.top and low < other.top and other.rect.overlaps(rect, -0.004):
                return False
        return True


def heading(edge: Edge) -> float:
    """Yaw of a piece that stands with its back to a wall."""
    if edge.along == "u":
        return np.pi / 2 if edge.inward > 0 else -np.pi / 2
    return 0.0 if edge.inward > 0 else np.pi


def _footprint(model: Model, center: Point, yaw_rad: float) -> Rect:
    c, s = abs(np.cos(yaw_rad)), abs(np.sin(yaw_rad))
    half_u = float(c * model.size[0] + s * model.size[1]) / 2
    half_v = float(s * model.size[0] + c * model.size[1]) / 2
    return Rect(center[0] - half_u, center[1] - half_v, center[0] + half_u, center[1] + half_v)
