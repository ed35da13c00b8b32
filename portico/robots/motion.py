"""What every robot answers with: the states that an action passed through."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from portico.geometry import Floats, Pose
from portico.interface import Action, ActionSpace, Move, PolicyFailure, Stop, Velocity, Waypoints

#: An action that goes on for longer, or leads farther, is a slip of whoever asked for it: seconds, metres.
LONGEST_S, FARTHEST_M = 3600.0, 1e7


@dataclass(frozen=True)
class State:
    """One pose passed through.

    Attributes:
        elapsed_s: since the start of the motion. collided: contact. moved: the motion was asked to translate.
        roll_rad, pitch_rad: how the body leans, zero where it cannot. clipped: more was asked for than the body or the world allows.
        surface: the ``Surface`` that matters most under and around the body, 0 where that is not known.
    """

    pose: Pose
    elapsed_s: float
    collided: bool
    moved: bool
    roll_rad: float = 0.0
    pitch_rad: float = 0.0
    clipped: bool = False
    surface: int = 0


@dataclass(frozen=True)
class Motion:
    """What an action did: the states passed through, in order, the last one being where the robot now is.

    Attributes:
        fallen: the body no longer stands [NV 6.6].
    """

    states: tuple[State, ...]
    fallen: bool = False

    @property
    def collided(self) -> bool:
        """Whether contact cut the motion short."""
        return any(s.collided for s in self.states)

    @property
    def duration_s(self) -> float:
        """Simulated time the motion took."""
        return self.states[-1].elapsed_s if self.states else 0.0


class Robot(Protocol):
    """A body in a world. One instance serves many episodes, one after the other.

    Attributes:
        pose: of the foot point now. start: where ``reset`` left it. tilt: roll and pitch now, radians, zero where nothing leans.
        actions: what it takes, and the amounts of its discrete moves.
    """

    pose: Pose
    start: Pose
    tilt: tuple[float, float]
    actions: ActionSpace

    def reset(self, pose: Pose) -> Pose:
        """Stand at a pose; returns where it then stands, z on the supporting surface.

        Raises:
            EpisodeError: it cannot stand there.
        """

    def base_matrix(self) -> Floats:
        """T_world_base now, (4, 4), the body's lean included: what cameras are mounted on."""

    def execute(self, action: Action) -> Motion:
        """Carry out an action from the current state."""


def check_action(action: Action) -> None:
    """Refuse what no body can carry out; what is only too fast, or beyond the world, is for the body to clip.

    Raises:
        PolicyFailure: a number that is not finite, or out of all proportion.
    """
    duration_s: float | None = None
    metres: list[float] = []
    numbers: list[float] = []
    match action:
        case Velocity():
            duration_s, numbers = action.duration_s, [action.vx_mps, action.vy_mps, action.wz_radps]
        case Waypoints():
            duration_s, numbers = action.duration_s, [p.yaw_rad for p in action.poses]
            metres = [v for p in action.poses for v in (p.x, p.y)]
        case Move():
            metres = [] if action.amount is None else [action.amount]
        case Stop():
            return
    if not all(isfinite(v) for v in (*numbers, *metres, duration_s or 0.0)):
        raise PolicyFailure(
            "invalid", "the action holds a number that is not finite", why=repr(action), next_step="return finite velocities, poses and durations"
        )
    if (duration_s or 0.0) > LONGEST_S or any(abs(v) > FARTHEST_M for v in metres):
        raise PolicyFailure(
            "unsupported",
            "the action goes on for too long, or leads too far",
            why=f"{action!r:.200}",
            next_step=f"return no more than {LONGEST_S:g} s and {FARTHEST_M:,.0f} m at a time",
        )
