"""What is asked for and what comes back: a lot with a program on it, a building that stands in the scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from portico.world import Building, Portal

Front = Literal["south", "north", "east", "west"]
Point = tuple[float, float]

# Cosine and sine of the turn that brings the drawing board's front (towards -v) to each side of the lot.
_TURNS: dict[Front, tuple[int, int]] = {"south": (1, 0), "east": (0, 1), "north": (-1, 0), "west": (0, -1)}


@dataclass(frozen=True)
class Lot:
    """Where a building goes and what it is for.

    Attributes:
        id: prefix of every id inside, unique in the scene. name: what its sign says.
        program: one of ``PROGRAMS``.
        x0, y0, x1, y1: footprint, outside of the outer walls, metres.
        front: the side that faces the street; the main entrance goes there.
        floors: 1 to 3. z_m: height of the ground floor, flush with the sidewalk at the door.
    """

    id: str
    name: str
    program: str
    x0: float
    y0: float
    x1: float
    y1: float
    front: Front
    floors: int = 1
    z_m: float = 0.0

    @property
    def width_m(self) -> float:
        """Length of the front."""
        return self.x1 - self.x0 if self.front in ("south", "north") else self.y1 - self.y0

    @property
    def depth_m(self) -> float:
        """From the front to the back."""
        return self.y1 - self.y0 if self.front in ("south", "north") else self.x1 - self.x0


@dataclass(frozen=True)
class BuiltBuilding:
    """A building that was added, and what a sign or a street needs to know of its front.

    Attributes:
        building, entrance: as they stand in the scene; the entrance's segment lies on the footprint's edge.
        outward: (x, y) unit vector from the front towards the street.
        front_segment: the front edge of the footprint.
        front_window_z: lowest and highest edge of the ground floor's front windows.
        sign_band_z: (low, high) of the front that no opening interrupts, above the entrance.
        lintel_z: underside of the entrance's lintel. facade_top_z: top of the parapet.
        canopy_depth_m: how far the entrance canopy reaches over the street; it hangs at least 2.5 m high.
    """

    building: Building
    entrance: Portal
    outward: Point
    front_segment: tuple[Point, Point]
    front_window_z: tuple[float, float]
    sign_band_z: tuple[float, float]
    lintel_z: float
    facade_top_z: float
    canopy_depth_m: float


@dataclass(frozen=True)
class DrawingBoard:
    """The frame every plan is drawn in: u along the front (seen from the street, to the right), v into the building.

    Turns are multiples of 90 degrees with exact cosines, so straight walls stay straight in the world.
    """

    origin: Point
    cos: int
    sin: int
    z_m: float

    @staticmethod
    def of(lot: Lot) -> DrawingBoard:
        """The board whose corner (0, 0) is the front's left end, seen from the street."""
        corner = {"south": (lot.x0, lot.y0), "east": (lot.x1, lot.y0), "north": (lot.x1, lot.y1), "west": (lot.x0, lot.y1)}[lot.front]
        return DrawingBoard(corner, *_TURNS[lot.front], lot.z_m)

    @property
    def yaw_rad(self) -> float:
        """Heading of +u in the world."""
        return float(np.arctan2(self.sin, self.cos))

    def point(self, u: float, v: float) -> Point:
        """World (x, y)."""
        return (float(self.origin[0] + self.cos * u - self.sin * v), float(self.origin[1] + self.sin * u + self.cos * v))

    def points(self, local: ArrayLike) -> NDArray[np.float64]:
        """World coordinates of (N, 3) board coordinates."""
        uvz = np.asarray(local, dtype=np.float64)
        x = self.origin[0] + self.cos * uvz[:, 0] - self.sin * uvz[:, 1]
        y = self.origin[1] + self.sin * uvz[:, 0] + self.cos * uvz[:, 1]
        return np.stack([x, y, uvz[:, 2] + self.z_m], axis=1)

    def direction(self, du: float, dv: float) -> Point:
        """World direction of a board direction."""
        return (float(self.cos * du - self.sin * dv), float(self.sin * du + self.cos * dv))
