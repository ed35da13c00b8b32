"""Kitchen units, appliances and what stands on counters."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, METALS, WHITES, WOODS, Assembly, choose, darker, furniture

Rng = np.random.Generator
_STONES = ("#6f6a64", "#c9c2b6", "#3f4145", "#a88a66")


@furniture("kitchen counter")
def kitchen_counter(a: Assembly, rng: Rng, width: float = 1.2, front: str | None = None, stone: str | None = None) -> None:
    """Base units under a stone top."""
    front, stone = front or choose(rng, WOODS + WHITES), stone or choose(rng, _STONES)
    a.box((-0.3, 0.26), (-width / 2, width / 2), (0.0, 0.86), front)
    a.plate(0.265, (-width / 2, width / 2), (0.08, 0.855), darker(front))
    doors = max(1, round(width / 0.6))
    for k in range(doors):
        y = -width / 2 + k * width / doors
        a.plate(0.275, (y + 0.01, y + width / doors - 0.01), (0.1, 0.84), front)
        a.plate(0.28, (y + 0.1, y + width / doors - 0.1), (0.78, 0.8), METALS[0])
    a.box((-0.3, 0.31), (-width / 2, width / 2), (0.86, 0.9), stone)


@furniture("kitchen sink")
def kitchen_sink(a: Assembly, rng: Rng, front: str | None = None, stone: str | None = None) -> None:
    """A base unit with a steel basin and a tap."""
    front, stone = front or choose(rng, WOODS + WHITES), stone or choose(rng, _STONES)
    a.box((-0.3, 0.26), (-0.45, 0.45), (0.0, 0.8), front)
    a.plate(0.265, (-0.45, 0.45), (0.08, 0.8), darker(front))
    for y in (-0.44, 0.01):
        a.plate(0.275, (y, y + 0.43), (0.1, 0.78), front)
    a.boxes([(-0.3, -0.2), (0.2, 0.31)], [(-0.45, 0.45)], (0.8, 0.9), stone)
    a.boxes([(-0.2, 0.2)], [(-0.45, -0.3), (0.3, 0.45)], (0.8, 0.9), stone)
    a.box((-0.2, 0.2), (-0.3, 0.3), (0.8, 0.81), METALS[1])
    a.cyl(-0.24, 0.0, (0.9, 1.14), 0.018, METALS[1], sides=6)
    a.box((-0.24, -0.06), (-0.015, 0.015), (1.12, 1.15), METALS[1])


@furniture("stove")
def stove(a: Assembly, rng: Rng) -> None:
    """Four rings over an oven."""
    body = choose(rng, (*WHITES, METALS[1], DARKS[1]))
    a.box((-0.3, 0.28), (-0.3, 0.3), (0.0, 0.88), body)
    a.box((-0.3, 0.3), (-0.3, 0.3), (0.88, 0.91), DARKS[0])
    for x in (-0.14, 0.14):
        for y in (-0.14, 0.14):
            a.box((x - 0.09, x + 0.09), (y - 0.09, y + 0.09), (0.91, 0.925), METALS[2])
    a.plate(0.295, (-0.25, 0.25), (0.2, 0.64), DARKS[0])
    a.plate(0.3, (-0.22, 0.22), (0.67, 0.69), METALS[1])
    for k in range(4):
        a.plate(0.3, (-0.2 + 0.12 * k, -0.16 + 0.12 * k), (0.76, 0.8), DARKS[1])


@furniture("refrigerator")
def refrigerator(a: Assembly, rng: Rng) -> None:
    """Two doors, freezer below."""
    color = choose(rng, (*WHITES, METALS[1], "#8a9a86", "#9b4a42"))
    a.box((-0.33, 0.3), (-0.32, 0.32), (0.0, 1.8), color)
    a.plate(0.305, (-0.315, 0.315), (0.03, 1.79), darker(color, 0.4))
    a.plate(0.325, (-0.315, 0.315), (0.05, 0.6), color)
    a.plate(0.325, (-0.315, 0.315), (0.63, 1.78), color)
    a.box((0.325, 0.36), (0.24, 0.265), (0.8, 1.25), METALS[2])
    a.box((0.325, 0.36), (0.24, 0.265), (0.3, 0.52), METALS[2])


@furniture("dishwasher")
def dishwasher(a: Assembly, rng: Rng) -> None:
    """Under a worktop."""
    a.box((-0.3, 0.28), (-0.3, 0.3), (0.0, 0.86), choose(rng, WHITES))
    a.plate(0.295, (-0.29, 0.29), (0.1, 0.7), METALS[1])
    a.plate(0.3, (-0.29, 0.29), (0.73, 0.84), DARKS[0])
    a.box((-0.3, 0.31), (-0.3, 0.3), (0.86, 0.9), choose(rng, _STONES))


@furniture("kitchen cupboard")
def kitchen_cupboard(a: Assembly, rng: Rng, width: float = 1.2, front: str | None = None) -> None:
    """Wall units."""
    front = front or choose(rng, WOODS + WHITES)
    a.box((-0.17, 0.15), (-width / 2, width / 2), (0.0, 0.68), front, closed=True)
    a.plate(0.155, (-width / 2, width / 2), (0.0, 0.68), darker(front))
    doors = max(1, round(width / 0.5))
    for k in range(doors):
        y = -width / 2 + k * width / doors
        a.plate(0.165, (y + 0.01, y + width / doors - 0.01), (0.01, 0.67), front)


@furniture("range hood")
def range_hood(a: Assembly, rng: Rng) -> None:
    """A steel hood with its duct."""
    steel = choose(rng, METALS)
    a.box((-0.2, 0.24), (-0.3, 0.3), (0.0, 0.08), steel)
    a.box((-0.2, 0.08), (-0.13, 0.13), (0.08, 0.7), steel)


@furniture("microwave")
def microwave(a: Assembly, rng: Rng) -> None:
    """A counter-top oven."""
    body = choose(rng, (WHITES[0], METALS[1], DARKS[1]))
    a.box((-0.17, 0.16), (-0.24, 0.24), (0.0, 0.28), body)
    a.plate(0.168, (-0.21, 0.1), (0.04, 0.24), DARKS[0])
    a.plate(0.168, (0.13, 0.22), (0.18, 0.24), "#3a6b4a")


@furniture("coffee machine")
def coffee_machine(a: Assembly, rng: Rng) -> None:
    """Two groups, a drip tray and a row of cups."""
    body = choose(rng, (*METALS, "#8e3b33"))
    a.box((-0.2, 0.16), (-0.3, 0.3), (0.0, 0.08), METALS[2])
    a.box((-0.2, 0.0), (-0.3, 0.3), (0.08, 0.42), body)
    a.box((-0.2, 0.18), (-0.3, 0.3), (0.32, 0.46), body)
    a.boxes([(0.06, 0.1)], [(-0.17, -0.11), (0.11, 0.17)], (0.24, 0.32), DARKS[0])
    for k in range(4):
        a.cyl(0.0, -0.2 + 0.13 * k, (0.46, 0.53), 0.035, WHITES[0], sides=8, top=0.045)


@furniture("kettle")
def kettle(a: Assembly, rng: Rng) -> None:
    """An electric kettle."""
    a.cyl(0.0, 0.0, (0.0, 0.2), 0.085, choose(rng, (*METALS, *BRIGHTS[:2])), sides=10, top=0.065)
    a.box((-0.02, 0.02), (0.07, 0.13), (0.04, 0.19), DARKS[0])
    a.cyl(0.0, 0.0, (0.2, 0.23), 0.03, DARKS[0], sides=6)


@furniture("toaster")
def toaster(a: Assembly, rng: Rng) -> None:
    """Two slots."""
    a.box((-0.09, 0.09), (-0.14, 0.14), (0.0, 0.18), choose(rng, (*METALS, *BRIGHTS)))
    a.boxes([(-0.05, -0.02), (0.02, 0.05)], [(-0.11, 0.11)], (0.18, 0.185), DARKS[0])


@furniture("cooking pot")
def cooking_pot(a: Assembly, rng: Rng) -> None:
    """With its lid on."""
    color = choose(rng, (*METALS, "#a33c30"))
    a.cyl(0.0, 0.0, (0.0, 0.16), 0.12, color, sides=12)
    a.cyl(0.0, 0.0, (0.16, 0.19), 0.125, METALS[1], sides=12, top=0.03)
    a.boxes([(-0.02, 0.02)], [(-0.16, -0.11), (0.11, 0.16)], (0.1, 0.13), DARKS[0])


@furniture("fruit bowl")
def fruit_bowl(a: Assembly, rng: Rng) -> None:
    """Oranges and apples."""
    a.cyl(0.0, 0.0, (0.0, 0.08), 0.07, choose(rng, (*WOODS, WHITES[0])), sides=8, top=0.16)
    for k in range(4):
        x, y = 0.07 * np.cos(k * 1.57 + 0.4), 0.07 * np.sin(k * 1.57 + 0.4)
        a.cyl(float(x), float(y), (0.06, 0.14), 0.045, choose(rng, ("#d9822b", "#b8352c", "#8cab3f", "#e2b53c")), sides=5, top=0.025)


@furniture("mug")
def mug(a: Assembly, rng: Rng) -> None:
    """A cup."""
    a.cyl(0.0, 0.0, (0.0, 0.095), 0.04, choose(rng, (*WHITES, *BRIGHTS)), sides=6)
    a.post((-0.008, 0.008), (0.035, 0.07), (0.025, 0.07), WHITES[0])


@furniture("bottle")
def bottle(a: Assembly, rng: Rng) -> None:
    """Wine or water."""
    glass = choose(rng, ("#31502f", "#5a3a22", "#7fb0c4", "#2a3d52"))
    a.cyl(0.0, 0.0, (0.0, 0.2), 0.04, glass, sides=8)
    a.cyl(0.0, 0.0, (0.2, 0.31), 0.035, glass, sides=8, top=0.013)


@furniture("plate")
def plate(a: Assembly, rng: Rng) -> None:
    """A set place: plate and napkin."""
    a.cyl(0.0, 0.0, (0.0, 0.02), 0.08, choose(rng, WHITES), sides=12, top=0.13)
    a.box((-0.09, 0.09), (0.16, 0.23), (0.0, 0.006), choose(rng, BRIGHTS))
