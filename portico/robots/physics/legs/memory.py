"""What a walker is told and what it remembers from one control period to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Steps(NamedTuple):
    """How the robot steps.

    Attributes:
        feedback_s: a foot lands this many seconds of velocity error farther out.
        aim_until: share of the flight until which the landing is chosen anew; land_from: share after which touching ground ends it.
        speed, turn: largest command (ahead, aside; m/s, rad/s); rough_speed, rough_turn: ahead and turning on ground as uneven as stairs.
        accelerate: changes of the command per second (m/s^2, m/s^2, rad/s^2).
        reach_m: farthest a foot may be from its abduction joint. search_mps: speed with which a foot feels for ground.
        slide_mps: a foot on the ground that is faster than this slides: the friction counted on shrinks by ``distrust`` each period, down to
            ``least_grip``, and grows by ``trust`` per second otherwise.
    """

    feedback_s: float = 0.12
    aim_until: float = 0.45
    land_from: float = 0.5
    speed: tuple[float, float] = (1.3, 0.5)
    turn: float = 1.5
    rough_speed: float = 0.5
    rough_turn: float = 0.5
    accelerate: tuple[float, float, float] = (1.5, 1.5, 4.0)
    reach_m: float = 0.62
    search_mps: float = 0.7
    slide_mps: float = 0.15
    distrust: float = 0.93
    trust: float = 0.03
    least_grip: float = 0.24


class Memory(NamedTuple):
    """What the walker remembers from one period to the next, arrays changed in place; feet are centres, in the world."""

    phase: Floats  # (1,)
    moving: NDArray[np.bool_]  # (1,)
    idle_s: Floats  # (1,) since the command became zero
    swinging: NDArray[np.bool_]  # (4,)
    aiming: NDArray[np.bool_]  # (4,) whose landing is being chosen
    lift: Floats  # (4, 3)
    land: Floats  # (4, 3)
    apex: Floats  # (4,)
    timing: Floats  # (4, 4) of the flights
    normal: Floats  # (4, 3) of the ground under the feet
    chosen: NDArray[np.int64]  # (4,)
    wanted: Floats  # (4, 2) where balance wants the feet
    nudge: Floats  # (4, 2) added to it, metres ahead and aside
    foot: Floats  # (4, 3) where the feet are or should be
    down: NDArray[np.bool_]  # (4,) feet that carry
    anchor: Floats  # (3,) x, y, yaw to hold
    plane: Floats  # (3,) height at the anchor, slopes ahead and aside
    command: Floats  # (3,) as followed
    rough: Floats  # (1,) unevenness of the ground, metres
    firm: Floats  # (1,) 0 on slippery ground to 1
    grip: Floats  # (1,) friction that the ground seems to have
    held: Floats  # (4,) seconds for which a foot has carried
    forces: Floats  # (4, 3)
    rates: Floats  # (12,) wanted joint velocities
    rotation: Floats  # (3, 3)
    feet: Floats  # (4, 3) from the base, its axes
    jacobians: Floats  # (4, 3, 3)
    motion: Floats  # (3, 3)


def blank_memory() -> Memory:
    """All zero, all feet down."""
    shapes: dict[str, int | tuple[int, ...]] = {
        "phase": 1,
        "idle_s": 1,
        "apex": 4,
        "anchor": 3,
        "plane": 3,
        "command": 3,
        "rough": 1,
        "rates": 12,
        "grip": 1,
        "firm": 1,
        "held": 4,
    }
    shapes |= {
        "lift": (4, 3),
        "land": (4, 3),
        "foot": (4, 3),
        "forces": (4, 3),
        "feet": (4, 3),
        "normal": (4, 3),
        "timing": (4, 4),
        "wanted": (4, 2),
        "nudge": (4, 2),
    }
    shapes |= {"rotation": (3, 3), "motion": (3, 3), "jacobians": (4, 3, 3)}
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    return Memory(
        moving=np.zeros(1, np.bool_), swinging=np.zeros(4, np.bool_), aiming=np.zeros(4, np.bool_), down=np.ones(4, np.bool_), chosen=np.full(4, -1), **arrays
    )
