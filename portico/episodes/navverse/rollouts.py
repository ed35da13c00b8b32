"""What the rollout of an episode must show for it to be asked [NV 8.2]."""

from __future__ import annotations

import numpy as np

from portico.episodes.grounds import Grounds
from portico.geometry import Floats, polyline_length
from portico.suites import NavVerse
from portico.tasks.episode import Episode
from portico.tasks.machine import Outcome
from portico.tasks.predicates import Ground, predicate, satisfied
from portico.tasks.trajectory import Trajectory

#: A robot that stays within so much for so long, and has not ended the episode, is stuck [P].
STUCK_M, STUCK_S = 0.25, 15.0
#: A robot this far beyond the world's edges, or below its lowest ground, is out of bounds [P].
OUT_OF_BOUNDS_M = 1.0


def unfit(episode: Episode, trajectory: Trajectory, outcome: Outcome, grounds: Grounds, rules: NavVerse) -> str:
    """Why a rollout does not verify its episode, "" when it does; the first reason that applies, in fixed words.

    Besides what the source asks for, the oracle's STOP must have counted: a suite is calibrated by it.
    """
    if outcome.reason == "fall":
        return "fall"
    if outcome.reason == "out_of_bounds" or out_of_bounds(trajectory.position, grounds):
        return "out of bounds"
    if outcome.reason == "stuck" or stuck(trajectory):
        return "stuck"
    goal = predicate(episode.stages[0], trajectory.position[0], Ground(grounds.annotations, grounds.body))
    if not bool(satisfied(goal, trajectory.position).any()):
        return "no oracle success"
    duration_s = float(trajectory.time_s[-1] - trajectory.time_s[0])
    if not rules.shortest_s < duration_s <= rules.longest_s:
        return "too quick" if duration_s <= rules.shortest_s else "too slow"
    travelled_m = polyline_length(trajectory.position)
    if not rules.shortest_m < travelled_m < rules.longest_m:
        return "travelled too little" if travelled_m <= rules.shortest_m else "travelled too far"
    return "" if outcome.success else "the oracle's stop did not count"


def out_of_bounds(positions: Floats, grounds: Grounds) -> bool:
    """Whether any of the positions (N, 3) is off the world."""
    low, high = grounds.xyz.min(axis=0) - OUT_OF_BOUNDS_M, grounds.xyz.max(axis=0) + OUT_OF_BOUNDS_M
    return bool(((positions < low) | (positions > high)).any())


def stuck(trajectory: Trajectory) -> bool:
    """Whether some stretch of time went by almost without motion."""
    first = 0
    for k in range(len(trajectory)):
        while trajectory.time_s[k] - trajectory.time_s[first] > STUCK_S:
            if float(np.ptp(trajectory.position[first : k + 1, :2], axis=0).max()) < STUCK_M:
                return True
            first += 1
    return False
