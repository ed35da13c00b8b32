"""Screens, machines and lamps."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.finishes import paint
from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, METALS, WHITES, WOODS, Assembly, choose, furniture
from portico.build.indoor.prints import DRINKS, SCREENS

Rng = np.random.Generator
_GLOW = paint("#fff1d6", emission=0.55)


def _screen(rng: Rng) -> tuple[float, float, float, float]:
    column, row = int(rng.integers(2)), int(rng.integers(2))
    return (column / 2 + 0.005, row / 2 + 0.005, (column + 1) / 2 - 0.005, (row + 1) / 2 - 0.005)


@furniture("tv")
def tv(a: Assembly, rng: Rng, width: float | None = None) -> None:
    """A flat screen; on a wall, or on a board with its foot hidden."""
    w = width or float(rng.uniform(1.0, 1.3))
    h = w * 0.57
    a.box((-0.03, 0.02), (-w / 2, w / 2), (0.0, h), DARKS[0])
    if rng.random() < 0.4:
        a.front(0.022, (-w / 2 + 0.02, w / 2 - 0.02), (0.03, h - 0.02), SCREENS, _screen(rng))
    else:
        a.front(0.022, (-w / 2 + 0.02, w / 2 - 0.02), (0.03, h - 0.02), paint("#14161a"))


@furniture("monitor")
def monitor(a: Assembly, rng: Rng) -> None:
    """On a foot, showing something."""
    a.box((-0.1, 0.1), (-0.12, 0.12), (0.0, 0.015), DARKS[1])
    a.post((-0.04, -0.01), (-0.03, 0.03), (0.015, 0.2), DARKS[1])
    a.box((-0.01, 0.02), (-0.28, 0.28), (0.12, 0.47), DARKS[0])
    a.front(0.022, (-0.27, 0.27), (0.135, 0.46), SCREENS, _screen(rng))


@furniture("laptop")
def laptop(a: Assembly, rng: Rng) -> None:
    """Open on a table."""
    shell = choose(rng, METALS + DARKS)
    a.box((-0.11, 0.11), (-0.16, 0.16), (0.0, 0.018), shell)
    a.box((-0.13, -0.11), (-0.16, 0.16), (0.0, 0.23), shell)
    a.front(-0.108, (-0.15, 0.15), (0.02, 0.22), SCREENS, _screen(rng))
    a.box((-0.08, 0.02), (-0.14, 0.14), (0.018, 0.021), DARKS[0])


@furniture("keyboard")
def keyboard(a: Assembly, rng: Rng) -> None:
    """A keyboard."""
    a.box((-0.07, 0.07), (-0.21, 0.21), (0.0, 0.022), choose(rng, DARKS + WHITES))


@furniture("telephone")
def telephone(a: Assembly, rng: Rng) -> None:
    """A desk telephone."""
    a.box((-0.1, 0.1), (-0.1, 0.1), (0.0, 0.05), DARKS[1])
    a.box((-0.09, 0.09), (-0.09, -0.04), (0.05, 0.085), DARKS[0])


@furniture("printer")
def printer(a: Assembly, rng: Rng) -> None:
    """A desktop printer with paper in its tray."""
    body = choose(rng, WHITES + DARKS[:2])
    a.box((-0.2, 0.2), (-0.22, 0.22), (0.0, 0.26), body)
    a.box((-0.16, -0.04), (-0.15, 0.15), (0.26, 0.36), WHITES[0])
    a.box((0.2, 0.3), (-0.16, 0.16), (0.07, 0.09), METALS[0])
    a.plate(0.205, (-0.18, -0.05), (0.2, 0.24), "#3a6b8a")


@furniture("copier")
def copier(a: Assembly, rng: Rng) -> None:
    """A floor-standing machine with trays."""
    a.box((-0.32, 0.3), (-0.33, 0.33), (0.0, 0.82), choose(rng, WHITES[1:]))
    for k in range(3):
        a.plate(0.315, (-0.3, 0.3), (0.08 + 0.18 * k, 0.24 + 0.18 * k), METALS[1])
    a.box((-0.32, 0.28), (-0.33, 0.33), (0.9, 1.08), DARKS[1])
    a.box((-0.3, 0.24), (-0.28, 0.28), (0.82, 0.9), METALS[2])
    a.box((0.24, 0.34), (0.06, 0.3), (0.98, 1.06), "#3a6b8a")


@furniture("projector")
def projector(a: Assembly, rng: Rng) -> None:
    """Hangs from the ceiling."""
    a.cyl(0.0, 0.0, (0.12, 0.45), 0.02, METALS[1], sides=6)
    a.box((-0.17, 0.17), (-0.16, 0.16), (0.0, 0.12), WHITES[0])
    a.plate(0.19, (-0.1, -0.02), (0.03, 0.09), DARKS[0])


@furniture("projector screen")
def projector_screen(a: Assembly, rng: Rng, width: float = 2.0) -> None:
    """Rolled down on a wall."""
    a.box((-0.05, 0.05), (-width / 2 - 0.05, width / 2 + 0.05), (1.28, 1.38), METALS[1])
    a.box((-0.01, 0.0), (-width / 2, width / 2), (0.0, 1.28), DARKS[0])
    a.front(0.004, (-width / 2 + 0.04, width / 2 - 0.04), (0.05, 1.25), paint("#f7f7f4"))


@furniture("speaker")
def speaker(a: Assembly, rng: Rng) -> None:
    """A floor-standing loudspeaker."""
    a.box((-0.15, 0.14), (-0.11, 0.11), (0.0, 0.95), choose(rng, DARKS + WOODS[:2]))
    for z in (0.25, 0.55, 0.8):
        a.plate(0.15, (-0.08, 0.08), (z - 0.07, z + 0.07), DARKS[0])


@furniture("vending machine")
def vending_machine(a: Assembly, rng: Rng) -> None:
    """Lit shelves of drinks, and a slot."""
    color = choose(rng, ("#a3302b", "#27508a", "#2f6d52", "#33363c"))
    a.box((-0.4, 0.36), (-0.48, 0.48), (0.0, 1.85), color)
    a.front(0.365, (-0.42, 0.2), (0.5, 1.72), DRINKS)
    a.plate(0.375, (0.24, 0.44), (0.9, 1.5), DARKS[0])
    a.plate(0.37, (-0.38, 0.16), (0.16, 0.36), DARKS[0])
    a.plate(0.38, (0.27, 0.41), (1.3, 1.42), "#7fd0a0")


@furniture("water cooler")
def water_cooler(a: Assembly, rng: Rng) -> None:
    """A dispenser with a bottle on top."""
    a.box((-0.16, 0.16), (-0.16, 0.16), (0.0, 0.98), choose(rng, WHITES))
    a.box((0.16, 0.22), (-0.1, 0.1), (0.62, 0.64), METALS[2])
    a.boxes([(0.16, 0.2)], [(-0.08, -0.04)], (0.78, 0.82), "#3f78a8")
    a.cyl(0.0, 0.0, (0.98, 1.36), 0.1, "#8fc3de", sides=8, top=0.14)


@furniture("floor lamp")
def floor_lamp(a: Assembly, rng: Rng) -> None:
    """A tall lamp with a lit shade."""
    a.cyl(0.0, 0.0, (0.0, 0.03), 0.15, DARKS[0], sides=10)
    a.post((-0.014, 0.014), (-0.014, 0.014), (0.03, 1.35), choose(rng, METALS + DARKS))
    a.cyl(0.0, 0.0, (1.35, 1.65), 0.2, _GLOW, sides=12, top=0.14)


@furniture("lamp")
def lamp(a: Assembly, rng: Rng) -> None:
    """A table lamp."""
    a.cyl(0.0, 0.0, (0.0, 0.2), 0.07, choose(rng, (*BRIGHTS, *WOODS)), sides=8, top=0.03)
    a.cyl(0.0, 0.0, (0.2, 0.4), 0.14, _GLOW, sides=10, top=0.09)


@furniture("desk lamp")
def desk_lamp(a: Assembly, rng: Rng) -> None:
    """An arm over the desk."""
    color = choose(rng, BRIGHTS + DARKS)
    a.cyl(0.0, 0.0, (0.0, 0.02), 0.08, color, sides=6)
    a.post((-0.012, 0.012), (-0.012, 0.012), (0.02, 0.42), color)
    a.box((-0.01, 0.2), (-0.012, 0.012), (0.4, 0.42), color)
    a.cyl(0.2, 0.0, (0.34, 0.42), 0.08, _GLOW, sides=6, top=0.03, closed=True)


@furniture("ceiling lamp", collides=False)
def ceiling_lamp(a: Assembly, rng: Rng, size: tuple[float, float] = (0.3, 1.2)) -> None:
    """A lit panel under a ceiling."""
    dx, dy = size
    a.panel([(-dx / 2, -dy / 2, 0.0), (-dx / 2, dy / 2, 0.0), (dx / 2, dy / 2, 0.0), (dx / 2, -dy / 2, 0.0)], paint("#fffaf0", emission=0.75))


@furniture("pendant lamp", collides=False)
def pendant_lamp(a: Assembly, rng: Rng) -> None:
    """A shade on a cord."""
    a.box((-0.008, 0.008), (-0.008, 0.008), (0.24, 0.75), DARKS[0])
    a.cyl(0.0, 0.0, (0.05, 0.24), 0.2, choose(rng, (*BRIGHTS, *DARKS, *WOODS[:2])), sides=10, top=0.05)
    a.cyl(0.0, 0.0, (0.0, 0.05), 0.19, _GLOW, sides=10, closed=True)


@furniture("treadmill")
def treadmill(a: Assembly, rng: Rng) -> None:
    """A running belt with a console at the back."""
    a.box((-0.75, 0.8), (-0.38, 0.38), (0.0, 0.16), DARKS[1])
    a.box((-0.55, 0.78), (-0.25, 0.25), (0.16, 0.17), DARKS[0])
    a.boxes([(-0.7, -0.6)], [(-0.38, -0.32), (0.32, 0.38)], (0.16, 1.3), METALS[0])
    a.box((-0.72, -0.58), (-0.38, 0.38), (1.2, 1.38), DARKS[0])
    a.boxes([(-0.6, -0.15)], [(-0.38, -0.34), (0.34, 0.38)], (0.95, 0.99), DARKS[0])


@furniture("exercise bike")
def exercise_bike(a: Assembly, rng: Rng) -> None:
    """Saddle, flywheel and handlebar."""
    color = choose(rng, BRIGHTS + DARKS)
    a.boxes([(-0.5, -0.42), (0.42, 0.5)], [(-0.25, 0.25)], (0.0, 0.07), DARKS[0])
    a.box((-0.45, 0.45), (-0.03, 0.03), (0.07, 0.14), color)
    a.box((-0.42, -0.02), (-0.06, 0.06), (0.14, 0.55), DARKS[1])
    a.box((0.2, 0.26), (-0.03, 0.03), (0.14, 0.85), color)
    a.box((0.1, 0.38), (-0.1, 0.1), (0.85, 0.92), DARKS[0])
    a.box((-0.34, -0.28), (-0.03, 0.03), (0.55, 1.1), color)
    a.box((-0.38, -0.22), (-0.25, 0.25), (1.08, 1.13), DARKS[0])


@furniture("dumbbell rack")
def dumbbell_rack(a: Assembly, rng: Rng) -> None:
    """Two tiers of weights."""
    a.boxes([(-0.22, 0.22)], [(-0.6, -0.55), (0.55, 0.6)], (0.0, 0.75), DARKS[1])
    for z in (0.3, 0.65):
        a.box((-0.2, 0.2), (-0.55, 0.55), (z, z + 0.03), METALS[2])
        for k in range(5):
            a.box((-0.15, 0.15), (-0.5 + 0.21 * k, -0.38 + 0.21 * k), (z + 0.03, z + 0.14), choose(rng, DARKS + BRIGHTS[:2]))
