"""NavArena's sampling in a small building: the grid, its window, headings, and successes that walls would forge."""

from collections import Counter

import numpy as np
import pytest
from hut import build

from portico.episodes import calibrate, generate, validate
from portico.episodes.grid import GridDraw, grid_points
from portico.episodes.grounds import Grounds
from portico.episodes.references import Planner, dense
from portico.episodes.sampling import Question
from portico.geometry import polyline_length
from portico.robots import embodiment
from portico.suites import parse_suite
from portico.tasks import Reference, StageSpec
from portico.tasks.predicates import Ground, predicate
from portico.world import load

TASKS = {"point": 10, "image": 10, "object": 5}


def suite_of(**changes):
    raw = {"name": "grid", "rules": "navarena", "worlds": [{"path": "hut"}], "tasks": TASKS, "difficulty": {}}
    return parse_suite(raw | changes, "test")


@pytest.fixture(scope="module")
def grounds(tmp_path_factory):
    return Grounds.of(load(build(tmp_path_factory.mktemp("w") / "hut")), embodiment("spot"))


@pytest.fixture(scope="module")
def episodes(grounds):
    return generate(grounds.world, suite_of(), space=grounds.space)


def test_grid_points_are_whole_metres_on_free_ground(grounds):
    points = grid_points(grounds, 1.0)
    assert np.array_equal(points[:, :2], np.round(points[:, :2]))
    assert grounds.space.is_free(points).all()
    assert len(np.unique(points, axis=0)) == len(points)
    free = [(x, y) for x in range(-2, 32) for y in range(-2, 12) if grounds.space.is_free(np.array([[x, y, 0.0]]))[0]]
    reached = [p for p in free if grounds.usable[grounds.space.locate(np.array([[*p, 0.0]]))[0]]]
    assert {tuple(p) for p in points[:, :2].astype(int).tolist()} == set(reached)


def test_starts_and_goals_lie_on_the_grid_and_look_one_of_six_ways(episodes):
    assert Counter(e.task for e in episodes.episodes) == TASKS
    for e in episodes.episodes:
        assert np.array_equal(e.start.position[:2], np.round(e.start.position[:2]))
        looks = [e.start.yaw_rad] + ([e.stages[0].goal_yaw_rad] if e.task == "image" else [])
        for yaw in looks:
            assert (yaw / (np.pi / 3)) == pytest.approx(round(yaw / (np.pi / 3)), abs=1e-4)
    assert len({e.start.yaw_rad for e in episodes.episodes}) > 3


def test_no_question_is_asked_twice_and_every_one_is_sound(episodes, grounds):
    asked = [(e.start.position, e.stages[0].goal, e.stages[0].category) for e in episodes.episodes if e.task != "image"]
    assert len(set(asked)) == len(asked)
    assert validate(episodes, grounds) == []
    result = calibrate(episodes, suite_of(), grounds)
    assert (result.oracle, result.stop_at_start) == (1.0, 0.0)


def test_the_same_seed_gives_the_same_episodes_whatever_else_is_asked(episodes, grounds):
    alone = generate(grounds.world, suite_of(tasks={"image": 10}), space=grounds.space)
    assert alone.episodes == [e for e in episodes.episodes if e.task == "image"]
    assert generate(grounds.world, suite_of(seed=3, tasks={"image": 10}), space=grounds.space).episodes != alone.episodes


def test_references_are_as_dense_as_records_and_end_where_success_begins(episodes, grounds):
    for e in episodes.episodes:
        path = np.array(e.reference.path)
        assert np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).max() <= 0.25 + 1e-9
        assert polyline_length(path[:, :2]) == pytest.approx(e.reference.length_m)
        goal = predicate(e.stages[0], path[0], Ground(grounds.annotations, grounds.body))
        assert goal.holds(path[-1:])[0]
        assert not goal.holds(path[:1])[0]


def test_dense_keeps_corners_and_stage_ends():
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.1, 0.0), (1.0, 0.1, 0.0), (1.0, 2.0, 0.5)]
    fine = dense(Reference(path=corners, length_m=3.0, stage_ends=[2, 4]), 0.3)
    assert all(c in fine.path for c in corners)
    assert [fine.path[k] for k in fine.stage_ends] == [corners[2], corners[4]]
    assert np.linalg.norm(np.diff(np.array(fine.path)[:, :2], axis=0), axis=1).max() <= 0.3


@pytest.mark.parametrize(("length", "reason"), [(0.99, "path shorter than 1 m"), (1.0, ""), (30.0, ""), (30.01, "path longer than 30 m")])
def test_the_window_includes_its_ends(grounds, length, reason):
    draw = GridDraw(Planner(grounds), suite_of())
    stage = StageSpec(kind="point", goal=(4.0, 4.0, 0.0), radius_m=0.5)
    there = Reference(path=[(1.0, 1.0, 0.0), (4.0, 4.0, 0.0)], length_m=length, stage_ends=[1])
    assert draw.misfit(Question("point", (1.0, 1.0, 0.0), (stage,), ""), there) == reason


def test_a_success_through_a_wall_is_told(grounds):
    """The hut's wall stands at x = 8, its door between y = 4.2 and 5.8."""
    draw = GridDraw(Planner(grounds), suite_of())
    stage = StageSpec(kind="image", goal=(8.5, 1.0, 0.0), goal_yaw_rad=0.0, radius_m=1.0)
    behind = Reference(path=[(4.0, 1.0, 0.0), (7.5, 1.0, 0.0)], length_m=3.5, stage_ends=[1])
    assert draw.misfit(Question("image", (4.0, 1.0, 0.0), (stage,), ""), behind) == "success through a wall or a floor"
    beside = Reference(path=[(10.5, 1.0, 0.0), (9.5, 1.0, 0.0)], length_m=1.0, stage_ends=[1])
    assert draw.misfit(Question("image", (10.5, 1.0, 0.0), (stage,), ""), beside) == ""


def test_a_world_without_objects_says_so(grounds):
    bare = grounds.world.__class__(**{**vars(grounds.world), "semantics": grounds.world.semantics.model_copy(update={"objects": []})})
    found = generate(bare, suite_of(tasks={"object": 3}), space=grounds.space)
    assert found.episodes == []
    assert found.rejected == {"object": {"no object in the world": 1, "quota not met": 3}}


def test_a_category_that_nobody_can_stand_beside_is_left_out(grounds):
    semantics = grounds.world.semantics
    shelf = semantics.objects[0].model_copy(update={"id": "far", "category": "comet", "center": (200.0, 0.0, 0.0)})
    world = grounds.world.__class__(**{**vars(grounds.world), "semantics": semantics.model_copy(update={"objects": [*semantics.objects, shelf]})})
    found = generate(world, suite_of(tasks={"object": 3}), space=grounds.space)
    assert {e.stages[0].category for e in found.episodes} == {"chair"}
    assert found.rejected["object"]["category with no place to stand at any centre"] == 1
