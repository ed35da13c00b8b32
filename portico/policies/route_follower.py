"""Follows a released outdoor route with a local depth map."""

from __future__ import annotations

from portico.interface import PolicySpec
from portico.policies.frontier import IMAGE_SIZE, MappingPolicy


class RouteFollower(MappingPolicy):
    """Walks the given route, around whatever its depth map shows in the way, off the road where the route is not on it."""

    def __init__(self) -> None:
        super().__init__(
            PolicySpec("route-follower", needs=frozenset({"depth", "pose", "route"}), stages=frozenset({"outdoor", "point"}), image_size=IMAGE_SIZE)
        )
