"""Measures by hand-worked figures."""

import itertools
from dataclasses import replace
from math import exp, hypot

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_town import SPECS, episode, full_mission, mission_reference, walk
from town_scores import CONTEXT, reference, values

from portico.errors import UnknownName
from portico.evaluate.measures import MEASURES, Unscored, measure, path_length_m, protocol_of, score_episode, versions
from portico.evaluate.measures.coverage import cells_visited
from portico.evaluate.measures.warping import dtw_m
from portico.tasks import Reference, StageSpec
from portico.tasks.sphere import EARTH_RADIUS_M

# --- arrival -----------------------------------------------------------------------------------------------------------


def test_a_perfect_mission():
    scores = values("i2o2i", full_mission(), reference=mission_reference())
    expected = {"success": 1, "spl": 1, "completion": 1, "full_success": 1, "oracle_success": 1, "route_completion": 1, "distance_compliance": 1}
    assert {k: scores[k] for k in expected} == pytest.approx(expected)
    assert scores["navigation_error_m"] == pytest.approx(1.1)
    assert scores["stage_exit_success"] == scores["stage_ovon_success"] == 1
    assert scores["stage_exit_path_length_m"] == pytest.approx(6.5)


@pytest.mark.parametrize(("off_deg", "stops", "expected"), [(0, (1,), 1), (30, (1,), 1), (-30, (1,), 1), (31, (1,), 0), (360, (1,), 1), (0, (), 0)])
def test_pose_success_asks_for_the_heading_of_the_goal_view(off_deg, stops, expected):
    record = walk((1, 4, 0), (4.2, 4, 0), stops=stops)
    yaw = np.full(len(record.yaw_rad), SPECS["image"].goal_yaw_rad + np.deg2rad(off_deg))
    assert values("image", replace(record, yaw_rad=yaw))["pose_success"] == expected


def test_pose_success_is_of_pictures_only():
    assert values("point", walk((1, 4, 0), (5, 4, 0), stops=(1,)))["pose_success"] == Unscored("no_goal_view")


def test_stage_scores_add_up_to_the_mission():
    scores = values("i2o2i", full_mission(), reference=mission_reference())
    for name in ("path_length_m", "steps", "duration_s"):
        assert sum(scores[f"stage_{kind}_{name}"] for kind in ("exit", "outdoor", "entrance", "ovon")) == pytest.approx(scores[name])


def test_stages_after_a_failure_are_not_attempted():
    scores = values("i2o2i", walk((5, 4, 0), (9, 4, 0), stops=(1,)), reference=mission_reference())
    assert scores["completion"] == 0
    assert scores["stage_exit_success"] == 0
    assert scores["stage_outdoor_success"] == Unscored("not_attempted")


def test_what_follows_a_failed_declaration_does_not_count():
    scores = values("exit", walk((5, 4, 0), (9, 4, 0), (11.5, 4, 0), stops=(1, 2)), reference=reference(6.0))
    assert (scores["success"], scores["path_length_m"], scores["oracle_success"]) == (0, 4, 0)


def test_oracle_success_asks_for_the_state_not_for_the_declaration():
    silent = values("i2o2i", replace(full_mission(), stop_steps=np.zeros(0, np.int32)), reference=mission_reference())
    assert (silent["success"], silent["oracle_success"], silent["completion"]) == (0, 1, 0)


@pytest.mark.parametrize(("walked", "expected"), [(0.4, 1.0), (0.5, 1.0), (2.0, 0.25)])
def test_spl_of_a_reference_without_length(walked, expected):
    spec = SPECS["point"].model_copy(update={"goal": (5, 4, 0), "termination": "explicit_stop"})
    record = walk((5, 4, 0), (5 + walked / 2, 4, 0), (5, 4, 0), stops=(2,))
    assert values("point", record, stages=[spec], reference=reference(0.0))["spl"] == pytest.approx(expected)


def test_spl_without_a_way_is_unscored():
    lost = Reference.model_construct(path=[], length_m=float("inf"), stage_ends=[])
    scores = values("exit", walk((5, 4, 0), (11.5, 4, 0), stops=(1,)), reference=lost)
    assert scores["spl"] == scores["soft_spl"] == Unscored("unreachable_reference")
    assert values("exit", walk((5, 4, 0), (11.5, 4, 0), stops=(1,)))["spl"] == Unscored("no_reference")


