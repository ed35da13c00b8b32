"""The parts of what a policy declares about itself, see ``portico.interface.PolicySpec``. Metres, radians, seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

ActionKind = Literal["stop", "move", "waypoints", "velocity"]
#: In which form a policy can take what it is asked for.
GoalForm = Literal["instruction", "category", "image", "point", "route"]
#: Shortcuts of published evaluation loops that no observation can give.
Privilege = Literal["navmesh", "true_pose", "true_labels", "goal_distance", "forced_stop"]


@dataclass(frozen=True)
class DepthRange:
    """How a policy reads depth.

    Attributes:
        per_metre: its number for one metre. min_m, max_m: what it can tell apart.
        outside: what a pixel beyond that range becomes on the way to it.
    """

    per_metre: float = 1.0
    min_m: float = 0.0
    max_m: float = inf
    outside: Literal["kept", "zero", "clipped"] = "kept"


@dataclass(frozen=True)
class Emits:
    """One kind of action that a policy returns, in its own amounts.

    Attributes:
        step_m, turn_rad: amounts of its moves; None takes the ActionSpace's.
        horizon: waypoints in one decision. executed: how many are carried out before the next one.
        native: what the model itself says, and how that becomes the action.
    """

    kind: ActionKind
    step_m: float | None = None
    turn_rad: float | None = None
    horizon: int = 1
    executed: int = 1
    native: str = ""


@dataclass(frozen=True)
class StopRule:
    """Whether a policy declares stages complete by itself, and what counts as its declaration."""

    declares: bool = True
    rule: str = ""


@dataclass(frozen=True)
class History:
    """Who keeps past frames, whether every frame is needed or only those decided on, and how many are kept (None: all)."""

    owner: Literal["policy", "client"] = "policy"
    every_step: bool = True
    length: int | None = None


@dataclass(frozen=True)
class Timing:
    """How often a policy is meant to decide (None: whenever asked), and after how long a command of its runs out."""

    decides_hz: float | None = None
    expires_s: float | None = None


@dataclass(frozen=True)
class MadeFor:
    """The body that a policy was trained for; a mismatch is recorded, nothing is rescaled. None: any."""

    radius_m: float | None = None
    height_m: float | None = None
    slides: bool | None = None
