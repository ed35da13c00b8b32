"""Thirty worked examples of SatNav's rules, through the product's own scoring; those that pin its radii use its geodesy."""

from dataclasses import replace

import numpy as np
import pytest

from portico.errors import EpisodeError, StorageError
from portico.evaluate.measures import Context, Unscored, path_length_m, score_episode
from portico.evaluate.satnav_log import aggregate, episode_key, episode_seed, mend_log, read_results, selected
from portico.geometry import Pose
from portico.policies.privileged.reference_follower import greedy_choice
from portico.robots import embodiment
from portico.robots.flyer import agent_pose, footprint_radius_m
from portico.tasks import Annotations, Budget, Episode, Reference, StageSpec, Start, Trajectory
from portico.tasks.predicates import ReachLocation, opened
from portico.world import SATNAV, SPHERE, Geodesy, GeoPose, Semantics
from portico.world.geodesy import great_circle_m, yaw_of

S = (0.0, 0.0)
#: Metres per degree on SatNav's sphere, at 48 degrees north.
PER_DEGREE = 111194.92664


class Disc:
    radius_m, climb_m = 0.5, 0.0


def lonlat(point):
    e, n = point[:2]
    return (8.0 + e / (PER_DEGREE * np.cos(np.deg2rad(48.0))), 48.0 + n / PER_DEGREE, float(point[2]) if len(point) > 2 else 50.0)


def fly(goal, way, *, kind="boundary", reference=None, stop=True, limit=500, geodesy="satnav"):
    """Scores of a way through points (metres), steps of 10 m and less in between."""
    points = [np.array(way[0], dtype=float)]
    for corner in way[1:]:
        corner = np.array(corner, dtype=float)
        begin, length = points[-1], np.linalg.norm(corner - points[-1])
        points += [begin + t * (corner - begin) / length for t in [*np.arange(10.0, length - 1e-9, 10.0), length]]
    where = np.array([lonlat(p) for p in points])
    steps = np.arange(len(where) + bool(stop))
    where = np.vstack([where, where[-1:]]) if stop else where
    path = [lonlat(p) for p in (reference if reference is not None else [S, goal])]
    episode = Episode(
        id="vector",
        world="w",
        task=kind,
        embodiment="flyer",
        start=Start(position=tuple(where[0]), yaw_rad=0.0),
        stages=[StageSpec(kind=kind, goal=lonlat(goal), geodesy=geodesy)],
        reference=Reference(path=path, length_m=0.0, stage_ends=[]) if path else None,
        budget=Budget(max_actions=limit),
    )
    trajectory = Trajectory(
        position=where,
        yaw_rad=np.zeros(len(where)),
        time_s=steps.astype(float),
        action=steps.astype(np.int32),
        stage=np.zeros(len(where), np.int32),
        collided=np.zeros(len(where), bool),
        stop_steps=np.array([len(where) - 1] if stop else [], np.int32),
        moved=np.ones(len(where), bool),
    )
    values = score_episode(episode, trajectory, Context(Annotations(Semantics()), Disc()))
    return {k: None if isinstance(v, Unscored) else v for k, v in values.items()}


@pytest.fixture(autouse=True)
def exact(monkeypatch, request):
    """The examples are exact to the metre; SatNav's own float32 moves positions by up to half a metre, which one test shows."""
    if "float32" not in request.node.name:
        heights = Geodesy.distance_m

        def distance_m(self, a, b):
            a, b = np.asarray(a, float), np.asarray(b, float)
            flat = great_circle_m(a, b, self.radius_m)
            return np.hypot(flat, a[..., 2] - b[..., 2]) if self.name == "satnav" and a.shape[-1] > 2 and b.shape[-1] > 2 else heights(self, a, b)

        monkeypatch.setattr(Geodesy, "distance_m", distance_m)


def expect(values, tolerance=2e-3, **wanted):
    names = {"NE": "navigation_error_m", "PL": "path_length_m", "S": "success", "OS": "oracle_success", "SPL": "spl"}
    for short, value in wanted.items():
        assert values[names[short]] == pytest.approx(value, abs=max(tolerance, tolerance * abs(value))), short


