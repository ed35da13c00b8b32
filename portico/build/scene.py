"""Accumulates triangles, materials and annotations while a world is being made, and hands over a World."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from portico.world import (
    Appearance,
    Building,
    GeographicOrigin,
    Geometry,
    InstanceLabel,
    Light,
    Manifest,
    Material,
    ObjectInstance,
    Place,
    Portal,
    Provenance,
    Region,
    Room,
    RouteGraph,
    Semantics,
    Surface,
    World,
)


@dataclass
class Scene:
    """A world in the making. Annotation lists are plain and public; geometry goes through the ``add_*`` methods."""

    light: Light = field(default_factory=Light)
    buildings: list[Building] = field(default_factory=list)
    portals: list[Portal] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    rooms: list[Room] = field(default_factory=list)
    objects: list[ObjectInstance] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    routes: RouteGraph = field(default_factory=RouteGraph)
    textures: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _materials: dict[str, tuple[int, Material]] = field(default_factory=dict)
    _instances: list[InstanceLabel] = field(default_factory=list)
    _vertices: list[NDArray[np.float32]] = field(default_factory=list)
    _chunks: list[dict[str, Any]] = field(default_factory=list)
    _vertex_count: int = 0

    def material(self, name: str, color: tuple[float, float, float] = (0.7, 0.7, 0.7), *, texture: str | None = None, emission: float = 0.0) -> int:
        """Index of a material; the first call with a name defines it."""
        if name not in self._materials:
            self._materials[name] = (len(self._materials), Material(name=name, color=color, texture=texture, emission=emission))
        return self._materials[name][0]

    def instance(self, category: str, object_id: str | None = None) -> int:
        """A new instance number for triangles of one thing."""
        self._instances.append(InstanceLabel(id=len(self._instances) + 1, category=category, object=object_id))
        return len(self._instances)

    def add_mesh(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        surface: Surface,
        material: int,
        instance: int,
        indoor: bool = False,
        uv: ArrayLike | None = None,
        collides: bool = True,
    ) -> None:
        """Add triangles: vertices (V, 3) metres, faces (F, 3) counter-clockwise seen from outside, uv (F, 3, 2)."""
        v = np.asarray(vertices, dtype=np.float32).reshape(-1, 3)
        f = np.asarray(faces, dtype=np.int32).reshape(-1, 3)
        if len(f) == 0:
            return
        n = len(f)
        self._vertices.append(v)
        self._chunks.append(
            {
                "faces": f + self._vertex_count,
                "surface": np.full(n, int(surface), np.uint8),
                "instance": np.full(n, instance, np.int32),
                "material": np.full(n, material, np.int32),
                "indoor": np.full(n, indoor, np.bool_),
                "uv": np.zeros((n, 3, 2), np.float32) if uv is None else np.asarray(uv, np.float32).reshape(n, 3, 2),
                "collides": np.full(n, collides, np.bool_),
            }
        )
        self._vertex_count += len(v)

    def world(
        self,
        world_id: str,
        kind: Literal["indoor", "outdoor", "composite", "aerial"],
        provenance: Provenance,
        *,
        recipe: dict[str, Any] | None = None,
        seed: int | None = None,
        origin: GeographicOrigin | None = None,
        cell_m: float = 0.1,
    ) -> World:
        """The finished world; ``portico.world.save`` fills in counts and content hash."""
        merged = {key: np.concatenate([c[key] for c in self._chunks]) for key in self._chunks[0]}
        manifest = Manifest(id=world_id, kind=kind, provenance=provenance, recipe=recipe or {}, seed=seed, origin=origin, cell_m=cell_m, notes=self.notes)
        semantics = Semantics(
            buildings=self.buildings,
            portals=self.portals,
            regions=self.regions,
            rooms=self.rooms,
            objects=self.objects,
            places=self.places,
            routes=self.routes,
            instances=self._instances,
        )
        materials = tuple(m for _, m in self._materials.values())
        geometry = Geometry(vertices=np.concatenate(self._vertices), **merged)
        return World(manifest, geometry, Appearance(materials, dict(self.textures), self.light), semantics)
