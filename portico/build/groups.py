"""Contextual groups of street furniture [NV 7.4]: what belongs together, laid out in a small frame of its own.

A group's x runs along the curb and its front, -y, looks at the people who pass. Groups for the curb are at most 1.1 m
deep at the height of a body, so that the walking lane beside them stays free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from portico.build.models import RGB, Model
from portico.build.square_objects import SQUARE
from portico.build.street_objects import STREET, food_cart, kiosk, parasol
from portico.build.vegetation import TREES, bush, flower_bed, planter_tree
from portico.build.vehicles import PAINTS, bicycle, kick_scooter, motorcycle

#: Least distance between the middles of two groups [NV 7.4].
GROUP_SPACING_M = 8.0

#: Every model that looks the same wherever it stands, by category.
CATALOGUE: dict[str, Callable[[], Model]] = STREET | SQUARE

_CANVAS: tuple[RGB, ...] = ((0.87, 0.85, 0.78), (0.74, 0.20, 0.18), (0.18, 0.38, 0.34), (0.90, 0.66, 0.22), (0.22, 0.32, 0.52))


@dataclass(frozen=True)
class Item:
    """A thing in a group: category, model, position and yaw in the group's frame; ``z`` lifts it onto another thing."""

    category: str
    model: Model
    x: float = 0.0
    y: float = 0.0
    yaw_rad: float = 0.0
    z: float = 0.0


Group = list[Item]
Maker = Callable[[np.random.Generator], Group]


def thing(category: str, x: float = 0.0, y: float = 0.0, yaw_rad: float = 0.0, z: float = 0.0) -> Item:
    """An item of the catalogue."""
    return Item(category, _catalogue_model(category), x, y, yaw_rad, z)


@cache
def _catalogue_model(category: str) -> Model:
    return CATALOGUE[category]()


def tree(rng: np.random.Generator, kinds: tuple[str, ...] = tuple(TREES)) -> Group:
    """One tree of one of the kinds."""
    return [Item("tree", TREES[str(rng.choice(kinds))](rng), yaw_rad=float(rng.uniform(0, 2 * np.pi)))]


def _paint(rng: np.random.Generator) -> RGB:
    return PAINTS[int(rng.integers(0, len(PAINTS)))]


def _bus_stop(rng: np.random.Generator) -> Group:
    found = [thing("bus shelter", yaw_rad=np.pi), thing("bench", 0.55, -0.06, np.pi), thing("trash can", 2.35), thing("bus stop sign", -2.5, 0.1)]
    found.append(thing("backpack", 0.95, 0.02, np.pi, 0.47) if rng.random() < 0.6 else thing("umbrella", 1.5, -0.15, np.pi))
    return [*found, thing("suitcase", -0.85, 0.05, 0.4)] if rng.random() < 0.5 else found


def _bikes(rng: np.random.Generator) -> Group:
    found = [thing("bike rack")]
    for k in range(3):
        for side in (-0.24, 0.24):
            if rng.random() < 0.55 or (k, side) == (1, 0.24):
                found.append(Item("bicycle", bicycle(_paint(rng)), (k - 1) * 1.9 + float(rng.uniform(-0.1, 0.1)), side, float(rng.choice([0.0, np.pi]))))
    return [*found, thing("bicycle pump", 3.0, 0.1)] if rng.random() < 0.5 else found


def _table(rng: np.random.Generator, x: float, y: float, canvas: RGB | None) -> Group:
    found = [thing("cafe table", x, y), thing("cafe chair", x - 0.62, y, -np.pi / 2), thing("cafe chair", x + 0.62, y, np.pi / 2)]
    return [*found, Item("parasol", parasol(canvas), x + 1.15, y)] if canvas else found


def _cafe_curb(rng: np.random.Generator) -> Group:
    canvas = _CANVAS[int(rng.integers(0, len(_CANVAS)))]
    return [*_table(rng, -1.25, 0.0, canvas), *_table(rng, 1.15, 0.0, None), thing("planter", 2.6), thing("sandwich board", -2.6)]