def test_soft_success_of_a_start_at_the_goal_is_success():
    at_desk = walk((2, 2, 3.7), (2, 2, 3.7), stops=(1,))
    spec = StageSpec(kind="object", category="desk")
    assert values("object", at_desk, stages=[spec], reference=reference(1.0))["soft_success"] == 1
    assert values("object", replace(at_desk, stop_steps=np.zeros(0, np.int32)), stages=[spec], reference=reference(1.0))["soft_success"] == 0


def test_a_goal_that_does_not_exist_is_unscored_not_infinite():
    scores = values("object", walk((5, 4, 0), (6, 4, 0)), stages=[StageSpec(kind="object", category="unicorn")], reference=reference(1.0))
    for name in ("navigation_error_m", "min_goal_distance_m", "soft_success"):
        assert scores[name] == Unscored("unreachable_goal")
    assert scores["stop_distance_m"] == Unscored("no_stop")


def test_lengths_follow_the_protocol():
    stairs = np.array([[0, 0, 0], [3, 0, 4]], dtype=float)
    assert path_length_m(stairs, "navverse") == 5
    assert path_length_m(stairs, "i2o2i") == path_length_m(stairs, "navarena") == 3
    degree = np.array([[0, 0, 50], [0, 1, 90]], dtype=float)
    assert path_length_m(degree, "satnav") == pytest.approx(EARTH_RADIUS_M * np.pi / 180)


def test_protocols_follow_the_task():
    assert protocol_of(episode("i2o2i")) == "i2o2i"
    assert protocol_of(episode("object")) == "navverse"
    assert protocol_of(episode("object", stages=[StageSpec(kind="object", category="desk", rule="navarena")])) == "navarena"
    assert protocol_of(episode("route", stages=[StageSpec(kind="route", goal=(8, 48, 0))])) == "satnav"


# --- coverage ----------------------------------------------------------------------------------------------------------


def test_cells_between_two_samples_count():
    assert cells_visited(np.array([[0.5, 0.5, 0], [9.5, 0.5, 0]])).tolist() == [[k, 0] for k in range(10)]
    assert cells_visited(np.array([[0.5, 0.5], [2.5, 2.5]])).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert cells_visited(np.array([[-0.5, 0.5], [-0.5, 0.5]])).tolist() == [[-1, 0]]


points = st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=1, max_size=6)


@given(points=points)
def test_traced_cells_hold_every_sample_of_the_path(points):
    path = np.array(points)
    cells = {tuple(c) for c in cells_visited(path).tolist()}
    fine = np.concatenate([path[:1], *(np.linspace(a, b, 200) for a, b in itertools.pairwise(path))])
    off_grid = np.abs(fine - np.round(fine)).min(axis=1) > 1e-6
    assert {tuple(c) for c in np.floor(fine[off_grid]).astype(int).tolist()} <= cells


def test_coverage_before_and_after_the_exit():
    scores = values("exit", walk((5.5, 4.5, 0), (9.75, 4.5, 0), (12.5, 4.5, 0)))
    assert scores["reached_outdoors"] == 1
    assert scores["coverage_efficiency_before_exit"] == pytest.approx(6 / 4.5)
    assert scores["coverage_efficiency_after_exit"] == pytest.approx(3 / 2.5)
    assert values("exit", walk((5, 4, 0), (6, 4, 0)))["coverage_efficiency_after_exit"] == Unscored("never_outdoors")
    assert values("outdoor", walk((12, 4, 0), (12, 6, 0)))["reached_outdoors"] == Unscored("starts_outdoors")


# --- safety ------------------------------------------------------------------------------------------------------------


def test_collision_rate_counts_actions_not_states():
    n = 7
    record = walk((5, 4, 0), *[(5, 4, 0)] * (n - 1))
    record = replace(
        record,
        action=np.array([0, 1, 1, 2, 3, 4, 4], np.int32),
        moved=np.array([0, 1, 1, 1, 0, 1, 1], bool),
        collided=np.array([0, 0, 0, 1, 0, 0, 1], bool),
    )
    scores = values("exit", record)
    assert scores["collision"] == 1
    assert scores["collision_rate"] == pytest.approx(2 / 3)
    assert values("exit", replace(record, moved=np.zeros(n, bool)))["collision_rate"] == Unscored("no_attempted_motion")


