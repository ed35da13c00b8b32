"""The catalogue of street furniture: what stands on sidewalks. Widths lie along x, fronts face -y."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portico.build.models import RGB, Model, Part
from portico.build.primitives import box, cylinder
from portico.build.shapes import ball, cone, extruded, rod, wheel
from portico.build.traffic_objects import TRAFFIC
from portico.world import Surface

_IRON: RGB = (0.16, 0.17, 0.18)
_STEEL: RGB = (0.58, 0.60, 0.62)
_WOOD: RGB = (0.56, 0.38, 0.22)
_STONE: RGB = (0.66, 0.63, 0.58)
_GREEN: RGB = (0.12, 0.30, 0.22)
_RED: RGB = (0.72, 0.10, 0.10)
_BLUE: RGB = (0.12, 0.28, 0.56)
_YELLOW: RGB = (0.94, 0.74, 0.14)
_WHITE: RGB = (0.93, 0.93, 0.91)
_GLASS: RGB = (0.62, 0.74, 0.80)
_ORANGE: RGB = (0.93, 0.40, 0.08)


def bench() -> Model:
    """A park bench with slats on cast-iron legs."""
    parts = [Part(box((0, -0.18 + 0.13 * k, 0.45), (1.7, 0.10, 0.045)), _WOOD) for k in range(4)]
    parts += [Part(box((0, 0.27, 0.60 + 0.14 * k), (1.7, 0.04, 0.10)), _WOOD) for k in range(3)]
    for x in (-0.70, 0.70):
        parts += [Part(box((x, 0.0, 0.22), (0.06, 0.48, 0.42)), _IRON), Part(box((x, 0.27, 0.62), (0.06, 0.05, 0.60)), _IRON)]
        parts.append(Part(box((x, -0.05, 0.66), (0.05, 0.50, 0.05)), _IRON))
    return parts


def stone_bench() -> Model:
    """A backless block of stone."""
    return [Part(box((0, 0, 0.40), (1.9, 0.55, 0.12)), _STONE), *[Part(box((x, 0, 0.17), (0.30, 0.45, 0.34)), (0.55, 0.53, 0.50)) for x in (-0.65, 0.65)]]


def street_lamp() -> Model:
    """A lamp on an arm that reaches over the road (towards -y)."""
    parts = [Part(cylinder((0, 0, 0), 0.14, 0.9, sides=8, top_radius_m=0.09), _IRON), Part(cylinder((0, 0, 0.9), 0.07, 4.9, sides=8, top_radius_m=0.05), _IRON)]
    parts.append(Part(rod((0, 0, 5.6), (0, -1.3, 5.95), 0.04), _IRON))
    return [*parts, Part(box((0, -1.45, 5.95), (0.22, 0.62, 0.10)), _IRON), Part(box((0, -1.45, 5.89), (0.16, 0.52, 0.03)), (1.0, 0.95, 0.80), emission=0.8)]


def park_lamp() -> Model:
    """A post with a globe."""
    post = [Part(cylinder((0, 0, 0), 0.11, 0.5, sides=8), _GREEN), Part(cylinder((0, 0, 0.5), 0.055, 2.6, sides=8), _GREEN)]
    return [*post, Part(ball((0, 0, 3.3), (0.22, 0.22, 0.22)), (0.98, 0.96, 0.88), emission=0.5), Part(cone((0, 0, 3.48), 0.18, 0.12), _GREEN)]


def trash_can() -> Model:
    """A litter bin with a hood."""
    return [
        Part(cylinder((0, 0, 0.06), 0.27, 0.80, sides=9), _GREEN),
        Part(cylinder((0, 0, 0.86), 0.29, 0.06, sides=9), _IRON),
        Part(cone((0, 0, 0.98), 0.28, 0.12, sides=8), _IRON),
        *[Part(rod((x, 0, 0.9), (x, 0, 1.0), 0.02, sides=4), _IRON) for x in (-0.2, 0.2)],
    ]


def recycling_bin() -> Model:
    """Three bins in a row, one colour for each kind."""
    parts = []
    for k, color in enumerate((_BLUE, _YELLOW, (0.20, 0.46, 0.24))):
        x = (k - 1) * 0.55
        parts += [Part(box((x, 0, 0.5), (0.50, 0.52, 1.0)), color), Part(box((x, -0.27, 0.80), (0.28, 0.03, 0.12)), (0.08, 0.08, 0.09))]
    return parts


def mailbox() -> Model:
    """A post box."""
    return [
        Part(box((0, 0, 0.58), (0.55, 0.48, 1.10)), _YELLOW),
        Part(extruded(((-0.275, 1.13), (0.275, 1.13), (0.2, 1.30), (-0.2, 1.30)), 0.48), _YELLOW),
        Part(box((0, -0.245, 1.0), (0.36, 0.02, 0.05)), (0.08, 0.08, 0.09)),
        Part(box((0, -0.245, 0.70), (0.30, 0.02, 0.24)), _WHITE),
    ]


def fire_hydrant() -> Model:
    """A fire hydrant."""
    parts = [
        Part(cylinder((0, 0, 0), 0.17, 0.06, sides=10), _RED),
        Part(cylinder((0, 0, 0.06), 0.12, 0.50, sides=10), _RED),
        Part(ball((0, 0, 0.58), (0.13, 0.13, 0.12)), _RED),
    ]
    return [
        *parts,
        Part(rod((-0.20, 0, 0.42), (0.20, 0, 0.42), 0.055), _RED),
        Part(cylinder((0, 0, 0.68), 0.03, 0.06, sides=6), _STEEL),
        Part(rod((0, -0.20, 0.42), (0, 0, 0.42), 0.07), _STEEL),
    ]


def bike_rack() -> Model:
    """Three hoops in a line to lock bicycles to, lengthwise to the curb."""
    parts = []
    for k in range(3):
        x = (k - 1) * 1.9
        parts += [Part(rod((x + d, 0, 0.0), (x + d, 0, 0.74), 0.028, sides=6), _STEEL) for d in (-0.34, 0.34)]
        parts.append(Part(rod((x - 0.36, 0, 0.75), (x + 0.36, 0, 0.75), 0.028, sides=6), _STEEL))
    return parts


def planter() -> Model:
    """A concrete tub of flowers."""
    parts = [Part(cylinder((0, 0, 0), 0.34, 0.50, sides=12, top_radius_m=0.44), _STONE), Part(cylinder((0, 0, 0.46), 0.38, 0.06, sides=12), (0.30, 0.24, 0.17))]
    for k in range(7):
        a = 2 * np.pi * k / 6
        r = 0.0 if k == 6 else 0.24
        x, y = float(r * np.cos(a)), float(r * np.sin(a))
        parts += [
            Part(ball((x, y, 0.60), (0.16, 0.16, 0.13), levels=0), (0.33, 0.48, 0.24), Surface.PLANT),
            Part(ball((x, y, 0.73), (0.09, 0.09, 0.07), levels=0), (_RED, _YELLOW, (0.85, 0.50, 0.70))[k % 3], Surface.PLANT),
        ]
    return parts


def cafe_table() -> Model:
    """A round bistro table."""
    return [
        Part(cylinder((0, 0, 0), 0.24, 0.03, sides=10), _IRON),
        Part(cylinder((0, 0, 0.03), 0.035, 0.69, sides=6), _IRON),
        Part(cylinder((0, 0, 0.71), 0.36, 0.03, sides=14), (0.80, 0.76, 0.68)),
    ]


def cafe_chair() -> Model:
    """A bistro chair; one sits facing -y."""
    parts = [Part(box((0, 0, 0.45), (0.42, 0.42, 0.04)), (0.62, 0.46, 0.28)), Part(box((0, 0.20, 0.70), (0.40, 0.03, 0.34)), (0.62, 0.46, 0.28))]
    return parts + [Part(rod((x, y, 0.0), (x, y * 0.95, 0.88 if y > 0 else 0.44), 0.016, sides=4), _IRON) for x in (-0.19, 0.19) for y in (-0.19, 0.20)]


def parasol(color: RGB = (0.86, 0.84, 0.76)) -> Model:
    """A sunshade on a foot; its rim hangs above head height."""
    return [
        Part(cylinder((0, 0, 0), 0.30, 0.08, sides=10), (0.40, 0.40, 0.41)),
        Part(cylinder((0, 0, 0.08), 0.03, 2.65, sides=6), _WOOD),
        Part(cone((0, 0, 2.25), 1.25, 0.50, sides=8), color),
    ]


def newspaper_box() -> Model:
    """A vending box for newspapers."""
    return [
        Part(box((0, 0, 0.75), (0.50, 0.45, 0.70)), _BLUE),
        Part(box((0, -0.23, 0.86), (0.38, 0.02, 0.36)), _GLASS),
        Part(box((0, -0.235, 0.84), (0.30, 0.01, 0.26)), _WHITE),
        Part(box((0, 0, 0.20), (0.12, 0.12, 0.40)), _IRON),
        Part(box((0, 0, 0.02), (0.40, 0.36, 0.04)), _IRON),
    ]


def phone_booth() -> Model:
    """A red booth with glazed sides."""
    parts = [
        Part(box((0, 0, 0.06), (0.92, 0.92, 0.12)), _IRON),
        Part(box((0, 0, 2.36), (0.96, 0.96, 0.22)), _RED),
        Part(box((0, 0, 1.20), (0.78, 0.78, 2.1)), _GLASS),
    ]
    parts += [Part(box((x, y, 1.20), (0.10, 0.10, 2.2)), _RED) for x in (-0.41, 0.41) for y in (-0.41, 0.41)]
    return parts + [Part(box((0, 0, z), (0.86, 0.86, 0.06)), _RED) for z in (0.55, 1.05, 1.55)] + [Part(box((0, -0.47, 2.32), (0.66, 0.03, 0.12)), _WHITE)]


def kiosk(color: RGB = (0.16, 0.36, 0.34)) -> Model:
    """A newsstand with a counter and a pitched roof."""
    parts = [
        Part(box((0, 0, 0.55), (2.6, 2.0, 1.10)), color),
        Part(box((0, 0.45, 1.75), (2.6, 1.10, 1.30)), color),
        Part(box((0, -0.70, 1.75), (2.3, 0.05, 1.20)), (0.24, 0.27, 0.29)),
    ]
    parts += [Part(box((x, -0.35, 1.75), (0.08, 1.3, 1.30)), color) for x in (-1.26, 1.26)]
    parts += [Part(box((0, -1.08, 1.12), (2.5, 0.30, 0.05)), _WOOD), Part(extruded(((-1.55, 2.38), (1.55, 2.38), (0.0, 3.05)), 2.5), (0.45, 0.42, 0.40))]
    for k in range(7):
        parts.append(Part(box((-1.05 + 0.35 * k, -0.74, 1.45 + 0.35 * (k % 2)), (0.26, 0.03, 0.30)), (_WHITE, _YELLOW, _RED, _BLUE)[k % 4]))
    return parts


def food_cart(color: RGB = (0.80, 0.20, 0.16)) -> Model:
    """A vending cart under an umbrella."""
    parts = [
        Part(box((0, 0, 0.72), (1.5, 0.80, 0.70)), color),
        Part(box((0, 0, 1.09), (1.6, 0.90, 0.05)), _STEEL),
        Part(box((0, -0.41, 0.80), (1.1, 0.02, 0.34)), _WHITE),
    ]
    parts += [Part(wheel((x, 0, 0.30), 0.30, 0.86, sides=12), (0.10, 0.10, 0.10)) for x in (-0.45, 0.45)]
    return [
        *parts,
        Part(rod((0.9, 0, 0.85), (0.72, 0, 0.95), 0.03), _STEEL),
        Part(cylinder((0, 0, 1.1), 0.03, 1.6, sides=6), _STEEL),
        Part(cone((0, 0, 2.30), 1.0, 0.45, sides=8), _YELLOW),
    ]


def sandwich_board() -> Model:
    """A folding blackboard, written on both sides."""
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], np.float64)
    leaf, faces = extruded(((0.24, 0.0), (0.30, 0.0), (0.05, 1.0), (-0.01, 1.0)), 0.62)
    parts = []
    for side in (1.0, -1.0):
        half_turn = np.array([side, side, 1.0])
        parts.append(Part(((leaf @ turn.T * half_turn).astype(np.float32), faces), (0.13, 0.14, 0.14)))
        for k in range(3):
            z = 0.78 - 0.17 * k
            y = -(0.315 - 0.25 * z) * side
            parts.append(Part(box((0, y, z), (0.40 - 0.07 * k, 0.03, 0.05)), _WHITE))
    return parts


def electrical_box() -> Model:
    """A grey cabinet of the power company."""
    return [
        Part(box((0, 0, 0.60), (1.0, 0.42, 1.10)), (0.55, 0.58, 0.55)),
        Part(box((0, 0, 1.17), (1.06, 0.48, 0.06)), (0.48, 0.50, 0.48)),
        Part(box((0, -0.215, 0.62), (0.02, 0.01, 0.98)), (0.30, 0.32, 0.30)),
        Part(box((0.2, -0.215, 0.85), (0.20, 0.01, 0.20)), _YELLOW),
    ]


def advertising_column() -> Model:
    """A round column pasted with posters."""
    parts = [
        Part(cylinder((0, 0, 0), 0.50, 0.30, sides=14), _STONE),
        Part(cylinder((0, 0, 0.30), 0.46, 2.30, sides=14), _WHITE),
        Part(cylinder((0, 0, 2.60), 0.54, 0.14, sides=14), _GREEN),
        Part(cone((0, 0, 2.74), 0.50, 0.40, sides=14), _GREEN),
    ]
    for k in range(6):
        a = 2 * np.pi * k / 6
        parts.append(
            Part(
                box((0.455 * np.cos(a), 0.455 * np.sin(a), 1.45 + 0.1 * (k % 2)), (0.04, 0.36, 1.1), a),
                (_RED, _BLUE, _YELLOW, _ORANGE, _GREEN, (0.5, 0.3, 0.6))[k],
            )
        )
    return parts


def parcel_lockers() -> Model:
    """A bank of parcel lockers."""
    parts = [Part(box((0, 0, 1.0), (2.2, 0.55, 2.0)), _YELLOW), Part(box((0, -0.1, 2.06), (2.4, 0.85, 0.08)), _IRON)]
    for i in range(5):
        for j in range(4):
            parts.append(Part(box((-0.88 + 0.44 * i, -0.28, 0.28 + 0.46 * j), (0.38, 0.02, 0.40)), _IRON if (i, j) == (2, 2) else (0.80, 0.81, 0.82)))
    return parts


def drinking_fountain() -> Model:
    """A drinking fountain."""
    return [
        Part(cylinder((0, 0, 0), 0.20, 0.85, sides=8, top_radius_m=0.16), _STONE),
        Part(cylinder((0, 0, 0.85), 0.26, 0.12, sides=12), _STEEL),
        Part(rod((0, 0.12, 0.97), (0, 0.05, 1.10), 0.02), _STEEL),
    ]


def bicycle_pump() -> Model:
    """A public pump and tool stand."""
    return [
        Part(box((0, 0, 0.65), (0.28, 0.22, 1.30)), _ORANGE),
        Part(rod((0.18, -0.05, 0.3), (0.16, -0.12, 0.9), 0.02), (0.08, 0.08, 0.09)),
        Part(box((0, 0, 1.32), (0.34, 0.28, 0.05)), _IRON),
    ]


def backpack(color: RGB = (0.22, 0.34, 0.52)) -> Model:
    """A backpack that someone put down."""
    return [
        Part(box((0, 0, 0.20), (0.30, 0.20, 0.40)), color),
        Part(ball((0, 0, 0.40), (0.15, 0.10, 0.06)), color),
        Part(box((0, -0.12, 0.14), (0.22, 0.06, 0.18)), (color[0] * 0.7, color[1] * 0.7, color[2] * 0.7)),
    ]


def umbrella() -> Model:
    """A closed umbrella left leaning."""
    return [Part(rod((0, 0, 0.02), (0.0, 0.16, 0.78), 0.035), (0.50, 0.10, 0.14)), Part(rod((0.0, 0.16, 0.78), (0.0, 0.20, 0.92), 0.016), _WOOD)]


def suitcase() -> Model:
    """A cabin suitcase."""
    return [
        Part(box((0, 0, 0.34), (0.38, 0.24, 0.56)), (0.64, 0.16, 0.22)),
        Part(rod((-0.1, 0.1, 0.6), (-0.1, 0.1, 0.95), 0.012), _STEEL),
        Part(rod((0.1, 0.1, 0.6), (0.1, 0.1, 0.95), 0.012), _STEEL),
        Part(box((0, 0.1, 0.96), (0.24, 0.03, 0.03)), _IRON),
    ]


STREET: dict[str, Callable[[], Model]] = {
    "bench": bench,
    "stone bench": stone_bench,
    "street lamp": street_lamp,
    "park lamp": park_lamp,
    "trash can": trash_can,
    "recycling bin": recycling_bin,
    "mailbox": mailbox,
    "fire hydrant": fire_hydrant,
    "bike rack": bike_rack,
    "planter": planter,
    "cafe table": cafe_table,
    "cafe chair": cafe_chair,
    "parasol": parasol,
    "newspaper box": newspaper_box,
    "phone booth": phone_booth,
    "kiosk": kiosk,
    "food cart": food_cart,
    "sandwich board": sandwich_board,
    "electrical box": electrical_box,
    "advertising column": advertising_column,
    "parcel lockers": parcel_lockers,
    "drinking fountain": drinking_fountain,
    "bicycle pump": bicycle_pump,
    "backpack": backpack,
    "umbrella": umbrella,
    "suitcase": suitcase,
    **TRAFFIC,
}
