"""Shelves, cupboards and what things are kept in."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, FABRICS, METALS, WHITES, WOODS, Assembly, choose, darker, furniture
from portico.build.indoor.prints import BOOKS, FILES, GOODS

Rng = np.random.Generator


@furniture("bookshelf")
def bookshelf(a: Assembly, rng: Rng, width: float | None = None, height: float = 1.9, wood: str | None = None) -> None:
    """Boards with rows of books."""
    w = width or float(rng.choice([0.8, 1.0, 1.2]))
    wood = wood or choose(rng, WOODS)
    a.box((-0.15, -0.13), (-w / 2, w / 2), (0.0, height), wood)
    a.boxes([(-0.13, 0.15)], [(-w / 2, -w / 2 + 0.025), (w / 2 - 0.025, w / 2)], (0.0, height), wood)
    boards = max(3, round(height / 0.38))
    step = (height - 0.03) / boards
    for k in range(boards + 1):
        a.box((-0.13, 0.15), (-w / 2 + 0.025, w / 2 - 0.025), (k * step, k * step + 0.03), wood)
    for k in range(boards):
        row = int(rng.integers(4))
        start = float(rng.uniform(0.0, 0.3))
        end = w - 0.05 if rng.random() < 0.6 else (w - 0.05) * float(rng.uniform(0.55, 0.9))
        z = k * step + 0.03
        a.front(0.09, (-w / 2 + 0.03, -w / 2 + 0.03 + end), (z, z + step - 0.08), BOOKS, (start, row / 4 + 0.002, start + end / 1.6, (row + 1) / 4 - 0.002))


@furniture("wardrobe")
def wardrobe(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """Two or three doors to the ceiling, nearly."""
    w = float(rng.choice([1.0, 1.2, 1.5]))
    wood, front = wood or choose(rng, WOODS), choose(rng, WOODS + WHITES)
    a.box((-0.29, 0.27), (-w / 2, w / 2), (0.0, 2.05), wood)
    a.plate(0.275, (-w / 2, w / 2), (0.06, 2.03), darker(front))
    doors = 3 if w > 1.3 else 2
    for k in range(doors):
        y = -w / 2 + k * w / doors
        a.plate(0.29, (y + 0.01, y + w / doors - 0.01), (0.08, 2.02), front)
        a.plate(0.296, (y + 0.06, y + 0.08), (0.95, 1.15), METALS[0])


@furniture("dresser")
def dresser(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """A chest of drawers."""
    w, wood = float(rng.uniform(0.9, 1.2)), wood or choose(rng, WOODS)
    a.box((-0.23, 0.21), (-w / 2, w / 2), (0.06, 0.84), wood)
    a.legs(0.42, w, 0.06, 0.05, wood)
    a.plate(0.212, (-w / 2 + 0.01, w / 2 - 0.01), (0.07, 0.83), darker(wood))
    for k in range(3):
        z = 0.1 + 0.245 * k
        a.plate(0.225, (-w / 2 + 0.02, w / 2 - 0.02), (z, z + 0.23), wood)
        a.plate(0.23, (-0.12, 0.12), (z + 0.11, z + 0.13), METALS[2])


@furniture("tv stand")
def tv_stand(a: Assembly, rng: Rng, wood: str | None = None) -> None:
    """A low board with two flaps."""
    w, wood = float(rng.uniform(1.2, 1.6)), wood or choose(rng, WOODS + WHITES)
    a.box((-0.2, 0.19), (-w / 2, w / 2), (0.08, 0.46), wood)
    a.legs(0.36, w, 0.08, 0.04, DARKS[0], inset=0.02)
    a.plate(0.2, (-w / 2 + 0.03, -0.02), (0.12, 0.43), WOODS[2])
    a.plate(0.2, (0.02, w / 2 - 0.03), (0.12, 0.43), WOODS[2])


@furniture("cabinet")
def cabinet(a: Assembly, rng: Rng, width: float = 0.9, wood: str | None = None) -> None:
    """A sideboard at hip height."""
    wood = wood or choose(rng, WOODS + WHITES)
    a.box((-0.2, 0.19), (-width / 2, width / 2), (0.0, 0.86), wood)
    a.plate(0.195, (-width / 2 + 0.01, width / 2 - 0.01), (0.06, 0.84), darker(wood))
    for side in (-1, 1):
        y0, y1 = sorted((side * 0.02, side * (width / 2 - 0.02)))
        a.plate(0.205, (y0, y1), (0.08, 0.82), wood)
        a.plate(0.21, (side * 0.05 - 0.01, side * 0.05 + 0.01), (0.4, 0.55), METALS[0])


@furniture("filing cabinet")
def filing_cabinet(a: Assembly, rng: Rng) -> None:
    """Four steel drawers."""
    steel = choose(rng, ("#8f979c", "#c4c8ca", "#5b646b"))
    a.box((-0.3, 0.29), (-0.23, 0.23), (0.0, 1.3), steel)
    a.plate(0.295, (-0.225, 0.225), (0.02, 1.29), darker(steel))
    for k in range(4):
        a.plate(0.305, (-0.21, 0.21), (0.04 + 0.315 * k, 0.33 + 0.315 * k), steel)
        a.plate(0.31, (-0.08, 0.08), (0.22 + 0.315 * k, 0.24 + 0.315 * k), DARKS[0])


@furniture("shelf")
def shelf(a: Assembly, rng: Rng, width: float | None = None, files: float = 0.5) -> None:
    """A steel store-room shelf with boxes and files."""
    w = width or float(rng.uniform(1.0, 1.4))
    steel = choose(rng, METALS)
    a.posts([(-0.22, -0.18), (0.18, 0.22)], [(-w / 2, -w / 2 + 0.04), (w / 2 - 0.04, w / 2)], (0.0, 1.95), steel)
    for z in (0.12, 0.72, 1.32, 1.92):
        a.box((-0.22, 0.22), (-w / 2, w / 2), (z, z + 0.03), steel)
    for z in (0.15, 0.75, 1.35):
        if rng.random() < files:
            row = int(rng.integers(2))
            a.box((-0.16, 0.14), (-w / 2 + 0.06, w / 2 - 0.06), (z, z + 0.34), METALS[2])
            a.front(0.142, (-w / 2 + 0.06, w / 2 - 0.06), (z, z + 0.34), FILES, (0.0, row / 2 + 0.01, (w - 0.12) / 1.4, (row + 1) / 2 - 0.01))
        else:
            half = w / 2 - 0.1
            a.box((-0.18, 0.16), (-half, -half + float(rng.uniform(0.3, 0.42))), (z, z + float(rng.uniform(0.22, 0.4))), "#b98d5e")
            a.box((-0.18, 0.16), (half - float(rng.uniform(0.3, 0.42)), half), (z, z + float(rng.uniform(0.22, 0.4))), choose(rng, ("#a87f54", *BRIGHTS)))


@furniture("store shelf")
def store_shelf(a: Assembly, rng: Rng, length: float = 4.0, fabric: str | None = None) -> None:
    """A double-sided gondola of goods; its long sides face +x and -x."""
    steel = WHITES[1]
    half = length / 2
    a.box((-0.02, 0.02), (-half, half), (0.0, 1.75), steel)
    a.box((-0.42, 0.42), (-half, half), (0.0, 0.16), METALS[0])
    a.boxes([(-0.42, 0.42)], [(-half - 0.03, -half), (half, half + 0.03)], (0.0, 1.75), fabric or choose(rng, BRIGHTS))
    for z in (0.52, 0.92, 1.32):
        a.box((-0.36, 0.36), (-half, half), (z, z + 0.03), steel)
    for z, top in ((0.16, 0.5), (0.55, 0.9), (0.95, 1.3), (1.35, 1.66)):
        for side in (-1, 1):
            row = int(rng.integers(8))
            uv = (0.0, row / 8 + 0.002, length / 2.4, (row + 1) / 8 - 0.002)
            if side > 0:
                a.front(0.33, (-half, half), (z, top), GOODS, uv)
            else:
                a.back(-0.33, (-half, half), (z, top), GOODS, uv)


@furniture("wall shelf")
def wall_shelf(a: Assembly, rng: Rng, length: float = 2.4) -> None:
    """A single-sided gondola of goods."""
    half = length / 2
    a.box((-0.25, -0.21), (-half, half), (0.0, 2.0), WHITES[1])
    a.box((-0.21, 0.25), (-half, half), (0.0, 0.16), METALS[0])
    for z in (0.52, 0.92, 1.32, 1.72):
        a.box((-0.21, 0.18), (-half, half), (z, z + 0.03), WHITES[1])
    for z, top in ((0.16, 0.5), (0.55, 0.9), (0.95, 1.3), (1.35, 1.7)):
        row = int(rng.integers(8))
        a.front(0.14, (-half, half), (z, top), GOODS, (0.0, row / 8 + 0.002, length / 2.4, (row + 1) / 8 - 0.002))


@furniture("locker")
def locker(a: Assembly, rng: Rng, doors: int = 3, fabric: str | None = None) -> None:
    """A block of tall steel doors."""
    color = fabric or choose(rng, ("#5f7f99", "#8b9aa3", "#a8674f", "#6f8f76"))
    w = doors * 0.32
    a.box((-0.24, 0.23), (-w / 2, w / 2), (0.0, 1.85), METALS[2])
    for k in range(doors):
        y = -w / 2 + k * 0.32
        a.plate(0.245, (y + 0.012, y + 0.308), (0.06, 1.82), color)
        a.plate(0.25, (y + 0.25, y + 0.27), (0.9, 1.02), DARKS[0])


@furniture("mailbox")
def mailbox(a: Assembly, rng: Rng, columns: int = 4) -> None:
    """A block of letter boxes."""
    steel = choose(rng, ("#a3a7a8", "#7f6f56", "#5d6a70"))
    w = columns * 0.3
    a.box((-0.16, 0.15), (-w / 2, w / 2), (0.0, 1.5), METALS[2])
    for k in range(columns):
        for row in range(4):
            y, z = -w / 2 + k * 0.3, 0.42 + row * 0.26
            a.plate(0.165, (y + 0.015, y + 0.285), (z, z + 0.24), steel)


@furniture("medicine cabinet")
def medicine_cabinet(a: Assembly, rng: Rng) -> None:
    """A white wall cupboard with a cross."""
    a.box((-0.1, 0.1), (-0.28, 0.28), (0.0, 0.62), WHITES[0])
    a.box((0.1, 0.11), (-0.27, -0.005), (0.02, 0.6), WHITES[1])
    a.box((0.1, 0.11), (0.005, 0.27), (0.02, 0.6), WHITES[1])
    a.plate(0.115, (0.07, 0.21), (0.28, 0.33), "#b7322c")
    a.plate(0.115, (0.115, 0.165), (0.235, 0.375), "#b7322c")


@furniture("shoe rack")
def shoe_rack(a: Assembly, rng: Rng) -> None:
    """Two tiers of shoes."""
    wood = choose(rng, WOODS)
    a.boxes([(-0.15, 0.15)], [(-0.36, -0.33), (0.33, 0.36)], (0.0, 0.45), wood)
    for z in (0.1, 0.4):
        a.box((-0.15, 0.15), (-0.33, 0.33), (z, z + 0.02), wood)
    for k in range(4):
        a.box((-0.12, 0.13), (-0.3 + 0.15 * k, -0.19 + 0.15 * k), (0.12, 0.2), choose(rng, DARKS + FABRICS))


@furniture("coat rack")
def coat_rack(a: Assembly, rng: Rng) -> None:
    """A stand with coats."""
    wood = choose(rng, (*WOODS, DARKS[0]))
    a.cyl(0.0, 0.0, (0.0, 0.04), 0.2, wood, sides=8)
    a.post((-0.02, 0.02), (-0.02, 0.02), (0.04, 1.75), wood)
    a.box((-0.16, 0.16), (-0.015, 0.015), (1.62, 1.66), wood)
    a.box((-0.015, 0.015), (-0.16, 0.16), (1.62, 1.66), wood)
    a.box((0.04, 0.2), (-0.12, 0.12), (0.85, 1.6), choose(rng, FABRICS))
    a.box((-0.12, 0.12), (-0.2, -0.05), (0.95, 1.58), choose(rng, FABRICS))


@furniture("umbrella stand")
def umbrella_stand(a: Assembly, rng: Rng) -> None:
    """A tube with two umbrellas."""
    a.cyl(0.0, 0.0, (0.0, 0.52), 0.13, choose(rng, DARKS + METALS), sides=10)
    a.cyl(0.04, 0.03, (0.5, 0.78), 0.03, choose(rng, BRIGHTS), sides=6)
    a.cyl(-0.05, -0.03, (0.5, 0.74), 0.03, DARKS[0], sides=6)


@furniture("box")
def cardboard_box(a: Assembly, rng: Rng) -> None:
    """A taped carton, sometimes with another on it."""
    x, y, z = rng.uniform(0.15, 0.24), rng.uniform(0.18, 0.3), rng.uniform(0.25, 0.42)
    a.box((-x, x), (-y, y), (0.0, z), choose(rng, ("#b58a5a", "#a67c4e", "#c39a6b")))
    a.box((-x - 0.002, x + 0.002), (-0.03, 0.03), (0.01, z + 0.003), "#d9c49a")
    if rng.random() < 0.4:
        a.box((-x * 0.8, x * 0.7), (-y * 0.7, y * 0.8), (z + 0.003, z + 0.25), "#bf945f")


@furniture("basket")
def basket(a: Assembly, rng: Rng) -> None:
    """A wicker basket."""
    wicker = choose(rng, ("#a8814f", "#c5a06c", "#8d8478"))
    a.cyl(0.0, 0.0, (0.0, 0.42), 0.19, wicker, sides=12, top=0.23)
    a.cyl(0.0, 0.0, (0.42, 0.46), 0.2, choose(rng, WHITES + FABRICS), sides=10, top=0.12)


@furniture("display case")
def display_case(a: Assembly, rng: Rng, width: float = 1.3) -> None:
    """A pastry cabinet: lit shelves behind a slanted front."""
    a.box((-0.35, 0.33), (-width / 2, width / 2), (0.0, 0.5), choose(rng, WOODS + DARKS))
    a.box((-0.35, 0.33), (-width / 2, width / 2), (1.22, 1.27), METALS[1])
    a.boxes([(-0.35, 0.33)], [(-width / 2, -width / 2 + 0.03), (width / 2 - 0.03, width / 2)], (0.5, 1.22), METALS[1])
    a.box((-0.35, -0.32), (-width / 2, width / 2), (0.5, 1.22), WHITES[0])
    for z in (0.5, 0.86):
        a.box((-0.32, 0.26), (-width / 2 + 0.03, width / 2 - 0.03), (z, z + 0.02), WHITES[0])
        for k in range(4):
            y = -width / 2 + (k + 0.5) * width / 4
            a.cyl(float(rng.uniform(-0.1, 0.1)), y, (z + 0.02, z + 0.11), 0.1, choose(rng, ("#c98a4b", "#8b5a34", "#e3c089", "#d77f8c")), sides=8)


@furniture("server rack")
def server_rack(a: Assembly, rng: Rng) -> None:
    """A black cabinet with rows of lights."""
    a.box((-0.45, 0.44), (-0.3, 0.3), (0.0, 2.0), DARKS[0])
    for k in range(6):
        z = 0.2 + 0.28 * k
        a.plate(0.455, (-0.26, 0.26), (z, z + 0.2), DARKS[1])
        a.plate(0.46, (-0.22, -0.14), (z + 0.08, z + 0.11), choose(rng, ("#5fd07a", "#4fa3e0", "#e0b040")))
