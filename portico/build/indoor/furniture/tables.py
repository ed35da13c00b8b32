"""Tables, desks and counters."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import DARKS, METALS, WHITES, WOODS, Assembly, choose, furniture

Rng = np.random.Generator


@furniture("desk")
def desk(a: Assembly, rng: Rng, width: float | None = None, wood: str | None = None) -> None:
    """A worktop on two frames with a drawer unit; the sitter is at the front."""
    w = width or float(rng.uniform(1.3, 1.6))
    top, frame = wood or choose(rng, WOODS + WHITES), choose(rng, METALS)
    a.box((-0.36, 0.36), (-w / 2, w / 2), (0.7, 0.735), top)
    a.posts([(-0.33, 0.31)], [(-w / 2 + 0.04, -w / 2 + 0.07), (w / 2 - 0.07, w / 2 - 0.04)], (0.0, 0.7), frame)
    a.box((-0.34, 0.18), (w / 2 - 0.5, w / 2 - 0.1), (0.05, 0.62), choose(rng, WHITES + METALS))
    for k in range(3):
        a.plate(0.19, (w / 2 - 0.37, w / 2 - 0.23), (0.14 + 0.18 * k, 0.16 + 0.18 * k), DARKS[0])


@furniture("school desk")
def school_desk(a: Assembly, rng: Rng) -> None:
    """One pupil's desk."""
    a.box((-0.26, 0.26), (-0.34, 0.34), (0.68, 0.71), WOODS[2])
    a.box((-0.24, 0.2), (-0.32, 0.32), (0.56, 0.58), METALS[0])
    a.posts([(-0.2, 0.2)], [(-0.33, -0.29), (0.29, 0.33)], (0.0, 0.68), METALS[0])


@furniture("table")
def table(a: Assembly, rng: Rng, size: tuple[float, float] | None = None, wood: str | None = None) -> None:
    """Four legs and a top; size is depth and width."""
    d, w = size or (0.85, float(rng.uniform(1.3, 1.7)))
    wood = wood or choose(rng, WOODS)
    a.box((-d / 2, d / 2), (-w / 2, w / 2), (0.7, 0.74), wood)
    a.legs(d, w, 0.7, 0.06, wood, inset=0.05)


@furniture("round table")
def round_table(a: Assembly, rng: Rng, radius: float = 0.4, wood: str | None = None) -> None:
    """A cafe table on one foot."""
    a.cyl(0.0, 0.0, (0.0, 0.03), radius * 0.62, DARKS[0], sides=8)
    a.post((-0.035, 0.035), (-0.035, 0.035), (0.03, 0.7), DARKS[1])
    a.cyl(0.0, 0.0, (0.7, 0.74), radius, wood or choose(rng, (*WOODS, WHITES[0])), sides=10)


