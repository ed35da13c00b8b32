"""Goes to a point goal by geometry alone: depth and pose make a map, the map a way, the way moves."""

from __future__ import annotations

from portico.interface import PolicySpec
from portico.policies.frontier import IMAGE_SIZE, MappingPolicy


class PointFollower(MappingPolicy):
    """Walks to the goal point over its own depth map, planning again as the map grows, and stops beside it.

    A STOP that changes nothing, as where arrival ends the stage, sends it closer.
    """

    def __init__(self) -> None:
        super().__init__(PolicySpec("point-follower", needs=frozenset({"depth", "pose"}), stages=frozenset({"point"}), image_size=IMAGE_SIZE))
