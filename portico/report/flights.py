"""Questions on satellite maps in metres, so that what draws other worlds draws them too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portico.geometry import Floats
from portico.tasks.episode import AERIAL_TASKS, Episode
from portico.tasks.trajectory import Trajectory
from portico.world import LocalFrame, World


def is_flight(episode: Episode) -> bool:
    """Whether positions are longitude, latitude and height."""
    return episode.task in AERIAL_TASKS


def frame_of(world: World | None, episode: Episode) -> LocalFrame:
    """The metric frame to draw in: the world's, or one around the start where the world is gone."""
    if world is not None and world.manifest.origin is not None:
        return world.local_frame
    lon, lat, _ = episode.start.position
    return LocalFrame(lat, lon)


def grounded(episode: Episode, frame: LocalFrame) -> Episode:
    """The episode with its places in metres, seen from above."""
    stages = [s.model_copy(update={"goal": _flat(frame, s.goal)}) if s.goal is not None else s for s in episode.stages]
    reference = episode.reference
    if reference is not None and reference.path:
        reference = reference.model_copy(update={"path": [(x, y, 0.0) for x, y in metres(frame, np.array(reference.path)).tolist()]})
    start = episode.start.model_copy(update={"position": _flat(frame, episode.start.position)})
    return episode.model_copy(update={"start": start, "stages": stages, "reference": reference})


def grounded_way(trajectory: Trajectory, frame: LocalFrame) -> Trajectory:
    """What happened, in metres, seen from above."""
    xy = metres(frame, trajectory.position)
    return replace(trajectory, position=np.column_stack([xy, np.zeros(len(xy))]))


def metres(frame: LocalFrame, lonlat: Floats) -> Floats:
    """(N, 2) metres of positions (N, 2+) in degrees."""
    local: Floats = frame.to_local(lonlat[:, 0], lonlat[:, 1])
    return local


def _flat(frame: LocalFrame, position: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y = metres(frame, np.array([position]))[0].tolist()
    return x, y, 0.0
