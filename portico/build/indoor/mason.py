"""Lays quads, blocks and polygons on a drawing board and hands them to the scene in few large pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from portico.build.indoor.finishes import Finish, material
from portico.build.indoor.lot import DrawingBoard
from portico.build.primitives import flat_polygon
from portico.build.scene import Scene
from portico.world import Surface

_QUAD = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
_ENDS = {"z": [0, 1], "v": [2, 3], "u": [4, 5]}
_BLOCK_QUADS = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]], np.int32)


@dataclass(frozen=True)
class Stuff:
    """What triangles are made of, and what they belong to."""

    surface: Surface
    finish: Finish
    instance: int
    indoor: bool = True
    collides: bool = True


@dataclass
class Mason:
    """Collects geometry by stuff; ``deliver`` adds it to the scene."""

    scene: Scene
    board: DrawingBoard

    def __post_init__(self) -> None:
        self._pieces: dict[Stuff, list[tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]]] = {}
        self._structure: dict[str, int] = {}

    def structure(self, category: str) -> int:
        """The instance that all wall, floor, ... triangles of this building share."""
        if category not in self._structure:
            self._structure[category] = self.scene.instance(category)
        return self._structure[category]

    def mesh(self, stuff: Stuff, vertices: ArrayLike, faces: ArrayLike, uv: ArrayLike | None = None) -> None:
        """Triangles in board coordinates: (V, 3), (F, 3), texture coordinates (F, 3, 2)."""
        f = np.asarray(faces, np.int32)
        coordinates = np.zeros((len(f), 3, 2)) if uv is None else np.asarray(uv, np.float64)
        self._pieces.setdefault(stuff, []).append((np.asarray(vertices, np.float64), f, coordinates))

    def quad(self, stuff: Stuff, corners: Sequence[tuple[float, float, float]], uv: ArrayLike | None = None) -> None:
        """Four corners counter-clockwise from the side that is seen; uv (4, 2), in metres over the tile by default."""
        points = np.array(corners)
        flat = _metric_uv(points, stuff.finish) if uv is None else np.asarray(uv, np.float64)
        self.mesh(stuff, points, _QUAD, flat[_QUAD])

    def block(
        self, stuff: Stuff, low: tuple[float, float, float], high: tuple[float, float, float], *, open_along: Literal["u", "v", "z"] | None = None
    ) -> None:
        """An upright box between two corners; its two ends along an axis are left out where they are hidden."""
        ends = np.array([low, high])
        self.hexahedron(stuff, np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for k in (0, 1) for j in (0, 1) for i in (0, 1)]), open_along=open_along)

    def hexahedron(self, stuff: Stuff, corners: NDArray[np.float64], *, open_along: Literal["u", "v", "z"] | None = None) -> None:
        """A block whose (8, 3) corners, u fastest and z slowest, may be moved out of square."""
        quads = _BLOCK_QUADS if open_along is None else np.delete(_BLOCK_QUADS, _ENDS[open_along], axis=0)
        faces = np.concatenate([q[_QUAD] for q in quads])
        uv = None
        if stuff.finish.texture is not None:
            uv = np.concatenate([_metric_uv(corners[q], stuff.finish)[_QUAD] for q in quads])
        self.mesh(stuff, corners, faces, uv)

    def level(self, stuff: Stuff, polygon: shapely.Polygon, z: float, *, up: bool = True) -> None:
        """A horizontal polygon."""
        vertices, faces = flat_polygon(polygon, z, up=up)
        self.mesh(stuff, vertices, faces, vertices[faces][:, :, :2] / stuff.finish.tile_m)

    def deliver(self) -> None:
        """Everything so far, one mesh a stuff, into the scene."""
        for stuff, pieces in self._pieces.items():
            offsets = np.cumsum([0] + [len(v) for v, _, _ in pieces[:-1]])
            self.scene.add_mesh(
                self.board.points(np.concatenate([v for v, _, _ in pieces])),
                np.concatenate([f + o for (_, f, _), o in zip(pieces, offsets, strict=True)]),
                surface=stuff.surface,
                material=material(self.scene, stuff.finish),
                instance=stuff.instance,
                indoor=stuff.indoor,
                uv=np.concatenate([uv for _, _, uv in pieces]),
                collides=stuff.collides,
            )
        self._pieces.clear()


def _metric_uv(corners: NDArray[np.float64], finish: Finish) -> NDArray[np.float64]:
    """(4, 2): the two axes a quad spans, upright last, over the tile size."""
    across = int(np.argmin(np.ptp(corners, axis=0)))
    axes = [axis for axis in (0, 1, 2) if axis != across]
    return corners[:, axes] / finish.tile_m