@pytest.mark.parametrize(
    ("number", "goal", "way", "more", "wanted"),
    [
        (1, (100, 0), [S, (100, 0)], {}, {"NE": 0, "PL": 100, "S": 1, "OS": 1, "SPL": 1}),
        (2, (100, 0), [S, (0, 12.5), (100, 12.5), (100, 0)], {}, {"PL": 125, "S": 1, "SPL": 0.8}),
        (3, (100, 0), [S, (89.5, 0)], {}, {"NE": 10.5, "S": 0, "OS": 0, "SPL": 0}),
        (5, (100, 0), [S, (130, 0)], {}, {"NE": 30, "PL": 130, "S": 0, "OS": 1, "SPL": 0}),
        (6, (100, 0), [S, (100, 0)], {"stop": False, "limit": 10}, {"S": 0, "OS": 1, "SPL": 0}),
        (7, (100, 0), [S, (91, 0)], {}, {"NE": 9, "PL": 91, "S": 1, "SPL": 1}),
        (8, (9.9, 0), [S], {}, {"S": 0, "OS": 0}),
        (9, (9.9, 0), [S, (0, 30), S], {"reference": [S, (0, 30), (9.9, 0)]}, {"S": 1, "OS": 1, "NE": 9.9, "PL": 60, "SPL": 1}),
        (10, (10.02, 0), [S], {}, {"S": 0, "OS": 0}),
        (11, (29, 0), [S, (29, 0)], {"kind": "landmark"}, {"NE": 0, "S": 0, "OS": 0}),
        (12, (31, 0), [S, (10, 0)], {"kind": "landmark"}, {"NE": 21, "S": 1, "OS": 1, "SPL": 1}),
        (13, S, [S, (19.99, 0), S], {}, {"S": 0, "OS": 0}),
        (14, S, [S, (30, 0), S], {"reference": [S, (30, 0), S]}, {"S": 1, "OS": 1, "PL": 60, "SPL": 1}),
        (15, S, [S, (40, 0), S], {"reference": [S, (40, 0), (40, 40), (0, 40), S]}, {"S": 1, "PL": 80, "SPL": 1}),
        (16, S, [S, (40, 0), (40, 40), (0, 40), (0, 9), (0, 15)], {"reference": [S, (40, 0), (40, 40), (0, 40), S]}, {"NE": 15, "PL": 157, "S": 0, "OS": 1}),
        (17, (100, 0), [S, (100, 0)], {"reference": [S]}, {"SPL": 1}),
        (17, S, [S, (30, 0), S], {"reference": [S]}, {"S": 1, "SPL": 0}),
        (18, (100, 0, 53), [(0, 0, 50), (96, 0, 50)], {}, {"NE": 5, "S": 1}),
        (18, (100, 0, 62), [(0, 0, 50), (100, 0, 50)], {}, {"NE": 12, "S": 0}),
    ],
)
def test_ways_are_scored_as_satnav_does(number, goal, way, more, wanted):
    expect(fly(goal, way, **more), **wanted)


def test_9_the_reference_length_is_that_of_its_points():
    path = np.array([lonlat(p) for p in (S, (0, 30), (9.9, 0))])
    assert path_length_m(path, "satnav", Geodesy("satnav", SATNAV.radius_m)) == pytest.approx(61.591, abs=2e-3)


def test_4_the_radius_itself_is_outside():
    class Exactly(Geodesy):
        def distance_m(self, a, b):
            return np.full(np.asarray(a).shape[:-1], 10.0)

    goal = ReachLocation(np.zeros(3), 10.0, np.zeros(3), Exactly("sphere", 1.0))
    assert not goal.holds(np.zeros((1, 3))).any()
    assert goal.gate(np.zeros((1, 3))) is None  # 10: nor is a start at the radius a loop


@pytest.mark.parametrize(("away_m", "leaves"), [(20.0, False), (20.001, True)])
def test_13_twice_the_radius_itself_is_no_departure(away_m, leaves):
    """Out and back: the goal, at the start, counts once it was left by more than two radii."""

    class Stubbed(Geodesy):
        def distance_m(self, a, b):
            return np.broadcast_to(np.asarray(a, float)[..., 0], np.asarray(a).shape[:-1])

    goal = ReachLocation(np.zeros(3), 10.0, np.zeros(3), Stubbed("sphere", 1.0))
    way = np.array([[0.0, 0.0, 0.0], [away_m, 0.0, 0.0], [0.0, 0.0, 0.0]])
    gate = goal.gate(way)
    assert gate is not None
    assert bool(opened(*gate)[-1]) == leaves


def test_19_haversine():
    a, b = np.array([116.3974, 39.9093]), np.array([116.4074, 39.9093])
    assert great_circle_m(a, b, SATNAV.radius_m) == pytest.approx(852.933, abs=1e-3)
    assert great_circle_m(np.array([0.0, 90.0]), np.array([0.0, 0.0]), SATNAV.radius_m) == pytest.approx(10_007_543.398, abs=1e-3)


def test_19_height_counts_in_float32_too():
    assert SATNAV.distance_m([8.0, 48.0, 0.0], [8.0, 48.0, 500.0]) == pytest.approx(500.0)
    assert SPHERE.distance_m(np.array([8.0, 48.0, 0.0]), np.array([8.0, 48.0, 500.0])) == 0.0


@pytest.mark.parametrize(("heading", "place", "measured"), [(0.0, (8.0, 48.000089831), 9.98880), (90.0, (8.000134251, 48.0), 9.98881)])
def test_20_one_step_in_mercator(heading, place, measured):
    lon, lat = SATNAV.moved(8.0, 48.0, yaw_of(heading), 10.0)
    assert (lon, lat) == pytest.approx(place, abs=1e-9)
    assert great_circle_m(np.array([8.0, 48.0]), np.array([lon, lat]), SATNAV.radius_m) == pytest.approx(measured, abs=2e-5)


