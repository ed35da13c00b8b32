"""The same judgement from a record: a trajectory through the stage machine, as if it were happening."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.machine import Outcome, StageMachine, ends_on_arrival
from portico.tasks.predicates import BodySize, SamePlane
from portico.tasks.trajectory import Trajectory


def replay(
    episode: Episode,
    trajectory: Trajectory,
    annotations: Annotations,
    body: BodySize,
    *,
    same_plane: SamePlane | None = None,
    arrives: Callable[[StageSpec], bool] = ends_on_arrival,
) -> Outcome:
    """Judge a recorded trajectory: positions, declarations and budget count; its ``stage`` column is not trusted.

    States after the end of the episode are not judged. A record that stops early ends as ``incomplete``.

    Raises:
        EpisodeError: a stage names what the world does not have.
    """
    machine = StageMachine(episode, annotations, body, same_plane=same_plane, arrives=arrives)
    machine.start(trajectory.position[0])
    cut = _last_affordable(episode, trajectory)
    seen = 0
    for stop in np.sort(trajectory.stop_steps[trajectory.stop_steps <= cut]):
        machine.update(trajectory.position[seen + 1 : stop + 1])
        seen = max(seen, int(stop))
        machine.declare_stop()
        if machine.done:
            break
    machine.update(trajectory.position[seen + 1 : cut + 1])
    if trajectory.fallen[cut]:
        machine.end("fall")
    machine.spend(int(trajectory.action[cut]), float(trajectory.time_s[cut]))
    machine.end("incomplete")
    return machine.outcome()


def _last_affordable(episode: Episode, trajectory: Trajectory) -> int:
    """Index of the state at which the body fell or the budget is found to be spent, else of the last one: the budget is checked after whole actions."""
    spent = trajectory.action >= episode.budget.max_actions
    if episode.budget.max_time_s is not None:
        spent = spent | (trajectory.time_s > episode.budget.max_time_s)
    whole = np.append(np.diff(trajectory.action) != 0, True)
    over = np.flatnonzero((spent & whole) | trajectory.fallen)
    return int(over[0]) if len(over) else len(trajectory) - 1
