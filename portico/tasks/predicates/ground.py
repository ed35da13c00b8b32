"""What predicates judge against, and what every predicate answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from portico.geometry import Floats
from portico.tasks.annotations import Annotations, Bools

#: Reach of an object beyond the robot's own radius [NV 6.5, P].
REACH_M = 1.0
#: Two points of one navigation plane differ in height by at most the climb plus this [P].
PLANE_MARGIN_M = 0.5
#: Slack of inclusive bounds, far below any map's resolution: 4.0 - 3.5 must count as 0.5 whatever the rounding.
SLACK_M = 1e-9

SamePlane = Callable[[Floats, Floats], bool]


class BodySize(Protocol):
    """What predicates ask of an embodiment."""

    @property
    def radius_m(self) -> float:
        """Radius of its disc."""

    @property
    def climb_m(self) -> float:
        """Highest step it takes."""


@dataclass(frozen=True)
class Ground:
    """What predicates judge against.

    Attributes:
        annotations: the world's ground truth. body: the robot's sizes.
        same_plane: whether two points (3,) lie on connected surfaces, from the space; None takes any two of like height as connected.
    """

    annotations: Annotations
    body: BodySize
    same_plane: SamePlane | None = None


class Predicate(Protocol):
    """The success condition of one stage, over positions (N, 3) of the base's foot point."""

    @property
    def tolerance_m(self) -> float:
        """Goal distance that still counts as there."""

    def distance_m(self, positions: Floats) -> Floats:
        """(N,) distance to the goal; inf where there is none."""

    def holds(self, positions: Floats) -> Bools:
        """(N,) whether the momentary part is true."""

    def gate(self, positions: Floats) -> tuple[Bools, Bools] | None:
        """(N,) before and (N,) beyond the border that must be crossed; None when nothing must."""


def opened(before: Bools, beyond: Bools, *, armed: bool = False) -> Bools:
    """(N,) whether a gate stands open at each state: some earlier state was ``before``, then one up to here ``beyond``.

    ``armed`` says that a state before these was already ``before``.
    """
    seen = np.logical_or.accumulate(np.concatenate([[armed], before[:-1]]))
    passed: Bools = np.logical_or.accumulate(beyond & seen)
    return passed


def satisfied(goal: Predicate, positions: Floats) -> Bools:
    """(N,) whether a stage whose states so far are ``positions`` (N, 3) could be declared complete at each of them."""
    gate = goal.gate(positions)
    return goal.holds(positions) if gate is None else goal.holds(positions) & opened(*gate)
