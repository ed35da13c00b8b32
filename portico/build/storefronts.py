"""Who is behind which front: trades for the shop units of closed buildings, names for the enterable ones, their signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.facade_textures import STYLES, shop_front
from portico.build.facades import GROUND_M, Shell, Unit, add_awning, add_shell, edges, shop_texture
from portico.build.indoor.lot import BuiltBuilding, Front
from portico.build.quarters import LotPlan
from portico.build.scene import Scene
from portico.build.signs import TRADES, Trade, add_sign, place_at
from portico.build.textures import RGB
from portico.seeding import generator
from portico.world import Building, Floor

_UNIT_M = 6.6
_SIGN_MIDDLE_M = 3.32
_UPPER_M = 3.2
_OUTWARD: dict[Front, tuple[int, int]] = {"south": (0, -1), "north": (0, 1), "east": (1, 0), "west": (-1, 0)}
_WHITE: RGB = (0.97, 0.96, 0.92)

#: What is written on enterable buildings that are not of a trade.
HOUSES: dict[str, Trade] = {
    "office": Trade(("ATLAS OFFICES", "MERIDIAN OFFICES"), (0.16, 0.20, 0.26), _WHITE, _WHITE),
    "apartments": Trade(("LINDEN APARTMENTS", "COURT APARTMENTS"), (0.34, 0.22, 0.16), (0.98, 0.90, 0.74), _WHITE),
    "school": Trade(("CITY SCHOOL", "PARK SCHOOL"), (0.14, 0.34, 0.30), (0.98, 0.92, 0.60), _WHITE),
}


@dataclass(frozen=True)
class FrontZone:
    """Ground before a front: what must stay free for its door, and what must stay low for its sign."""

    door: shapely.Polygon
    sight: shapely.Geometry


def front_edge(lot: LotPlan) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """Index, start and end of the edge of a lot's footprint that its front is on; from left to right seen from outside."""
    normal = np.array(_OUTWARD[lot.front])
    for index, (p, q) in enumerate(edges(lot.footprint)):
        along = (q - p) / np.linalg.norm(q - p)
        if np.array([along[1], -along[0]]) @ normal > 0.9:
            return index, p, q
    raise AssertionError("a rectangle has an edge on every side")


def name_of(category: str, rng: np.random.Generator) -> str:
    """A name for a sign."""
    names = (TRADES.get(category) or HOUSES[category]).names
    return names[int(rng.integers(0, len(names)))]


def add_enterable_sign(scene: Scene, built: BuiltBuilding) -> FrontZone:
    """Hang the sign of an enterable building over its entrance, add its place, and say what must stay free before it."""
    trade = TRADES.get(built.building.category) or HOUSES[built.building.category]
    p, q = (np.array(end) for end in built.front_segment)
    a, b = (np.array(end) for end in built.entrance.segment)
    outward, along = np.array(built.outward), (q - p) / np.linalg.norm(q - p)
    low, high = built.sign_band_z
    height = min(0.95, high - low - 0.06)
    longest = min(6.0, 2.0 * min(float(((a + b) / 2 - p) @ along), float((q - (a + b) / 2) @ along)) - 0.4)
    middle = np.array([*(a + b) / 2, low + 0.05 + height / 2])
    place = place_at(built.building.category, built.building.name, built.building.id, p, q, number=len(scene.places), entrance=built.entrance.id)
    width = add_sign(scene, built.building.name, (trade.board, trade.letters), middle, outward, longest_m=longest, height_m=height, object_id=place.id)
    scene.places.append(place)
    center = (a + b) / 2
    return FrontZone(_before(center, along, outward, 4.6, 4.2), _sight(center, along, outward, width + 5.0))


def _before(center: NDArray[np.float64], along: NDArray[np.float64], outward: NDArray[np.float64], width: float, depth: float) -> shapely.Polygon:
    half = along * width / 2
    return shapely.Polygon([center - half, center + half, center + half + outward * depth, center - half + outward * depth])


