"""What holds of every measure, whatever was walked."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from little_town import BODY, MISSION, TOWN, box, episode, full_mission, mission_reference, walk
from town_scores import CONTEXT, reference, values

from portico.evaluate.measures import MEASURES, Context, Evaluation, Unscored, score, score_episode
from portico.tasks import Annotations, StageSpec
from portico.world.semantics import Building, Floor, ObjectInstance, Region, Semantics

# --- properties --------------------------------------------------------------------------------------------------------

WALKS = st.lists(st.tuples(st.floats(-12, 60), st.floats(-15, 25)), min_size=1, max_size=7)
TASKS = st.sampled_from(["i2o2i", "i2o", "exit", "outdoor", "entrance", "ovon", "object", "place", "vln", "point"])
#: Bounded in [0, 1] by definition.
RATIOS = [m.name for m in MEASURES.values() if m.unit == "" and m.name != "steps"]


def some_walk(corners, stop):
    record = walk((5.03, 4.01, 0), *[(x, y, 0) for x, y in corners], spacing=2.0)
    return replace(record, stop_steps=np.array([len(record) - 1] if stop else [], np.int32))


def finite(scores):
    return {k: v for k, v in scores.items() if not isinstance(v, Unscored)}


@settings(max_examples=80)
@given(corners=WALKS, stop=st.booleans(), task=TASKS)
def test_bounds(corners, stop, task):
    record = some_walk(corners, stop)
    scores = finite(values(task, record, reference=mission_reference() if task == "i2o2i" else reference(5.0, (5, 4, 0), (11, 4, 0))))
    assert all(np.isfinite(v) for v in scores.values())
    for name in RATIOS:
        assert 0.0 <= scores.get(name, 0.0) <= 1.0 + 1e-12, name
    assert scores["spl"] <= scores["success"] <= scores["oracle_success"]
    assert scores["full_success"] == scores["success"] <= scores["completion"]
    assert scores["min_goal_distance_m"] <= scores["navigation_error_m"]


@settings(max_examples=60)
@given(corners=WALKS, stop=st.booleans(), task=TASKS, at=st.floats(0, 1))
def test_recording_a_state_more_changes_no_geometric_measure(corners, stop, task, at):
    record = some_walk(corners, stop)
    assume(len(record) > 2)
    k = 1 + int(at * (len(record) - 2))
    others = [f.name for f in fields(record) if f.name not in ("position", "time_s", "stop_steps")]
    insert = {name: np.insert(getattr(record, name), k, getattr(record, name)[k], axis=0) for name in others}
    position = np.insert(record.position, k, 0.5 * (record.position[k - 1] + record.position[k]), axis=0)
    # A state exactly on a cell's border lies in that cell, though the path only touches it.
    assume(np.abs(position[k, :2] - np.round(position[k, :2])).min() > 1e-6)
    time_s = np.insert(record.time_s, k, 0.5 * (record.time_s[k - 1] + record.time_s[k]))
    finer = replace(record, position=position, time_s=time_s, stop_steps=record.stop_steps + 1, **insert)
    names = ("path_length_m", "navigation_error_m", "distance_compliance", "route_completion", "coverage_efficiency", "soft_success", "steps", "duration_s")
    ends_on_arrival = {"spl"} if task in ("outdoor", "i2o", "i2o2i") else set()
    path = reference(5.0, (5, 4, 0), (11, 4, 0))
    before, after = (finite(score_episode(episode(task, start=tuple(r.position[0]), reference=path), r, CONTEXT, names)) for r in (record, finer))
    for name in before.keys() - ends_on_arrival:
        if not name.startswith("stage_"):
            assert after[name] == pytest.approx(before[name], abs=1e-9), name


def moved(semantics, turn, shift):
    def spin(p):
        c, s = np.cos(turn), np.sin(turn)
        return (float(c * p[0] - s * p[1] + shift[0]), float(s * p[0] + c * p[1] + shift[1]), *map(float, p[2:]))

    buildings = [b.model_copy(update={"footprint": [spin(p) for p in b.footprint]}) for b in semantics.buildings]
    regions = [r.model_copy(update={"polygon": [spin(p) for p in r.polygon]}) for r in semantics.regions]
    objects = [o.model_copy(update={"center": spin(o.center), "yaw_rad": o.yaw_rad + turn}) for o in semantics.objects]
    places = [p.model_copy(update={"center": spin(p.center)}) for p in semantics.places]
    return semantics.model_copy(update={"buildings": buildings, "regions": regions, "objects": objects, "places": places}), spin


#: Corners off every border: which side of one a state lies on is a matter of rounding once the world is turned.
OFF_BORDER = st.lists(
    st.tuples(st.integers(-99, 499), st.integers(-120, 220)).map(lambda p: (0.12013 * p[0] + 0.00371, 0.11017 * p[1] + 0.00217)), min_size=1, max_size=7
)


@settings(max_examples=40)
@given(corners=OFF_BORDER, stop=st.booleans(), task=TASKS, turn=st.floats(-3, 3), shift=st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_where_the_world_lies_does_not_matter(corners, stop, task, turn, shift):
    record = some_walk(corners, stop)
    borders = [0, 8, 10, 12, 13, 14, 37, 40, 55, -20, 30, -10]
    assume(min(np.abs(record.position[:, :2] - b).min() for b in borders) > 1e-6)
    there, spin = moved(TOWN, turn, shift)
    stages = [s.model_copy(update={"goal": spin(s.goal)}) if s.goal else s for s in episode(task).stages]
    path = [(5.0, 4.0, 0.0), (11.0, 4.0, 0.0), (11.0, 9.0, 0.0)]
    names = [n for n in MEASURES if not n.startswith("coverage")]
    at_home = score_episode(episode(task, reference=reference(11.0, *path)), record, CONTEXT, names)
    turned = replace(record, position=np.array([spin(p) for p in record.position]))
    away = score_episode(episode(task, stages=stages, reference=reference(11.0, *[spin(p) for p in path])), turned, Context(Annotations(there), BODY), names)
    assert finite(away) == pytest.approx(finite(at_home), abs=1e-6)


def test_scoring_twice_gives_the_same_bits():
    one, two = (score(Evaluation(episode(reference=mission_reference()), full_mission(), CONTEXT)) for _ in range(2))
    assert one == two


def test_a_thousand_states_in_a_town_of_many_polygons_are_quick():
    """Guards the order of growth, not the clock: 300 buildings and 1,500 regions, a walk of 2,000 states."""
    grid = [(20.0 * i, 20.0 * j) for i in range(20) for j in range(15)]
    floors = [Floor(id="f", level=0, z_m=0, height_m=3)]
    buildings = [Building(id=f"b{k}", footprint=box(x, y, x + 9, y + 9), floors=floors) for k, (x, y) in enumerate(grid)]
    regions = [Region(id=f"r{k}", type="sidewalk", access="allowed", polygon=box(x - 3 + k % 5, y - 3, x + 12, y + 12)) for k, (x, y) in enumerate(grid * 5)]
    objects = [ObjectInstance(id=f"o{k}", category="chair", center=(x + 4, y + 4, 0.5), size=(1, 1, 1)) for k, (x, y) in enumerate(grid)]
    context = Context(Annotations(Semantics(buildings=buildings, regions=regions, objects=objects)), BODY)
    record = walk((4, 4, 0), (390, 290, 0), spacing=0.25, stops=(1,))
    scores = values("ovon", record, context, stages=[StageSpec(kind="ovon", category="chair")], max_actions=10_000, reference=reference(480.0, *MISSION))
    assert 0 < scores["distance_compliance"] <= 1