def test_21_relative_pose():
    start = GeoPose(8.0, 48.0, 50.0, yaw_of(90.0))
    ahead = GeoPose(*SPHERE.moved(8.0, 48.0, start.yaw_rad, 10.0), 50.0, start.yaw_rad)
    assert agent_pose(ahead.relative_to(start)) == pytest.approx((10.0, 0.0, 0.0, 1.0), abs=1e-4)
    turned = GeoPose(ahead.x, ahead.y, 50.0, yaw_of(90.0 + 6 * 15.0))
    assert agent_pose(turned.relative_to(start)) == pytest.approx((10.0, 0.0, 1.0, 0.0), abs=1e-4)
    assert isinstance(ahead.relative_to(start), Pose)


@pytest.mark.parametrize(("height_m", "hfov_deg", "width_m"), [(50.0, 90.0, 100.0), (100.0, 90.0, 200.0), (50.0, 60.0, 57.74)])
def test_22_footprint(height_m, hfov_deg, width_m):
    camera = replace(embodiment("flyer").cameras[0], hfov_rad=np.deg2rad(hfov_deg))
    assert height_m * camera.width / camera.focal_px == pytest.approx(width_m, abs=5e-3)
    assert footprint_radius_m(camera, height_m) == pytest.approx(width_m / np.sqrt(2.0), abs=5e-3)  # 70.71 m at 50 m and 90 degrees


@pytest.mark.parametrize(
    ("distance", "error_deg", "forward_before", "choice"),
    [
        (50, 7.5, False, "forward"),
        (50, 8, False, "turn_right"),
        (50, 11, True, "forward"),
        (50, 12, True, "turn_right"),
        (15, -15, False, "forward"),
        (15, -16, False, "turn_left"),
        (10, 90, False, "arrived"),
        (50, 180, False, "turn_right"),
    ],
)
def test_23_follower(distance, error_deg, forward_before, choice):
    assert greedy_choice(distance, np.deg2rad(error_deg), forward_before, 10.0) == choice


def test_24_shards():
    keys = [f"s::a::{n}" for n in range(7)]
    assert [selected(keys, rank=r, ranks=3) for r in range(3)] == [keys[0::3], keys[1::3], keys[2::3]]
    assert selected(keys, limit=0) == []
    with pytest.raises(EpisodeError, match="duplicate"):
        selected([*keys, keys[0]])
    with pytest.raises(EpisodeError, match="scene_id"):
        episode_key("s", "a::b", "1")


def test_25_order_is_that_of_texts():
    keys = [episode_key("v", scene, n) for scene in ("A-1", "A-2", "A-10") for n in ("1", "2", "10")]
    assert [k.removeprefix("v::") for k in selected(keys)][:6] == ["A-10::1", "A-10::10", "A-10::2", "A-1::1", "A-1::10", "A-1::2"]


@pytest.mark.parametrize(
    ("base", "key", "seed"),
    [(0, "val_seen::Geneva-1::7", 14447936141798052206), (17, "test::scene-a::1", 10095634285158993248), (123, "val_seen::scene::42", 11244791884263433366)],
)
def test_26_seeds(base, key, seed):
    assert episode_seed(base, key) == seed


def test_27_aggregate():
    records = [
        {"episode_key": "a", "status": "ok", "metrics": {"success": 1, "spl": 0.8}},
        {"episode_key": "b", "status": "ok", "metrics": {"success": 0, "spl": 0.0}},
        {"episode_key": "c", "status": "error", "metrics": {}},
        {"episode_key": "a", "status": "ok", "metrics": {"success": 0, "spl": 0.0}},
    ]
    assert aggregate(records) == {
        "status": "completed_with_errors",
        "record_count": 4,
        "unique_record_count": 3,
        "ok_episode_count": 2,
        "error_episode_count": 1,
        "metrics": {"success": 0.0, "spl": 0.0},
    }


def test_28_torn_logs(tmp_path):
    log = tmp_path / "rank_00000" / "episodes.jsonl"
    log.parent.mkdir()
    log.write_text('{"episode_key": "a", "status": "ok", "metrics": {"success": 1}}\n{"episode_key": "b", "sta')
    with pytest.raises(StorageError, match="damaged"):
        read_results(tmp_path)
    assert mend_log(log) == ["a"]
    assert aggregate(read_results(tmp_path))["metrics"] == {"success": 1.0}


def test_float32_moves_a_stop_at_the_edge():
    exact = fly((100, 0), [S, (90.3, 0)], geodesy="sphere")
    single = fly((100, 0), [S, (90.3, 0)], geodesy="satnav")
    assert exact["navigation_error_m"] != pytest.approx(single["navigation_error_m"], abs=0.02)
