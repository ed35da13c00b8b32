"""Sanitary ware and laundry."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.furniture.assembly import DARKS, FABRICS, METALS, WHITES, WOODS, Assembly, choose, furniture

Rng = np.random.Generator
_MIRROR = "#b9cdd3"


@furniture("toilet")
def toilet(a: Assembly, rng: Rng) -> None:
    """Bowl, seat and cistern."""
    a.box((-0.34, -0.16), (-0.2, 0.2), (0.38, 0.8), WHITES[0])
    a.box((-0.33, -0.06), (-0.11, 0.11), (0.0, 0.38), WHITES[0])
    a.cyl(0.08, 0.0, (0.0, 0.4), 0.13, WHITES[0], sides=8, top=0.2)
    a.cyl(0.08, 0.0, (0.4, 0.43), 0.21, choose(rng, (WHITES[0], WOODS[2])), sides=8)
    a.box((-0.16, -0.02), (-0.18, 0.18), (0.4, 0.43), WHITES[1])


@furniture("sink")
def sink(a: Assembly, rng: Rng) -> None:
    """A basin on a vanity with a tap."""
    front = choose(rng, (*WOODS, WHITES[1], DARKS[1]))
    a.box((-0.23, 0.2), (-0.3, 0.3), (0.0, 0.72), front)
    a.boxes([(0.2, 0.212)], [(-0.29, -0.01), (0.01, 0.29)], (0.08, 0.7), front)
    a.boxes([(-0.23, -0.15), (0.17, 0.24)], [(-0.31, 0.31)], (0.72, 0.86), WHITES[0])
    a.boxes([(-0.15, 0.17)], [(-0.31, -0.24), (0.24, 0.31)], (0.72, 0.86), WHITES[0])
    a.box((-0.15, 0.17), (-0.24, 0.24), (0.72, 0.75), WHITES[1])
    a.cyl(-0.19, 0.0, (0.86, 1.02), 0.016, METALS[1], sides=6)
    a.box((-0.19, -0.05), (-0.015, 0.015), (1.0, 1.025), METALS[1])


@furniture("washstand")
def washstand(a: Assembly, rng: Rng, basins: int = 2) -> None:
    """A public counter with basins, backed by a mirror."""
    w = basins * 0.75
    a.box((-0.26, 0.24), (-w / 2, w / 2), (0.72, 0.86), choose(rng, (DARKS[1], "#8d8479", WHITES[1])))
    a.box((-0.24, 0.1), (-w / 2 + 0.05, w / 2 - 0.05), (0.0, 0.72), choose(rng, WOODS + WHITES))
    for k in range(basins):
        y = -w / 2 + (k + 0.5) * 0.75
        a.cyl(0.0, y, (0.86, 0.92), 0.12, WHITES[0], sides=12, top=0.2)
        a.box((-0.22, -0.05), (y - 0.015, y + 0.015), (1.02, 1.05), METALS[1])
        a.box((-0.23, -0.2), (y - 0.015, y + 0.015), (0.86, 1.05), METALS[1])


@furniture("toilet stall")
def toilet_stall(a: Assembly, rng: Rng) -> None:
    """A partition beside a toilet: panel on feet."""
    a.box((-0.7, 0.7), (-0.015, 0.015), (0.15, 2.0), choose(rng, ("#7f97a3", "#b8a98c", "#8a9a86", "#9d8f9f")))
    a.boxes([(-0.6, -0.55), (0.6, 0.65)], [(-0.02, 0.02)], (0.0, 0.15), METALS[1])


@furniture("urinal")
def urinal(a: Assembly, rng: Rng) -> None:
    """Wall-hung."""
    a.box((-0.16, -0.08), (-0.19, 0.19), (0.0, 0.62), WHITES[0])
    a.box((-0.08, 0.16), (-0.17, 0.17), (0.0, 0.22), WHITES[0])
    a.boxes([(-0.08, 0.08)], [(-0.19, -0.15), (0.15, 0.19)], (0.2, 0.6), WHITES[0])


@furniture("bathtub")
def bathtub(a: Assembly, rng: Rng) -> None:
    """Along a wall; its long side faces the room."""
    w = 1.62
    a.boxes([(-0.36, -0.29), (0.29, 0.36)], [(-w / 2, w / 2)], (0.0, 0.56), WHITES[0])
    a.boxes([(-0.29, 0.29)], [(-w / 2, -w / 2 + 0.08), (w / 2 - 0.08, w / 2)], (0.0, 0.56), WHITES[0])
    a.box((-0.29, 0.29), (-w / 2 + 0.08, w / 2 - 0.08), (0.1, 0.14), WHITES[1])
    a.box((-0.34, -0.14), (w / 2 - 0.04, w / 2), (0.62, 0.66), METALS[1])
    a.cyl(-0.3, w / 2 - 0.04, (0.56, 0.72), 0.016, METALS[1], sides=6)


@furniture("shower")
def shower(a: Assembly, rng: Rng) -> None:
    """A tray in a corner, one glazed side as a frame, a rain head."""
    a.box((-0.42, 0.42), (-0.42, 0.42), (0.0, 0.06), WHITES[0])
    a.boxes([(-0.42, 0.42)], [(-0.42, -0.4)], (0.06, 0.5), _MIRROR)
    a.boxes([(-0.42, -0.39), (0.39, 0.42)], [(-0.42, -0.39)], (0.5, 2.0), METALS[1])
    a.box((-0.42, 0.42), (-0.42, -0.39), (1.97, 2.0), METALS[1])
    a.cyl(-0.38, 0.1, (1.0, 2.05), 0.014, METALS[1], sides=6)
    a.box((-0.38, -0.05), (0.09, 0.11), (2.03, 2.05), METALS[1])
    a.cyl(-0.08, 0.1, (1.99, 2.03), 0.11, METALS[1], sides=12)


@furniture("mirror")
def mirror(a: Assembly, rng: Rng, width: float = 0.6) -> None:
    """A framed mirror on a wall."""
    a.box((-0.02, 0.0), (-width / 2, width / 2), (0.0, 0.8), choose(rng, (*WOODS, *METALS)))
    a.box((0.0, 0.008), (-width / 2 + 0.03, width / 2 - 0.03), (0.03, 0.77), _MIRROR)


@furniture("washing machine")
def washing_machine(a: Assembly, rng: Rng) -> None:
    """A front loader."""
    a.box((-0.29, 0.28), (-0.3, 0.3), (0.0, 0.85), choose(rng, WHITES))
    a.plate(0.29, (-0.29, 0.29), (0.7, 0.83), METALS[1])
    a.plate(0.31, (-0.18, 0.18), (0.24, 0.6), METALS[0])
    a.plate(0.315, (-0.13, 0.13), (0.29, 0.55), DARKS[2])


@furniture("dryer")
def dryer(a: Assembly, rng: Rng) -> None:
    """A tumble dryer."""
    a.box((-0.29, 0.28), (-0.3, 0.3), (0.0, 0.85), choose(rng, (*METALS, WHITES[2])))
    a.plate(0.31, (-0.2, 0.2), (0.2, 0.62), WHITES[0])
    a.plate(0.29, (-0.29, 0.29), (0.72, 0.83), DARKS[0])


@furniture("ironing board")
def ironing_board(a: Assembly, rng: Rng) -> None:
    """Standing ready."""
    a.box((-0.19, 0.19), (-0.65, 0.65), (0.86, 0.9), choose(rng, FABRICS))
    a.boxes([(-0.16, 0.16)], [(-0.5, -0.46), (0.36, 0.4)], (0.0, 0.86), METALS[1])


@furniture("towel rack")
def towel_rack(a: Assembly, rng: Rng) -> None:
    """Two towels on a rail."""
    a.box((-0.05, -0.03), (-0.32, 0.32), (0.68, 0.71), METALS[1])
    a.box((-0.06, -0.01), (-0.28, -0.02), (0.1, 0.73), choose(rng, FABRICS))
    a.box((-0.06, -0.01), (0.03, 0.28), (0.2, 0.73), choose(rng, WHITES + FABRICS))


@furniture("hand dryer")
def hand_dryer(a: Assembly, rng: Rng) -> None:
    """A wall dryer."""
    a.box((-0.1, 0.1), (-0.15, 0.15), (0.0, 0.34), choose(rng, (METALS[1], WHITES[0])))
    a.box((0.02, 0.09), (-0.09, 0.09), (-0.03, 0.0), DARKS[0])


@furniture("laundry basket")
def laundry_basket(a: Assembly, rng: Rng) -> None:
    """A tall hamper."""
    a.box((-0.2, 0.2), (-0.24, 0.24), (0.0, 0.56), choose(rng, ("#c5a06c", "#8d8478", *WHITES)))
    a.box((-0.17, 0.17), (-0.2, 0.2), (0.56, 0.64), choose(rng, FABRICS))
