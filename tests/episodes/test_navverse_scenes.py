"""NavVerse's questions on a street corner: categories, windows, scenes, headings, words, verification and its reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from little_town import walk
from report_samples import corner

from portico.build import build_indoor
from portico.build.signs import TRADES
from portico.episodes import calibrate, generate, validate
from portico.episodes.grounds import Grounds
from portico.episodes.navverse import SceneDraw, scenes_of
from portico.episodes.navverse.directions import disagreements
from portico.episodes.navverse.intentions import INTENTIONS, intention
from portico.episodes.navverse.rollouts import STUCK_S, out_of_bounds, stuck, unfit
from portico.episodes.navverse.scenery import Scenery
from portico.episodes.references import Planner
from portico.episodes.verify import Verifier
from portico.evaluate.measures.evaluation import cut
from portico.geometry import polyline_length, wrap_angle
from portico.policies.privileged import OracleGoal
from portico.robots import embodiment
from portico.seeding import generator
from portico.sim import Simulator
from portico.suites import NavVerse, parse_suite
from portico.tasks.predicates import Ground, predicate
from portico.world.semantics import ObjectInstance

TASKS = {"object": {"outdoor": 2}, "place": {"outdoor": 3, "indoor_to_outdoor": 3}, "vln": {"outdoor": 2, "indoor_to_outdoor": 2}}
ASKED = {
    "name": "nv",
    "worlds": [{"path": "corner"}],
    "rules": "navverse",
    "tasks": TASKS,
    "navverse": {"tolerance_m": 1.6},
    "budget": {"max_actions": 3000, "max_time_s": 300},
}


@pytest.fixture(scope="module")
def world():
    plain = corner()
    bench = ObjectInstance(id="bench-1", category="bench", center=(34.0, -20.0, 0.4), size=(1.6, 0.5, 0.8))
    hidden = ObjectInstance(id="bench-2", category="bench", center=(-8.0, -12.0, 0.4), size=(1.6, 0.5, 0.8))
    semantics = plain.semantics.model_copy(update={"objects": [*plain.semantics.objects, bench, hidden]})
    return replace(plain, semantics=semantics)


@pytest.fixture(scope="module")
def suite():
    return parse_suite(ASKED, "test")


@pytest.fixture(scope="module")
def grounds(world):
    return Grounds.of(world, embodiment("spot"))


@pytest.fixture(scope="module")
def made(grounds, suite):
    return generate(grounds.world, suite, space=grounds.space)


def test_quotas_are_met_by_scene_and_every_episode_is_sound(made, grounds):
    counts = Counter((e.task, e.scene) for e in made.episodes)
    assert made.rejected.keys() == {f"{task} {scene}" for task in TASKS for scene in scenes_of(grounds.world)}
    assert counts == {(task, scene): n for task, scenes in TASKS.items() for scene, n in scenes.items()}
    assert validate(made, grounds) == []


def test_the_same_seed_gives_the_same_episodes(made, grounds, suite):
    again = generate(grounds.world, suite, space=grounds.space)
    assert again == made


def test_the_oracle_does_them_all_and_doing_nothing_does_none(made, suite, grounds):
    result = calibrate(made, suite, grounds)
    assert (result.oracle, result.stop_at_start) == (1.0, 0.0)


def test_the_goal_oracle_stops_where_a_stop_counts_though_it_stops_short(made, grounds):
    simulator = Simulator(grounds.world, grounds.body, space=grounds.space)
    oracle = OracleGoal()
    for e in made.episodes:
        oracle.attach(simulator, e)
        end, aim = np.array(e.reference.path[-1]), oracle._goals[0]
        goal = predicate(e.stages[0], end, Ground(grounds.annotations, grounds.body))
        assert goal.distance_m(end[None])[0] > goal.tolerance_m - 0.3, "the reference ends at the edge"
        assert goal.distance_m(aim[None])[0] <= goal.tolerance_m - 0.3
        assert grounds.space.sweep(end[None], aim[None]).reached[0]


def test_the_goal_oracle_comes_nearer_until_its_stop_counts(made, grounds):
    spec = OracleGoal.spec
    simulator = Simulator(grounds.world, grounds.body, space=grounds.space, needs=spec.needs, image_size=spec.image_size)
    # A place: seen from outside, 0.3 m short of where the reference ends is too far off.
    oracle, e = OracleGoal(), next(e for e in made.episodes if e.task == "place")
    oracle.attach(simulator, e)
    oracle._goals = [np.array(e.reference.path[-1])]
    brief, observation = simulator.reset(e)
    oracle.reset(brief)
    while observation is not None:
        observation = simulator.step(oracle.act(observation))
    assert simulator.outcome().success


def test_goals_lie_within_the_window_and_the_reference_goes_to_the_nearest(made, grounds, suite):
    for e in made.episodes:
        lengths = [goal.length_m for goal in e.goals]
        assert lengths == sorted(lengths)
        assert all(5.0 <= length <= 50.0 for length in lengths)
        path = np.array(e.reference.path)
        assert e.reference.length_m == pytest.approx(polyline_length(path)) == pytest.approx(lengths[0], abs=1e-4)
        near = predicate(e.stages[0].model_copy(update={"instances": [e.goals[0].id]}), path[0], Ground(grounds.annotations, grounds.body))
        assert near.holds(path[-1:])[0]
        assert not near.holds(path[:1])[0]
        assert near.tolerance_m == 1.6
        planned = Planner(grounds).reference(path[0], list(e.stages))
        assert planned.length_m == pytest.approx(e.reference.length_m, rel=0.02), "no instance is nearer"


def test_scenes_start_and_end_where_they_say(made, grounds):
    for e in made.episodes:
        inside = grounds.annotations.inside(np.array(e.reference.path))
        assert (inside[0] >= 0) == (e.scene != "outdoor")
        assert (inside[-1] >= 0) == (e.scene == "indoor")
        if e.scene == "indoor_to_outdoor":
            assert grounds.annotations.buildings[inside[0]].id != "cafe" or e.stages[0].category != "cafe"


def test_the_first_heading_is_about_that_of_the_next_waypoint(made):
    for e in made.episodes:
        dx, dy = np.subtract(e.reference.path[1], e.reference.path[0])[:2]
        assert abs(wrap_angle(e.start.yaw_rad - np.arctan2(dy, dx))) <= np.deg2rad(30.0) + 1e-5


def test_places_know_every_wording_and_directions_their_poses(made, grounds):
    scenery = Scenery.of(grounds.annotations, landmarks=True)
    for e in made.episodes:
        assert disagreements(e.alignment, np.array(e.reference.path), e.start.yaw_rad, scenery) == []
        assert all(step.state is not None and step.time_s is not None for step in e.alignment)
        route = " ".join(step.text for step in e.alignment)
        if e.task == "place":
            assert e.phrasings == {"category": "Go to a cafe.", "route": route, "intention": e.phrasings["intention"]}
            assert e.phrasings["intention"] in INTENTIONS["cafe"]
            assert (e.stages[0].instruction, e.phrased) == ("Go to a cafe.", "category")
        if e.task == "vln":
            assert e.stages[0].instruction == route
            assert e.stages[0].instances == [e.goals[0].id]


def test_directions_that_lie_are_a_problem_of_the_episode(made, grounds):
    told = next(e for e in made.episodes if e.task == "vln")
    lying = [told.alignment[0].model_copy(update={"text": "Turn around twice."}), *told.alignment[1:]]
    spoiled = made.model_copy(update={"episodes": [told.model_copy(update={"alignment": lying})]})
    assert [(p.code, p.text) for p in validate(spoiled, grounds)] == [("directions", "directive 1: 'Turn around twice.' is no turn and move")]


@pytest.mark.parametrize(
    ("stage", "code", "words"),
    [
        ({"kind": "vln", "instances": []}, "unknown_instance", "has no target"),
        ({"kind": "vln", "instances": ["nothing"]}, "unknown_instance", "'nothing'"),
        ({"kind": "place", "category": "caffe"}, "unknown_category", "no place of the world is; did you mean 'cafe'"),
    ],
)
def test_goals_that_the_world_lacks_are_named(made, grounds, stage, code, words):
    asked = made.episodes[0].model_copy(update={"stages": [made.episodes[0].stages[0].model_copy(update=stage)]})
    (problem,) = validate(made.model_copy(update={"episodes": [asked]}), grounds)
    assert problem.code == code
    assert words in problem.text


def test_without_landmarks_directions_keep_to_turns_and_distances(made, grounds, suite):
    plain = suite.model_copy(update={"navverse": suite.navverse.model_copy(update={"landmarks": False})})
    again = generate(grounds.world, plain, space=grounds.space)
    for a, b in zip(made.episodes, again.episodes, strict=True):
        assert (a.start, a.reference) == (b.start, b.reference)
        assert all(step.landmark is None and "door" not in step.text for step in b.alignment[:-1])
    assert any("through the street door" in step.text for e in made.episodes for step in e.alignment)


def test_the_wording_is_the_suites_and_the_questions_stay(made, grounds, suite):
    worded = suite.model_copy(update={"instructions": "intention"})
    again = generate(grounds.world, worded, space=grounds.space)
    for a, b in zip(made.episodes, again.episodes, strict=True):
        assert (a.id, a.start, a.reference, a.goals) == (b.id, b.start, b.reference, b.goals)
        assert a.task != "place" or b.stages[0].instruction == a.phrasings["intention"]


def test_indoor_episodes_stay_in_their_building(suite):
    world = build_indoor(3, program="apartments", floors=1)
    grounds = Grounds.of(world, embodiment("spot"))
    indoors = suite.model_copy(update={"tasks": {"object": {"indoor": 3}, "vln": {"indoor": 2}, "place": {"indoor": 1, "outdoor": 9}}})
    found = generate(world, indoors, space=grounds.space)
    assert Counter(e.task for e in found.episodes) == {"object": 3, "vln": 2}
    assert found.rejected["place indoor"] == {"no category has a goal": 1, "quota not met": 1}
    assert "place outdoor" not in found.rejected, "a building alone has no streets"
    for e in found.episodes:
        assert (grounds.annotations.inside(np.array(e.reference.path)) == 0).all()
        assert grounds.annotations.by_id[e.goals[0].id].building == world.semantics.buildings[0].id


def test_categories_are_drawn_evenly(grounds, suite):
    draw = SceneDraw(Planner(grounds), suite.model_copy(update={"tasks": {"vln": 40}}))
    seen = Counter(q.stages[0].category for q in islice(draw.questions("vln", "outdoor", Counter()), 60))
    assert set(seen) == {"bench", "cafe"}
    assert min(seen.values()) > 0.3 * sum(seen.values()), "two benches weigh no more than one cafe"


def test_a_world_has_the_scenes_of_its_kind(world, suite):
    assert scenes_of(world) == ("outdoor", "indoor_to_outdoor")
    assert suite.quotas("place", scenes_of(world)) == {"outdoor": 3, "indoor_to_outdoor": 3}


def rollout(made, grounds, suite):
    episode = next(e for e in made.episodes if e.task == "place" and e.scene == "outdoor")
    verifier = Verifier(grounds, suite)
    assert verifier.problem(episode) == ""
    return episode, verifier.rollout, verifier._simulator.outcome()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t, o, r: (t, replace(o, reason="fall"), r), "fall"),
        (lambda t, o, r: (t, replace(o, reason="stuck"), r), "stuck"),
        (lambda t, o, r: (t, replace(o, reason="out_of_bounds"), r), "out of bounds"),
        (lambda t, o, r: (replace(t, position=t.position - [0, 0, 9.0]), o, r), "out of bounds"),
        (lambda t, o, r: (cut(t, 0, len(t) // 2), o, r), "no oracle success"),
        (lambda t, o, r: (replace(t, time_s=t.time_s * 0.01), o, r), "too quick"),
        (lambda t, o, r: (t, o, r.model_copy(update={"longest_s": float(t.time_s[-1]) - 0.01})), "too slow"),
        (lambda t, o, r: (t, o, r.model_copy(update={"longest_s": float(t.time_s[-1])})), ""),
        (lambda t, o, r: (t, o, r.model_copy(update={"shortest_s": float(t.time_s[-1])})), "too quick"),
        (lambda t, o, r: (t, o, r.model_copy(update={"shortest_m": polyline_length(t.position)})), "travelled too little"),
        (lambda t, o, r: (t, o, r.model_copy(update={"longest_m": polyline_length(t.position)})), "travelled too far"),
        (lambda t, o, r: (t, replace(o, completed=0, reason="wrong_goal"), r), "the oracle's stop did not count"),
    ],
)
def test_a_rollout_is_refused_for_one_reason(made, grounds, suite, change, reason):
    episode, trajectory, outcome = rollout(made, grounds, suite)
    assert unfit(episode, trajectory, outcome, grounds, suite.navverse) == ""
    trajectory, outcome, rules = change(trajectory, outcome, suite.navverse)
    assert unfit(episode, trajectory, outcome, grounds, rules) == reason


def test_standing_about_is_being_stuck():
    here = walk((0, 0, 0), (3, 0, 0), (3.1, 0, 0), (6, 0, 0))
    assert not stuck(here)
    assert not stuck(replace(here, time_s=here.time_s * 10)), "slow is not stuck"
    times = np.cumsum(np.where(np.isclose(here.position[:, 0], 3.1), STUCK_S + 1.0, 0.2))
    assert stuck(replace(here, time_s=times)), "a motion that takes so long and leads nowhere"
    idle = replace(here, position=np.tile([3.0, 0.0, 0.0], (len(here), 1)), time_s=np.arange(len(here)) * 2.0)
    assert stuck(idle)


def test_the_worlds_edge_is_out_of_bounds(grounds):
    low, high = grounds.xyz.min(axis=0), grounds.xyz.max(axis=0)
    assert not out_of_bounds(np.array([low, high]), grounds)
    assert out_of_bounds((high + np.array([1.5, 0, 0]))[None], grounds)


def test_every_trade_has_three_wishes_that_do_not_name_it():
    assert set(TRADES) <= set(INTENTIONS)
    for category, wishes in INTENTIONS.items():
        assert len(set(wishes)) >= 3
        assert not any(category in wish.lower() for wish in wishes), category
    assert intention("cafe", generator(1)) == intention("cafe", generator(1))
    assert {intention("cafe", generator(k)) for k in range(30)} == set(INTENTIONS["cafe"])
    assert "town hall" in intention("town_hall", generator(1))


def test_windows_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="shortest"):
        NavVerse(shortest_m=9.0, longest_m=3.0)