def test_means_over_time_weigh_by_time():
    record = walk((5, 4, 0), (5.25, 4, 0), (5.5, 4, 0), time_s=np.array([0.0, 1.0, 4.0]))
    context = replace(CONTEXT, clearance_m=lambda p: (p[:, 0] - 5.0) * 4, navigable=lambda p: p[:, 0] < 5.4)
    scores = values("exit", record, context)
    assert scores["obstacle_distance_m"] == pytest.approx((0.5 * 1 + 1.5 * 3) / 4)
    assert scores["navigable_ratio"] == pytest.approx((1 * 1 + 0.5 * 3) / 4)
    assert values("exit", record)["obstacle_distance_m"] == Unscored("no_geometry")


def test_compliance_splits_segments_at_borders():
    across = walk((9, 4, 0), (38, 4, 0), spacing=100)
    assert values("exit", across)["distance_compliance"] == pytest.approx((3 + 1) / 28)
    indoors = walk((1, 4, 0), (9, 4, 0))
    assert values("exit", indoors)["distance_compliance"] == Unscored("no_outdoor_travel")
    standing = walk((12, 4, 0), (12, 4, 0))
    assert values("exit", standing)["distance_compliance"] == Unscored("no_outdoor_travel")


def test_compliance_above_a_buildings_top_floor_is_outdoors():
    over_the_roof = walk((5, 4, 0), (5, 4, 12.4), (5.0001, 4, 0), spacing=100)
    assert values("exit", over_the_roof)["distance_compliance"] == 0.0


# --- alignment ---------------------------------------------------------------------------------------------------------


def test_route_completion_takes_the_earliest_of_equally_near_points():
    there_and_back = reference(20, (0, 0, 0), (10, 0, 0), (0, 0, 0))
    assert values("exit", walk((0, 1, 0), (3, 1, 0)), reference=there_and_back)["route_completion"] == pytest.approx(3 / 20)
    assert values("exit", walk((0, 1, 0), (3, 1, 0)), reference=reference(0, (1, 1, 0), (1, 1, 0)))["route_completion"] == Unscored("degenerate_reference")
    assert values("exit", walk((0, 1, 0), (3, 1, 0)), reference=reference(5))["route_completion"] == Unscored("no_reference")


def test_warping_figures():
    spec = SPECS["point"].model_copy(update={"goal": (2, 0, 0)})
    bent = walk((0, 0, 0), (1, 1, 0), (2, 0, 0), stops=(2,), spacing=10)
    scores = values("point", bent, stages=[spec], reference=reference(2, (0, 0, 0), (1, 0, 0), (2, 0, 0)))
    assert scores["dtw"] == 1
    assert scores["ndtw"] == scores["sdtw"] == pytest.approx(exp(-1 / 1.5))
    coverage = (1 + exp(-1 / 0.5) + 1) / 3
    assert scores["cls"] == pytest.approx(coverage * 2 * coverage / (2 * coverage + abs(2 * coverage - 2 * hypot(1, 1))))


@pytest.mark.parametrize("spacing", [0.02, 0.1, 0.25, 1.0])
def test_who_keeps_to_a_reference_of_few_corners_is_close_to_it_however_often_it_is_recorded(spacing):
    spec, corners = SPECS["point"].model_copy(update={"goal": (6, 8, 0)}), [(0, 0, 0), (6, 0, 0), (6, 8, 0)]
    along, beside = walk(*corners, spacing=spacing), walk((0, 0, 0), (6.5, 0, 0), (6.5, 8, 0), (6, 8, 0), spacing=spacing)
    scores = values("point", along, stages=[spec], reference=reference(14, *corners))
    assert scores["ndtw"] > 0.9
    assert values("point", beside, stages=[spec], reference=reference(14, *corners))["ndtw"] < 0.9 * scores["ndtw"]


