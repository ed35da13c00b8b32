"""Furniture of shops, clinics, hotels and schools."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.finishes import paint
from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, METALS, WHITES, WOODS, Assembly, choose, furniture
from portico.build.indoor.prints import DRINKS, GOODS

Rng = np.random.Generator


@furniture("shopping cart")
def shopping_cart(a: Assembly, rng: Rng) -> None:
    """A wire basket on castors."""
    grip = choose(rng, BRIGHTS)
    a.legs(0.78, 0.46, 0.1, 0.07, DARKS[0], inset=0.03)
    a.box((-0.38, 0.38), (-0.22, 0.22), (0.1, 0.13), METALS[0])
    a.box((-0.4, -0.36), (-0.22, 0.22), (0.13, 0.95), METALS[0])
    a.boxes([(-0.36, 0.42)], [(-0.25, -0.23), (0.23, 0.25)], (0.45, 0.86), METALS[1])
    a.boxes([(0.4, 0.42)], [(-0.23, 0.23)], (0.45, 0.8), METALS[1])
    a.box((-0.36, 0.42), (-0.23, 0.23), (0.44, 0.46), METALS[1])
    a.box((-0.46, -0.4), (-0.25, 0.25), (0.93, 0.98), grip)


@furniture("shopping baskets")
def shopping_baskets(a: Assembly, rng: Rng) -> None:
    """A stack at the entrance."""
    color = choose(rng, BRIGHTS)
    for k in range(4):
        inset = 0.015 * (k % 2)
        a.box((-0.16 + inset, 0.16 - inset), (-0.22 + inset, 0.22 - inset), (0.02 + 0.12 * k, 0.12 + 0.12 * k), color if k % 2 == 0 else DARKS[1])
    a.box((-0.17, 0.17), (-0.23, 0.23), (0.0, 0.02), METALS[0])


@furniture("produce stand")
def produce_stand(a: Assembly, rng: Rng) -> None:
    """Crates of fruit on a slanted stand."""
    wood = choose(rng, WOODS)
    a.box((-0.5, 0.5), (-0.8, 0.8), (0.0, 0.55), wood)
    for row, (x, z) in enumerate(((0.02, 0.55), (-0.46, 0.72))):
        if row == 1:
            a.box((-0.5, 0.0), (-0.8, 0.8), (0.55, 0.72), wood)
        for k in range(3):
            y = -0.76 + 0.52 * k
            color = choose(rng, ("#d9822b", "#b8352c", "#8cab3f", "#e2b53c", "#5c8f3a", "#6f3f7a"))
            a.box((x, x + 0.44), (y, y + 0.48), (z, z + 0.08), WOODS[2])
            a.box((x + 0.03, x + 0.41), (y + 0.03, y + 0.45), (z + 0.08, z + 0.16), color)


@furniture("freezer")
def freezer(a: Assembly, rng: Rng, width: float = 1.8) -> None:
    """A chest freezer with a window on top."""
    a.box((-0.4, 0.4), (-width / 2, width / 2), (0.0, 0.82), WHITES[0])
    a.box((-0.36, 0.36), (-width / 2 + 0.05, width / 2 - 0.05), (0.82, 0.86), "#a9c6d6")
    a.plate(0.41, (-width / 2 + 0.05, width / 2 - 0.05), (0.5, 0.62), choose(rng, BRIGHTS[1:2] + BRIGHTS[:1]))


@furniture("refrigerated case")
def refrigerated_case(a: Assembly, rng: Rng, width: float = 1.8) -> None:
    """A tall open cooler of drinks and dairy."""
    half = width / 2
    a.box((-0.4, -0.1), (-half, half), (0.0, 2.0), DARKS[1])
    a.box((-0.1, 0.4), (-half, half), (0.0, 0.35), WHITES[1])
    a.box((-0.1, 0.3), (-half, half), (1.85, 2.0), WHITES[1])
    a.boxes([(-0.1, 0.36)], [(-half, -half + 0.04), (half - 0.04, half)], (0.35, 1.85), WHITES[1])
    for z in (0.75, 1.15, 1.5):
        a.box((-0.1, 0.24), (-half + 0.04, half - 0.04), (z, z + 0.025), METALS[1])
    for k, (z, top) in enumerate(((0.36, 0.72), (0.78, 1.1), (1.18, 1.46), (1.53, 1.82))):
        finish = DRINKS if k % 2 else GOODS
        row = int(rng.integers(8))
        uv = (0.0, 0.0, width / 1.2, 0.25) if finish is DRINKS else (0.0, row / 8 + 0.002, width / 2.4, (row + 1) / 8 - 0.002)
        a.front(0.2, (-half + 0.04, half - 0.04), (z, top), finish, uv)
    a.box((-0.1, 0.3), (-half + 0.05, half - 0.05), (1.83, 1.85), paint("#eaf6ff", emission=0.6))


@furniture("pallet")
def pallet(a: Assembly, rng: Rng) -> None:
    """Stacked with cartons."""
    a.boxes([(-0.5, -0.4), (-0.05, 0.05), (0.4, 0.5)], [(-0.4, 0.4)], (0.0, 0.1), WOODS[0])
    a.box((-0.5, 0.5), (-0.4, 0.4), (0.1, 0.14), WOODS[0])
    for x in (-0.48, 0.02):
        for y in (-0.38, 0.02):
            top = float(rng.choice([0.54, 0.9, 1.2]))
            a.box((x, x + 0.46), (y, y + 0.36), (0.14, top), choose(rng, ("#b58a5a", "#a67c4e", "#c39a6b")))


@furniture("hand truck")
def hand_truck(a: Assembly, rng: Rng) -> None:
    """Leaning upright."""
    color = choose(rng, BRIGHTS)
    a.boxes([(-0.04, 0.0)], [(-0.2, -0.16), (0.16, 0.2)], (0.1, 1.2), color)
    for z in (0.35, 0.75, 1.16):
        a.box((-0.04, 0.0), (-0.2, 0.2), (z, z + 0.04), color)
    a.box((0.0, 0.25), (-0.22, 0.22), (0.02, 0.05), METALS[2])
    a.boxes([(-0.16, 0.06)], [(-0.26, -0.2), (0.2, 0.26)], (0.0, 0.22), DARKS[0])


@furniture("ladder")
def ladder(a: Assembly, rng: Rng) -> None:
    """A folded step ladder against a wall."""
    a.boxes([(-0.05, 0.05)], [(-0.25, -0.21), (0.21, 0.25)], (0.0, 1.8), METALS[1])
    for k in range(5):
        a.box((-0.06, 0.06), (-0.21, 0.21), (0.25 + 0.32 * k, 0.28 + 0.32 * k), choose(rng, (METALS[0], BRIGHTS[0])))


@furniture("cleaning cart")
def cleaning_cart(a: Assembly, rng: Rng) -> None:
    """Bucket, bag and bottles."""
    a.legs(0.9, 0.48, 0.1, 0.08, DARKS[0])
    a.box((-0.48, 0.48), (-0.25, 0.25), (0.1, 0.16), DARKS[1])
    a.box((0.05, 0.45), (-0.2, 0.2), (0.16, 0.55), BRIGHTS[2])
    a.box((-0.46, -0.05), (-0.22, 0.22), (0.16, 0.95), BRIGHTS[1])
    a.box((0.46, 0.5), (-0.25, 0.25), (0.16, 1.0), DARKS[1])
    a.box((0.3, 0.34), (0.1, 0.14), (0.55, 1.35), WOODS[2])


@furniture("luggage cart")
def luggage_cart(a: Assembly, rng: Rng) -> None:
    """A brass bellman's cart with cases on it."""
    brass = "#b8963f"
    a.legs(1.0, 0.56, 0.12, 0.08, DARKS[0])
    a.box((-0.55, 0.55), (-0.3, 0.3), (0.12, 0.2), "#7a2f2f")
    a.boxes([(-0.53, -0.49), (0.49, 0.53)], [(-0.28, -0.24), (0.24, 0.28)], (0.2, 1.65), brass)
    a.box((-0.53, 0.53), (-0.03, 0.03), (1.65, 1.7), brass)
    a.boxes([(-0.53, -0.49), (0.49, 0.53)], [(-0.28, 0.28)], (1.65, 1.7), brass)
    a.box((-0.4, 0.1), (-0.2, 0.2), (0.2, 0.5), choose(rng, BRIGHTS + DARKS))
    a.box((-0.3, 0.05), (-0.18, 0.15), (0.5, 0.75), choose(rng, BRIGHTS + WOODS))


