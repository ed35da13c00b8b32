"""The World: what exists. Geometry, appearance and semantics, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, FiniteFloat

from portico.errors import WorldError
from portico.world.gaussians import Gaussians
from portico.world.geodesy import LocalFrame
from portico.world.raster import Raster
from portico.world.semantics import Semantics

SCHEMA = "portico.world/1"


def no_geometry() -> Geometry:
    """The geometry of a world without triangles."""
    nothing: dict[str, Any] = {"surface": np.uint8, "instance": np.int32, "material": np.int32, "indoor": np.bool_, "collides": np.bool_}
    flat = {name: np.zeros(0, dtype) for name, dtype in nothing.items()}
    return Geometry(vertices=np.zeros((0, 3), np.float32), faces=np.zeros((0, 3), np.int32), uv=np.zeros((0, 3, 2), np.float32), **flat)


class Surface(IntEnum):
    """What a triangle is made of: decides who may walk on it, and how it grips."""

    VOID = 0
    FLOOR = 1
    STAIRS = 2
    RAMP = 3
    SIDEWALK = 4
    CROSSWALK = 5
    SHARED_ROAD = 6
    VEHICLE_LANE = 7
    OPEN_AREA = 8
    VEGETATED = 9
    WATER = 10
    CURB = 11
    WALL = 12
    CEILING = 13
    ROOF = 14
    DOOR = 15
    WINDOW = 16
    FURNITURE = 17
    VEHICLE = 18
    STREET_OBJECT = 19
    PLANT = 20
    SIGN = 21
    ROADBLOCK = 22


#: Surfaces that carry a robot. Tables, roofs and car tops are flat too, but nobody starts an episode there.
WALKABLE: frozenset[Surface] = frozenset(Surface(v) for v in range(1, 12) if v != Surface.WATER)


#: Corner n of a box is high along x, y, z where bits 0, 1, 2 of n are set.
_BOX_FACES = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]])


@dataclass(frozen=True)
class Geometry:
    """Triangles, and boxes that only bodies meet, in the world frame.

    Attributes:
        vertices: (V, 3) float32, metres.
        faces: (F, 3) int32, counter-clockwise seen from outside.
        surface: (F,) uint8, a ``Surface``. instance: (F,) int32, >= 1, see ``Semantics.instances``.
        material: (F,) int32, index into ``Appearance.materials``.
        indoor: (F,) bool, lit by lamps rather than by the sun.
        uv: (F, 3, 2) float32, texture coordinates per corner, v upwards; zeros where untextured.
        collides: (F,) bool, False for paint, signs' faces and the like that no body can touch.
        boxes: (B, 2, 3) float32, lowest and highest corner of obstacles along the axes that no camera sees: what stands for a capture.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    surface: NDArray[np.uint8]
    instance: NDArray[np.int32]
    material: NDArray[np.int32]
    indoor: NDArray[np.bool_]
    uv: NDArray[np.float32]
    collides: NDArray[np.bool_]
    boxes: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2, 3), np.float32))

    @property
    def triangles(self) -> NDArray[np.float32]:
        """(F, 3, 3) corner positions."""
        return self.vertices[self.faces]

    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner."""
        points = np.concatenate([self.vertices, self.boxes.reshape(-1, 3)])
        return np.stack([points.min(axis=0), points.max(axis=0)]).astype(np.float64)

    def box_triangles(self) -> NDArray[np.float32]:
        """(12 B, 3, 3), the surfaces of the boxes, counter-clockwise seen from outside, for tools that know only triangles."""
        at = (np.arange(8)[:, None] >> np.arange(3)) & 1
        corners = np.take_along_axis(self.boxes, np.broadcast_to(at, (len(self.boxes), 8, 3)), axis=1)
        return np.asarray(corners[:, _BOX_FACES].reshape(-1, 3, 3))


class Material(BaseModel):
    """Colour in linear 0..1, multiplied with the texture when there is one; ``emission`` adds light of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    color: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (0.7, 0.7, 0.7)
    texture: str | None = None
    emission: FiniteFloat = 0.0


class Light(BaseModel):
    """One sun and a sky outdoors, even lamps indoors. Strengths are multipliers of a surface's colour."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sun_direction: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (0.4, 0.3, 0.87)
    sun: FiniteFloat = 0.75
    sky: FiniteFloat = 0.45
    indoor: FiniteFloat = 0.55
    zenith_color: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (0.35, 0.55, 0.85)
    horizon_color: tuple[FiniteFloat, FiniteFloat, FiniteFloat] = (0.80, 0.87, 0.93)


@dataclass(frozen=True)
class Appearance:
    """Materials, their textures (name -> (H, W, 3) uint8, row 0 at the top), the light, the Gaussians of a captured world, the raster of an aerial one.

    Where there are Gaussians they are what a camera sees, and the triangles only what a body touches. A raster is all that there is to see.
    """

    materials: tuple[Material, ...]
    textures: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    light: Light = Light()
    gaussians: Gaussians | None = None
    raster: Raster | None = None


class Provenance(BaseModel):
    """Where a world came from and under what licence; travels with it everywhere."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    licence: str
    attribution: str = ""


class GeographicOrigin(BaseModel):
    """WGS84 position of the world's (0, 0); x east and y north are metres on the local tangent plane."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latitude_deg: FiniteFloat
    longitude_deg: FiniteFloat


class Manifest(BaseModel):
    """``world.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_version: str = SCHEMA
    id: str
    kind: Literal["indoor", "outdoor", "composite", "aerial"]
    units: Literal["m"] = "m"
    frame: Literal["x east, y north, z up"] = "x east, y north, z up"
    provenance: Provenance
    recipe: dict[str, Any] = {}
    seed: int | None = None
    origin: GeographicOrigin | None = None
    cell_m: FiniteFloat = 0.1
    counts: dict[str, int] = {}
    notes: list[str] = []
    content_hash: str = ""


@dataclass(frozen=True)
class World:
    """What exists: read-only, content-hashed. See ``portico.world.load`` and ``save`` for the directory on disk."""

    manifest: Manifest
    geometry: Geometry
    appearance: Appearance
    semantics: Semantics

    @property
    def id(self) -> str:
        return self.manifest.id

    @property
    def raster(self) -> Raster:
        """The raster of an aerial world.

        Raises:
            WorldError: this world has none.
        """
        if self.appearance.raster is None:
            raise WorldError("the world has no imagery to fly over", where=self.id, next_step=f"draw it from above: portico world aerial {self.id} --out DIR")
        return self.appearance.raster

    @property
    def local_frame(self) -> LocalFrame:
        """Where its metres lie on earth.

        Raises:
            WorldError: it lies nowhere on earth.
        """
        if self.manifest.origin is None:
            raise WorldError("the world lies nowhere on earth", where=self.id, why="its manifest has no origin", next_step="import it from georeferenced data")
        return LocalFrame(self.manifest.origin.latitude_deg, self.manifest.origin.longitude_deg)
