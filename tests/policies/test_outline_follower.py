"""The baseline of satellite maps: what it reads, and that it gets around a pond, along a road and past a map's edge."""

import numpy as np
import pytest

pytest.importorskip("rasterio")

from sky import crossroads

from portico.evaluate.episode import run_episode
from portico.interface import ActionSpace
from portico.policies import create
from portico.policies.flight_words import understood
from portico.robots import Flyer, embodiment
from portico.sim import Simulator
from portico.tasks import Budget, Episode, StageSpec, Start
from portico.world import SPHERE

MOVES = ActionSpace(step_m=10.0)


def fly(text, kind, start, yaw, goal, policy="outline-follower"):
    world, body = crossroads(), embodiment("flyer")
    chosen = create(policy)
    simulator = Simulator(world, body, track="aerial", needs=chosen.spec.needs, robot=Flyer(world, body, MOVES))
    places = [(*SPHERE.at_offset([8.0, 47.0], np.array(p, float)).tolist(), 50.0) for p in (start, goal)]
    episode = Episode(
        id="e",
        world=world.id,
        task=kind,
        embodiment="flyer",
        start=Start(position=places[0], yaw_rad=yaw),
        stages=[StageSpec(kind=kind, goal=places[1], instruction=text)],
        budget=Budget(max_actions=200),
    )
    return run_episode(simulator, chosen, episode, key="e", seed=1)


@pytest.mark.parametrize(
    ("text", "steps", "side", "around"),
    [
        (
            "Follow the road ahead for about 210 m. Then turn left onto the road and follow the road for about 120 m. Stop there.",
            [(0, 210), (90, 120)],
            "",
            False,
        ),
        ("River 80 m, right road 120 m, stop.", [(0, 80), (-90, 120)], "", False),
        ("Proceed straight for 260 m to the hall. Turn right by 50 degrees and proceed 180 m to the tank.", [(0, 260), (-50, 180)], "", False),
        ("From pond ahead to car park, bear left to blue hall. Stop.", [(0, None), (40, None)], "", False),
        ("Keep the pond on your right and follow its edge all the way around", [(0, None)], "right", True),
        ("Once around pond, left side. Stop at start.", [(0, None)], "left", True),
    ],
)
def test_numbers_turns_and_sides_are_read(text, steps, side, around):
    words = understood(text)
    assert [(s.turn_deg, s.distance_m) for s in words.steps] == steps
    assert (words.side, words.around) == (side, around)


def test_it_turns_at_the_crossing_and_stops_down_the_road():
    rollout = fly(
        "Follow the road ahead for about 150 m. Then turn left onto the road and follow the road for about 100 m. Stop there.",
        "route",
        (-150, 0),
        0.1,
        (0, 100),
    )
    assert rollout.outcome.success


def test_it_flies_around_a_pond_and_comes_back():
    rollout = fly("Fly once around the pond with it on your left, and stop when you are back where you started.", "boundary", (-110, 62), 0.0, (-110, 62))
    assert rollout.outcome.success
    away = SPHERE.distance_m(rollout.trajectory.position, rollout.trajectory.position[0])
    assert away.max() > 80.0


def test_at_the_edge_of_the_map_it_turns_and_gives_up_in_the_end():
    rollout = fly("Follow the road ahead for about 900 m. Stop there.", "route", (150, 0), 0.0, (0, 220))
    assert rollout.trajectory.collided.any()
    assert rollout.outcome.reason == "failed_declaration"


def test_it_sees_nothing_but_pictures_and_its_own_way():
    assert create("outline-follower").spec.beyond("aerial") == frozenset()
    assert create("privileged/reference-follower").spec.beyond("aerial") == {"oracle"}
