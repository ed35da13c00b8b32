"""Destinations on facades: entrances with doors, shops and services with shop fronts and signs."""

from __future__ import annotations

import numpy as np
import shapely

from portico.build.facade_textures import FRONT_M, shop_front
from portico.build.osm.extract import Element
from portico.build.osm.frontages import Edge, Frontages
from portico.build.osm.houses import House
from portico.build.osm.report import Ledger
from portico.build.osm.signboards import SIGN_HEIGHT_M, Signboards, colors_of, legible
from portico.build.osm.survey import place_category
from portico.build.primitives import QUAD_UV, quad
from portico.build.scene import Scene
from portico.build.textures import RGB, linear
from portico.seeding import generator
from portico.world import Place, Portal, Surface

MOST_SIGNS = 1500
_ENTRANCE_REACH_M = 1.5
_PLACE_REACH_M = 30.0
_OUTSIDE_REACH_M = 5.0
_SHIFT_M = 10.0
_FRONT_WIDTH_M, _PLATE_WIDTH_M = 4.4, 2.6
_FRONT_HEIGHT_M = 3.6
_SIGN_Z_M = 3.1
_OFFSET_M = 0.03
_OPEN_FRONTED = {
    "restaurant", "cafe", "fast_food", "pub", "bar", "biergarten", "food_court", "ice_cream", "bank", "bureau_de_change", "pharmacy", "post_office", "cinema", "theatre",
    "nightclub", "casino", "internet_cafe", "car_rental", "dentist", "doctors", "clinic", "veterinary", "hotel", "hostel", "gallery", "museum", "fitness_centre", "library",
}  # fmt: skip
#: OSM values that name the same thing as a category of generated towns.
_CATEGORY = {"clothes": "clothing store", "books": "bookstore", "post_office": "post office", "fitness_centre": "gym", "dry_cleaning": "laundry"}


def add_entrances(scene: Scene, entrances: list[Element], frontages: Frontages, ledger: Ledger) -> None:
    """Portals to outdoors, closed since nothing is modelled behind them, and the doors that stand for them."""
    material = scene.material("entrance door", linear((0.30, 0.21, 0.14)))
    glass = scene.material("entrance glass", linear((0.18, 0.24, 0.29)))
    for element in entrances:
        edges = frontages.facing(element.shape, _ENTRANCE_REACH_M)
        if not edges:
            ledger.note("dropped", "entrance that lies on no building's outline", element.id)
            continue
        edge = edges[0]
        main = element.tags.get("entrance") in ("main", "shop") or element.tags.get("building") == "entrance"
        width_m = min(1.8 if main else 1.1, edge.length_m)
        middle = float(np.clip(edge.project(np.asarray(element.shape.coords[0])), width_m / 2.0, edge.length_m - width_m / 2.0))
        a, b = edge.point(middle - width_m / 2.0), edge.point(middle + width_m / 2.0)
        building = frontages.houses[edge.house].element.id
        scene.portals.append(
            Portal(
                id=element.id,
                building=building,
                floor=f"{building}/level0",
                segment=((float(a[0]), float(a[1])), (float(b[0]), float(b[1]))),
                z_m=0.0,
                state="closed",
                exterior=True,
            )
        )
        instance = scene.instance("door")
        for inset, top, which in ((0.0, 2.3, material), (0.12, 2.1, glass if main else material)):
            _panel(scene, edge, middle, width_m - 2 * inset, 0.02 if inset == 0.0 else 0.12, top, 0.05 + 0.01 * (inset > 0.0), which, instance, Surface.DOOR)


