"""Distances on the sphere that satellite worlds are measured on: one radius for motion and measurement."""

from __future__ import annotations

from portico.tasks.episode import AERIAL_TASKS, Episode
from portico.world.geodesy import EARTH_RADIUS_M, GeodesyName, great_circle_m

__all__ = ["EARTH_RADIUS_M", "great_circle_m", "measured_by"]


def measured_by(episode: Episode, geodesy: GeodesyName) -> Episode:
    """The same episode measured another way; what is not asked on a satellite map stays as it is. How to measure belongs to a run, not to a question."""
    if episode.task not in AERIAL_TASKS:
        return episode
    return episode.model_copy(update={"stages": [s.model_copy(update={"geodesy": geodesy}) for s in episode.stages]})
