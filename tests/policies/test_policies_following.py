"""Directions carried out in the toy world, and the belief over where they lead."""

from __future__ import annotations

import numpy as np
import pytest
from toy_world import ToyWorld, house, run, stage_of

from portico.geometry import Pose
from portico.policies import create
from portico.policies.directions import parse_directions
from portico.policies.way_belief import Ground, believe

NAMES = {1: "wall", 7: "sofa", 8: "bench"}
_NOTHING = np.zeros((0, 2))


def open_ground() -> ToyWorld:
    world = ToyWorld()
    world.add(-30.0, -30.0, -0.5, 60.0, 60.0, 0.0)
    return world


def test_turns_and_distances_are_walked_on_open_ground():
    stage = stage_of("vln", instruction="Go straight 6 m. Turn left and go 5 m. Stop at the bench ahead of you.")
    result = run(open_ground(), create("instruction-follower"), Pose(0.0, 0.0), stage, max_actions=120)
    end = result.poses[-1]
    assert result.stopped
    # A plain turn is anything from 60 to 135 degrees, straight ahead up to 20 off: any of that is what the words say.
    turned = np.rad2deg(np.arctan2(end.y, end.x - 6.0))
    assert 35.0 < turned < 155.0
    assert np.hypot(end.x - 6.0, end.y) == pytest.approx(5.0, abs=2.0)


def test_walls_tell_which_way_the_words_mean():
    stage = stage_of("vln", instruction="Go straight 4 m through the door. Stop at the sofa on your left.")
    # The door is ahead to the right; whoever went straight would end at the wall.
    result = run(house(), create("instruction-follower"), Pose(6.5, 3.2, 0.0, 3.0), stage, max_actions=120)
    end = result.poses[-1]
    assert result.stopped
    assert end.x < 3.7


def test_of_two_alike_the_one_that_the_words_lead_to():
    world = open_ground()
    world.add(2.5, -4.5, 0.0, 3.5, -3.5, 0.5, 8)
    world.add(5.5, 7.0, 0.0, 6.5, 7.5, 0.5, 8)
    stage = stage_of("vln", instruction="Go straight 6 m. Turn left and go 6 m. Stop at the bench ahead of you.")
    result = run(world, create("instruction-follower?detector=semantic"), Pose(0.0, 0.0), stage, categories=NAMES, max_actions=150)
    end = result.poses[-1]
    assert result.stopped
    assert np.hypot(end.x - 6.0, end.y - 7.25) - 0.5 < 1.3


def test_a_category_alone_is_searched_for():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    result = run(world, create("instruction-follower?detector=semantic"), Pose(7.0, 3.5), stage_of("object", category="sofa"), categories=NAMES)
    assert result.stopped


def test_words_that_say_nothing_end_in_a_stop_nearby():
    result = run(open_ground(), create("instruction-follower"), Pose(0.0, 0.0), stage_of("vln", instruction="Off you go!"), max_actions=150)
    assert result.stopped


def _ground(wall_x: float | None = None) -> Ground:
    """40 x 40 m of known ground around the origin, perhaps with a wall across it that has a gap at y = 4."""
    n = 400
    solid = np.zeros((n, n), np.bool_)
    if wall_x is not None:
        j = int((wall_x + 20.0) / 0.1)
        solid[:, j : j + 2] = True
        solid[int(23.5 / 0.1) : int(24.5 / 0.1), j : j + 2] = False
    return Ground(-20.0, -20.0, 0.1, solid, ~solid, np.ones((n, n), np.bool_), np.zeros((n, n), np.bool_))


def _believe(text: str, ground: Ground, seen=lambda name: _NOTHING):
    return believe(parse_directions(text).steps, Pose(0.0, 0.0), np.random.default_rng(3), ground, seen)


def test_guesses_go_through_the_gap_in_a_wall():
    # Ten metres at 20 to 60 degrees to the left: those at 30 degrees pass x = 7 in the gap, at y = 4.
    shares = []
    for ground in (_ground(), _ground(7.0)):
        ends = _believe("Turn slightly left and go 10 m.", ground).ends[0]
        past = ends[ends[:, 0] > 7.3]
        shares.append(np.mean(np.abs(past[:, 1] * 7.1 / past[:, 0] - 4.0) < 0.6))
    assert shares[1] > 2.0 * shares[0]
    assert shares[1] > 0.6


@pytest.mark.parametrize(("side", "sign"), [("left", -1.0), ("right", 1.0)])
def test_a_landmark_draws_the_guesses_that_have_it_on_the_right_side(side: str, sign: float):
    thing = np.array([[8.0, 1.0]])
    plain = _believe("Go straight 8 m.", _ground())
    told = _believe(f"Go straight 8 m, until there is a bench on your {side}.", _ground(), seen=lambda name: thing)
    shift = told.ends[0][:, 1].mean() - plain.ends[0][:, 1].mean()
    assert sign * shift > 0.3


def test_a_door_that_is_named_draws_the_guesses():
    ground = _ground()
    ground.lintel[int(21.0 / 0.1) : int(22.0 / 0.1), int(23.0 / 0.1) : int(23.3 / 0.1)] = True
    through = [_believe(text, ground).ends[0] for text in ("Go straight 6 m.", "Go straight 6 m through the door.")]
    shares = [np.mean(np.abs(ends[:, 1] * 3.1 / ends[:, 0] - 1.5) < 0.5) for ends in through]
    assert shares[1] > 1.5 * shares[0]


def test_the_same_words_and_seed_give_the_same_belief():
    a, b = (_believe("Go straight 5 m. Turn left and go 10 m.", _ground(7.0)) for _ in range(2))
    assert np.array_equal(a.ends, b.ends)
    assert a.mode(1) == b.mode(1)
    assert 0.0 <= a.share_near(1, *a.mode(1), 1.0) <= 1.0
