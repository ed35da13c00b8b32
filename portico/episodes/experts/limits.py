"""How an expert may move: NavArena's limits, and a robot's own where they are lower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from portico.robots import Embodiment


class Motion(NamedTuple):
    """What the kernels read of ``Limits``: metres, radians, seconds."""

    speed: float
    acceleration: float
    jerk: float
    lateral: float
    turn: float
    turn_acceleration: float
    dt: float


@dataclass(frozen=True)
class Limits:
    """Limits of an expert's motion, sampled every ``dt_s``. The figures are those of NavArena's generator [NA].

    Attributes:
        speed_mps, acceleration_mps2, jerk_mps3: along the way. lateral_mps2: across it, in curves.
        turn_radps, turn_radps2: of the heading.
        dt_s: one step. goal_m: how near to its goal an expert ends.
        heading_rad: how near to the heading that was asked for; NavArena gives none, this is ours [P].
    """

    speed_mps: float = 0.45
    acceleration_mps2: float = 0.25
    jerk_mps3: float = 0.4
    lateral_mps2: float = 0.25
    turn_radps: float = 0.8
    turn_radps2: float = 0.6
    dt_s: float = 0.05
    goal_m: float = 0.3
    heading_rad: float = 0.1

    def __post_init__(self) -> None:
        if not all(value > 0.0 for value in vars(self).values()):
            raise ValueError("limits of motion are positive")

    @staticmethod
    def of(body: Embodiment) -> Limits:
        """NavArena's limits, lowered to what a robot can do."""
        own = Limits()
        return Limits(speed_mps=min(own.speed_mps, body.max_speed_mps), turn_radps=min(own.turn_radps, body.max_turn_radps))

    def motion(self) -> Motion:
        """For the kernels."""
        return Motion(self.speed_mps, self.acceleration_mps2, self.jerk_mps3, self.lateral_mps2, self.turn_radps, self.turn_radps2, self.dt_s)
