"""The catalogue of what guides people and traffic: signals, signs, stops, posts. Widths lie along x, fronts face -y."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portico.build.models import RGB, Model, Part
from portico.build.primitives import Mesh, box, cylinder
from portico.build.shapes import ball, rod, wheel

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


def _disc(center: tuple[float, float, float], radius: float, *, sides: int = 12) -> Mesh:
    """An upright disc that faces -y."""
    return wheel(center, radius, 0.03, sides=sides)


def bus_shelter() -> Model:
    """Glass walls at the back and the sides, a roof, and a timetable."""
    parts = [Part(box((0, 0.44, 1.20), (3.4, 0.04, 1.9)), _GLASS), Part(box((0, 0.0, 2.42), (3.7, 1.05, 0.10)), _IRON)]
    parts += [Part(box((x, 0.44, 1.2), (0.08, 0.08, 2.4)), _IRON) for x in (-1.7, 0.0, 1.7)]
    parts.append(Part(box((-1.7, 0.18, 1.20), (0.04, 0.50, 1.9)), _GLASS))
    return [*parts, Part(box((1.1, 0.41, 1.35), (0.75, 0.03, 1.1)), _WHITE), Part(box((1.1, 0.395, 1.78), (0.70, 0.02, 0.18)), _BLUE)]


def bus_stop_sign() -> Model:
    """A pole with the stop's sign."""
    parts = [Part(cylinder((0, 0, 0), 0.04, 2.7, sides=6), _STEEL), Part(box((0, -0.03, 2.45), (0.50, 0.05, 0.55)), _YELLOW)]
    return [*parts, Part(box((0, -0.06, 2.50), (0.30, 0.02, 0.26)), _GREEN), Part(box((0, -0.05, 1.5), (0.34, 0.04, 0.46)), _WHITE)]


def traffic_light() -> Model:
    """Signals for cars and for people on one mast."""
    parts = [Part(cylinder((0, 0, 0), 0.09, 3.5, sides=8, top_radius_m=0.06), _IRON), Part(box((0, -0.16, 3.0), (0.34, 0.24, 1.0)), (0.07, 0.08, 0.08))]
    for z, color, glow in ((3.32, (0.80, 0.10, 0.08), 0.9), (3.0, (0.40, 0.30, 0.05), 0.0), (2.68, (0.06, 0.30, 0.12), 0.0)):
        parts.append(Part(_disc((0, -0.29, z), 0.11), color, emission=glow))
    parts.append(Part(box((0.18, 0, 2.35), (0.24, 0.22, 0.55)), (0.07, 0.08, 0.08)))
    return [
        *parts,
        Part(box((0.31, 0, 2.47), (0.02, 0.16, 0.18)), (0.35, 0.08, 0.06)),
        Part(box((0.31, 0, 2.22), (0.02, 0.16, 0.18)), (0.10, 0.80, 0.30), emission=0.8),
        Part(box((0, -0.09, 1.1), (0.12, 0.08, 0.20)), _YELLOW),
    ]


def stop_sign() -> Model:
    """An octagon on a post."""
    return [
        Part(cylinder((0, 0, 0), 0.035, 2.7, sides=6), _STEEL),
        Part(_disc((0, -0.05, 2.45), 0.38, sides=8), _RED),
        Part(_disc((0, -0.045, 2.45), 0.42, sides=8), _WHITE),
        Part(box((0, -0.075, 2.45), (0.46, 0.01, 0.13)), _WHITE),
    ]


def street_sign() -> Model:
    """Street names, one blade each way."""
    blades = [Part(box((0.40, 0, 2.85), (0.80, 0.03, 0.22)), _BLUE), Part(box((0, 0.40, 2.60), (0.03, 0.80, 0.22)), _BLUE)]
    return [
        Part(cylinder((0, 0, 0), 0.035, 3.0, sides=6), _STEEL),
        *blades,
        Part(box((0.42, 0, 2.85), (0.62, 0.035, 0.06)), _WHITE),
        Part(box((0, 0.42, 2.60), (0.035, 0.62, 0.06)), _WHITE),
    ]


def speed_sign() -> Model:
    """A speed limit."""
    return [Part(cylinder((0, 0, 0), 0.035, 2.6, sides=6), _STEEL), Part(_disc((0, -0.04, 2.35), 0.32), _RED), Part(_disc((0, -0.055, 2.35), 0.24), _WHITE)]


