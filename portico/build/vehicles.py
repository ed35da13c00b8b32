"""Vehicles: cars of several bodies, vans, and what has two wheels. A model's length lies along x, its nose towards +x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portico.build.models import RGB, Model, Part
from portico.build.primitives import Mesh, box
from portico.build.shapes import ball, extruded, rod, wheel
from portico.world import Surface

PAINTS: tuple[RGB, ...] = (
    (0.82, 0.83, 0.84),
    (0.93, 0.93, 0.92),
    (0.12, 0.13, 0.15),
    (0.45, 0.47, 0.50),
    (0.60, 0.10, 0.11),
    (0.13, 0.25, 0.48),
    (0.20, 0.36, 0.30),
    (0.78, 0.62, 0.20),
    (0.55, 0.66, 0.76),
    (0.40, 0.26, 0.19),
)
_GLASS: RGB = (0.17, 0.22, 0.27)
_TYRE: RGB = (0.07, 0.07, 0.08)
_RIM: RGB = (0.70, 0.71, 0.73)
_STEEL: RGB = (0.35, 0.36, 0.38)


@dataclass(frozen=True)
class Body:
    """Side views of a car, (x, z) from the rear to the nose: the hull up to the waist, and the windows above it."""

    hull: tuple[tuple[float, float], ...]
    cabin: tuple[tuple[float, float], ...]
    width_m: float
    roof_width_m: float
    wheel_m: float
    axles: tuple[float, float]


BODIES: dict[str, Body] = {
    "sedan": Body(
        ((-2.25, 0.32), (-2.28, 0.80), (-2.15, 0.98), (-1.45, 1.00), (0.95, 0.94), (2.05, 0.80), (2.25, 0.62), (2.25, 0.30)),
        ((-1.75, 0.97), (-1.05, 1.40), (0.05, 1.42), (0.95, 0.94)),
        1.80,
        1.30,
        0.32,
        (-1.35, 1.40),
    ),
    "hatchback": Body(
        ((-1.95, 0.32), (-2.00, 0.85), (-1.85, 1.02), (0.85, 0.96), (1.75, 0.80), (1.95, 0.60), (1.95, 0.30)),
        ((-1.90, 1.00), (-1.55, 1.45), (0.00, 1.50), (0.90, 0.95)),
        1.75,
        1.30,
        0.30,
        (-1.25, 1.22),
    ),
    "suv": Body(
        ((-2.25, 0.42), (-2.30, 0.95), (-2.20, 1.15), (1.00, 1.08), (2.05, 0.98), (2.30, 0.78), (2.30, 0.40)),
        ((-2.20, 1.13), (-1.95, 1.66), (0.15, 1.70), (1.05, 1.07)),
        1.90,
        1.45,
        0.37,
        (-1.38, 1.42),
    ),
}


def car(body: str, paint: RGB) -> Model:
    """A passenger car."""
    b = BODIES[body]
    ends = (b.hull[0][0], b.hull[-1][0])
    parts = [Part(extruded(b.hull, b.width_m, top_width_m=b.width_m - 0.10), paint, Surface.VEHICLE)]
    parts.append(Part(extruded(b.cabin, b.width_m - 0.14, top_width_m=b.roof_width_m), _GLASS, Surface.VEHICLE))
    parts.append(Part(_roof(b), paint, Surface.VEHICLE))
    for side in (-1.0, 1.0):
        parts += _pillars(b, side, paint)
        parts.append(Part(box((b.axles[1] - 0.62, side * (b.width_m / 2 + 0.06), b.cabin[-1][1] + 0.10), (0.14, 0.18, 0.14)), paint, Surface.VEHICLE))
    parts += _wheels(b.axles, b.width_m, b.wheel_m) + _lights(ends, b.width_m, 0.5 * (b.hull[0][1] + b.hull[2][1]) + 0.06)
    return parts


def _roof(b: Body) -> Mesh:
    (_, _), (x0, z0), (x1, z1), (_, _) = b.cabin
    return extruded(
        ((x0 - 0.06, z0 - 0.02), (x0, z0 + 0.03), (x1, z1 + 0.03), (x1 + 0.08, z1 - 0.02)), b.roof_width_m + 0.04, top_width_m=b.roof_width_m - 0.06
    )


def _pillars(b: Body, side: float, paint: RGB) -> list[Part]:
    low, high = side * (b.width_m / 2 - 0.075), side * (b.roof_width_m / 2)
    (xa, za), (xb, zb), (xc, zc), (xd, zd) = b.cabin
    middle = 0.5 * (xb + xc)
    bars = [((xa, low, za), (xb, high, zb)), ((xd, low, zd), (xc, high, zc)), ((middle - 0.05, low, 0.5 * (za + zd)), (middle, high, zc))]
    return [Part(rod(p, q, 0.035, sides=4), paint, Surface.VEHICLE) for p, q in bars]


def _wheels(axles: tuple[float, float], width: float, radius: float) -> list[Part]:
    parts = []
    for x in axles:
        for side in (-1.0, 1.0):
            parts.append(Part(wheel((x, side * (width / 2 - 0.10), radius), radius, 0.22, sides=11), _TYRE, Surface.VEHICLE))
            parts.append(Part(wheel((x, side * (width / 2 + 0.005), radius), 0.62 * radius, 0.03, sides=7), _RIM, Surface.VEHICLE))
    return parts


def _lights(ends: tuple[float, float], width: float, z: float) -> list[Part]:
    rear, nose = ends
    parts = [Part(box((rear - 0.01, 0.0, z - 0.16), (0.05, 0.50, 0.12)), (0.92, 0.92, 0.88), Surface.VEHICLE)]
    parts.append(Part(box((nose + 0.01, 0.0, z - 0.24), (0.05, 0.90, 0.16)), (0.10, 0.10, 0.11), Surface.VEHICLE))
    for side in (-1.0, 1.0):
        parts.append(Part(box((rear - 0.01, side * (width / 2 - 0.28), z), (0.08, 0.32, 0.15)), (0.62, 0.06, 0.06), Surface.VEHICLE, emission=0.2))
        parts.append(Part(box((nose - 0.04, side * (width / 2 - 0.30), z - 0.08), (0.14, 0.36, 0.13)), (0.95, 0.94, 0.85), Surface.VEHICLE, emission=0.3))
    return parts


def van(paint: RGB) -> Model:
    """A delivery van."""
    hull = ((-2.60, 0.35), (-2.62, 2.15), (-2.50, 2.25), (1.15, 2.25), (1.45, 2.10), (2.00, 1.22), (2.55, 1.05), (2.65, 0.70), (2.65, 0.35))
    windscreen = ((1.52, 2.00), (1.99, 1.26), (2.03, 1.28), (1.56, 2.03))
    parts = [Part(extruded(hull, 2.00, top_width_m=1.86), paint, Surface.VEHICLE), Part(extruded(windscreen, 1.75), _GLASS, Surface.VEHICLE)]
    for side in (-1.0, 1.0):
        window = extruded(((0.62, 1.32), (1.72, 1.32), (1.30, 1.98), (0.62, 1.98)), 0.06)
        parts.append(Part((window[0] + np.array([0.0, side * 0.94, 0.0], np.float32), window[1]), _GLASS, Surface.VEHICLE))
        parts.append(Part(box((-0.95, side * 0.985, 0.55), (3.1, 0.03, 0.10)), _STEEL, Surface.VEHICLE))
        parts.append(Part(box((-2.64, side * 0.45, 1.55), (0.03, 0.60, 0.55)), _GLASS, Surface.VEHICLE))
    return parts + _wheels((-1.65, 1.75), 2.0, 0.36) + _lights((-2.62, 2.65), 2.0, 0.95)


def pickup(paint: RGB) -> Model:
    """A pick-up truck with an open bed."""
    cab = ((-0.35, 0.45), (-0.35, 1.10), (1.10, 1.08), (2.45, 0.98), (2.60, 0.75), (2.60, 0.42))
    windows = ((-0.33, 1.10), (-0.20, 1.72), (0.45, 1.74), (1.15, 1.08))
    parts = [Part(extruded(cab, 1.92, top_width_m=1.84), paint, Surface.VEHICLE), Part(extruded(windows, 1.78, top_width_m=1.45), _GLASS, Surface.VEHICLE)]
    parts.append(Part(box((0.13, 0.0, 1.76), (0.80, 1.48, 0.05)), paint, Surface.VEHICLE))
    parts.append(Part(box((-1.50, 0.0, 0.55), (2.30, 1.90, 0.20)), _STEEL, Surface.VEHICLE))
    for side in (-1.0, 1.0):
        parts.append(Part(box((-1.50, side * 0.92, 0.86), (2.30, 0.08, 0.46)), paint, Surface.VEHICLE))
    parts.append(Part(box((-2.62, 0.0, 0.86), (0.08, 1.90, 0.46)), paint, Surface.VEHICLE))
    return parts + _wheels((-1.70, 1.70), 1.92, 0.38) + _lights((-2.66, 2.60), 1.92, 0.90)


def bicycle(paint: RGB) -> Model:
    """A bicycle on its stand."""
    rear, front = (-0.52, 0.0, 0.34), (0.52, 0.0, 0.34)
    saddle, head, crank = (-0.22, 0.0, 0.90), (0.36, 0.0, 0.88), (-0.08, 0.0, 0.32)
    parts = []
    for hub in (rear, front):
        parts += [Part(wheel(hub, 0.34, 0.045, sides=14), _TYRE), Part(wheel(hub, 0.27, 0.05, sides=10), _RIM)]
    bars = [(rear, saddle), (saddle, crank), (crank, rear), (crank, head), (saddle, head), (front, (0.33, 0.0, 0.98))]
    parts += [Part(rod(p, q, 0.022, sides=5), paint) for p, q in bars]
    parts.append(Part(rod((0.33, -0.27, 1.00), (0.33, 0.27, 1.00), 0.018, sides=5), _STEEL))
    return [*parts, Part(box((-0.24, 0.0, 0.94), (0.26, 0.14, 0.06)), _TYRE)]


def motorcycle(paint: RGB) -> Model:
    """A motorcycle."""
    parts = [Part(wheel((x, 0.0, 0.31), 0.31, 0.13, sides=14), _TYRE) for x in (-0.70, 0.72)]
    parts += [Part(wheel((x, 0.0, 0.31), 0.18, 0.14, sides=10), _RIM) for x in (-0.70, 0.72)]
    parts.append(Part(ball((0.14, 0.0, 0.80), (0.32, 0.16, 0.16)), paint))
    parts.append(Part(box((-0.38, 0.0, 0.80), (0.62, 0.26, 0.10)), _TYRE))
    parts.append(Part(box((0.0, 0.0, 0.46), (0.48, 0.30, 0.34)), _STEEL))
    parts += [Part(rod((0.72, side, 0.31), (0.42, side, 0.98), 0.025), _RIM) for side in (-0.09, 0.09)]
    parts.append(Part(rod((0.38, -0.34, 1.02), (0.38, 0.34, 1.02), 0.02), _STEEL))
    return [*parts, Part(ball((0.52, 0.0, 0.88), (0.09, 0.09, 0.09)), (0.92, 0.92, 0.85))]


def kick_scooter(paint: RGB) -> Model:
    """An electric kick scooter."""
    parts = [Part(wheel((x, 0.0, 0.11), 0.11, 0.05, sides=10), _TYRE) for x in (-0.45, 0.45)]
    parts += [Part(box((-0.02, 0.0, 0.16), (0.76, 0.16, 0.05)), paint), Part(rod((0.45, 0.0, 0.14), (0.36, 0.0, 1.12), 0.025), paint)]
    return [*parts, Part(rod((0.36, -0.24, 1.12), (0.36, 0.24, 1.12), 0.018), _TYRE)]


PARKED: dict[str, tuple[str, Callable[[RGB], Model]]] = {
    "sedan": ("car", lambda paint: car("sedan", paint)),
    "hatchback": ("car", lambda paint: car("hatchback", paint)),
    "suv": ("suv", lambda paint: car("suv", paint)),
    "van": ("van", van),
    "pickup": ("pickup truck", pickup),
}
