"""The catalogue of larger things: what stands in squares, parks and yards. Widths lie along x, fronts face -y."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portico.build.models import RGB, Model, Part
from portico.build.primitives import box, cylinder
from portico.build.shapes import ball, extruded, rod, wheel
from portico.world import Surface

_STONE: RGB = (0.68, 0.65, 0.60)
_BRONZE: RGB = (0.29, 0.38, 0.33)
_WOOD: RGB = (0.58, 0.41, 0.25)
_IRON: RGB = (0.17, 0.18, 0.19)
_STEEL: RGB = (0.58, 0.60, 0.62)
_WATER: RGB = (0.42, 0.62, 0.70)
_RED: RGB = (0.78, 0.16, 0.14)
_YELLOW: RGB = (0.95, 0.75, 0.16)
_BLUE: RGB = (0.16, 0.38, 0.66)


def fountain() -> Model:
    """A stone basin with a bowl in its middle and water falling from it."""
    parts = []
    for k in range(16):
        a = 2 * np.pi * k / 16
        parts.append(Part(box((2.25 * np.cos(a), 2.25 * np.sin(a), 0.27), (0.34, 0.94, 0.54), a), _STONE))
    parts += [
        Part(cylinder((0, 0, 0), 2.15, 0.36, sides=16), _WATER, Surface.WATER),
        Part(cylinder((0, 0, 0), 0.34, 1.30, sides=10, top_radius_m=0.20), _STONE),
    ]
    parts += [
        Part(cylinder((0, 0, 1.20), 0.30, 0.30, sides=14, top_radius_m=1.05), _STONE),
        Part(cylinder((0, 0, 1.46), 0.95, 0.05, sides=14), _WATER, Surface.WATER),
    ]
    parts += [Part(cylinder((0, 0, 1.5), 0.14, 0.60, sides=8, top_radius_m=0.08), _STONE), Part(ball((0, 0, 2.2), (0.20, 0.20, 0.20)), _STONE)]
    for k in range(8):
        a = 2 * np.pi * k / 8
        c, s = float(np.cos(a)), float(np.sin(a))
        parts.append(Part(rod((1.0 * c, 1.0 * s, 1.48), (1.25 * c, 1.25 * s, 0.36), 0.03, sides=4), (0.80, 0.90, 0.95), Surface.WATER))
    return parts


def statue() -> Model:
    """A bronze figure with a raised arm on a plinth."""
    parts = [
        Part(box((0, 0, 0.12), (2.2, 2.2, 0.24)), _STONE),
        Part(box((0, 0, 0.36), (1.7, 1.7, 0.24)), _STONE),
        Part(box((0, 0, 1.20), (1.1, 1.1, 1.44)), _STONE),
    ]
    parts += [Part(box((0, 0, 1.98), (1.3, 1.3, 0.12)), _STONE), Part(box((0, -0.56, 1.25), (0.70, 0.02, 0.45)), _BRONZE)]
    z = 2.04
    parts += [Part(rod((x, 0, z), (x * 0.8, 0, z + 0.90), 0.11, sides=7), _BRONZE) for x in (-0.14, 0.14)]
    parts += [Part(ball((0, 0, z + 1.22), (0.27, 0.19, 0.44)), _BRONZE), Part(ball((0, 0, z + 1.80), (0.14, 0.15, 0.17)), _BRONZE)]
    parts += [Part(rod((0.22, 0, z + 1.45), (0.50, -0.20, z + 2.10), 0.07), _BRONZE), Part(rod((-0.24, 0, z + 1.45), (-0.36, -0.05, z + 0.85), 0.07), _BRONZE)]
    return [*parts, Part(extruded(((-0.36, z + 0.2), (0.36, z + 0.2), (0.22, z + 1.5), (-0.22, z + 1.5)), 0.05), _BRONZE)]


def picnic_table() -> Model:
    """A table with two benches in one frame."""
    parts = [Part(box((0, (k - 2) * 0.15, 0.74), (1.8, 0.135, 0.04)), _WOOD) for k in range(5)]
    for side in (-1.0, 1.0):
        parts += [Part(box((0, side * (0.68 + 0.14 * k), 0.44), (1.8, 0.13, 0.04)), _WOOD) for k in range(2)]
    for x in (-0.65, 0.65):
        parts += [Part(box((x, 0, 0.38), (0.09, 1.6, 0.08)), _WOOD)] + [
            Part(rod((x, side * 0.62, 0.0), (x, side * 0.25, 0.72), 0.045, sides=4), _WOOD) for side in (-1.0, 1.0)
        ]
    return parts


def chess_table() -> Model:
    """A stone table with a chess board."""
    parts = [Part(cylinder((0, 0, 0), 0.22, 0.70, sides=8), _STONE), Part(box((0, 0, 0.73), (0.80, 0.80, 0.07)), _STONE)]
    for i in range(6):
        for j in range(6):
            if (i + j) % 2:
                parts.append(Part(box((-0.25 + 0.1 * i, -0.25 + 0.1 * j, 0.77), (0.1, 0.1, 0.012)), _IRON))
    return parts


def stone_stool() -> Model:
    """A stone seat."""
    return [Part(cylinder((0, 0, 0), 0.19, 0.45, sides=10, top_radius_m=0.21), _STONE)]


def swing() -> Model:
    """Two swings in a frame."""
    parts = [Part(rod((-1.7, 0, 2.2), (1.7, 0, 2.2), 0.05), _RED)]
    parts += [Part(rod((x, y, 0.0), (x * 0.98, 0, 2.2), 0.045), _RED) for x in (-1.7, 1.7) for y in (-0.75, 0.75)]
    for x in (-0.75, 0.75):
        parts += [Part(rod((x + d, 0, 0.48), (x + d, 0, 2.2), 0.012, sides=4), _IRON) for d in (-0.22, 0.22)] + [
            Part(box((x, 0, 0.46), (0.48, 0.20, 0.04)), (0.12, 0.12, 0.13))
        ]
    return parts


def slide() -> Model:
    """A slide with a ladder."""
    chute = extruded(((-1.5, 0.25), (-1.9, 0.22), (-1.9, 0.30), (-1.45, 0.33), (0.55, 1.62), (0.75, 1.62), (0.75, 1.52), (0.60, 1.52)), 0.50)
    parts = [Part(chute, _YELLOW)]
    for y in (-0.27, 0.27):
        parts += [Part(rod((-1.45, y, 0.42), (0.55, y, 1.72), 0.035), _RED), Part(rod((1.15, y, 0.0), (0.75, y, 2.05), 0.035), _BLUE)]
        parts.append(Part(rod((0.55, y, 0.0), (0.55, y, 1.55), 0.035), _BLUE))
    return parts + [Part(rod((1.10 - 0.08 * k, -0.27, 0.28 + 0.32 * k), (1.10 - 0.08 * k, 0.27, 0.28 + 0.32 * k), 0.025), _STEEL) for k in range(5)]


def seesaw() -> Model:
    """A seesaw."""
    parts = [Part(extruded(((-0.25, 0.0), (0.25, 0.0), (0.06, 0.52), (-0.06, 0.52)), 0.34), _BLUE), Part(rod((-1.5, 0, 0.32), (1.5, 0, 0.78), 0.06), _YELLOW)]
    return parts + [Part(rod((x, -0.18, z), (x, 0.18, z), 0.02), _IRON) for x, z in ((-1.2, 0.56), (1.2, 0.94))]


def sandbox() -> Model:
    """A sandbox in a wooden frame."""
    parts = [Part(box((0, 0, 0.10), (2.2, 2.2, 0.20)), (0.84, 0.74, 0.54))]
    for x, y, w, d in ((0, -1.15, 2.5, 0.2), (0, 1.15, 2.5, 0.2), (-1.15, 0, 0.2, 2.1), (1.15, 0, 0.2, 2.1)):
        parts.append(Part(box((x, y, 0.18), (w, d, 0.36)), _WOOD))
    return parts


def dumpster() -> Model:
    """A rubbish container on castors."""
    parts = [Part(extruded(((-0.72, 0.18), (0.72, 0.18), (0.88, 1.15), (-0.88, 1.15)), 1.0), (0.16, 0.36, 0.26))]
    parts += [Part(box((x, 0.02, 1.20), (0.86, 1.06, 0.09)), (0.10, 0.11, 0.11)) for x in (-0.45, 0.45)]
    return parts + [Part(wheel((x, y, 0.10), 0.10, 0.08, sides=8), _IRON) for x in (-0.55, 0.55) for y in (-0.35, 0.35)]


def pallet() -> Model:
    """A wooden pallet."""
    return [Part(box((0, (k - 2) * 0.19, 0.13), (1.2, 0.14, 0.03)), _WOOD) for k in range(5)] + [
        Part(box((x, 0, 0.06), (0.10, 0.90, 0.11)), _WOOD) for x in (-0.5, 0.0, 0.5)
    ]


def crate() -> Model:
    """A wooden crate."""
    parts = [Part(box((0, 0, 0.35), (0.68, 0.68, 0.66)), (0.66, 0.50, 0.32))]
    return (
        parts
        + [Part(box((0, y, z), (0.74, 0.04, 0.10)), _WOOD) for y in (-0.36, 0.36) for z in (0.06, 0.64)]
        + [Part(box((x, 0, z), (0.04, 0.74, 0.10)), _WOOD) for x in (-0.36, 0.36) for z in (0.06, 0.64)]
    )


def hand_truck() -> Model:
    """A sack truck."""
    parts = [Part(rod((x, 0.1, 0.15), (x, 0.25, 1.25), 0.02), _RED) for x in (-0.2, 0.2)] + [
        Part(rod((-0.2, 0.1 + 0.05 * k, 0.3 + 0.3 * k), (0.2, 0.1 + 0.05 * k, 0.3 + 0.3 * k), 0.015), _RED) for k in range(4)
    ]
    return [*parts, Part(box((0, -0.08, 0.04), (0.46, 0.32, 0.03)), _STEEL), *[Part(wheel((0.0, 0.2, 0.14), 0.14, 0.06, sides=10), _IRON)]]


def shopping_cart() -> Model:
    """A shopping cart."""
    parts = [
        Part(extruded(((-0.42, 0.48), (0.38, 0.52), (0.46, 0.95), (-0.44, 0.98)), 0.50), (0.70, 0.72, 0.74)),
        Part(box((0.02, 0, 0.90), (0.74, 0.42, 0.16)), (0.30, 0.32, 0.34)),
    ]
    parts += [Part(rod((-0.48, -0.26, 1.02), (-0.48, 0.26, 1.02), 0.02), _RED)] + [
        Part(rod((x, y, 0.12), (x * 0.9, y, 0.5), 0.015, sides=4), _STEEL) for x in (-0.4, 0.4) for y in (-0.2, 0.2)
    ]
    return parts + [Part(wheel((x, y, 0.07), 0.07, 0.04, sides=8), _IRON) for x in (-0.4, 0.4) for y in (-0.2, 0.2)]


def wooden_trough() -> Model:
    """A wooden trough of grasses."""
    parts = [Part(box((0, 0, 0.28), (1.5, 0.50, 0.56)), _WOOD), Part(box((0, 0, 0.55), (1.38, 0.38, 0.06)), (0.30, 0.24, 0.17))]
    for k in range(6):
        x = -0.55 + 0.22 * k
        parts += [
            Part(rod((x, 0, 0.55), (x + d, e, 1.05), 0.03, sides=4), (0.55, 0.62, 0.30), Surface.PLANT) for d, e in ((0.08, 0.05), (-0.08, -0.04), (0.0, 0.1))
        ]
    return parts


def barrier() -> Model:
    """A concrete barrier, 2 m long, with red stripes."""
    profile = ((-0.30, 0.0), (0.30, 0.0), (0.27, 0.12), (0.13, 0.36), (0.09, 0.95), (-0.09, 0.95), (-0.13, 0.36), (-0.27, 0.12))
    vertices, faces = extruded(profile, 2.0)
    turned = np.column_stack([vertices[:, 1], -vertices[:, 0], vertices[:, 2]]).astype(np.float32)
    parts = [Part((turned, faces), (0.76, 0.75, 0.72), Surface.ROADBLOCK)]
    for k in range(4):
        for y in (-0.115, 0.115):
            parts.append(Part(box((-0.75 + 0.5 * k, y, 0.70), (0.24, 0.03, 0.26)), _RED if k % 2 == 0 else (0.95, 0.95, 0.94), Surface.ROADBLOCK))
    return parts


def road_closed_sign() -> Model:
    """A striped board on legs with a no-entry disc."""
    parts = [Part(box((x, 0, 0.75), (0.06, 0.06, 1.5)), _STEEL, Surface.ROADBLOCK) for x in (-0.75, 0.75)]
    parts += [Part(box((-0.75 + 0.30 * k, -0.05, 1.05), (0.30, 0.03, 0.28)), _RED if k % 2 == 0 else (0.95, 0.95, 0.94), Surface.ROADBLOCK) for k in range(6)]
    parts += [
        Part(wheel((0, -0.06, 1.62), 0.34, 0.03), _RED, Surface.ROADBLOCK),
        Part(box((0, -0.085, 1.62), (0.46, 0.01, 0.11)), (0.96, 0.96, 0.95), Surface.ROADBLOCK),
    ]
    return [*parts, Part(box((0, 0, 0.03), (1.7, 0.5, 0.06)), _IRON, Surface.ROADBLOCK), Part(box((0, 0, 1.40), (0.08, 0.05, 0.60)), _STEEL, Surface.ROADBLOCK)]


SQUARE: dict[str, Callable[[], Model]] = {
    "fountain": fountain,
    "statue": statue,
    "picnic table": picnic_table,
    "chess table": chess_table,
    "stone stool": stone_stool,
    "swing": swing,
    "slide": slide,
    "seesaw": seesaw,
    "sandbox": sandbox,
    "dumpster": dumpster,
    "pallet": pallet,
    "crate": crate,
    "hand truck": hand_truck,
    "shopping cart": shopping_cart,
    "wooden trough": wooden_trough,
    "barrier": barrier,
    "road closed sign": road_closed_sign,
}