@furniture("coffee table")
def coffee_table(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """Low, with a shelf under its top."""
    d, w = 0.55, float(rng.uniform(0.9, 1.15))
    wood = wood or choose(rng, WOODS)
    a.box((-d / 2, d / 2), (-w / 2, w / 2), (0.38, 0.42), wood)
    a.box((-d / 2 + 0.05, d / 2 - 0.05), (-w / 2 + 0.05, w / 2 - 0.05), (0.14, 0.16), wood)
    a.legs(d, w, 0.38, 0.045, choose(rng, (DARKS[0], wood)), inset=0.02)


@furniture("side table")
def side_table(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """Small and round."""
    wood = wood or choose(rng, WOODS + WHITES)
    a.cyl(0.0, 0.0, (0.0, 0.025), 0.17, DARKS[1], sides=10)
    a.post((-0.022, 0.022), (-0.022, 0.022), (0.025, 0.5), DARKS[1])
    a.cyl(0.0, 0.0, (0.5, 0.53), 0.24, wood, sides=12)


@furniture("nightstand")
def nightstand(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """Two drawers beside a bed."""
    wood = wood or choose(rng, WOODS)
    a.box((-0.2, 0.2), (-0.22, 0.22), (0.08, 0.52), wood)
    a.legs(0.38, 0.42, 0.08, 0.04, wood)
    for z in (0.14, 0.34):
        a.plate(0.212, (-0.19, 0.19), (z, z + 0.15), WOODS[2])
        a.plate(0.217, (-0.03, 0.03), (z + 0.07, z + 0.09), METALS[0])


@furniture("conference table")
def conference_table(a: Assembly, rng: Rng, length: float = 2.6, width: float = 1.2, wood: str | None = None) -> None:
    """Long, on two plinths, with a strip of sockets."""
    wood = wood or choose(rng, WOODS)
    a.box((-width / 2, width / 2), (-length / 2, length / 2), (0.7, 0.745), wood)
    a.boxes([(-width / 4, width / 4)], [(-length / 2 + 0.3, -length / 2 + 0.42), (length / 2 - 0.42, length / 2 - 0.3)], (0.0, 0.7), DARKS[1])
    a.box((-0.06, 0.06), (-length / 5, length / 5), (0.745, 0.75), DARKS[0])


@furniture("workbench")
def workbench(a: Assembly, rng: Rng, width: float = 1.6) -> None:
    """A laboratory or art bench with cupboards below."""
    a.box((-0.33, 0.33), (-width / 2, width / 2), (0.86, 0.9), choose(rng, (DARKS[1], WOODS[2], WHITES[2])))
    a.box((-0.3, 0.28), (-width / 2 + 0.03, width / 2 - 0.03), (0.0, 0.86), choose(rng, WHITES))
    for k in range(4):
        y = -width / 2 + 0.06 + k * (width - 0.12) / 4
        a.plate(0.29, (y + 0.02, y + (width - 0.12) / 4 - 0.02), (0.1, 0.78), METALS[1])


@furniture("reception desk")
def reception_desk(a: Assembly, rng: Rng, width: float | None = None) -> None:
    """A high counter towards visitors at the front, a lower worktop behind."""
    w = width or float(rng.uniform(1.9, 2.5))
    panel, top = choose(rng, WOODS), choose(rng, WHITES + DARKS)
    a.box((0.16, 0.24), (-w / 2, w / 2), (0.0, 1.06), panel)
    a.box((0.02, 0.3), (-w / 2 - 0.02, w / 2 + 0.02), (1.06, 1.1), top)
    a.box((-0.4, 0.16), (-w / 2, w / 2), (0.7, 0.74), WHITES[1])
    a.boxes([(-0.4, 0.16)], [(-w / 2, -w / 2 + 0.05), (w / 2 - 0.05, w / 2)], (0.0, 0.98), panel)
    a.plate(0.25, (-w / 2 + 0.1, w / 2 - 0.1), (0.1, 0.2), METALS[1])


@furniture("coffee counter")
def coffee_counter(a: Assembly, rng: Rng, width: float = 2.4) -> None:
    """A bar with a wooden front and a stone top."""
    panel = choose(rng, WOODS)
    a.box((-0.3, 0.26), (-width / 2, width / 2), (0.0, 1.02), panel)
    slats = max(4, round(width / 0.3))
    for k in range(slats):
        y = -width / 2 + (k + 0.5) * width / slats
        a.plate(0.28, (y - 0.1, y + 0.1), (0.12, 0.96), WOODS[3])
    a.box((-0.34, 0.34), (-width / 2 - 0.02, width / 2 + 0.02), (1.02, 1.07), choose(rng, (DARKS[2], WHITES[1], "#8d8479")))


@furniture("checkout counter")
def checkout_counter(a: Assembly, rng: Rng) -> None:
    """A conveyor towards the till; the cashier sits behind the till."""
    body = choose(rng, ("#b9bec2", "#d5d2c8", "#8e979e"))
    a.box((-1.05, 1.05), (-0.3, 0.3), (0.0, 0.82), body)
    a.box((-0.15, 1.0), (-0.24, 0.24), (0.82, 0.85), DARKS[0])
    a.box((-1.05, -0.15), (-0.3, 0.3), (0.82, 0.86), METALS[1])
    a.cyl(-0.3, 0.22, (0.86, 1.7), 0.025, METALS[0], sides=6)
    a.box((-0.4, -0.2), (0.12, 0.32), (1.7, 1.95), "#c9403a")
    a.box((-0.45, -0.25), (-0.2, 0.1), (0.86, 1.12), DARKS[1])


@furniture("dining table")
def dining_table(a: Assembly, rng: Rng, seats: int = 4, wood: str | None = None) -> None:
    """For four or six."""
    d, w = 0.85, 1.25 if seats <= 4 else 1.75
    wood = wood or choose(rng, WOODS)
    a.box((-d / 2, d / 2), (-w / 2, w / 2), (0.71, 0.75), wood)
    a.box((-d / 2 + 0.1, d / 2 - 0.1), (-w / 2 + 0.1, w / 2 - 0.1), (0.64, 0.71), wood)
    a.legs(d, w, 0.71, 0.07, wood, inset=0.04)
