"""Every case of every metric vector file through the product's own scoring."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from portico.evaluate.aggregate import stage_table, summarise
from portico.evaluate.labels import label_episode
from portico.evaluate.measures import MEASURES, Context, Evaluation, Unscored, path_length_m, score
from portico.tasks import Annotations, Budget, Episode, Reference, StageSpec, Start, Trajectory
from portico.world.semantics import DEFAULT_ACCESS, Building, Floor, ObjectInstance, Region, Semantics

FOLDER = Path(os.environ.get("PORTICO_VECTORS") or Path(__file__).resolve().parents[3] / "shared" / "vectors")
CASES = [(file.name, case) for file in sorted(FOLDER.glob("*.json")) for case in json.loads(file.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Disc:
    radius_m: float
    climb_m: float = 0.3


@pytest.mark.skipif(not CASES, reason="no folder of metric vectors lies beside this checkout and PORTICO_VECTORS names none")
@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[f"{name}: {c['name']}" for name, c in CASES])
def test_vector(case):
    values = aggregated(case) if case["protocol"] == "aggregate" else scored(case)
    for name, expected in case["expected"].items():
        if expected is None or isinstance(expected, str):
            assert values[name] == expected, name
        else:
            assert values[name] == pytest.approx(expected, rel=0, abs=case.get("tolerance", 1e-6)), name


def scored(case):
    evaluation = Evaluation(episode(case), trajectory(case), Context(Annotations(semantics(case)), body(case), case["protocol"]))
    values = {name: None if isinstance(v, Unscored) else v for name, v in score(evaluation).items()}
    labels = label_episode(evaluation)
    return values | {
        "failure_label": labels[0].label if labels else None,
        "first_failed_stage": None if evaluation.success else evaluation.outcome.completed + 1,
    }


def aggregated(case):
    records = [
        {"status": "failure", "measures": {k: v for k, v in r.items() if k in MEASURES}, "unscored": {}, **{k: v for k, v in r.items() if k not in MEASURES}}
        for r in case["records"]
    ]
    summary = summarise(records)
    values = {f"n_{name}": count for name, count in summary["n"].items()}
    for name, about in summary["measures"].items():
        values |= {name: about["mean"], f"{name}_strict": about["strict"]}
    return values | (stage_table(records) if all("stages" in r for r in records) else {})


def semantics(case):
    given = case.get("semantics") or {}
    buildings = [
        Building(id=b["id"], footprint=b["footprint"], floors=[Floor(**{"id": f"{b['id']}:{f['level']}", **f}) for f in b.get("floors", [])])
        for b in given.get("buildings", [])
    ]
    regions = [Region(**{"id": f"region {i}", "access": DEFAULT_ACCESS[r["type"]], **r}) for i, r in enumerate(given.get("regions", []))]
    objects = [o | ({"floor": f"{o.get('building')}:{o['floor']}"} if isinstance(o.get("floor"), int) else {}) for o in given.get("objects", [])]
    return Semantics(buildings=buildings, regions=regions, objects=[ObjectInstance(**o) for o in objects])


def body(case):
    return Disc(case.get("embodiment", {}).get("radius_m", 0.3))


def episode(case):
    rule = "navarena" if case["protocol"] == "navarena" else "navverse"
    stages = [StageSpec(**{"rule": rule, **s, **({"goal": point(s["goal"])} if "goal" in s else {})}) for s in case["stages"]]
    start = positions(case)[0]
    return Episode(
        id=case["name"],
        world="vector",
        task=case.get("task", stages[0].kind),
        embodiment="spot",
        start=Start(position=tuple(start), yaw_rad=0.0),
        stages=stages,
        reference=reference(case),
        budget=Budget(max_actions=10**9),
    )


def reference(case):
    """A length that is not finite says that the planner found no way; no episode file holds one, so it bypasses the schema."""
    given = case.get("reference")
    if given is None:
        return None
    path = [point(p) for p in given.get("path") or []]
    length = given.get("length_m", path_length_m(np.array(path), case["protocol"]) if path else 0.0)
    if length is None or not np.isfinite(length):
        return Reference.model_construct(path=path, length_m=float("inf"), stage_ends=[])
    return Reference(path=path, length_m=length, stage_ends=[])


def trajectory(case):
    given, where = case["trajectory"], positions(case)
    steps = np.arange(len(where))
    stops = given.get("stop_steps", [steps[-1]] if given.get("stop_declared") else [])
    return Trajectory(
        position=where,
        yaw_rad=np.array(given.get("yaw_rad", np.zeros(len(where))), dtype=np.float64),
        time_s=steps * float(given.get("dt_s", 0.1)),
        action=steps.astype(np.int32),
        stage=np.array(given.get("stage", np.zeros(len(where))), dtype=np.int32),
        collided=np.isin(steps, given.get("collided_steps", [])),
        stop_steps=np.array(stops, dtype=np.int32),
        moved=steps > 0,
    )


def positions(case):
    given = case["trajectory"]
    return np.array([point(p) for p in given.get("position") or given["position_lonlat"]])


def point(p):
    return (float(p[0]), float(p[1]), float(p[2]) if len(p) > 2 else 0.0)
