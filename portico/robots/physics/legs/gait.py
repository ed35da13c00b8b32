"""When which foot is in the air: a trot whose diagonal pairs take turns, and standing still on all four."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

#: Legs fl and hr lead, fr and hl follow half a period later.
OFFSETS = np.array([0.0, 0.5, 0.5, 0.0])


class Gait(NamedTuple):
    """Timing of a trot.

    Attributes:
        swing_s: a foot is in the air for this long. stance_s: and on the ground for this long, more than in the air, so that the pairs overlap.
    """

    swing_s: float = 0.2
    stance_s: float = 0.22

    @property
    def period_s(self) -> float:
        """From lift-off to the next lift-off of the same foot."""
        return self.swing_s + self.stance_s


@njit(cache=True, nogil=True)
def leg_phase(phase, leg):  # type: ignore[no-untyped-def]
    """Where a leg is in its period, 0 to 1, for the phase of the gait; it lifts off at 0."""
    p = phase + OFFSETS[leg]
    return p - np.floor(p)


@njit(cache=True, nogil=True)
def all_down(phase, swing_share):  # type: ignore[no-untyped-def]
    """Whether all feet are on the ground at a phase, when a foot is in the air for that share of its period."""
    return leg_phase(phase, 0) >= swing_share and leg_phase(phase, 1) >= swing_share


@njit(cache=True, nogil=True, forceinline=True)
def gait_period(gait):  # type: ignore[no-untyped-def]
    """Seconds of a period, for compiled code."""
    return gait.swing_s + gait.stance_s