def test_standing_still_is_no_way_off_the_reference():
    spec, path = SPECS["point"].model_copy(update={"goal": (2, 0, 0)}), reference(2, (0, 0, 0), (2, 0, 0))
    rests = walk((0, 0, 0), (1, 0.2, 0), (1, 0.2, 0), (1, 0.2, 0), (2, 0, 0), spacing=0.25)
    passes = walk((0, 0, 0), (1, 0.2, 0), (2, 0, 0), spacing=0.25)
    assert values("point", rests, stages=[spec], reference=path)["dtw"] == pytest.approx(values("point", passes, stages=[spec], reference=path)["dtw"])


@pytest.mark.parametrize(("won", "length", "walked", "expected"), [(1, 3, 4.2, 0.714286), (1, 5, 5, 1), (0, 6, 2, 0), (1, 4, 3.8, 1)])
def test_navarena_spl_figures(won, length, walked, expected):
    end = (20 + walked, 20, 0)
    goal = SPECS["point"].model_copy(update={"goal": end if won else (90, 90, 0)})
    scores = values("point", walk((20, 20, 0), end, stops=(1,), spacing=100), stages=[goal], reference=reference(length))
    assert scores["spl"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("length", "walked", "d_end", "d_start", "expected"), [(3, 4.2, 0.3, 3, 0.642857), (6, 2, 4.5, 6, 0.25), (5, 7, 6, 5, 0)])
def test_navarena_soft_spl_figures(length, walked, d_end, d_start, expected):
    """A walk bent so that it is as long as asked for, on the line through the goal at its ends."""
    goal, half = SPECS["point"].model_copy(update={"goal": (d_start, 20, 0)}), 0.5 * (d_start - d_end)
    bent = walk((0, 20, 0), (half, 20 + np.sqrt((0.5 * walked) ** 2 - half**2), 0), (2 * half, 20, 0), spacing=100)
    scores = values("point", bent, stages=[goal], reference=reference(length))
    assert scores["path_length_m"] == pytest.approx(walked)
    assert scores["soft_spl"] == pytest.approx(expected, abs=1e-6)


@given(a=points, b=points)
def test_warping_agrees_with_its_slow_twin(a, b):
    a, b = np.array(a), np.array(b)
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            table[i + 1, j + 1] = np.linalg.norm(a[i] - b[j]) + min(table[i, j], table[i, j + 1], table[i + 1, j])
    assert dtw_m(a, b, False) == pytest.approx(table[-1, -1])


def test_on_the_sphere_warping_measures_arcs():
    goal = (8.0, 48.0, 50.0)
    path = [(8.0, 48.01, 50.0), goal]
    record = walk((8.0, 48.01, 50.0), (8.0, 48.01, 50.0), goal, spacing=1, stops=(2,))
    scores = values("route", record, stages=[StageSpec(kind="route", goal=goal)], reference=reference(1, *path))
    assert scores["dtw"] == pytest.approx(0, abs=1e-6)
    assert scores["spl"] == pytest.approx(1)
    assert scores["coverage_efficiency"] == scores["distance_compliance"] == Unscored("satellite_world")


def test_satnav_measures_start_to_goal_without_a_reference_path():
    goal = (8.0, 48.001, 50.0)
    record = walk((8.0, 48.0, 50.0), (8.001, 48.0005, 50.0), goal, spacing=1, stops=(2,))
    scores = values("route", record, stages=[StageSpec(kind="route", goal=goal)])
    straight = EARTH_RADIUS_M * np.deg2rad(0.001)
    assert scores["spl"] == pytest.approx(straight / scores["path_length_m"])
    at_goal = values("route", walk(goal, goal, spacing=1), stages=[StageSpec(kind="route", goal=goal)])
    assert at_goal["spl"] == 0


# --- the registry ------------------------------------------------------------------------------------------------------


def test_every_measure_defines_itself():
    for m in MEASURES.values():
        assert m.definition.endswith((".", "]")), m.name
        assert m.label == f"{m.name}@{m.version}"
    assert versions(["spl"]) == {"spl": 1}


def test_names_lead_to_measures_or_to_a_hint():
    assert measure("stage_outdoor_spl") is measure("spl@1") is MEASURES["spl"]
    with pytest.raises(UnknownName, match="spl"):
        measure("splt")


def test_only_what_was_asked_for_is_computed():
    chosen = score_episode(episode("exit"), walk((5, 4, 0), (6, 4, 0)), CONTEXT, ["success", "path_length_m"])
    assert chosen == {"success": 0.0, "path_length_m": 1.0}