def _cafe_terrace(rng: np.random.Generator) -> Group:
    canvas = _CANVAS[int(rng.integers(0, len(_CANVAS)))]
    found = []
    for i in range(2):
        for j in range(2):
            x, y = (i - 0.5) * 3.0, (j - 0.5) * 2.6
            found += _table(rng, x - 0.4, y, canvas if (i + j) % 2 == 0 else None)
            found += [thing("cafe chair", x - 0.4, y + 0.62)] if rng.random() < 0.5 else []
    return [*found, thing("wooden trough", -3.5, 0.0, np.pi / 2), thing("wooden trough", 3.5, 0.0, np.pi / 2)]


def _seat(rng: np.random.Generator) -> Group:
    return [thing("bench"), thing("trash can", 1.45), thing("planter", -1.55)]


def _mail(rng: np.random.Generator) -> Group:
    return [thing("mailbox", -0.55), thing("newspaper box", 0.25), thing("newspaper box", 0.85)]


def _phone(rng: np.random.Generator) -> Group:
    return [thing("phone booth"), thing("newspaper box", 0.95), thing("trash can", -0.95)]


def _scooters(rng: np.random.Generator) -> Group:
    color: RGB = ((0.20, 0.62, 0.36), (0.94, 0.46, 0.12), (0.36, 0.30, 0.62))[int(rng.integers(0, 3))]
    return [Item("scooter", kick_scooter(color), (k - 1) * 0.62, 0.0, np.pi / 2 + float(rng.uniform(-0.15, 0.15))) for k in range(3)]


def _motorcycles(rng: np.random.Generator) -> Group:
    return [Item("motorcycle", motorcycle(_paint(rng)), (k - 0.5) * 2.4, 0.0, float(rng.choice([0.0, np.pi]))) for k in range(2)]


def _utility(rng: np.random.Generator) -> Group:
    return [thing("electrical box"), thing("fire hydrant", 1.2)]


def _works(rng: np.random.Generator) -> Group:
    cones = [thing("traffic cone", x, y) for x, y in ((-1.5, -0.25), (-1.5, 0.25), (1.5, -0.25), (1.5, 0.25))]
    return [thing("barrier"), *cones]


def _advert(rng: np.random.Generator) -> Group:
    return [thing("advertising column"), thing("bench", 1.9)]


def _flowers(rng: np.random.Generator) -> Group:
    return [Item("flower bed", flower_bed(rng, length_m=1.8, depth_m=0.8)), thing("wooden trough", 1.85), thing("planter", -1.5)]


def _groceries(rng: np.random.Generator) -> Group:
    return [*[thing("shopping cart", (k - 1) * 0.58, 0.0, np.pi / 2) for k in range(3)], thing("crate", 1.45), thing("sandwich board", -1.65)]


def _delivery(rng: np.random.Generator) -> Group:
    return [thing("pallet", 0.0), thing("crate", 0.0, 0.0, 0.2, 0.15), thing("crate", 1.2, 0.05, -0.1), thing("hand truck", -1.1)]


def _recycling(rng: np.random.Generator) -> Group:
    return [thing("dumpster", -1.3), thing("dumpster", 0.8), thing("recycling bin", 2.9)]


def _charging(rng: np.random.Generator) -> Group:
    return [thing("charging station"), thing("bollard", 0.7), thing("bollard", -0.7)]


def _chess(rng: np.random.Generator) -> Group:
    found = []
    for k in (-1.0, 1.0):
        found += [thing("chess table", 0.0, k * 1.5), thing("stone stool", -0.78, k * 1.5), thing("stone stool", 0.78, k * 1.5)]
    return found


def _playground(rng: np.random.Generator) -> Group:
    return [
        thing("swing", -3.2, 2.2),
        thing("slide", 2.6, 2.4),
        thing("sandbox", -3.4, -2.2),
        thing("seesaw", 2.4, -1.6),
        thing("bench", 5.4, -0.4, -np.pi / 2),
    ]


