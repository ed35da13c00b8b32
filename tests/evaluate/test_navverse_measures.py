"""NavVerse's measures against their definitions written out plainly [NV 6.5]."""

from itertools import pairwise
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from little_town import BODY, TOWN, episode, walk

from portico.evaluate.measures import Context, protocol_of, score_episode
from portico.tasks import Annotations, Reference, StageSpec

BAKERY, LENGTH_M = TOWN.places[0], 12.0
STAGES = {
    "place": StageSpec(kind="place", category="bakery"),
    "vln": StageSpec(kind="vln", instances=["p"]),
    "object": StageSpec(kind="object", category="desk"),
}
CONTEXT = Context(Annotations(TOWN), BODY, clearance_m=lambda p: 1.0 + 0.1 * p[:, 0], navigable=lambda p: p[:, 1] > 0.0)


def scores(task, record, context=CONTEXT):
    start = tuple(record.position[0])
    reference = Reference(path=[start, (5.0, 0.0, 0.0)], length_m=LENGTH_M, stage_ends=[1])
    return score_episode(episode(task, start=start, stages=[STAGES[task]], reference=reference, max_actions=10_000), record, context)


def plain(task, record):
    """SR, SPL, SoftSPL, NE, OS, CE and CR as the source has them, one loop each."""
    goal = BAKERY if task != "object" else next(o for o in TOWN.objects if o.id == "desk")
    points = [tuple(p) for p in record.position]

    def d(p):
        return max(0.0, sqrt(sum((a - b) ** 2 for a, b in zip(p, goal.center, strict=True))) - 0.5 * max(goal.size[0], goal.size[1]))

    tolerance = 1.0 + BODY.radius_m
    executed = sum(sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))) for p, q in pairwise(points))
    stopped = len(record.stop_steps) > 0 and record.stop_steps[-1] == len(points) - 1
    success = float(stopped and d(points[-1]) <= tolerance)
    soft = max(0.0, 1.0 - d(points[-1]) / d(points[0])) if d(points[0]) > 0.0 else success
    ratio = LENGTH_M / max(LENGTH_M, executed)
    return {
        "success": success,
        "spl": success * ratio,
        "soft_success": soft,
        "soft_spl": soft * ratio,
        "navigation_error_m": d(points[-1]),
        "oracle_success": float(min(map(d, points)) <= tolerance),
        "path_length_m": executed,
        "collision": float(any(record.collided)),
    }


corners = st.lists(st.tuples(st.floats(-15, 15), st.floats(-15, 15), st.floats(0, 4)), min_size=1, max_size=5)


@settings(max_examples=60)
@example(task="object", way=[(0.0, 0.0, 0.0), (0.0, 0.0, 1.1125369292536007e-308)], stops=False, bump=0)
@given(task=st.sampled_from(sorted(STAGES)), way=corners, stops=st.booleans(), bump=st.integers(0, 300))
def test_every_measure_is_what_the_source_says(task, way, stops, bump):
    record = walk(*way, stops=(len(way) - 1,) if stops else ())
    record.collided[bump:] |= np.arange(bump, max(bump, len(record.collided))) == bump
    found = scores(task, record)
    for name, expected in plain(task, record).items():
        assert found[name] == pytest.approx(expected, abs=1e-9), name
    assert found["spl"] <= found["success"] + 1e-12


def test_lengths_are_in_space_and_so_is_the_goal_distance():
    record = walk((5, 4, 0), (5, 4, 3), (5, 0, 3), stops=(2,))
    found = scores("place", record)
    assert found["path_length_m"] == pytest.approx(7.0)
    assert found["navigation_error_m"] == pytest.approx(3.0 - 0.5)
    assert found["success"] == 0.0


def test_coverage_is_cells_of_a_metre_per_metre():
    record = walk((0.5, 0.5, 0), (4.5, 0.5, 0), (0.5, 0.5, 0))
    assert scores("place", record)["coverage_efficiency"] == pytest.approx(5 / 8.0), "the way back covers nothing new"


def test_clearance_and_surface_are_means_over_time():
    record = walk((0.0, 2.0, 0.0), (4.0, 2.0, 0.0))
    found = scores("place", record)
    assert found["obstacle_distance_m"] == pytest.approx(1.2), "1.0 at the start, 1.4 at the end"
    assert found["navigable_ratio"] == 1.0


def test_the_protocol_of_places_and_directions_is_navverses():
    assert [protocol_of(episode(task, stages=[STAGES[task]])) for task in ("place", "vln", "object")] == ["navverse"] * 3


def test_distance_is_to_the_nearest_of_several_instances():
    town = TOWN.model_copy(update={"places": [BAKERY, BAKERY.model_copy(update={"id": "q", "center": (40.0, 0.0, 0.0)})]})
    record = walk((30.0, 0.0, 0.0), (38.5, 0.0, 0.0), stops=(1,))
    found = scores("place", record, Context(Annotations(town), BODY))
    assert found["success"] == 1.0
    assert found["navigation_error_m"] == pytest.approx(hypot(1.5, 0.0) - 0.5)