def add_places(scene: Scene, elements: list[Element], frontages: Frontages, building_instances: list[int], ledger: Ledger) -> int:
    """A place per shop or service, with a front and a sign where a facade has room; returns the number of signs."""
    boards = Signboards(scene)
    portals = shapely.STRtree([shapely.LineString(p.segment) for p in scene.portals])
    signs = 0
    seen: set[tuple[str, str, int, int]] = set()
    for element in sorted(elements, key=lambda e: (e.shape.geom_type != "Point", e.id)):
        point = element.shape if element.shape.geom_type == "Point" else element.shape.representative_point()
        name, value = element.tags.get("name", "").strip(), place_category(element.tags) or ""
        category = _CATEGORY.get(value, value.replace("_", " "))
        twin = (name, category, round(point.x / 20.0), round(point.y / 20.0))
        if name and twin in seen:
            ledger.note("ignored", "place mapped twice, as a point and as an area", element.id)
            continue
        seen.add(twin)
        fronted = value in _OPEN_FRONTED or "shop" in element.tags or "craft" in element.tags
        width_m = _FRONT_WIDTH_M if fronted else _PLATE_WIDTH_M
        slot = _slot(point, frontages, width_m)
        if slot is None:
            scene.places.append(_free_standing(element, point, category, name, frontages))
            if frontages.house_at(point) is not None:
                ledger.note("assumed", "no frontage: no free stretch of facade faces a walkable place", element.id)
            continue
        edge, middle = slot
        edge.take(middle, width_m)
        scene.places.append(_place(element.id, category, name, edge, middle, width_m, frontages.houses, scene.portals, portals))
        board, letters, goods = colors_of(value if value not in _CATEGORY else category, element.id)
        top_m = min(_FRONT_HEIGHT_M, max(b.high_m for b in frontages.houses[edge.house].bodies) - 0.1)
        if fronted and top_m > 2.6:
            _add_front(scene, edge, middle, width_m, top_m, board, goods, building_instances[edge.house])
        text = legible(name)
        if name and not text:
            ledger.note("assumed", "no sign: the name is in letters that the built-in font lacks", element.id)
        if text and signs < MOST_SIGNS and top_m > 2.6:
            boards.hang(edge, middle, min(_SIGN_Z_M, top_m - SIGN_HEIGHT_M / 2.0), text, (board, letters), width_m - 0.3)
            signs += 1
    boards.finish()
    return signs


def _slot(point: shapely.Point, frontages: Frontages, width_m: float) -> tuple[Edge, float] | None:
    """A free stretch of the facade that the place belongs to."""
    house = frontages.house_at(point)
    reach = _PLACE_REACH_M if house is not None else _OUTSIDE_REACH_M
    xy = np.asarray(point.coords[0])
    for edge in frontages.facing(point, reach, house)[:8]:
        middle = edge.free_middle(edge.project(xy), width_m, _SHIFT_M)
        if middle is not None:
            return edge, middle
    return None


def _place(
    identity: str, category: str, name: str, edge: Edge, middle: float, width_m: float, houses: list[House], portals: list[Portal], tree: shapely.STRtree
) -> Place:
    a, b = edge.point(middle - width_m / 2.0), edge.point(middle + width_m / 2.0)
    x, y = (a + b) / 2.0
    near = sorted(tree.query(shapely.LineString([a, b]), predicate="dwithin", distance=1.0).tolist())
    doors = [portals[i].id for i in near if portals[i].building == houses[edge.house].element.id]
    dx, dy = np.abs(b - a)
    return Place(
        id=identity,
        category=category,
        name=name,
        building=houses[edge.house].element.id,
        frontage=((float(a[0]), float(a[1])), (float(b[0]), float(b[1]))),
        center=(float(x), float(y), _FRONT_HEIGHT_M / 2.0),
        size=(float(max(dx, 0.3)), float(max(dy, 0.3)), _FRONT_HEIGHT_M),
        entrance=doors[0] if doors else None,
    )


def _free_standing(element: Element, point: shapely.Point, category: str, name: str, frontages: Frontages) -> Place:
    house = frontages.house_at(point)
    building = frontages.houses[house].element.id if house is not None else None
    x0, y0, x1, y1 = element.shape.bounds
    size = (max(1.0, x1 - x0), max(1.0, y1 - y0), 2.0)
    return Place(id=element.id, category=category, name=name, building=building, center=(float(point.x), float(point.y), 1.0), size=size)


def _add_front(scene: Scene, edge: Edge, middle: float, width_m: float, top_m: float, board: RGB, goods: RGB, instance: int) -> None:
    key = "shop-{:.2f}-{:.2f}-{:.2f}-{:.2f}".format(*board, goods[0])
    if key not in scene.textures:
        scene.textures[key] = shop_front(board, goods, generator("osm", "shop front", key))
    material = scene.material(key, (1.0, 1.0, 1.0), texture=key)
    share = top_m / FRONT_M[1]
    _panel(scene, edge, middle, width_m, 0.0, top_m, _OFFSET_M, material, instance, Surface.WALL, v_high=share)


def _panel(
    scene: Scene,
    edge: Edge,
    middle: float,
    width_m: float,
    low: float,
    high: float,
    out_m: float,
    material: int,
    instance: int,
    surface: Surface,
    *,
    v_high: float = 1.0,
) -> None:
    """A flat picture in front of a facade that no body can touch."""
    a = edge.point(middle - width_m / 2.0) + edge.outward * out_m
    b = edge.point(middle + width_m / 2.0) + edge.outward * out_m
    mesh = quad([*a, low], [*b, low], [*b, high], [*a, high])
    scene.add_mesh(*mesh, surface=surface, material=material, instance=instance, uv=QUAD_UV * np.array([1.0, v_high]), collides=False)