def _picnic(rng: np.random.Generator) -> Group:
    found = [thing("picnic table", x, y) for x, y in ((-3.0, 1.4), (2.6, 1.6), (0.2, -1.6))]
    return [*found, thing("trash can", 4.6, -1.0), thing("drinking fountain", -4.6, -1.8), thing("backpack", 2.2, 1.55, 0.5, 0.77)]


def _monument(rng: np.random.Generator) -> Group:
    beds = [
        Item("flower bed", flower_bed(rng, length_m=2.2, depth_m=0.8), 2.4 * float(np.cos(a)), 2.4 * float(np.sin(a)), float(a) + np.pi / 2)
        for a in np.arange(4) * np.pi / 2
    ]
    return [thing("statue"), *beds]


def _round_bed(rng: np.random.Generator) -> Group:
    return [Item("flower bed", flower_bed(rng, length_m=2.4, depth_m=2.4))]


def _kiosk(rng: np.random.Generator) -> Group:
    color: RGB = ((0.16, 0.36, 0.34), (0.52, 0.16, 0.16), (0.20, 0.26, 0.44))[int(rng.integers(0, 3))]
    return [Item("kiosk", kiosk(color)), thing("newspaper box", 1.75, -0.6), thing("sandwich board", -1.9, -1.4)]


def _food_cart(rng: np.random.Generator) -> Group:
    color: RGB = ((0.80, 0.20, 0.16), (0.20, 0.46, 0.60), (0.95, 0.72, 0.20))[int(rng.integers(0, 3))]
    return [Item("food cart", food_cart(color)), thing("trash can", 1.6, 0.1), *[thing("stone stool", -1.2 + 0.8 * k, -1.5) for k in range(3)]]


def _information(rng: np.random.Generator) -> Group:
    return [thing("information board"), thing("flagpole", 1.7, 0.3), thing("drinking fountain", -1.5)]


def _park_bench(rng: np.random.Generator) -> Group:
    return [thing("bench", yaw_rad=0.0), thing("trash can", 1.4, 0.05)]


def _single(category: str) -> Maker:
    return lambda rng: [thing(category)]


GROUPS: dict[str, Maker] = {
    "bus stop": _bus_stop,
    "bike parking": _bikes,
    "cafe curb": _cafe_curb,
    "cafe terrace": _cafe_terrace,
    "seat": _seat,
    "mail": _mail,
    "phone": _phone,
    "scooters": _scooters,
    "motorcycles": _motorcycles,
    "utility": _utility,
    "works": _works,
    "advert": _advert,
    "flowers": _flowers,
    "groceries": _groceries,
    "delivery": _delivery,
    "recycling corner": _recycling,
    "charging station": _charging,
    "chess": _chess,
    "playground": _playground,
    "picnic": _picnic,
    "monument": _monument,
    "kiosk": _kiosk,
    "food cart": _food_cart,
    "information": _information,
    "park bench": _park_bench,
    "promenade bench": _seat,
    "park kiosk": _food_cart,
    "round bed": _round_bed,
    "garden bench": _single("bench"),
    "square bench": _single("stone bench"),
    "parcel lockers": _single("parcel lockers"),
    "fountain": _single("fountain"),
    "street clock": _single("clock"),
    "planter tree": lambda rng: [Item("tree", planter_tree(rng))],
    "bush": lambda rng: [Item("bush", bush(rng), yaw_rad=float(rng.uniform(0, 2 * np.pi)))],
    "tree": tree,
    "street tree": lambda rng: tree(rng, ("linden", "maple", "cherry")),
    **{
        f"one {c}": _single(c)
        for c in (
            "street lamp",
            "park lamp",
            "parking meter",
            "fire hydrant",
            "trash can",
            "traffic light",
            "stop sign",
            "street sign",
            "speed sign",
            "bollard",
            "mailbox",
            "planter",
        )
    },
}
