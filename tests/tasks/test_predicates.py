"""Stage predicates at their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_town import BODY, SPECS, TOWN, Disc

from portico.errors import EpisodeError
from portico.tasks import Annotations, Ground, StageSpec, predicate, satisfied
from portico.tasks.predicates import footprint_distance_m
from portico.tasks.sphere import EARTH_RADIUS_M, great_circle_m
from portico.world.semantics import ObjectInstance, Semantics


def judge(spec, *points, ground=None):
    points = np.array(points, dtype=float)
    return satisfied(predicate(spec, points[0], ground or Ground(Annotations(TOWN), BODY)), points).tolist()


def test_exit_needs_a_crossing_and_allowed_ground():
    assert judge(SPECS["exit"], (5, 4, 0), (9.9, 4, 0), (11.5, 4, 0), (20, 4, 0)) == [False, False, True, False]
    assert judge(SPECS["exit"], (11.5, 4, 0), (12, 4, 0)) == [False, False], "a start outdoors has left nothing"


def test_exit_by_a_window_of_the_upper_floor_counts_only_once_outdoors():
    assert judge(SPECS["exit"], (5, 4, 3.2), (11.5, 4, 0)) == [False, True]


def test_exit_without_a_named_building_means_the_one_it_starts_in():
    assert judge(StageSpec(kind="exit"), (45, 5, 0), (38, 5, 0)) == [False, True]
    assert judge(StageSpec(kind="exit"), (20, 12, 0), (38, 5, 0)) == [False, False]


def test_entrance_needs_a_crossing_into_the_target():
    assert judge(SPECS["entrance"], (38, 5, 0), (39.9, 5, 0), (40.1, 5, 0)) == [False, False, True]
    assert judge(SPECS["entrance"], (45, 5, 0), (46, 5, 0)) == [False, False], "being there already is not entering"
    assert judge(SPECS["entrance"], (11, 5, 0), (5, 5, 0)) == [False, False], "the other building"


def test_outdoor_is_an_inclusive_disc_on_the_goals_plane():
    assert judge(SPECS["outdoor"], (38.5, 8.0, 0), (38.5, 8.001, 0), (38.5, 5, 0.8), (38.5, 5, 0.81)) == [True, False, True, False]


def test_a_plane_that_space_says_is_apart_is_no_arrival():
    ground = Ground(Annotations(TOWN), BODY, same_plane=lambda a, b: bool(a[1] < 5))
    assert judge(SPECS["outdoor"], (38.5, 6, 0), (38.5, 4, 0), ground=ground) == [False, True]


def test_ovon_is_reach_from_the_footprint_on_the_same_floor():
    assert judge(SPECS["ovon"], (48.2, 6, 0), (48.19, 6, 0), (48.2, 6, 20)) == [True, False, False]
    upstairs = StageSpec(kind="ovon", category="desk")
    assert judge(upstairs, (2, 4.3, 3.2), (2, 4.3, 0), (2, 4.31, 3.2)) == [True, False, False], "the desk is turned: 2 m along y"


def test_ovon_of_an_outdoor_thing_needs_its_height():
    bench = StageSpec(kind="ovon", category="bench")
    assert judge(bench, (11.5, 21, 0), (11.5, 21, 0.9)) == [True, False]


def test_object_rules_differ_in_what_they_measure_from():
    navverse = StageSpec(kind="object", category="desk")
    assert judge(navverse, (2, 4.29, 3.7), (2, 4.31, 3.7)) == [True, False], "1.0 + 0.3 beyond half the longer side"
    navarena = StageSpec(kind="object", category="desk", rule="navarena", radius_m=0.5)
    assert judge(navarena, (2, 2.5, 0), (2, 2.51, 0)) == [True, False], "from above, to the centre"


def test_navarena_radii_are_half_a_metre_for_points_and_a_metre_for_pictures_and_things():
    assert judge(StageSpec(kind="point", goal=(5, 4, 0)), (5.5, 4, 0), (5.51, 4, 0)) == [True, False]
    assert judge(SPECS["image"], (6, 4, 0), (6.01, 4, 0)) == [True, False]
    assert judge(StageSpec(kind="object", category="desk", rule="navarena"), (2, 3, 0), (2, 3.01, 0)) == [True, False]


def test_no_instance_means_never_and_an_infinite_distance():
    spec = StageSpec(kind="object", category="unicorn")
    assert judge(spec, (0, 0, 0)) == [False]
    assert predicate(spec, np.zeros(3), Ground(Annotations(Semantics()), BODY)).distance_m(np.zeros((2, 3))).tolist() == [np.inf, np.inf]


def test_goal_distances_of_stages_in_the_street():
    ground = Ground(Annotations(TOWN), BODY)
    here = np.array([[5.0, 4.0, 0.0], [20.0, 4.0, 0.0]])
    distances = {kind: predicate(SPECS[kind], here[0], ground).distance_m(here).tolist() for kind in ("exit", "entrance", "ovon")}
    assert distances == {"exit": [5.0, 6.0], "entrance": [35.0, 20.0], "ovon": pytest.approx([np.hypot(44.5, 1.5), np.hypot(29.5, 1.5)])}


@pytest.mark.parametrize(
    "spec", [StageSpec(kind="point"), StageSpec(kind="image"), StageSpec(kind="ovon"), StageSpec(kind="object"), StageSpec(kind="entrance", building="Z")]
)
def test_a_stage_that_lacks_its_goal_says_so(spec):
    with pytest.raises(EpisodeError):
        predicate(spec, np.zeros(3), Ground(Annotations(TOWN), BODY))


def lonlat(east_m, north_m=0.0):
    return (8.0 + np.rad2deg(east_m / EARTH_RADIUS_M / np.cos(np.deg2rad(48.0))), 48.0 + np.rad2deg(north_m / EARTH_RADIUS_M), 50.0)


def test_satellite_goals_are_strict_discs_on_the_sphere():
    spec = StageSpec(kind="route", goal=lonlat(100), radius_m=10)
    assert judge(spec, lonlat(0), lonlat(89.9), lonlat(90.1)) == [False, False, True]


def test_a_loop_must_depart_beyond_twice_the_radius_first():
    spec = StageSpec(kind="boundary", goal=lonlat(2))
    assert judge(spec, lonlat(0), lonlat(19.9), lonlat(0)) == [False] * 3
    assert judge(spec, lonlat(0), lonlat(20.1), lonlat(13), lonlat(0)) == [False, False, False, True]


@given(east=st.floats(-500, 500), north=st.floats(-500, 500))
def test_great_circles_agree_with_the_tangent_plane_nearby(east, north):
    distance = great_circle_m(np.array(lonlat(0)), np.array(lonlat(east, north)))
    assert distance == pytest.approx(np.hypot(east, north), abs=1e-4 * (1 + abs(east) + abs(north)))


@given(x=st.floats(-5, 5), y=st.floats(-5, 5), yaw=st.floats(-7, 7), turn=st.floats(-7, 7))
def test_footprint_distance_turns_with_the_world(x, y, yaw, turn):
    c, s = np.cos(turn), np.sin(turn)
    item = ObjectInstance(id="o", category="c", center=(1, 2, 0), size=(2, 0.5, 1), yaw_rad=yaw)
    turned = ObjectInstance(id="o", category="c", center=(c * 1 - s * 2, s * 1 + c * 2, 0), size=(2, 0.5, 1), yaw_rad=yaw + turn)
    here = footprint_distance_m(np.array([[x, y]]), item)
    there = footprint_distance_m(np.array([[c * x - s * y, s * x + c * y]]), turned)
    assert there == pytest.approx(here, abs=1e-9)


def test_a_bigger_robot_reaches_further():
    ground = Ground(Annotations(TOWN), Disc(radius_m=0.6))
    assert judge(SPECS["ovon"], (47.9, 6, 0), ground=ground) == [True]


def test_a_place_is_reached_within_the_tolerance_of_its_ball_in_space():
    bakery = StageSpec(kind="place", category="bakery")
    # Its middle is at (5, 0, 0), its size 1 m: 0.5 of ball, 1.0 of reach and 0.3 of body.
    assert judge(bakery, (5, -1.8, 0), (5, -1.81, 0), (5, 0, 1.8), (5, 0, 1.81)) == [True, False, True, False]
    wide = bakery.model_copy(update={"tolerance_m": 1.6})
    assert judge(wide, (5, -2.1, 0), (5, -2.11, 0)) == [True, False]


def test_directions_lead_to_the_one_instance_that_they_name():
    town = TOWN.model_copy(update={"objects": [*TOWN.objects, ObjectInstance(id="bench-2", category="bench", center=(30, 20, 0.25), size=(1.5, 0.5, 0.5))]})
    ground = Ground(Annotations(town), BODY)
    directed = StageSpec(kind="vln", category="bench", instances=["bench-2"])
    assert judge(directed, (11.5, 20, 0), (30, 20, 0), ground=ground) == [False, True]
    assert judge(StageSpec(kind="vln", instances=["p"]), (5, 0, 0)) == [True], "a place may be the target too"
    assert judge(StageSpec(kind="object", category="bench", instances=["bench-2"]), (11.5, 20, 0), (30, 20, 0), ground=ground) == [False, True]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (StageSpec(kind="vln", category="bench"), "has no target"),
        (StageSpec(kind="vln", instances=["nothing"]), "'nothing'"),
        (StageSpec(kind="place"), "names no category"),
    ],
)
def test_a_goal_that_cannot_be_meant_is_refused(spec, words):
    with pytest.raises(EpisodeError, match=words):
        judge(spec, (5, 4, 0))
