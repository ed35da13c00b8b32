"""Plants, pictures, rugs, bins and the small things that tell what a room is for."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import BRIGHTS, DARKS, FABRICS, LEAVES, METALS, WHITES, WOODS, Assembly, choose, furniture
from portico.build.indoor.prints import BOARDS, BOOKS, CLOCKS, NOTICES, PAINTINGS, POSTERS, rug_finish
from portico.world import Surface

Rng = np.random.Generator


@furniture("plant", surface=Surface.PLANT)
def plant(a: Assembly, rng: Rng) -> None:
    """A potted plant: tiers of leaves, or a bush on a stem."""
    a.cyl(0.0, 0.0, (0.0, 0.32), 0.14, choose(rng, ("#b5674a", "#d9d4c8", "#4b4f54", "#8d8479")), sides=6, top=0.18)
    leaf = choose(rng, LEAVES)
    if rng.random() < 0.5:
        a.post((-0.02, 0.02), (-0.02, 0.02), (0.3, 0.6), "#6b4a30")
        a.cyl(0.0, 0.0, (0.5, 0.85), 0.12, leaf, sides=6, top=0.3)
        a.cyl(0.0, 0.0, (0.85, 1.2), 0.3, leaf, sides=6, top=0.1)
    else:
        height = float(rng.uniform(1.1, 1.6))
        for k in range(3):
            z = 0.32 + k * (height - 0.4) / 3
            a.cyl(0.0, 0.0, (z, z + (height - 0.3) / 3 + 0.08), 0.26 - 0.06 * k, choose(rng, LEAVES), sides=5, top=0.05)


@furniture("potted flower", surface=Surface.PLANT)
def potted_flower(a: Assembly, rng: Rng) -> None:
    """For tables and sills."""
    a.cyl(0.0, 0.0, (0.0, 0.1), 0.05, choose(rng, (*BRIGHTS, WHITES[0])), sides=6, top=0.065)
    a.cyl(0.0, 0.0, (0.1, 0.22), 0.04, choose(rng, LEAVES), sides=5, top=0.09)
    a.cyl(0.0, 0.0, (0.22, 0.28), 0.07, choose(rng, ("#d4577a", "#e0b13c", "#f0ece4", "#a85bb0")), sides=5, top=0.03)


@furniture("vase")
def vase(a: Assembly, rng: Rng) -> None:
    """With dry stems."""
    color = choose(rng, BRIGHTS + WHITES)
    a.cyl(0.0, 0.0, (0.0, 0.16), 0.05, color, sides=7, top=0.08)
    a.cyl(0.0, 0.0, (0.16, 0.26), 0.08, color, sides=7, top=0.035)
    for x, y in ((-0.03, 0.02), (0.03, 0.0), (0.0, -0.03)):
        a.post((x - 0.006, x + 0.006), (y - 0.006, y + 0.006), (0.24, 0.48), "#b59a62")


@furniture("painting")
def painting(a: Assembly, rng: Rng, width: float | None = None) -> None:
    """A framed picture."""
    w = width or float(rng.uniform(0.6, 1.0))
    h = w * 0.72
    a.box((-0.015, 0.012), (-w / 2, w / 2), (0.0, h), choose(rng, (*WOODS, DARKS[0], WHITES[0])))
    k = int(rng.integers(8))
    u, v = (k % 4) / 4, (k // 4) / 2
    a.front(0.014, (-w / 2 + 0.035, w / 2 - 0.035), (0.035, h - 0.035), PAINTINGS, (u + 0.003, v + 0.005, u + 0.247, v + 0.495))


@furniture("poster")
def poster(a: Assembly, rng: Rng, kind: int = 0) -> None:
    """A printed sheet: 0 eye chart, 1 anatomy, 2 map, 3 event."""
    w, h = (1.2, 0.8) if kind == 2 else (0.55, 0.78)
    a.box((-0.008, 0.0), (-w / 2, w / 2), (0.0, h), WHITES[0])
    u, v = (kind % 2) / 2, (kind // 2) / 2
    a.front(0.003, (-w / 2, w / 2), (0.0, h), POSTERS, (u + 0.003, v + 0.003, u + 0.497, v + 0.497))


@furniture("clock")
def clock(a: Assembly, rng: Rng) -> None:
    """A wall clock."""
    a.box((-0.02, 0.015), (-0.16, 0.16), (0.0, 0.32), choose(rng, DARKS + WOODS))
    a.front(0.017, (-0.145, 0.145), (0.015, 0.305), CLOCKS)


@furniture("whiteboard")
def whiteboard(a: Assembly, rng: Rng, width: float = 1.8) -> None:
    """Written on, with a pen tray."""
    a.box((-0.015, 0.01), (-width / 2, width / 2), (0.0, 1.1), METALS[1])
    k = int(rng.integers(2))
    a.front(0.012, (-width / 2 + 0.03, width / 2 - 0.03), (0.03, 1.07), BOARDS, (0.0, k / 2 + 0.002, 1.0, (k + 1) / 2 - 0.002))
    a.box((0.0, 0.08), (-width / 4, width / 4), (-0.02, 0.0), METALS[0])


@furniture("bulletin board")
def bulletin_board(a: Assembly, rng: Rng, width: float = 1.2) -> None:
    """Cork with notices."""
    a.box((-0.015, 0.01), (-width / 2, width / 2), (0.0, 0.85), choose(rng, WOODS))
    a.front(0.012, (-width / 2 + 0.03, width / 2 - 0.03), (0.03, 0.82), NOTICES)


@furniture("rug", surface=Surface.FLOOR, collides=False)
def rug(a: Assembly, rng: Rng, size: tuple[float, float] = (1.6, 2.3)) -> None:
    """A woven rug, flat on the floor."""
    dx, dy = size
    a.panel([(-dx / 2, dy / 2, 0.012), (-dx / 2, -dy / 2, 0.012), (dx / 2, -dy / 2, 0.012), (dx / 2, dy / 2, 0.012)], rug_finish(int(rng.integers(4))))


@furniture("books")
def books(a: Assembly, rng: Rng) -> None:
    """A small pile, or a few upright."""
    if rng.random() < 0.6:
        z = 0.0
        for _ in range(3):
            t = float(rng.uniform(0.025, 0.045))
            a.box((-0.11 + rng.uniform(0, 0.02), 0.1), (-0.08, 0.075 + rng.uniform(0, 0.02)), (z, z + t), choose(rng, FABRICS + BRIGHTS))
            z += t
    else:
        a.box((-0.08, 0.08), (-0.14, 0.14), (0.0, 0.23), WHITES[1])
        a.front(0.082, (-0.14, 0.14), (0.0, 0.23), BOOKS, (0.1, 0.252, 0.28, 0.498))


@furniture("trash can")
def trash_can(a: Assembly, rng: Rng) -> None:
    """A round bin."""
    a.cyl(0.0, 0.0, (0.0, 0.36), 0.12, choose(rng, METALS + DARKS), sides=8, top=0.15)


@furniture("recycling bin")
def recycling_bin(a: Assembly, rng: Rng) -> None:
    """A bin with a coloured lid."""
    color = choose(rng, ("#2f6fa8", "#3f8a4f", "#d1a52e"))
    a.box((-0.17, 0.17), (-0.2, 0.2), (0.0, 0.66), METALS[2])
    a.box((-0.18, 0.18), (-0.21, 0.21), (0.66, 0.74), color)
    a.plate(0.175, (-0.1, 0.1), (0.3, 0.48), color)


@furniture("fire extinguisher")
def fire_extinguisher(a: Assembly, rng: Rng) -> None:
    """On a bracket."""
    a.cyl(0.0, 0.0, (0.0, 0.38), 0.075, "#c22c26", sides=7)
    a.cyl(0.0, 0.0, (0.38, 0.46), 0.075, "#c22c26", sides=7, top=0.025)
    a.box((-0.02, 0.1), (-0.02, 0.02), (0.46, 0.52), DARKS[0])
    a.plate(0.078, (-0.05, 0.05), (0.12, 0.26), WHITES[0])


@furniture("suitcase")
def suitcase(a: Assembly, rng: Rng) -> None:
    """Standing, handle out."""
    shell = choose(rng, BRIGHTS + DARKS)
    a.box((-0.13, 0.13), (-0.22, 0.22), (0.04, 0.64), shell)
    a.boxes([(-0.1, -0.06), (0.06, 0.1)], [(-0.18, -0.14), (0.14, 0.18)], (0.0, 0.04), DARKS[0])
    a.boxes([(-0.12, -0.1)], [(-0.12, -0.1), (0.1, 0.12)], (0.64, 0.95), METALS[1])
    a.box((-0.125, -0.095), (-0.12, 0.12), (0.95, 0.98), DARKS[0])


@furniture("backpack")
def backpack(a: Assembly, rng: Rng) -> None:
    """Put down on the floor."""
    color = choose(rng, BRIGHTS + FABRICS)
    a.box((-0.12, 0.1), (-0.16, 0.16), (0.0, 0.42), color)
    a.box((0.1, 0.16), (-0.12, 0.12), (0.04, 0.22), color)
    a.box((-0.1, 0.06), (-0.12, 0.12), (0.42, 0.47), color)


@furniture("aquarium")
def aquarium(a: Assembly, rng: Rng) -> None:
    """Blue water on a cabinet."""
    a.box((-0.2, 0.2), (-0.5, 0.5), (0.0, 0.72), choose(rng, WOODS + DARKS))
    a.box((-0.19, 0.19), (-0.49, 0.49), (0.72, 0.8), "#c9b48a")
    a.box((-0.19, 0.19), (-0.49, 0.49), (0.8, 1.15), "#4f9fb8")
    a.box((-0.2, 0.2), (-0.5, 0.5), (1.15, 1.2), DARKS[0])
    for k in range(3):
        a.plate(0.195, (-0.35 + 0.28 * k, -0.25 + 0.28 * k), (0.88 + 0.07 * k, 0.93 + 0.07 * k), choose(rng, ("#e8862e", "#e6c23c", "#d94f4f")))
        a.box((0.19, 0.193), (-0.42 + 0.3 * k, -0.39 + 0.3 * k), (0.8, 1.02), LEAVES[0])


@furniture("piano")
def piano(a: Assembly, rng: Rng) -> None:
    """An upright."""
    wood = choose(rng, (DARKS[0], WOODS[1], WOODS[3]))
    a.box((-0.3, 0.02), (-0.74, 0.74), (0.0, 1.18), wood)
    a.box((0.02, 0.3), (-0.74, 0.74), (0.62, 0.72), wood)
    a.box((0.06, 0.27), (-0.66, 0.66), (0.72, 0.735), WHITES[0])
    for k in range(9):
        a.box((0.06, 0.17), (-0.6 + 0.14 * k, -0.55 + 0.14 * k), (0.735, 0.745), DARKS[0])
    a.boxes([(0.22, 0.3)], [(-0.74, -0.66), (0.66, 0.74)], (0.0, 0.62), wood)
    a.box((0.02, 0.05), (-0.3, 0.3), (0.9, 1.1), WHITES[1])


@furniture("easel")
def easel(a: Assembly, rng: Rng) -> None:
    """With a picture in the making."""
    wood = WOODS[2]
    a.boxes([(0.0, 0.04)], [(-0.3, -0.26), (0.26, 0.3)], (0.0, 1.5), wood)
    a.box((-0.35, -0.31), (-0.02, 0.02), (0.0, 1.4), wood)
    a.box((-0.33, 0.02), (-0.02, 0.02), (1.36, 1.4), wood)
    a.box((0.0, 0.1), (-0.32, 0.32), (0.7, 0.74), wood)
    a.box((0.04, 0.06), (-0.35, 0.35), (0.74, 1.28), WHITES[0])
    k = int(rng.integers(8))
    u, v = (k % 4) / 4, (k // 4) / 2
    a.front(0.062, (-0.34, 0.34), (0.75, 1.27), PAINTINGS, (u + 0.003, v + 0.005, u + 0.247, v + 0.495))


@furniture("globe")
def globe(a: Assembly, rng: Rng) -> None:
    """A desk globe."""
    a.cyl(0.0, 0.0, (0.0, 0.03), 0.08, WOODS[1], sides=8)
    a.cyl(0.0, 0.0, (0.03, 0.1), 0.015, METALS[0], sides=5)
    a.cyl(0.0, 0.0, (0.1, 0.22), 0.05, "#3f78a8", sides=8, top=0.14)
    a.cyl(0.0, 0.0, (0.22, 0.34), 0.14, "#4f8fb0", sides=8, top=0.05)


@furniture("menu board")
def menu_board(a: Assembly, rng: Rng) -> None:
    """Chalk on slate."""
    a.box((-0.015, 0.01), (-0.55, 0.55), (0.0, 0.75), WOODS[1])
    a.front(0.012, (-0.52, 0.52), (0.03, 0.72), POSTERS, (0.503, 0.503, 0.997, 0.997))