@furniture("information board")
def information_board(a: Assembly, rng: Rng) -> None:
    """A standing panel with leaflets."""
    a.box((-0.2, 0.2), (-0.4, 0.4), (0.0, 0.04), METALS[2])
    a.box((-0.03, 0.03), (-0.4, 0.4), (0.04, 1.75), choose(rng, ("#2b4a66", "#44546a", "#5b3f4a", "#2f5a4c")))
    for z in (0.5, 0.85, 1.2):
        for k in range(3):
            y = -0.32 + 0.23 * k
            a.box((0.03, 0.06), (y, y + 0.18), (z, z + 0.25), choose(rng, WHITES + BRIGHTS))


@furniture("newspaper rack")
def newspaper_rack(a: Assembly, rng: Rng) -> None:
    """Magazines on tiers."""
    a.box((-0.18, -0.14), (-0.36, 0.36), (0.0, 1.3), choose(rng, WOODS + DARKS))
    for k in range(4):
        z = 0.1 + 0.3 * k
        a.box((-0.14, 0.16 - 0.05 * k), (-0.36, 0.36), (z, z + 0.03), METALS[2])
        for column in range(3):
            y = -0.34 + 0.235 * column
            a.box((-0.08, -0.05), (y, y + 0.2), (z + 0.03, z + 0.27), choose(rng, BRIGHTS + WHITES))


