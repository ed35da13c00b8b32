"""Furniture put together from boxes, cylinders and printed panels.

In a model's own frame x points to the front, y to the left and z up; z = 0 is what it stands on, or its lower edge on a
wall. The catalogue maps categories to makers; a maker draws sizes and colours from the generator it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.indoor.finishes import Finish, paint
from portico.build.primitives import cylinder
from portico.errors import UnknownName
from portico.world import Surface

Span = tuple[float, float]
Floats = NDArray[np.float64]
_QUAD = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
_SIDES = np.array([[0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]], np.int32)
_TOP = np.array([[4, 5, 7], [4, 7, 6]], np.int32)
_BOTTOM = np.array([[0, 2, 3], [0, 3, 1]], np.int32)

WOODS = ("#b98d5e", "#8e6240", "#d2ad7c", "#6d4a32", "#a87848", "#caa27a")
FABRICS = ("#5d7384", "#8a5a50", "#6f7d62", "#a08a70", "#494f5c", "#b5a48c", "#7c6a86", "#3f6670", "#9a4f3f", "#c2a35c")
METALS = ("#8f9498", "#b9bdc0", "#4b4f54")
WHITES = ("#f2f2ef", "#e6e7e6", "#dfe3e4")
DARKS = ("#2b2d31", "#3a3d42", "#232a33")
BRIGHTS = ("#c9503f", "#3f78a8", "#e0a63a", "#4f8f5f", "#7a5a9c", "#d97f3c")
LEAVES = ("#4c7a41", "#5f8c4a", "#3e6b45")


def choose(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    """One of the colours."""
    return options[int(rng.integers(len(options)))]


def _corners(x: Span, y: Span, z: Span) -> Floats:
    return np.array([[x[i], y[j], z[k]] for k in (0, 1) for j in (0, 1) for i in (0, 1)])


def darker(color: str, share: float = 0.55) -> str:
    """The colour of a gap or an edge in something of that colour."""
    return "#" + "".join(f"{round(int(color[k : k + 2], 16) * share):02x}" for k in (1, 3, 5))


@dataclass
class Assembly:
    """A model in the making."""

    pieces: dict[Finish, list[tuple[Floats, NDArray[np.int32], Floats]]] = field(default_factory=dict)

    def box(self, x: Span, y: Span, z: Span, color: str | Finish, *, closed: bool = False) -> None:
        """A box between two values on every axis; its underside only when ``closed``, for what hangs above eye level."""
        self._add(_corners(x, y, z), np.concatenate([_TOP, _SIDES, _BOTTOM]) if closed else np.concatenate([_TOP, _SIDES]), color)

    def post(self, x: Span, y: Span, z: Span, color: str | Finish) -> None:
        """The four sides of a box whose ends are hidden."""
        self._add(_corners(x, y, z), _SIDES, color)

    def posts(self, xs: Iterable[Span], ys: Iterable[Span], z: Span, color: str | Finish) -> None:
        """Posts for every pair of an x and a y span: four legs are two by two."""
        spans = list(ys)
        for x in xs:
            for y in spans:
                self.post(x, y, z, color)

    def boxes(self, xs: Iterable[Span], ys: Iterable[Span], z: Span, color: str | Finish) -> None:
        """Boxes for every pair of an x and a y span."""
        spans = list(ys)
        for x in xs:
            for y in spans:
                self.box(x, y, z, color)

    def legs(self, dx: float, dy: float, height: float, thick: float, color: str, inset: float = 0.0) -> None:
        """Four legs under a top of dx by dy metres."""
        x, y = dx / 2 - inset, dy / 2 - inset
        self.posts([(-x, -x + thick), (x - thick, x)], [(-y, -y + thick), (y - thick, y)], (0.0, height), color)

    def cyl(self, x: float, y: float, z: Span, radius: float, color: str | Finish, *, sides: int = 8, top: float | None = None, closed: bool = False) -> None:
        """An upright cylinder or cone; its underside only when ``closed``."""
        vertices, faces = cylinder((x, y, z[0]), radius, z[1] - z[0], sides=sides, top_radius_m=top)
        underside = slice(2 * sides, 3 * sides)
        self._add(vertices.astype(np.float64), faces if closed else np.delete(faces, underside, axis=0), color)

    def plate(self, x: float, y: Span, z: Span, color: str) -> None:
        """A thin coloured rectangle that faces the front: a drawer, a flap, a handle."""
        self.front(x, y, z, paint(color))

    def panel(self, corners: Iterable[tuple[float, float, float]], finish: Finish, uv: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)) -> None:
        """A printed rectangle: lower left, lower right, upper right, upper left as seen, and its part of the texture."""
        u0, v0, u1, v1 = uv
        flat = np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]])
        self.pieces.setdefault(finish, []).append((np.array(list(corners), np.float64), _QUAD, flat[_QUAD]))

    def front(self, x: float, y: Span, z: Span, finish: Finish, uv: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)) -> None:
        """A printed rectangle that faces the front."""
        self.panel([(x, y[0], z[0]), (x, y[1], z[0]), (x, y[1], z[1]), (x, y[0], z[1])], finish, uv)

    def back(self, x: float, y: Span, z: Span, finish: Finish, uv: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)) -> None:
        """A printed rectangle that faces the back."""
        self.panel([(x, y[1], z[0]), (x, y[0], z[0]), (x, y[0], z[1]), (x, y[1], z[1])], finish, uv)

    def _add(self, vertices: Floats, faces: NDArray[np.int32], color: str | Finish) -> None:
        finish = paint(color) if isinstance(color, str) else color
        self.pieces.setdefault(finish, []).append((vertices, faces, np.zeros((len(faces), 3, 2))))


@dataclass(frozen=True)
class Model:
    """A finished piece: parts by finish, centred on its footprint.

    Attributes:
        size: extents along x (depth), y (width) and z, metres.
        parts: (finish, vertices (V, 3), faces (F, 3), uv (F, 3, 2)).
        surface: FURNITURE, PLANT, SIGN ... collides: False for rugs and the like.
    """

    category: str
    size: tuple[float, float, float]
    parts: tuple[tuple[Finish, Floats, NDArray[np.int32], Floats], ...]
    surface: Surface = Surface.FURNITURE
    collides: bool = True


Maker = Callable[..., None]


@dataclass(frozen=True)
class Entry:
    """A maker in the catalogue, and the names of its options: ``wood`` and ``fabric`` are what a room's pieces share."""

    maker: Maker
    options: frozenset[str]
    surface: Surface
    collides: bool


