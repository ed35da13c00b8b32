"""Rooms of clinics and laboratories."""

from __future__ import annotations

import numpy as np

from portico.build.indoor.arrange import Arrangement
from portico.build.indoor.rooms.entrances import reception
from portico.build.indoor.rooms.grammar import best_wall, bins, furnishes, greenery, wall_decor, workplace


@furnishes("exam room")
def exam_room(r: Arrangement) -> None:
    """A couch, a desk, instruments."""
    r.lamps()
    r.against_wall("exam bed", "corner", edges=r.far_edges())
    workplace(r, r.against_wall("desk", "any", width=1.3))
    basin = r.against_wall("sink", "any", edges=r.blind_edges())
    if basin is not None:
        r.on_wall("mirror", 1.12, above=basin)
    r.against_wall("medical cart", "any", gap=0.04)
    r.against_wall("stool", "any", gap=0.1)
    r.on_wall("medicine cabinet", 1.35)
    r.on_wall("poster", 1.2, kind=r.number(0, 1))
    if r.chance(0.5):
        r.against_wall("scale", "corner", gap=0.05)
    r.against_wall("chair", "any", gap=0.04)
    bins(r, "trash can")
    wall_decor(r, ("clock",))


@furnishes("ward")
def ward(r: Arrangement) -> None:
    """Beds side by side with a stand and a cabinet each."""
    r.lamps()
    edge = best_wall(r, r.blind_edges())
    count = max(1, int((edge.length - 1.0) / 2.2))
    for k in range(count):
        at = edge.start + (k + 0.5) * edge.length / count
        bed = r.stand(r.make("hospital bed"), edge, at)
        if bed is None:
            continue
        r.beside(bed, "nightstand", 1, gap=0.08)
        r.beside(bed, "iv stand", -1, gap=0.08)
    r.against_wall("wheelchair", "any", gap=0.05)
    r.against_wall("medical cart", "any", gap=0.05)
    r.against_wall("chair", "any", gap=0.05)
    r.against_wall("wardrobe", "corner", edges=r.blind_edges())
    r.on_wall("tv", 1.6)
    greenery(r)
    bins(r, "trash can")
    wall_decor(r, ("clock", "painting"))


@furnishes("pharmacy")
def pharmacy(r: Arrangement) -> None:
    """A counter, medicine on shelves."""
    r.lamps()
    desk = reception(r)
    r.on_top(desk, "cash register", -0.6, -0.1, turn=np.pi, height=0.74)
    for _ in range(int(np.clip(r.area / 6.0, 2, 4))):
        r.against_wall("wall shelf", "any", edges=r.blind_edges(), length=1.4)
    r.against_wall("refrigerator", "corner", edges=r.blind_edges())
    r.on_wall("medicine cabinet", 1.35)
    r.against_wall("scale", "corner", gap=0.05)
    r.against_wall("chair", "any", gap=0.04)
    bins(r, "trash can")
    wall_decor(r, ("clock",))


@furnishes("nurses' station")
def nurses_station(r: Arrangement) -> None:
    """A desk that sees the corridor, files, carts."""
    r.lamps()
    for _ in range(2):
        workplace(r, r.against_wall("desk", "any", width=1.3))
    for category in ("filing cabinet", "medical cart", "bookshelf", "water cooler", "refrigerator"):
        r.against_wall(category, "any", edges=r.blind_edges(), gap=0.03)
    r.on_wall("bulletin board", 1.1)
    r.on_wall("medicine cabinet", 1.35)
    wall_decor(r, ("clock",))
    bins(r, "trash can")


@furnishes("laboratory")
def laboratory(r: Arrangement) -> None:
    """Benches with instruments along the walls."""
    r.lamps()
    tops = ("microscope", "centrifuge", "bottle", "laptop", "monitor")
    for _ in range(int(np.clip(r.area / 6.0, 2, 5))):
        bench = r.against_wall("workbench", "corner", width=1.6)
        if bench is None:
            continue
        for left in (-0.7, 0.1, 0.8):
            if r.chance(0.7):
                r.on_top(bench, tops[r.number(0, 4)], -0.1, left)
        r.in_front(bench, "stool", gap=0.05, left=0.3)
    r.against_wall("refrigerator", "corner", edges=r.blind_edges())
    r.against_wall("kitchen sink", "any")
    r.against_wall("shelf", "any", edges=r.blind_edges())
    r.on_wall("poster", 1.2, kind=1)
    r.on_wall("fire extinguisher", 0.9)
    bins(r, "trash can", "recycling bin")
    wall_decor(r, ("clock",))
