"""Scoring as a separate, repeatable act: a record is made from a trajectory, during a run and ever after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from portico.episodes import load_episodes
from portico.errors import EpisodeError, SuiteError
from portico.evaluate.identity import read_header
from portico.evaluate.labels import label_episode
from portico.evaluate.locks import alone
from portico.evaluate.measures import MEASURES, Context, Evaluation, Unscored, score
from portico.evaluate.plan import question
from portico.evaluate.records import TIMING_FIELDS, Key, Record, read_records, write_json
from portico.evaluate.scores import extent, write_scores
from portico.evaluate.summary import summary_of
from portico.evaluate.verifications import mark_verifications
from portico.robots import Embodiment, embodiment
from portico.sim import same_plane
from portico.space import Space, cached_space
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode
from portico.tasks.trajectory import Trajectory
from portico.world import Surface, load


def scoring_context(annotations: Annotations, body: Embodiment, space: Space) -> Context:
    """The world as measures see it, with the geometry that some of them ask for."""
    # Over a satellite map nothing is in the way, and nobody stands on anything.
    grounded = len(space.nodes_xyz) > 0
    return Context(
        annotations,
        body,
        same_plane=same_plane(space),
        clearance_m=space.clearance if grounded else None,
        navigable=(lambda positions: space.locate(positions) >= 0) if grounded else None,
    )


def scored(
    key: Key, policy: str, privileged: Sequence[str], episode: Episode, trajectory: Trajectory, context: Context, measures: Collection[str] = ()
) -> Record:
    """The record of an episode: outcome, measures, labels."""
    evaluation = Evaluation(episode, trajectory, context)
    values = score(evaluation, measures)
    outcome = evaluation.outcome
    return {
        "key": key.as_dict(),
        "task": episode.task,
        "difficulty": episode.difficulty,
        "scene": episode.scene,
        "phrased": episode.phrased,
        "policy": policy,
        "privileged": list(privileged),
        "status": "success" if outcome.success else "failure",
        "reason": outcome.reason,
        "error": None,
        "stages": len(outcome.stages),
        "completed": outcome.completed,
        "surface": Surface(int(evaluation.trajectory.surface[-1])).name.lower() if evaluation.trajectory.surface[-1] else None,
        "stage_outcomes": [asdict(stage) for stage in outcome.stages],
        "measures": {name: None if isinstance(v, Unscored) else round(float(v), 9) for name, v in values.items()},
        "unscored": {name: v.reason for name, v in values.items() if isinstance(v, Unscored)},
        "labels": [{"label": x.label, "steps": list(x.steps), "text": x.text} for x in label_episode(evaluation)],
        "reference_length_m": episode.reference.length_m if episode.reference else None,
        "question": question(episode),
        "trajectory": trajectory_digest(trajectory),
    }


def trajectory_digest(trajectory: Trajectory) -> str:
    """SHA-256 over all that a trajectory holds, the same on every machine."""
    digest = hashlib.sha256()
    for f in fields(trajectory):
        column = np.ascontiguousarray(getattr(trajectory, f.name))
        digest.update(f"{f.name} {column.dtype.str} {column.shape}".encode() + column.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Rescored:
    """What scoring a run again gave: the new summary, and a line for every record that changed."""

    summary: dict[str, Any]
    scored: int
    changed: list[str]


def rescore(run_folder: Path, *, worlds: Path | None = None, watch: Callable[[int, int], None] = lambda *_: None) -> Rescored:
    """Score every trajectory of a run from scratch; writes ``scores.jsonl``, which counts from then on, and ``summary.json``.

    Args:
        worlds: folder that holds the worlds by id, when they have moved since the run.
        watch: told (records done, records) after each.

    Raises:
        SuiteError: this is no run folder, its records are of another run, a trajectory is gone, or a world is not the one that was run.
        StorageError: the disk refused.
    """
    header = read_header(run_folder)
    body = embodiment(header["suite"]["embodiment"])
    made_from = extent(run_folder)
    records = read_records(run_folder)
    again: list[Record] = []
    changed: list[str] = []
    for world_id, facts in header["worlds"].items():
        mine = {key: r for key, r in records.items() if key.world == world_id}
        again += [r for r in mine.values() if r["status"] == "error"]
        kept = {key: r for key, r in mine.items() if r["status"] != "error"}
        if not kept:
            continue
        folder = worlds / world_id if worlds else Path(facts["folder"])
        world = load(folder)
        if world.manifest.content_hash != facts["hash"]:
            raise SuiteError(
                "the world is not the one that was run",
                where=str(folder),
                why=f"hash {facts['hash'][:12]} then, {world.manifest.content_hash[:12]} now",
                next_step="point --worlds at the folder that holds the worlds of the run",
            )
        context = scoring_context(Annotations(world.semantics), body, cached_space(world, body, folder))
        episodes = {e.id: e for e in load_episodes(run_folder / "episodes" / f"{world_id}.json").episodes}
        for key, record in kept.items():
            trajectory = _recorded(run_folder / "trajectories" / f"{key.slug()}.npz")
            fresh = _again(record, episodes[key.episode], trajectory, context, header["suite"]["measures"])
            again.append(fresh)
            watch(len(again), len(records))
            changed += _differences(key, record, fresh)
    again.sort(key=Key.of)
    measures = {name: MEASURES[name].version for name in header["suite"]["measures"] or MEASURES}
    with alone(run_folder / ".lock-header"):
        write_scores(run_folder, again, made_from, measures)
        summary = summary_of(run_folder, header, records, again)
        write_json(run_folder / "summary.json", summary)
    return Rescored(summary, len(again), changed)


def _recorded(path: Path) -> Trajectory:
    """What happened in an episode.

    Raises:
        SuiteError: the file is gone or damaged.
    """
    try:
        return Trajectory.load(path)
    except EpisodeError as error:
        state = "damaged" if path.is_file() else "gone"
        step = f"{'delete it and ' if state == 'damaged' else ''}start the run again: it runs that episode once more"
        raise SuiteError(f"a trajectory is {state}", where=str(path), why=error.why if state == "damaged" else "", next_step=step) from error


def _again(record: Record, episode: Episode, trajectory: Trajectory, context: Context, measures: Collection[str]) -> Record:
    """A record scored again, with what cannot be scored again as it was: times, and what an agent said."""
    fresh = scored(Key.of(record), record["policy"], record["privileged"], episode, trajectory, context, measures)
    fresh |= {name: record[name] for name in TIMING_FIELDS if name in record}
    if "agent" in record:
        fresh["agent"] = deepcopy(record["agent"])
        mark_verifications(fresh["agent"], Evaluation(episode, trajectory, context))
    return fresh


def _differences(key: Key, before: Record, after: Record) -> list[str]:
    names = [n for n in after if n != "measures" and n in before and json.loads(json.dumps(after[n])) != before.get(n)]
    names += [n for n, v in after["measures"].items() if before["measures"].get(n) != v]
    return [f"{key.world} {key.episode}: {', '.join(names)}"] if names else []
