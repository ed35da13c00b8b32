"""What hangs in openings and over the entrance: door leaves, window frames, the canopy."""

from __future__ import annotations

from portico.build.indoor.finishes import paint
from portico.build.indoor.mason import Mason, Stuff
from portico.build.indoor.openings import LEAF_M
from portico.build.indoor.plan import STOREY_M, BuildingPlan, Door, Opening, Rect
from portico.build.indoor.shell import Style
from portico.world import Surface

CANOPY_M = 1.1
_CANOPY_Z = (2.55, 2.67)
_FRAME_M = 0.05
_STEEL = paint("#b9bcbe")


def hang_doors_and_windows(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    """Leaves and frames of every storey, and the canopy."""
    for floor in plan.floors:
        z = floor.level * STOREY_M
        for door in floor.doors:
            for leaf in door.leaves:
                if door.exterior:
                    _glazed_leaf(mason, leaf, z, door.opening.head, style)
                else:
                    _leaf(mason, door, leaf, z, style)
        for window in floor.windows:
            _frame(mason, window.opening, z, 1.3 if window.storefront else 0.8, style)
    _canopy(mason, plan, style)


def _leaf(mason: Mason, door: Door, leaf: Rect, z: float, style: Style) -> None:
    """A panel with a handle on both faces; a shut one stands in the middle of its wall."""
    instance = mason.scene.instance("door")
    wood = Stuff(Surface.DOOR, style.door, instance)
    steel = Stuff(Surface.DOOR, _STEEL, instance, collides=False)
    if door.state == "closed":
        u, v = leaf.center
        leaf = Rect(leaf.u0, v - LEAF_M / 2, leaf.u1, v + LEAF_M / 2) if door.opening.along == "u" else Rect(u - LEAF_M / 2, leaf.v0, u + LEAF_M / 2, leaf.v1)
    mason.block(wood, (leaf.u0, leaf.v0, z + 0.01), (leaf.u1, leaf.v1, z + door.opening.head - 0.01))
    u, v = leaf.center
    if leaf.du > leaf.dv:
        mason.block(steel, (leaf.u0 + 0.08, leaf.v0 - 0.05, z + 1.0), (leaf.u0 + 0.2, leaf.v1 + 0.05, z + 1.03))
    else:
        mason.block(steel, (leaf.u0 - 0.05, leaf.v0 + 0.08, z + 1.0), (leaf.u1 + 0.05, leaf.v0 + 0.2, z + 1.03))


def _glazed_leaf(mason: Mason, leaf: Rect, z: float, head: float, style: Style) -> None:
    """A frame of four bars with a kick plate, as glass would be in it."""
    stuff = Stuff(Surface.DOOR, style.frame, mason.scene.instance("door"))
    along_u = leaf.du > leaf.dv
    start, end = (leaf.u0, leaf.u1) if along_u else (leaf.v0, leaf.v1)
    for s0, s1, z0, z1 in (
        (start, start + 0.09, 0.01, head - 0.01),
        (end - 0.09, end, 0.01, head - 0.01),
        (start, end, 0.01, 0.38),
        (start, end, head - 0.12, head - 0.01),
        (start, end, 1.0, 1.07),
    ):
        low, high = ((s0, leaf.v0), (s1, leaf.v1)) if along_u else ((leaf.u0, s0), (leaf.u1, s1))
        mason.block(stuff, (*low, z + z0), (*high, z + z1))


def _frame(mason: Mason, o: Opening, z: float, pane_m: float, style: Style) -> None:
    """Frame and mullions in the middle of the wall; what is between them is seen through."""
    stuff = Stuff(Surface.WINDOW, style.frame, mason.structure("window"))
    middle = (o.low + o.high) / 2
    panes = max(1, round(o.width / pane_m))
    bars = [(o.start + k * (o.width - _FRAME_M) / panes, o.start + k * (o.width - _FRAME_M) / panes + _FRAME_M, o.sill, o.head) for k in range(panes + 1)]
    bars.append((o.start, o.end, o.head - _FRAME_M, o.head))
    for s0, s1, z0, z1 in bars:
        low, high = (s0, middle - 0.03), (s1, middle + 0.03)
        if o.along == "v":
            low, high = low[::-1], high[::-1]
        mason.block(stuff, (*low, z + z0), (*high, z + z1), open_along="z" if z1 - z0 > 0.1 else o.along)


def _canopy(mason: Mason, plan: BuildingPlan, style: Style) -> None:
    stuff = Stuff(Surface.ROOF, style.frame, mason.structure("canopy"), indoor=False)
    half = 1.5
    mason.block(stuff, (plan.entrance_u - half, -CANOPY_M, _CANOPY_Z[0]), (plan.entrance_u + half, 0.0, _CANOPY_Z[1]))