def _sight(center: NDArray[np.float64], along: NDArray[np.float64], outward: NDArray[np.float64], width: float) -> shapely.Geometry:
    """Ground from which a sign is to be read: wide near the front, a lane of 4 m across the street."""
    return shapely.union(_before(center, along, outward, width, 6.0), _before(center, along, outward, 4.0, 11.5))


def add_closed_building(scene: Scene, lot: LotPlan, trades: Iterator[str | None], rng: np.random.Generator, *, blind: frozenset[int]) -> list[FrontZone]:
    """Add a closed building with shops or dwellings on its ground floor.

    Args:
        trades: what the next unit of a front is: a key of ``TRADES``, or None for a dwelling.
    """
    index, p, q = front_edge(lot)
    length = float(np.linalg.norm(q - p))
    along = (q - p) / length
    outward = np.array(_OUTWARD[lot.front], np.float64)
    count = max(1, round(length / _UNIT_M))
    style = str(rng.choice(list(STYLES)))
    storeys = int(rng.integers(2, 6))
    instance = scene.instance("building", lot.id)
    units, zones, found = [], [], []
    for k in range(count):
        start, end = length * k / count, length * (k + 1) / count
        trade = next(trades, None)
        texture = f"house:{style}" if trade is None else _shop_texture(scene, trade)
        units.append(Unit(start, end, texture))
        a, b = p + along * start, p + along * end
        middle = (a + b) / 2
        sight = _sight(middle, along, outward, _UNIT_M + 2.0) if trade else shapely.Polygon()
        zones.append(FrontZone(_before(middle, along, outward, 1.8, 4.2), sight))
        if trade is not None:
            found.append((trade, a, b))
    sides = {i: _plain_units(e, style) for i, e in enumerate(edges(lot.footprint)) if i != index and i not in blind}
    add_shell(scene, Shell(lot.footprint, storeys, style, {**sides, index: units}, blind), instance=instance, rng=rng)
    for trade, a, b in found:
        _open_shop(scene, lot, trade, a, b, outward, instance, rng)
    category = "commercial building" if found else "residential building"
    footprint = [(float(x), float(y)) for x, y in np.asarray(lot.footprint.exterior.coords)[:-1]]
    floors = [
        Floor(id=f"{lot.id}/floor{i}", level=i, z_m=0.0 if i == 0 else GROUND_M + (i - 1) * _UPPER_M, height_m=GROUND_M if i == 0 else _UPPER_M)
        for i in range(storeys)
    ]
    scene.buildings.append(Building(id=lot.id, category=category, footprint=footprint, floors=floors))
    return zones


def _plain_units(edge: tuple[NDArray[np.float64], NDArray[np.float64]], style: str) -> list[Unit]:
    length = float(np.linalg.norm(edge[1] - edge[0]))
    count = max(1, round(length / 6.0))
    return [Unit(length * k / count, length * (k + 1) / count, f"rear:{style}") for k in range(count)]


def _shop_texture(scene: Scene, trade: str) -> str:
    t = TRADES[trade]
    key = f"shop-{trade.replace(' ', '-')}"
    if key in scene.textures:
        return key
    frame = t.board if max(t.board) < 0.9 else (t.letters[0] * 0.8, t.letters[1] * 0.8, t.letters[2] * 0.8)
    return shop_texture(scene, key, shop_front(frame, t.goods, generator("texture", "shop", trade)))


def _open_shop(
    scene: Scene,
    lot: LotPlan,
    trade: str,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    outward: NDArray[np.float64],
    instance: int,
    rng: np.random.Generator,
) -> None:
    t = TRADES[trade]
    place = place_at(trade, name_of(trade, rng), lot.id, a, b, number=len(scene.places))
    longest = float(np.linalg.norm(b - a)) - 0.5
    add_sign(scene, place.name.upper(), (t.board, t.letters), np.array([*(a + b) / 2, _SIGN_MIDDLE_M]), outward, longest_m=longest, object_id=place.id)
    if rng.random() < 0.45:
        margin = 0.3 * (b - a) / np.linalg.norm(b - a)
        add_awning(scene, a + margin, b - margin, 2.78, (t.board, _WHITE), instance)
    scene.places.append(place)
