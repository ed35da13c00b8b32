"""Directions in words: they say what the ground says, on any path, and a lie is found out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from little_town import walk

from portico.episodes.navverse.directions import aligned, directions, disagreements
from portico.episodes.navverse.scenery import Scenery, side_of
from portico.episodes.navverse.waypoints import legs
from portico.geometry import arc_lengths, polyline_length, wrap_angle
from portico.world.semantics import ObjectInstance, Place, Portal, Room

GOAL = ObjectInstance(id="goal", category="cafe table", center=(3.0, 30.0, 0.4), size=(1, 1, 1))


def thing(name, x, y, category="bench"):
    return ObjectInstance(id=name, category=category, center=(x, y, 0.3), size=(1, 1, 1))


def scenery(*things, portals=()):
    return Scenery(tuple(portals), things, (), {t.id: t for t in (*things, GOAL)})


def said(path, yaw=0.0, *things, portals=()):
    steps = directions(np.array(path, dtype=float), yaw, GOAL, scenery(*things, portals=portals))
    return [step.text for step in steps]


def test_turns_moves_and_the_arrival():
    assert said([(0, 0, 0), (6, 0, 0), (6, 8, 0)]) == ["Go straight 6 m.", "Turn left and go 8 m.", "Stop at the cafe table ahead of you."]
    assert said([(0, 0, 0), (6, 0, 0), (6, -8, 0)], np.pi / 4)[:2] == ["Turn slightly right and go 6 m.", "Turn right and go 8 m."]
    assert said([(0, 0, 0), (6, 0, 0), (0, 1.5, 0)])[1] == "Turn sharply left and go 6 m."


def test_doors_and_stairs_are_named_on_the_leg_that_takes_them():
    door = Portal(id="d", building="b", floor="f", segment=((3.0, -1.0), (3.0, 1.0)), z_m=0.0)
    street = door.model_copy(update={"id": "s", "exterior": True, "segment": ((5.0, 3.0), (7.0, 3.0))})
    assert said([(0, 0, 0), (6, 0, 0), (6, 8, 0)], 0.0, portals=[door, street])[:2] == [
        "Go straight 6 m through the door.",
        "Turn left and go 8 m through the street door.",
    ]
    upstairs = door.model_copy(update={"z_m": 3.0})
    assert said([(0, 0, 0), (6, 0, 0), (6, 8, 3.2)], 0.0, portals=[upstairs])[:2] == ["Go straight 6 m.", "Turn left and go 9 m up the stairs."]


def test_doors_are_those_of_the_way_and_not_of_the_line_between_waypoints():
    door = Portal(id="d", building="b", floor="f", segment=((3.0, 0.3), (3.0, 1.3)), z_m=0.0)
    bent = [(0, 0, 0), (3, 0.5, 0), (6, 0, 0), (6, 8, 0)]
    assert said(bent, 0.0, portals=[door])[0] == "Go straight 6 m through the door."
    below = [(0, 0, 3.2), (3, 0.5, 3.2), (6, 0, 3.2), (6, 8, 3.2)]
    assert said(below, 0.0, portals=[door])[0] == "Go straight 6 m.", "a door of the floor below"


def test_the_room_behind_a_door_is_named_and_checked():
    door = Portal(id="d", building="b", floor="f", segment=((3.0, -1.0), (3.0, 1.0)), z_m=0.0)
    kitchen = Room(id="k", building="b", floor="f", category="kitchen", polygon=[(3, -4), (9, -4), (9, 4), (3, 4)])
    path = np.array([(0, 0, 0), (6, 0, 0), (6, 8, 0)], dtype=float)
    around = Scenery((door,), (), ((kitchen, 0.0),), {"goal": GOAL})
    steps = directions(path, 0.0, GOAL, around)
    assert steps[0].text == "Go straight 6 m through the door into the kitchen."
    assert disagreements(steps, path, 0.0, around) == []
    upstairs = Scenery((door,), (), ((kitchen, 3.2),), {"goal": GOAL})
    assert directions(path, 0.0, GOAL, upstairs)[0].text == "Go straight 6 m through the door."
    assert disagreements(steps, path, 0.0, upstairs) == ["directive 1: it says kitchen, the waypoint lies in no room"]


def test_landmarks_are_named_with_their_side_when_nothing_alike_is_near():
    path = [(0, 0, 0), (6, 0, 0), (6, 8, 0)]
    assert said(path, 0.0, thing("a", 6.0, -2.0))[0] == "Go straight 6 m, until there is a bench on your right."
    assert said(path, 0.0, thing("a", 6.0, -2.0), thing("b", 7.0, 2.0))[0] == "Go straight 6 m.", "which of the two?"
    assert said(path, 0.0, thing("a", 3.0, 0.5))[0] == "Go straight 6 m.", "behind by then"
    assert said(path, 0.0, thing("a", 6.0, -2.0, "cafe table"))[0] == "Go straight 6 m.", "it would pass for the goal"
    assert said(path, 0.0, thing("a", 8.0, 0.0, "office"))[0] == "Go straight 6 m, until there is an office building ahead of you."


def test_what_a_wall_hides_is_no_landmark():
    kitchen = Room(id="k", building="b", floor="ground", category="kitchen", polygon=[(3, -4), (9, -4), (9, 1), (3, 1)])
    above = Room(id="u", building="b", floor="upper", category="kitchen", polygon=kitchen.polygon)
    path = np.array([(0, 0, 0), (6, 0, 0), (6, 8, 0)], dtype=float)

    def told(*things, outdoors=False):
        around = scenery(*things)
        floor_at = (lambda point: "") if outdoors else (lambda point: "ground" if point[2] < 3.0 else "upper")
        around = Scenery((), around.landmarks, ((above, 3.2), (kitchen, 0.0)), around.by_id, floor_at)
        steps = directions(path, 0.0, GOAL, around)
        assert disagreements(steps, path, 0.0, around) == []
        return steps, around

    assert told(thing("here", 6.0, -2.0))[0][0].landmark == "here"
    assert told(thing("next door", 6.0, 2.5))[0][0].landmark is None
    assert told(thing("next door", 6.0, 2.5), thing("here", 6.0, -3.0, "lamp"))[0][0].landmark == "here"
    hung = ObjectInstance(id="hung", category="clock", center=(6.0, -2.0, 1.9), size=(0.3, 0.1, 0.3))
    assert told(hung)[0][0].landmark == "hung"
    assert told(hung.model_copy(update={"center": (6.0, -2.0, 3.5 + 0.15)}))[0][0].landmark is None, "on the floor above"
    shop = Place(id="shop", category="cafe", name="Cafe", center=(6.0, -2.0, 1.0))
    assert told(shop)[0][0].landmark is None
    assert told(shop, outdoors=True)[0][0].landmark == "shop"
    steps, _ = told(thing("here", 6.0, -2.0))
    _, around = told(thing("here", 6.0, -2.0), thing("next door", 6.0, 2.5, "chair"))
    steps[0] = steps[0].model_copy(update={"landmark": "next door", "text": "Go straight 6 m, until there is a chair on your left."})
    assert disagreements(steps, path, 0.0, around) == ["directive 1: next door is not in sight"]


def test_the_house_that_one_comes_out_of_is_no_landmark():
    door = Portal(id="d", building="b", floor="f", segment=((3.0, -1.0), (3.0, 1.0)), z_m=0.0, exterior=True)
    house = Place(id="h", category="school", name="School", building="b", center=(6.0, -2.0, 1.0), entrance="d")
    path = [(0, 0, 0), (6, 0, 0), (6, 8, 0)]
    assert said(path, 0.0, house, portals=[door])[0] == "Go straight 6 m through the street door."
    assert said(path, 0.0, house.model_copy(update={"entrance": None}), portals=[door])[0].endswith("until there is a school on your right.")


def test_wiggles_and_short_detours_are_not_worth_a_word():
    path = [(0, 0, 0), (3, 0.3, 0), (6, 0, 0), (6.4, 0.4, 0), (6.5, 8, 0)]
    first, second, _ = said(path)
    assert first.startswith("Go straight")
    assert second.startswith("Turn left and go")


paths = st.lists(st.tuples(st.floats(-30, 30), st.floats(-30, 30)), min_size=2, max_size=9)


@settings(max_examples=150)
@given(points=paths, yaw=st.floats(-np.pi, np.pi), marks=st.lists(st.tuples(st.floats(-30, 30), st.floats(-30, 30)), max_size=6))
def test_words_and_ground_agree_on_any_path(points, yaw, marks):
    path = np.array([(x, y, 0.0) for x, y in points])
    assume((np.linalg.norm(np.diff(path, axis=0), axis=1) > 0.05).all())
    things = [thing(f"t{k}", x, y, f"kind {k}") for k, (x, y) in enumerate(marks)]
    steps = directions(path, yaw, GOAL, scenery(*things))
    assert disagreements(steps, path, yaw, scenery(*things)) == []
    assert sum(step.distance_m for step in steps) == pytest.approx(polyline_length(path))
    assert [step.arc_m for step in steps] == sorted(step.arc_m for step in steps)
    assert steps[-1].point == tuple(path[-1])


@settings(max_examples=100)
@given(points=paths, yaw=st.floats(-np.pi, np.pi))
def test_legs_join_the_ends_along_the_path(points, yaw):
    path = np.array([(x, y, 0.0) for x, y in points])
    assume((np.linalg.norm(np.diff(path, axis=0), axis=1) > 0.05).all())
    found = legs(path, yaw)
    assert (found[0].start == path[0]).all()
    assert (found[-1].end == path[-1]).all()
    along = arc_lengths(path)
    assert all(any(np.isclose(leg.end_m, m) for m in along) for leg in found)
    assert wrap_angle(yaw + sum(leg.turn_rad for leg in found) - found[-1].heading_rad) == pytest.approx(0.0, abs=1e-6)


PATH = np.array([(0, 0, 0), (6, 0, 0), (6, 8, 0), (0, 8, 0)], dtype=float)


@pytest.mark.parametrize(
    ("at", "old", "new", "words"),
    [
        (1, "left", "right", "it says right, the way turns left"),
        (1, "Turn left", "Turn sharply left", "do not fit a turn by 90 degrees"),
        (0, "6 m", "8 m", "it says 8 m, the way is 6.00 m"),
        (0, "right.", "left.", "it says on your left of lamp, which is on your right"),
        (2, "Turn left and go 6 m", "Walk on", "is no turn and move"),
        (3, "ahead of you", "on your left", "the arrival"),
    ],
)
def test_a_lie_is_found_out(at, old, new, words):
    around = scenery(thing("lamp", 6.0, -2.0))
    goal = GOAL.model_copy(update={"center": (-5.0, 8.0, 0.4)})
    around = Scenery((), around.landmarks, (), {**around.by_id, "goal": goal})
    steps = directions(PATH, 0.0, goal, around)
    assert disagreements(steps, PATH, 0.0, around) == []
    assert old in steps[at].text
    steps[at] = steps[at].model_copy(update={"text": steps[at].text.replace(old, new)})
    assert any(words in found for found in disagreements(steps, PATH, 0.0, around))


def test_directions_that_stop_short_are_found_out():
    steps = directions(PATH, 0.0, GOAL, scenery())
    assert any("before the path does" in found for found in disagreements([*steps[:2], steps[-1]], PATH, 0.0, scenery()))


@given(st.floats(-np.pi, np.pi), st.floats(-np.pi, np.pi), st.floats(0.5, 20))
def test_sides_turn_with_the_viewer(heading, bearing, far):
    point = np.array([3.0, -2.0, 0.0])
    there = point + far * np.array([np.cos(heading + bearing), np.sin(heading + bearing), 0.0])
    seen, size = side_of(point, heading, there), abs(np.rad2deg(wrap_angle(bearing)))
    assume(min(abs(size - 30.0), abs(size - 150.0), size, abs(size - 180.0)) > 1e-6)
    assert seen == ("ahead" if size < 30 else "behind" if size > 150 else "left" if wrap_angle(bearing) > 0 else "right")


def test_directives_are_tied_to_the_first_pass_of_the_rollout():
    steps = directions(PATH, 0.0, GOAL, scenery())
    rollout = walk((0, 0, 0), (6, 0, 0), (6, 8, 0), (0, 8, 0), (6, 8, 0), (0, 8, 0))
    tied = aligned(steps, rollout)
    assert [step.state for step in tied] == sorted(step.state for step in tied)
    for step in tied:
        assert np.linalg.norm(rollout.position[step.state] - np.array(step.point)) < 0.13
        assert step.time_s == rollout.time_s[step.state]
    assert [step.model_copy(update={"state": None, "time_s": None}) for step in tied] == steps


def test_a_rollout_that_cuts_a_corner_does_not_show_what_is_said():
    steps = directions(PATH, 0.0, GOAL, scenery())
    assert aligned(steps, walk((0, 0, 0), (6, 8, 0), (0, 8, 0))) is None
