"""Runs of NavVerse's questions, written by hand: what each episode asked, and what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from portico.episodes import save_episodes
from portico.evaluate.records import Key, RecordWriter, write_json
from portico.report.runs import Run, load_run
from portico.tasks.episode import Episode, EpisodeSet, Reference, StageSpec, Start

#: id -> task, scene, L in metres.
QUESTIONS: dict[str, tuple[str, str, float]] = {
    "place-out-0": ("place", "outdoor", 8.0),
    "place-out-1": ("place", "outdoor", 20.0),
    "place-i2o-0": ("place", "indoor_to_outdoor", 14.0),
    "place-i2o-1": ("place", "indoor_to_outdoor", 30.0),
    "place-i2o-2": ("place", "indoor_to_outdoor", 40.0),
    "place-i2o-3": ("place", "indoor_to_outdoor", 48.0),
    "object-in-0": ("object", "indoor", 9.0),
    "object-in-1": ("object", "indoor", 7.0),
}
#: What became of them: reason, whether it got out, coverage before and after; None was not run.
OUTCOMES: dict[str, tuple[str, float | None, float | None, float | None] | None] = {
    "place-out-0": ("success", None, None, None),
    "place-out-1": ("wrong_goal", None, None, None),
    "place-i2o-0": ("success", 1.0, 1.0, 0.8),
    "place-i2o-1": ("wrong_goal", 1.0, 1.2, 0.4),
    "place-i2o-2": ("timeout", 0.0, None, None),
    "place-i2o-3": ("fall", 1.0, 1.4, 0.6),
    "object-in-0": ("error", None, None, None),
    "object-in-1": None,
}


def question(name: str) -> Episode:
    task, scene, length_m = QUESTIONS[name]
    return Episode(
        id=name,
        world="w",
        task=task,
        embodiment="spot",
        start=Start(position=(0.0, 0.0, 0.0), yaw_rad=0.0),
        stages=[StageSpec(kind=task, category="cafe", instruction="Go to a cafe.")],
        reference=Reference(path=[(0.0, 0.0, 0.0), (length_m, 0.0, 0.0)], length_m=length_m, stage_ends=[1]),
        scene=scene,
        phrased="category" if task == "place" else None,
    )


def record(name: str, key: Key, policy: str, outcome: tuple[str, float | None, float | None, float | None]) -> dict[str, Any]:
    reason, out, before, after = outcome
    error, won = reason == "error", reason == "success"
    measures = {
        "success": float(won),
        "spl": 0.8 * won,
        "path_length_m": 30.0,
        "duration_s": 60.0,
        "collision": float(reason == "fall"),
        "obstacle_distance_m": 1.5,
        "navigable_ratio": 0.9,
        "coverage_efficiency": 1.1,
        "reached_outdoors": out,
        "coverage_efficiency_before_exit": before,
        "coverage_efficiency_after_exit": after,
    }
    return {
        "key": key.as_dict(),
        "task": QUESTIONS[name][0],
        "policy": policy,
        "privileged": [],
        "status": "error" if error else "success" if won else "failure",
        "reason": reason,
        "error": {"where": "policy", "type": "ValueError", "message": "no depth", "traceback": ""} if error else None,
        "stages": 1,
        "completed": int(won),
        "surface": "curb" if reason == "fall" else None,
        "stage_outcomes": [],
        "measures": {} if error else measures,
        "unscored": {} if error else {n: "starts_outdoors" for n, v in measures.items() if v is None},
        "labels": [],
        "reference_length_m": QUESTIONS[name][2],
    }


def study_run(folder: Path, policy: str, *, changed: dict[str, Any] | None = None, suite: dict[str, Any] | None = None) -> Run:
    """A run folder, read back. ``changed`` replaces outcomes, ``suite`` entries of the suite."""
    made = {"name": "nv", "split": "eval", "embodiment": "spot", "budget": {}, "instructions": "category"} | (suite or {})
    header = {
        "schema_version": "portico.run/1",
        "suite": made,
        "policy": policy,
        "privileged": ["oracle"] if "oracle" in policy else [],
        "repeats": 1,
        "partial": False,
        "planned": len(QUESTIONS),
        "worlds": {"w": {"hash": "0" * 64, "folder": "nowhere"}},
        "measures": {"success": 1, "spl": 1},
        "versions": {},
    }
    folder.mkdir(parents=True)
    write_json(folder / "run.json", header)
    save_episodes(EpisodeSet(suite="nv", world="w", world_hash="0" * 64, episodes=[question(name) for name in QUESTIONS]), folder / "episodes" / "w.json")
    writer = RecordWriter(folder, 0)
    for name, outcome in {**OUTCOMES, **(changed or {})}.items():
        if outcome is not None:
            writer.append(record(name, Key("nv", "eval", "w", name), policy, outcome))
    return load_run(folder)
