"""Room grammar: rules by room category, and the groups of pieces that several kinds of room share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from portico.build.indoor.arrange import Arrangement, Placed, heading
from portico.build.indoor.furniture import Model
from portico.build.indoor.plan import Edge

Rule = Callable[[Arrangement], None]

GRAMMAR: dict[str, Rule] = {}


def furnishes(*categories: str) -> Callable[[Rule], Rule]:
    """Enter a rule for rooms of these categories."""

    def enter(rule: Rule) -> Rule:
        for category in categories:
            GRAMMAR[category] = rule
        return rule

    return enter


def workplace(r: Arrangement, desk: Placed | None, *, second_screen: float = 0.25) -> Placed | None:
    """What belongs to a desk that stands against a wall or another desk: chair, screen, keyboard and small things."""
    if desk is None:
        return None
    equip_desk(r, desk, second_screen=second_screen)
    return r.in_front(desk, "office chair", gap=0.04, left=float(r.rng.uniform(-0.15, 0.05)))


def equip_desk(r: Arrangement, desk: Placed, *, second_screen: float = 0.25) -> None:
    """A screen or laptop and what lies about on a desk, for someone who sits at its front."""
    if r.chance(0.75):
        if r.chance(second_screen):
            r.on_top(desk, "monitor", -0.55, 0.45)
            r.on_top(desk, "monitor", -0.55, -0.45)
        else:
            r.on_top(desk, "monitor", -0.55, 0.0)
        r.on_top(desk, "keyboard", 0.45, 0.0)
    else:
        r.on_top(desk, "laptop", 0.1, 0.0)
    extras = ("telephone", "desk lamp", "mug", "books", "potted flower", "printer")
    for side in (-0.95, 0.95):
        if r.chance(0.55):
            category = extras[int(r.rng.choice(len(extras), p=[0.22, 0.2, 0.2, 0.2, 0.13, 0.05]))]
            r.on_top(desk, category, -0.5, side)


def dining_group(r: Arrangement, table: Placed | None, seats: int, chair: str = "chair") -> None:
    """Chairs of one kind around a table, and something on it."""
    if table is None:
        return
    r.around(table, chair, seats)
    centre = ("fruit bowl", "vase", "potted flower", "bottle")
    if r.chance(0.8):
        r.on_top(table, centre[r.number(0, 3)])


def kitchen_run(r: Arrangement, edge: Edge, *, wide: bool = True, low: bool | None = None) -> list[Placed]:
    """Refrigerator, worktops, sink and stove along a wall, cupboards and a hood above."""
    front, stone = _kitchen_colors(r)
    same = {"front": front, "stone": stone}
    models: list[Model] = [r.make("refrigerator"), r.make("kitchen counter", width=0.6, **same), r.make("stove")]
    models += [r.make("kitchen counter", width=1.2 if wide else 0.6, **same), r.make("kitchen sink", **same)]
    models += [r.make("dishwasher")] if wide else []
    while models and sum(m.size[1] + 0.01 for m in models) > edge.length - 0.1:
        models.pop(1 if len(models) > 3 else -1)
    total = sum(m.size[1] + 0.01 for m in models)
    start = edge.start + 0.03 if (r.chance(0.5) if low is None else low) else edge.end - total - 0.02
    if start > edge.start + 0.1:
        models = models[::-1]
    row = [p for p in r.row(edge, start, models) if p is not None]
    for piece in row:
        _above_and_on(r, piece, front)
    return row


def _kitchen_colors(r: Arrangement) -> tuple[str, str]:
    fronts = ("#e9e7e1", "#b98d5e", "#7f8f88", "#46566b", "#d8cbb5", "#8e6240")
    stones = ("#6f6a64", "#c9c2b6", "#3f4145", "#b08d62")
    return fronts[r.number(0, len(fronts) - 1)], stones[r.number(0, len(stones) - 1)]


def _above_and_on(r: Arrangement, piece: Placed, front: str) -> None:
    category = piece.model.category
    if category == "kitchen counter":
        r.on_wall("kitchen cupboard", 1.45, above=piece, width=piece.model.size[1], front=front)
        tops = ("microwave", "kettle", "toaster", "coffee machine", "fruit bowl", "bottle", "cooking pot")
        r.on_top(piece, tops[r.number(0, len(tops) - 1)], -0.4, -0.7, height=0.9)
        if piece.model.size[1] > 0.9:
            r.on_top(piece, tops[r.number(0, len(tops) - 1)], -0.4, 0.7, height=0.9)
    elif category == "stove":
        r.on_wall("range hood", 1.55, above=piece)
        if r.chance(0.5):
            r.on_top(piece, "cooking pot", -0.4, 0.6)
    elif category == "dishwasher":
        r.on_wall("kitchen cupboard", 1.45, above=piece, width=0.6, front=front)


def best_wall(r: Arrangement, edges: Sequence[Edge] | None = None) -> Edge:
    """The longest of some walls, all by default."""
    return max(edges or r.edges, key=lambda e: e.length)


def wall_decor(r: Arrangement, pieces: Sequence[str] = ("painting", "painting", "clock"), bottom: float = 1.5) -> None:
    """Pictures and a clock where walls are free."""
    for category in pieces:
        r.on_wall(category, 1.85 if category == "clock" else bottom)


def greenery(r: Arrangement, count: int = 1) -> None:
    """Plants in corners."""
    for _ in range(count):
        r.against_wall("plant", "corner", gap=0.06)


def bins(r: Arrangement, *categories: str) -> None:
    """Bins by a wall."""
    for category in categories:
        r.against_wall(category, "any", gap=0.03)


def facing(edge: Edge) -> float:
    """Heading of someone who looks at a wall from inside."""
    return heading(edge) + np.pi
