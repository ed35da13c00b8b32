import numpy as np
import pytest

from portico.evaluate.measures import Context, Unscored, score_episode
from portico.tasks import Annotations, Budget, Episode, Reference, StageSpec, Start, Trajectory
from portico.tasks.episode import Flight
from portico.world import SPHERE, Semantics

ORIGIN = [8.0, 47.0]


class Disc:
    radius_m, climb_m = 0.5, 0.0


def lonlat(points):
    return [(float(lon), float(lat), 50.0) for lon, lat in SPHERE.at_offset(ORIGIN, np.array(points, float))]


def scores(way, outline, side, collided=()):
    path = np.array(lonlat(way))
    n = len(path)
    episode = Episode(
        id="e",
        world="w",
        task="boundary",
        embodiment="flyer",
        start=Start(position=tuple(path[0]), yaw_rad=0.0),
        stages=[StageSpec(kind="boundary", goal=tuple(path[-1]))],
        reference=Reference(path=lonlat(way), length_m=1.0, stage_ends=[]),
        budget=Budget(max_actions=500),
        flight=Flight(side=side, outline=[p[:2] for p in lonlat(outline)] if outline else []),
    )
    steps = np.arange(n)
    trajectory = Trajectory(
        position=path,
        yaw_rad=np.zeros(n),
        time_s=steps.astype(float),
        action=steps.astype(np.int32),
        stage=np.zeros(n, np.int32),
        collided=np.isin(steps, collided),
        stop_steps=np.array([n - 1], np.int32),
        moved=steps > 0,
    )
    return score_episode(episode, trajectory, Context(Annotations(Semantics()), Disc()), ["outline_followed", "rejected_moves", "collision_rate"])


STRAIGHT = [(10.0 * k, 0.0) for k in range(11)]
EDGE = [(0.0, 6.0), (100.0, 6.0)]


@pytest.mark.parametrize(
    ("way", "outline", "side", "share"),
    [
        (STRAIGHT, EDGE, "left", 1.0),
        (STRAIGHT, EDGE, "right", 0.0),
        (STRAIGHT[::-1], EDGE, "right", 1.0),
        (STRAIGHT, [(0.0, 25.0), (100.0, 25.0)], "left", 0.0),
        (STRAIGHT, [(0.0, 0.5), (100.0, 0.5)], "right", 1.0),
        (STRAIGHT[:6], EDGE, "left", 0.69),
    ],
)
def test_an_outline_counts_where_it_was_passed_on_its_side(way, outline, side, share):
    assert scores(way, outline, side)["outline_followed"] == pytest.approx(share, abs=0.03)


def test_flying_out_and_back_is_no_way_around():
    square = [(0, 0), (60, 0), (60, 60), (0, 60), (0, 0)]
    around = [(-6, -6), (66, -6), (66, 66), (-6, 66), (-6, -6)]
    assert scores(around, square, "left")["outline_followed"] == pytest.approx(1.0)
    assert scores([(-6, -6), (40, -6), (-6, -6)], square, "left")["outline_followed"] < 0.4


def test_without_an_outline_there_is_nothing_to_follow():
    assert scores(STRAIGHT, None, None)["outline_followed"] == Unscored("no_outline")


def test_rejected_moves_are_counted():
    found = scores([*STRAIGHT, STRAIGHT[-1], STRAIGHT[-1]], EDGE, "left", collided=[11, 12])
    assert found["rejected_moves"] == 2.0
    assert found["collision_rate"] == pytest.approx(2 / 12)
