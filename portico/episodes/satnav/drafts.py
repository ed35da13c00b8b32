"""A question on a map before it is an episode: a line to follow, what it goes along, and what there is to say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from portico.episodes.satnav.skies import Skies
from portico.geometry import Floats, polyline_length
from portico.suites.suite import SatNav
from portico.tasks.episode import AerialTaskName

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Leg:
    """A stretch of the way.

    Attributes:
        turn_rad: before it, counter-clockwise; 0 for the first. length_m: of it. along: what it follows ("the road", "the canal"), "" for a
            straight line. to: what it ends at, as people say it, "" where that is nothing to name.
    """

    turn_rad: float
    length_m: float
    along: str = ""
    to: str = ""


@dataclass(frozen=True)
class Draft:
    """A question in metres of the local frame.

    Attributes:
        line: (N, 2) the reference's corners. waypoints: (K, 2) its nodes. legs: in order.
        thing: what a boundary belongs to, or where a way begins; as people say it, without an article.
        side: of the flyer, on which the outline (M, 2) is kept.
        stratum: drafts of different ones take turns.
    """

    task: AerialTaskName
    subtype: str
    line: Floats
    waypoints: Floats
    legs: tuple[Leg, ...]
    thing: str = ""
    side: Side | None = None
    outline: Floats | None = None
    stratum: str = ""

    @property
    def length_m(self) -> float:
        """Of the line."""
        return polyline_length(self.line)


#: Draws drafts of one subtype for ever, or as many as there are.
Draw = Callable[[Skies, SatNav, np.random.Generator], Iterator[Draft]]