def parking_meter() -> Model:
    """A meter on a post."""
    return [
        Part(cylinder((0, 0, 0), 0.045, 1.1, sides=7), _IRON),
        Part(box((0, 0, 1.27), (0.20, 0.16, 0.36)), _STEEL),
        Part(ball((0, 0, 1.45), (0.10, 0.08, 0.07)), _STEEL),
        Part(box((0, -0.085, 1.34), (0.12, 0.01, 0.10)), (0.10, 0.16, 0.14)),
    ]


def bollard() -> Model:
    """A post that keeps cars out."""
    return [
        Part(cylinder((0, 0, 0), 0.09, 0.85, sides=9), _IRON),
        Part(ball((0, 0, 0.86), (0.09, 0.09, 0.06)), _IRON),
        Part(cylinder((0, 0, 0.66), 0.095, 0.08, sides=9), _WHITE),
    ]


def traffic_cone() -> Model:
    """A traffic cone."""
    return [
        Part(box((0, 0, 0.02), (0.38, 0.38, 0.04)), _ORANGE),
        Part(cylinder((0, 0, 0.04), 0.14, 0.66, sides=10, top_radius_m=0.03), _ORANGE),
        Part(cylinder((0, 0, 0.30), 0.105, 0.14, sides=10, top_radius_m=0.08), _WHITE),
    ]


def information_board() -> Model:
    """A map of the quarter under a little roof."""
    parts = [Part(box((x, 0, 1.0), (0.08, 0.08, 2.0)), _WOOD) for x in (-0.6, 0.6)]
    return [
        *parts,
        Part(box((0, 0, 1.45), (1.2, 0.06, 0.85)), _GREEN),
        Part(box((0, -0.035, 1.45), (1.05, 0.01, 0.70)), (0.86, 0.84, 0.72)),
        Part(box((0.1, -0.045, 1.42), (0.5, 0.01, 0.30)), (0.52, 0.66, 0.46)),
        Part(box((0, 0, 2.03), (1.5, 0.30, 0.06)), _WOOD),
    ]


def charging_station() -> Model:
    """A charger for electric cars."""
    return [
        Part(box((0, 0, 0.85), (0.45, 0.30, 1.7)), _WHITE),
        Part(box((0, -0.155, 1.35), (0.30, 0.01, 0.26)), (0.08, 0.12, 0.16)),
        Part(box((0, -0.155, 0.85), (0.34, 0.01, 0.10)), (0.15, 0.65, 0.35), emission=0.4),
        Part(rod((0.24, -0.05, 1.0), (0.26, -0.16, 0.35), 0.025), (0.08, 0.08, 0.09)),
    ]


def flagpole() -> Model:
    """A flag on a tall pole."""
    return [
        Part(cylinder((0, 0, 0), 0.20, 0.25, sides=8), _STONE),
        Part(cylinder((0, 0, 0.25), 0.05, 6.5, sides=7), _WHITE),
        Part(box((0.62, 0, 6.2), (1.15, 0.02, 0.35)), _BLUE),
        Part(box((0.62, 0, 5.85), (1.15, 0.02, 0.35)), _WHITE),
    ]


def clock() -> Model:
    """A street clock with two faces."""
    parts = [
        Part(cylinder((0, 0, 0), 0.13, 0.5, sides=8), _GREEN),
        Part(cylinder((0, 0, 0.5), 0.06, 2.7, sides=8), _GREEN),
        Part(_disc((0, 0, 3.5), 0.42, sides=16), _GREEN),
    ]
    return [
        *parts,
        Part(
            (_disc((0, 0, 0), 0.36, sides=16)[0] * np.array([1, 5, 1], np.float32) + np.array([0, 0, 3.5], np.float32), _disc((0, 0, 0), 0.36, sides=16)[1]),
            _WHITE,
        ),
        Part(box((0, -0.08, 3.60), (0.03, 0.01, 0.24)), _IRON),
        Part(box((0.08, -0.08, 3.5), (0.18, 0.01, 0.03)), _IRON),
    ]


TRAFFIC: dict[str, Callable[[], Model]] = {
    "bus shelter": bus_shelter,
    "bus stop sign": bus_stop_sign,
    "traffic light": traffic_light,
    "stop sign": stop_sign,
    "street sign": street_sign,
    "speed sign": speed_sign,
    "parking meter": parking_meter,
    "bollard": bollard,
    "traffic cone": traffic_cone,
    "information board": information_board,
    "charging station": charging_station,
    "flagpole": flagpole,
    "clock": clock,
}