@furniture("iv stand")
def iv_stand(a: Assembly, rng: Rng) -> None:
    """A drip on a pole."""
    a.box((-0.22, 0.22), (-0.02, 0.02), (0.0, 0.06), METALS[2])
    a.box((-0.02, 0.02), (-0.22, 0.22), (0.0, 0.06), METALS[2])
    a.cyl(0.0, 0.0, (0.06, 1.85), 0.014, METALS[1], sides=6)
    a.box((-0.015, 0.015), (-0.14, 0.14), (1.83, 1.86), METALS[1])
    a.box((-0.02, 0.02), (0.06, 0.16), (1.5, 1.8), "#d6e6ea")


@furniture("medical cart")
def medical_cart(a: Assembly, rng: Rng) -> None:
    """Drawers on castors with a tray on top."""
    color = choose(rng, ("#3f78a8", "#b8453c", "#4f8f7f"))
    a.legs(0.46, 0.6, 0.1, 0.07, DARKS[0])
    a.box((-0.24, 0.22), (-0.31, 0.31), (0.1, 0.92), WHITES[0])
    for k in range(4):
        a.plate(0.24, (-0.29, 0.29), (0.14 + 0.19 * k, 0.31 + 0.19 * k), color)
    a.box((-0.26, 0.26), (-0.34, 0.34), (0.92, 0.95), METALS[1])


@furniture("scale")
def scale(a: Assembly, rng: Rng) -> None:
    """A column scale."""
    a.box((-0.25, 0.2), (-0.2, 0.2), (0.0, 0.08), DARKS[1])
    a.box((-0.25, -0.2), (-0.05, 0.05), (0.08, 1.35), WHITES[1])
    a.box((-0.26, -0.16), (-0.2, 0.2), (1.35, 1.45), WHITES[0])


@furniture("microscope")
def microscope(a: Assembly, rng: Rng) -> None:
    """On a laboratory bench."""
    a.box((-0.1, 0.1), (-0.08, 0.08), (0.0, 0.03), DARKS[1])
    a.box((-0.09, -0.04), (-0.03, 0.03), (0.03, 0.32), WHITES[0])
    a.box((-0.05, 0.08), (-0.07, 0.07), (0.12, 0.14), DARKS[0])
    a.cyl(0.03, 0.0, (0.18, 0.36), 0.025, DARKS[0], sides=6)


@furniture("centrifuge")
def centrifuge(a: Assembly, rng: Rng) -> None:
    """A bench-top machine."""
    a.box((-0.2, 0.2), (-0.2, 0.2), (0.0, 0.24), WHITES[1])
    a.cyl(0.0, 0.0, (0.24, 0.3), 0.17, METALS[2], sides=12, top=0.14)
    a.plate(0.21, (-0.12, 0.12), (0.05, 0.16), DARKS[2])


@furniture("cash register")
def cash_register(a: Assembly, rng: Rng) -> None:
    """A till with a display; the customer sees its back."""
    a.box((-0.2, 0.2), (-0.19, 0.19), (0.0, 0.1), DARKS[1])
    a.box((-0.06, 0.12), (-0.16, 0.16), (0.1, 0.2), DARKS[0])
    a.box((-0.1, -0.06), (-0.14, 0.14), (0.16, 0.42), DARKS[0])
    a.box((-0.06, -0.055), (-0.12, 0.12), (0.2, 0.4), "#9fc3c9")


@furniture("turnstile")
def turnstile(a: Assembly, rng: Rng) -> None:
    """A low gate post beside a reception."""
    a.box((-0.5, 0.5), (-0.12, 0.12), (0.0, 0.98), METALS[1])
    a.box((-0.4, 0.4), (-0.1, 0.1), (0.98, 1.0), DARKS[0])
    a.box((0.3, 0.45), (-0.06, 0.06), (1.0, 1.02), "#5fd07a")
