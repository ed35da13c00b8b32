"""Things to sit and lie on."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, FABRICS, METALS, WHITES, WOODS, Assembly, choose, furniture

Rng = np.random.Generator


@furniture("chair")
def chair(a: Assembly, rng: Rng, wood: str | None = None, fabric: str | None = None, padded: bool = False) -> None:
    """A wooden chair, its back at the rear."""
    wood = wood or choose(rng, WOODS)
    a.legs(0.42, 0.42, 0.44, 0.04, wood)
    a.box((-0.21, 0.21), (-0.21, 0.21), (0.44, 0.48), (fabric or choose(rng, FABRICS)) if padded else wood)
    a.box((-0.21, -0.18), (-0.21, 0.21), (0.48, 0.9), wood)


@furniture("school chair")
def school_chair(a: Assembly, rng: Rng, color: str | None = None) -> None:
    """A plastic shell on two hoops."""
    shell = color or choose(rng, BRIGHTS)
    a.posts([(-0.18, -0.14), (0.14, 0.18)], [(-0.18, -0.15), (0.15, 0.18)], (0.0, 0.42), METALS[0])
    a.box((-0.2, 0.19), (-0.19, 0.19), (0.42, 0.45), shell)
    a.box((-0.21, -0.18), (-0.19, 0.19), (0.5, 0.8), shell)


@furniture("office chair")
def office_chair(a: Assembly, rng: Rng, fabric: str | None = None) -> None:
    """On a star base."""
    fabric = fabric or choose(rng, DARKS + FABRICS[:5])
    a.cyl(0.0, 0.0, (0.02, 0.07), 0.28, DARKS[0], sides=5, top=0.1)
    a.post((-0.03, 0.03), (-0.03, 0.03), (0.08, 0.43), METALS[0])
    a.box((-0.23, 0.25), (-0.24, 0.24), (0.43, 0.52), fabric)
    a.box((-0.26, -0.2), (-0.22, 0.22), (0.58, 1.05), fabric)


@furniture("sofa")
def sofa(a: Assembly, rng: Rng, width: float | None = None, fabric: str | None = None) -> None:
    """Two or three seats between arms."""
    w = width or float(rng.choice([1.5, 1.8, 2.05]))
    fabric, wood = fabric or choose(rng, FABRICS), WOODS[3]
    seats = 3 if w > 1.7 else 2
    half, inner = w / 2, w / 2 - 0.17
    a.boxes([(-0.38, -0.32), (0.32, 0.38)], [(-half + 0.05, -half + 0.11), (half - 0.11, half - 0.05)], (0.0, 0.1), wood)
    a.box((-0.42, 0.42), (-half, half), (0.1, 0.3), fabric)
    a.box((-0.42, -0.22), (-half, half), (0.3, 0.82), fabric)
    a.box((-0.22, 0.42), (-half, -inner), (0.3, 0.6), fabric)
    a.box((-0.22, 0.42), (inner, half), (0.3, 0.6), fabric)
    each = 2 * inner / seats
    for k in range(seats):
        y = -inner + k * each
        a.box((-0.2, 0.43), (y + 0.01, y + each - 0.01), (0.3, 0.44), fabric)
    a.box((-0.2, -0.08), (-inner + 0.05, -inner + 0.45), (0.44, 0.78), choose(rng, BRIGHTS + FABRICS))


@furniture("armchair")
def armchair(a: Assembly, rng: Rng, fabric: str | None = None) -> None:
    """A deep single seat."""
    fabric = fabric or choose(rng, FABRICS)
    a.boxes([(-0.34, -0.28), (0.28, 0.34)], [(-0.34, -0.28), (0.28, 0.34)], (0.0, 0.12), WOODS[3])
    a.box((-0.38, 0.38), (-0.38, 0.38), (0.12, 0.32), fabric)
    a.box((-0.38, -0.2), (-0.38, 0.38), (0.32, 0.86), fabric)
    a.box((-0.2, 0.38), (-0.38, -0.26), (0.32, 0.58), fabric)
    a.box((-0.2, 0.38), (0.26, 0.38), (0.32, 0.58), fabric)
    a.box((-0.2, 0.39), (-0.25, 0.25), (0.32, 0.45), fabric)


@furniture("bar stool")
def bar_stool(a: Assembly, rng: Rng) -> None:
    """A high round seat."""
    a.cyl(0.0, 0.0, (0.0, 0.03), 0.2, METALS[2], sides=8)
    a.post((-0.025, 0.025), (-0.025, 0.025), (0.03, 0.68), METALS[0])
    a.cyl(0.0, 0.0, (0.68, 0.75), 0.19, choose(rng, WOODS + FABRICS), sides=12)


@furniture("stool")
def stool(a: Assembly, rng: Rng) -> None:
    """A low round seat."""
    a.cyl(0.0, 0.0, (0.0, 0.4), 0.12, METALS[1], sides=8, top=0.06)
    a.cyl(0.0, 0.0, (0.4, 0.47), 0.18, choose(rng, FABRICS + DARKS), sides=12)


@furniture("pouf")
def pouf(a: Assembly, rng: Rng) -> None:
    """A padded drum."""
    fabric = choose(rng, FABRICS + BRIGHTS)
    a.cyl(0.0, 0.0, (0.0, 0.34), 0.26, fabric, sides=12, top=0.27)
    a.cyl(0.0, 0.0, (0.34, 0.4), 0.27, fabric, sides=12, top=0.2)


@furniture("bench")
def bench(a: Assembly, rng: Rng, width: float | None = None, wood: str | None = None) -> None:
    """Slats on two trestles."""
    w = width or float(rng.uniform(1.2, 1.6))
    wood = wood or choose(rng, WOODS)
    a.boxes([(-0.17, 0.17)], [(-w / 2 + 0.1, -w / 2 + 0.16), (w / 2 - 0.16, w / 2 - 0.1)], (0.0, 0.41), METALS[2])
    for x in (-0.19, -0.055, 0.08):
        a.box((x, x + 0.11), (-w / 2, w / 2), (0.41, 0.45), wood)


@furniture("waiting bench")
def waiting_bench(a: Assembly, rng: Rng, seats: int = 3) -> None:
    """Shells in a row on one beam."""
    shell = choose(rng, (*BRIGHTS[1:4], *DARKS[:2]))
    w = seats * 0.56
    a.box((-0.04, 0.04), (-w / 2, w / 2), (0.34, 0.4), METALS[0])
    a.boxes([(-0.24, 0.24)], [(-w / 2 + 0.12, -w / 2 + 0.18), (w / 2 - 0.18, w / 2 - 0.12)], (0.0, 0.34), METALS[2])
    for k in range(seats):
        y = -w / 2 + k * 0.56
        a.box((-0.25, 0.25), (y + 0.03, y + 0.53), (0.4, 0.45), shell)
        a.box((-0.28, -0.24), (y + 0.03, y + 0.53), (0.46, 0.86), shell)


@furniture("bed")
def bed(a: Assembly, rng: Rng, width: float | None = None, wood: str | None = None) -> None:
    """Headboard at the back, pillows, a blanket folded down."""
    w = width or float(rng.choice([0.95, 1.4, 1.6]))
    wood, linen, cover = wood or choose(rng, WOODS), choose(rng, WHITES), choose(rng, FABRICS)
    a.box((-1.03, -0.97), (-w / 2 - 0.02, w / 2 + 0.02), (0.0, 0.95), wood)
    a.box((-0.97, 1.0), (-w / 2, w / 2), (0.08, 0.28), wood)
    a.boxes([(-0.9, -0.82), (0.9, 0.98)], [(-w / 2 + 0.02, -w / 2 + 0.1), (w / 2 - 0.1, w / 2 - 0.02)], (0.0, 0.08), wood)
    a.box((-0.96, 0.98), (-w / 2 + 0.02, w / 2 - 0.02), (0.28, 0.46), linen)
    a.box((-0.35, 1.0), (-w / 2 - 0.01, w / 2 + 0.01), (0.24, 0.5), cover)
    pillows = 2 if w > 1.2 else 1
    each = w / pillows
    for k in range(pillows):
        y = -w / 2 + k * each
        a.box((-0.92, -0.52), (y + 0.08, y + each - 0.08), (0.46, 0.58), linen)


@furniture("hospital bed")
def hospital_bed(a: Assembly, rng: Rng) -> None:
    """On castors, with side rails and a raised head end."""
    a.legs(1.8, 0.8, 0.3, 0.05, METALS[0])
    a.box((-1.0, 1.0), (-0.45, 0.45), (0.3, 0.42), METALS[1])
    a.box((-0.98, 0.98), (-0.43, 0.43), (0.42, 0.56), WHITES[0])
    a.box((-0.3, 0.99), (-0.44, 0.44), (0.5, 0.6), choose(rng, ("#9fc3c9", "#a9c4a2", "#b7b9d6")))
    a.box((-0.95, -0.6), (-0.3, 0.3), (0.56, 0.66), WHITES[0])
    a.box((-1.04, -1.0), (-0.45, 0.45), (0.2, 0.95), WOODS[2])
    a.box((1.0, 1.04), (-0.45, 0.45), (0.2, 0.75), WOODS[2])
    a.boxes([(-0.5, 0.3)], [(-0.48, -0.45), (0.45, 0.48)], (0.62, 0.78), METALS[1])


@furniture("exam bed")
def exam_bed(a: Assembly, rng: Rng) -> None:
    """A padded couch with a paper roll and drawers below."""
    a.box((-0.85, 0.75), (-0.28, 0.28), (0.0, 0.55), WHITES[1])
    for k in range(3):
        a.box((-0.8 + 0.5 * k, -0.36 + 0.5 * k), (-0.3, -0.28), (0.14, 0.46), METALS[1])
    a.box((-0.92, 0.92), (-0.32, 0.32), (0.55, 0.68), choose(rng, ("#3f6670", "#4a5f7a", "#5f6f8c")))
    a.box((-0.92, -0.5), (-0.32, 0.32), (0.68, 0.76), choose(rng, ("#3f6670", "#4a5f7a")))
    a.box((-0.5, 0.9), (-0.2, 0.2), (0.68, 0.685), WHITES[0])


@furniture("wheelchair")
def wheelchair(a: Assembly, rng: Rng) -> None:
    """Seat, back, handles and two large wheels."""
    for side in (-1, 1):
        y = side * 0.29
        a.box((-0.3, 0.26), (min(y, y + side * 0.03), max(y, y + side * 0.03)), (0.06, 0.5), DARKS[0])
        a.box((-0.36, -0.02), (min(y, y - side * 0.05), max(y, y - side * 0.05)), (0.66, 0.7), DARKS[1])
        a.box((0.34, 0.46), (min(y * 0.9, y * 0.55), max(y * 0.9, y * 0.55)), (0.08, 0.11), METALS[2])
        a.box((0.3, 0.34), (min(y * 0.95, y * 0.85), max(y * 0.95, y * 0.85)), (0.0, 0.46), METALS[0])
        a.box((-0.48, -0.3), (min(y, y - side * 0.03), max(y, y - side * 0.03)), (0.9, 0.94), DARKS[0])
    a.box((-0.28, 0.22), (-0.26, 0.26), (0.46, 0.52), choose(rng, (*DARKS, "#33567a")))
    a.box((-0.31, -0.27), (-0.26, 0.26), (0.52, 0.92), DARKS[1])
