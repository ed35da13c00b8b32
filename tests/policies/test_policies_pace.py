"""How motion is cut into actions for each kind of body."""

from __future__ import annotations

from math import pi

import pytest

from portico.errors import PolicyRefused
from portico.interface import ActionSpace, Move, Waypoints
from portico.policies.pace import pace_of


def _space(*accepts: str) -> ActionSpace:
    return ActionSpace(accepts=frozenset({"stop", *accepts}))


def test_a_body_that_walks_on_is_streamed_to() -> None:
    action = pace_of(_space("move", "waypoints", "stream")).action(0.5, 1.0)
    assert isinstance(action, Waypoints)
    assert action.duration_s is not None
    assert action.poses[0].yaw_rad == 0.5


def test_a_body_that_stops_in_between_is_given_the_time_it_needs() -> None:
    action = pace_of(_space("move", "waypoints")).action(0.5, 0.5)
    assert isinstance(action, Waypoints)
    assert action.duration_s is None


def test_discrete_moves_turn_or_walk() -> None:
    pace = pace_of(_space("move"))
    assert pace.action(pi / 12, 0.25) == Move("turn_left")
    assert pace.action(0.0, 0.25) == Move("forward")


def test_neither_waypoints_nor_moves_is_refused() -> None:
    with pytest.raises(PolicyRefused, match="only stop, velocity are accepted"):
        pace_of(_space("velocity"))
