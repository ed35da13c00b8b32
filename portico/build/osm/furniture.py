"""Street furniture and trees where they are mapped, moved off carriageways and out of walls when mapped a little amiss."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, radians, sin

import numpy as np
import shapely

from portico.build.models import Model, Part, box_of, part_material
from portico.build.osm.extract import Element
from portico.build.osm.layers import lines_of
from portico.build.osm.report import Ledger
from portico.build.osm.tags import Tags
from portico.build.primitives import box, cylinder
from portico.build.scene import Scene
from portico.build.shapes import ball, moved
from portico.build.square_objects import SQUARE
from portico.build.street_objects import STREET
from portico.build.vegetation import TREES
from portico.geometry import wrap_angle
from portico.seeding import generator
from portico.world import ObjectInstance, Surface

_NUDGE_M = 3.0
_CLEAR_M = 0.45
_FULL_TREES = 150
_BARK, _CROWN = (0.36, 0.28, 0.21), (0.47, 0.60, 0.30)


def bollard() -> Model:
    """A plain iron post; there are often hundreds."""
    return [Part(cylinder((0, 0, 0), 0.10, 0.85, sides=6), (0.16, 0.17, 0.18))]


def lamp() -> Model:
    """A street lamp of few triangles; its arm reaches over the road (towards -y)."""
    parts = [
        Part(cylinder((0, 0, 0), 0.10, 5.7, sides=6, top_radius_m=0.05), (0.16, 0.17, 0.18)),
        Part(box((0, -0.65, 5.68), (0.06, 1.3, 0.06)), (0.16, 0.17, 0.18)),
    ]
    return [*parts, Part(box((0, -1.45, 5.66), (0.22, 0.62, 0.10)), (0.92, 0.88, 0.74), emission=0.5)]


def pole() -> Model:
    """A wooden mast for wires."""
    return [Part(cylinder((0, 0, 0), 0.14, 8.0, sides=8, top_radius_m=0.10), (0.40, 0.32, 0.24))]


def light_tree(rng: np.random.Generator) -> Model:
    """A round tree of few triangles, for extracts with hundreds of them; the crown starts above head height."""
    height, spread = float(rng.uniform(2.8, 3.8)), float(rng.uniform(1.5, 2.1))
    tint = tuple(float(c) for c in np.round(np.asarray(_CROWN) * rng.choice([0.9, 1.0, 1.1]), 2))
    parts = [Part(cylinder((0, 0, 0), 0.17, 3.2, sides=5, top_radius_m=0.11), _BARK, Surface.PLANT)]
    for x, y, z, size in ((-0.12, -0.06, 0.48, 1.0), (0.38, 0.22, 0.66, 0.72)):
        crown, faces = ball((x * spread, y * spread, 2.4 + height * z), (spread * size, spread * size, height / 2 * size), roughness=0.10, rng=rng)
        corners = crown[faces].astype(np.float64)
        uv = np.stack([corners[:, :, 0] + corners[:, :, 1], corners[:, :, 2]], axis=2) / 2.2
        parts.append(Part((crown, faces), tint, Surface.PLANT, texture="leaves", uv=uv.astype(np.float32)))  # type: ignore[arg-type]
    return parts


_OBJECTS: dict[tuple[str, str], tuple[str, Callable[[], Model]]] = {
    ("highway", "street_lamp"): ("street lamp", lamp),
    ("highway", "bus_stop"): ("bus stop sign", STREET["bus stop sign"]),
    ("amenity", "bench"): ("bench", STREET["bench"]),
    ("amenity", "lounger"): ("bench", STREET["bench"]),
    ("amenity", "waste_basket"): ("trash can", STREET["trash can"]),
    ("amenity", "waste_disposal"): ("dumpster", SQUARE["dumpster"]),
    ("amenity", "recycling"): ("recycling bin", STREET["recycling bin"]),
    ("amenity", "post_box"): ("mailbox", STREET["mailbox"]),
    ("amenity", "parcel_locker"): ("parcel lockers", STREET["parcel lockers"]),
    ("amenity", "bicycle_parking"): ("bike rack", STREET["bike rack"]),
    ("amenity", "bicycle_rental"): ("bike rack", STREET["bike rack"]),
    ("amenity", "vending_machine"): ("parking meter", STREET["parking meter"]),
    ("amenity", "telephone"): ("phone booth", STREET["phone booth"]),
    ("amenity", "clock"): ("clock", STREET["clock"]),
    ("amenity", "fountain"): ("fountain", SQUARE["fountain"]),
    ("amenity", "drinking_water"): ("drinking fountain", STREET["drinking fountain"]),
    ("amenity", "charging_station"): ("charging station", STREET["charging station"]),
    ("amenity", "shelter"): ("bus shelter", STREET["bus shelter"]),
    ("leisure", "picnic_table"): ("picnic table", SQUARE["picnic table"]),
    ("emergency", "fire_hydrant"): ("fire hydrant", STREET["fire hydrant"]),
    ("barrier", "bollard"): ("bollard", bollard),
    ("barrier", "block"): ("stone stool", SQUARE["stone stool"]),
    ("man_made", "flagpole"): ("flagpole", STREET["flagpole"]),
    ("man_made", "street_cabinet"): ("electrical box", STREET["electrical box"]),
    ("man_made", "utility_pole"): ("utility pole", pole),
    ("power", "pole"): ("utility pole", pole),
    ("advertising", "column"): ("advertising column", STREET["advertising column"]),
    ("tourism", "artwork"): ("statue", SQUARE["statue"]),
    ("tourism", "information"): ("information board", STREET["information board"]),
    ("historic", "memorial"): ("statue", SQUARE["statue"]),
    ("historic", "monument"): ("statue", SQUARE["statue"]),
}  # fmt: skip
_TREE_BY_LEAF = {"needleleaved": "spruce", "broadleaved": "linden"}
_TREE_BY_GENUS = {"Betula": "birch", "Picea": "spruce", "Pinus": "spruce", "Prunus": "cherry", "Acer": "maple"}


def add_furniture(scene: Scene, elements: list[Element], road: shapely.Geometry, built: shapely.Geometry, water: shapely.Geometry, ledger: Ledger) -> None:
    """Every mapped object of a kind that has a model, as an object of the world."""
    trees = [e for e in elements if e.tags.get("natural") == "tree"]
    blocked = _Ground(road, built, water)
    for element in elements:
        found = _model(element.tags, element.id, len(trees))
        if found is None:
            continue
        category, model = found
        spot = blocked.nearby_free(element.shape)
        if spot is None:
            ledger.note("dropped", "object in the middle of a carriageway, a building or water", element.id)
            continue
        _stand(scene, element.id, category, model, spot, blocked.facing(spot, element.tags), element.tags.get("name", ""))
        if category == "bus stop sign" and element.tags.get("shelter") == "yes":
            beside = blocked.nearby_free(shapely.Point(spot.x + 1.6, spot.y + 1.6))
            if beside is not None:
                _stand(scene, f"{element.id}-shelter", "bus shelter", STREET["bus shelter"](), beside, blocked.facing(beside, {}), "")


def _model(tags: Tags, identity: str, tree_count: int) -> tuple[str, Model] | None:
    if tags.get("natural") == "tree":
        rng = generator("osm", "tree", identity)
        kind = _TREE_BY_GENUS.get(tags.get("genus", tags.get("species", "")).split(" ")[0], _TREE_BY_LEAF.get(tags.get("leaf_type", ""), "linden"))
        if tree_count > _FULL_TREES and kind in ("linden", "maple", "cherry"):
            return "tree", light_tree(rng)
        return "tree", TREES[kind](rng)
    if tags.get("fire_hydrant:type", "pillar") in ("underground", "wall", "pond") or tags.get("location") in ("wall", "roof"):
        return None
    if tags.get("tourism") == "artwork" and tags.get("artwork_type", "statue") not in ("statue", "sculpture", "bust", "installation"):
        return None
    if tags.get("historic") == "memorial" and tags.get("memorial", "statue") in ("plaque", "stolperstein", "stone"):
        return None
    for (key, value), (category, build) in _OBJECTS.items():
        if tags.get(key) == value:
            return category, build()
    return None


class _Ground:
    """Where objects may stand, and which way they face."""

    def __init__(self, road: shapely.Geometry, built: shapely.Geometry, water: shapely.Geometry) -> None:
        self._taboo = shapely.union_all([road, built, water])
        self._kerb = road.boundary if not road.is_empty else road
        self._kerbs = shapely.STRtree(lines_of(self._kerb)) if not road.is_empty else None
        shapely.prepare(self._taboo)

    def nearby_free(self, point: shapely.Point) -> shapely.Point | None:
        """The point itself, or the nearest one off the carriageway and outside walls, at most three metres away."""
        if not self._taboo.intersects(point):
            return point
        edge = shapely.shortest_line(point, self._taboo.boundary)
        if edge.length > _NUDGE_M:
            return None
        (x0, y0), (x1, y1) = edge.coords
        reach = (edge.length + _CLEAR_M) / max(edge.length, 1e-6)
        moved_to = shapely.Point(x0 + (x1 - x0) * reach, y0 + (y1 - y0) * reach)
        return None if self._taboo.intersects(moved_to) else moved_to

    def facing(self, point: shapely.Point, tags: Tags) -> float:
        """Yaw of a model whose front, -y, faces the tagged direction, or else the nearest kerb."""
        direction = tags.get("direction", "")
        if direction.replace(".", "", 1).isdigit():
            bearing = radians(float(direction))
            return wrap_angle(atan2(sin(bearing), -cos(bearing)))
        if self._kerbs is None:
            return 0.0
        line = self._kerbs.geometries[self._kerbs.nearest(point)]
        (x0, y0), (x1, y1) = shapely.shortest_line(point, line).coords
        return wrap_angle(atan2(x1 - x0, -(y1 - y0))) if (x0, y0) != (x1, y1) else 0.0


def _stand(scene: Scene, identity: str, category: str, model: Model, spot: shapely.Point, yaw_rad: float, name: str) -> None:
    low, high = box_of(model)
    middle = moved((((low + high) / 2.0)[None].astype(np.float32), np.zeros((0, 3), np.int32)), spot.x, spot.y, 0.0, yaw_rad)[0][0]
    size = (float(high[0] - low[0]), float(high[1] - low[1]), float(high[2] - low[2]))
    center = (float(middle[0]), float(middle[1]), float(middle[2]))
    scene.objects.append(ObjectInstance(id=identity, category=category, name=name, center=center, size=size, yaw_rad=yaw_rad))
    instance = scene.instance(category, identity)
    for part in model:
        vertices, faces = moved(part.mesh, spot.x, spot.y, 0.0, yaw_rad)
        scene.add_mesh(vertices, faces, surface=part.surface, material=part_material(scene, part), instance=instance, uv=part.uv, collides=part.collides)