CATALOGUE: dict[str, Entry] = {}


def furniture(category: str, *, surface: Surface = Surface.FURNITURE, collides: bool = True) -> Callable[[Maker], Maker]:
    """Enter a maker, a function of (assembly, generator, options), into the catalogue."""

    def enter(maker: Maker) -> Maker:
        CATALOGUE[category] = Entry(maker, frozenset(signature(maker).parameters), surface, collides)
        return maker

    return enter


def make(category: str, rng: np.random.Generator, **options: Any) -> Model:
    """A piece of a category.

    Raises:
        UnknownName: nothing like it in the catalogue.
    """
    if category not in CATALOGUE:
        raise UnknownName("furniture", category, CATALOGUE)
    entry = CATALOGUE[category]
    assembly = Assembly()
    entry.maker(assembly, rng, **options)
    points = np.concatenate([v for pieces in assembly.pieces.values() for v, _, _ in pieces])
    low, high = points.min(axis=0), points.max(axis=0)
    shift = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    parts = []
    for finish, pieces in assembly.pieces.items():
        offsets = np.cumsum([0] + [len(v) for v, _, _ in pieces[:-1]])
        vertices = np.concatenate([v for v, _, _ in pieces]) - shift
        faces = np.concatenate([f + o for (_, f, _), o in zip(pieces, offsets, strict=True)])
        parts.append((finish, vertices, faces.astype(np.int32), np.concatenate([uv for _, _, uv in pieces])))
    dx, dy, dz = np.maximum(high - low, 0.01).tolist()
    return Model(category, (dx, dy, dz), tuple(parts), entry.surface, entry.collides)
