"""Episode sets and NavArena's navigation data, both ways."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.episodes.grounds import Grounds
from portico.episodes.navarena.metadata import SceneMeta, register, stamp
from portico.episodes.navarena.reader import TaskData, all_trajectories, read_task, task_folders
from portico.episodes.navarena.rows import SPLITS, EpisodeRow, Trajectory, yaw_of
from portico.episodes.navarena.writer import TrajectoryWriter
from portico.episodes.references import Planner
from portico.errors import EpisodeError
from portico.geometry import Floats, Pose, arc_lengths
from portico.interface import StageKind
from portico.robots import embodiment
from portico.tasks.episode import Budget, Episode, EpisodeSet, Reference, StageSpec, Start, TaskName
from portico.tasks.release import default_instruction
from portico.world import WALKABLE, ObjectInstance, World

TASK_TYPES: dict[TaskName, str] = {"point": "pointnav", "image": "imagenav", "object": "objectnav"}
GOAL_TYPES: dict[StageKind, str] = {"point": "position", "image": "image", "object": "object"}
_TASKS: dict[str, TaskName] = {task_type: task for task, task_type in TASK_TYPES.items()}
#: A set's own name for episodes in worlds that nobody trained on.
_SPLIT = "val_unseen"
_GROUP = _TOOL = "portico"
#: NavArena's evaluator: metres from the goal, and steps per episode.
_RADIUS_M, _MAX_STEPS = 0.5, 500
#: References made of trajectories: distance between points, and how far the way between two may pass beside what was driven.
_SPACING_M, _BEND_M = 0.25, 0.002


@dataclass(frozen=True)
class Converted:
    """Episodes as they were read, and what was done, line by line."""

    episodes: EpisodeSet
    lines: tuple[str, ...]


def to_navarena(
    episodes: EpisodeSet,
    dataset: Path | str,
    *,
    world: World | None = None,
    dataset_name: str = "portico",
    scene_path: str | None = None,
    split: str | None = None,
    now: datetime | None = None,
) -> tuple[str, ...]:
    """Append point, image and object episodes to a dataset's folder; says what was written and what was not.

    They get ids of their own, ``{split}_{index}``, after those that are there. What the format has no place for, budgets and
    difficulty, is left behind; embodiment, world, protocol and radius go into the run's record. There are no trajectories in an
    episode set: an expert writes them with ``TrajectoryWriter``.

    Args:
        world: of the episodes; needed for where objects stand, and for the scene's area.
        scene_path: group and scene, ``portico/{world}`` by default. split: one of ``SPLITS``; the set's own where it is one, else val_unseen.

    Raises:
        EpisodeError: there is nothing to convert, or an object goal without a world.
        StorageError: the folder cannot be written.
    """
    dataset, now = Path(dataset), now or datetime.now(UTC)
    scene_path = scene_path or f"{_GROUP}/{episodes.world}"
    split = split or (episodes.split if episodes.split in SPLITS else _SPLIT)
    chosen = [(task, [e for e in episodes.episodes if e.task == task]) for task in TASK_TYPES]
    rows = {task: [(_row(episode, world), episode) for episode in some] for task, some in chosen if some}
    if not rows:
        others = ", ".join(sorted({e.task for e in episodes.episodes})) or "nothing"
        raise EpisodeError("there is nothing to convert", where=episodes.world, why=f"the format knows point, image and object goals; the set holds {others}")
    lines = []
    for task, some in rows.items():
        folder = dataset / scene_path / TASK_TYPES[task]
        run = _run(episodes, some[0][1])
        with TrajectoryWriter(folder, dataset_name=dataset_name, scene_path=scene_path, task_type=TASK_TYPES[task], split=split, run=run, now=now) as writer:
            names = [writer.add(row) for row, _ in some]
        lines.append(f"{TASK_TYPES[task]}: {len(names)} episodes, {names[0]} to {names[-1]}")
    register(dataset, dataset_name, scene_meta(world, scene_path, [TASK_TYPES[task] for task in rows], now), now)
    left = Counter(e.task for e in episodes.episodes if e.task not in rows)
    return (*lines, *(f"left out: {n} {task} episodes, which the format does not know" for task, n in left.items()))


def _row(episode: Episode, world: World | None) -> EpisodeRow:
    stage, start = episode.stages[0], Pose(*episode.start.position, episode.start.yaw_rad)
    reference = episode.reference
    if reference is None or not reference.path:
        raise EpisodeError("an episode has no reference", where=episode.id, why="the format wants its geodesic distance", next_step="generate it again")
    end = np.array(reference.path[-1])
    if stage.kind == "object":
        item = _object(episode, world, end)
        goal, category, object_id = Pose(*item.center), item.category, item.id
    else:
        if stage.goal is None:
            raise EpisodeError("an episode has no goal", where=episode.id, next_step="give its stage a goal")
        goal, category, object_id = Pose(*stage.goal, stage.goal_yaw_rad or 0.0), None, None
    # References end where the stage does, at the edge of the success circle; the format measures to the goal itself.
    rest = float(np.linalg.norm((goal.position - end)[:2]))
    return EpisodeRow(
        start,
        goal,
        GOAL_TYPES[stage.kind],
        reference.length_m + rest,
        goal_turned=stage.goal_yaw_rad is not None,
        instruction=stage.instruction,
        object_category=category,
        object_id=object_id,
    )


def _object(episode: Episode, world: World | None, end: Floats) -> ObjectInstance:
    """The object that the reference leads to: of the category's the nearest to its end (3,)."""
    stage = episode.stages[0]
    if world is None:
        raise EpisodeError("where the objects stand is not known", where=episode.id, why="the format wants a position", next_step="give --world too")
    items = [o for o in world.semantics.objects if o.category == stage.category and stage.building in (None, o.building)]
    if not items:
        raise EpisodeError(f"the world has no {stage.category}", where=episode.id, next_step="give the world that the episodes were made in")
    return min(items, key=lambda o: float(np.linalg.norm(np.array(o.center) - end)))


def _run(episodes: EpisodeSet, first: Episode) -> dict[str, Any]:
    stage = first.stages[0]
    return {
        "tool": _TOOL,
        "suite": episodes.suite,
        "seed": episodes.seed,
        "world": episodes.world,
        "world_hash": episodes.world_hash,
        "embodiment": first.embodiment,
        "termination": stage.termination,
        "success_distance": stage.radius_m,
    }


def _own_run(data: TaskData) -> dict[str, Any]:
    """The last record that this program wrote, empty when there is none."""
    own: list[dict[str, Any]] = [run for run in data.info.generation_runs if run.get("tool") == _TOOL]
    return own[-1] if own else {}


def scene_meta(world: World | None, scene_path: str, task_types: list[str], now: datetime) -> SceneMeta:
    """What a scene's file says of a world: where it comes from, its walkable area and how many objects it has; nothing of either without one."""
    name = scene_path.rsplit("/", 1)[-1]
    source: dict[str, Any] = {"dataset": scene_path.split("/", 1)[0], "original_id": name, "original_name": name}
    area, count = 0.0, 0
    if world is not None:
        kept = world.manifest.recipe.get("navarena", {}).get("source", {})
        source |= {key: kept[key] for key in source if key in kept}
        corners = world.geometry.triangles[np.isin(world.geometry.surface, sorted(WALKABLE))].astype(np.float64)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area, count = 0.5 * float(normal[:, 2].clip(0.0).sum()), len(world.semantics.objects)
    return SceneMeta(
        scene_id=name,
        scene_path=scene_path,
        navigable_area=round(area, 3),
        num_objects=count,
        task_types=task_types,
        created_date=stamp(now),
        updated_date=stamp(now),
        source=source,
    )


def from_navarena(folder: Path | str, *, scene: str | None = None, world: World | None = None, robot: str | None = None) -> Converted:
    """Read the point, image and object episodes of one scene from a dataset's, scene's or task's folder.

    Success radius and protocol are those of the run's record where this program wrote it, else NavArena's 0.5 m and explicit
    STOP; the budget is its evaluator's 500 steps. A stored expert trajectory becomes the reference path; without one the reference is
    planned in the world.

    Args:
        scene: scene_path, where the folder holds several. world: that the episodes are asked in. robot: embodiment; the record's, else spot.

    Raises:
        EpisodeError: no such data, several scenes, or a row that makes no sense; names file, episode and column.
    """
    tasks = [read_task(path) for path in task_folders(folder)]
    scenes = sorted({data.info.scene_path for data in tasks})
    if scene is None and len(scenes) > 1:
        raise EpisodeError("the data is of several scenes", where=str(folder), why=", ".join(scenes[:6]), next_step=f"choose one, e.g. --scene {scenes[0]}")
    chosen = [data for data in tasks if data.info.scene_path == (scene or scenes[0])]
    known = [data for data in chosen if data.info.task_type in _TASKS]
    if not known:
        there = ", ".join(data.info.task_type for data in chosen) or f"the scenes {', '.join(scenes[:6])}"
        raise EpisodeError("there are no point, image or object episodes", where=f"{folder}: {scene or scenes[0]}", why=f"there are {there}")
    run = _own_run(known[0])
    body = embodiment(robot or run.get("embodiment", "spot"))
    planner = Planner(Grounds.of(world, body)) if world is not None else None
    world_id = world.id if world is not None else str(run.get("world", known[0].info.scene_path.rsplit("/", 1)[-1]))
    reader = _Reader(world, world_id, body.name, planner, single=len(known) == 1)
    found = [reader.episode(data, row, trajectories.get(row["episode_id"])) for data in known for trajectories in [all_trajectories(data)] for row in data.rows]
    world_hash = world.manifest.content_hash if world is not None else str(run.get("world_hash", ""))
    episodes = EpisodeSet(
        suite=str(run.get("suite", "navarena")), split=known[0].info.split, world=world_id, world_hash=world_hash, seed=int(run.get("seed", 0)), episodes=found
    )
    lines = [f"{data.info.task_type}: {len(data.rows)} episodes of {data.info.scene_path}" for data in known]
    lines += [f"left out: {data.info.task_type}" for data in chosen if data not in known]
    lost = sum(episode.reference is None for episode in found)
    if lost:
        lines.append(f"{lost} episodes have no reference path: no trajectory is stored" + ("" if world else "; --world would plan them"))
    return Converted(episodes, tuple(lines))


@dataclass(frozen=True)
class _Reader:
    """Turns rows into episodes."""

    world: World | None
    world_id: str
    body: str
    planner: Planner | None
    single: bool

    def episode(self, data: TaskData, row: dict[str, Any], trajectory: Trajectory | None) -> Episode:
        """One episode; the instruction is the row's, or the task's usual one."""
        task = _TASKS[data.info.task_type]
        where = f"{data.folder}: {row['episode_id']}"
        start, goal = _position(row, "start_position", where), _position(row, "goal_position", where)
        run = _own_run(data)
        stage = StageSpec(
            kind=task,
            goal=None if task == "object" else goal,
            goal_yaw_rad=_yaw(row, "goal_rotation", where) if task == "image" else None,
            category=self._category(row, goal, where) if task == "object" else None,
            radius_m=run.get("success_distance") or _RADIUS_M,
            termination=run.get("termination", "explicit_stop"),
            rule="navarena" if task == "object" else "navverse",
        )
        stage = stage.model_copy(update={"instruction": row.get("instruction_text") or default_instruction(stage)})
        return Episode(
            id=row["episode_id"] if self.single else f"{task}-{row['episode_id']}",
            world=self.world_id,
            task=task,
            embodiment=self.body,
            start=Start(position=start, yaw_rad=_yaw(row, "start_rotation", where)),
            stages=[stage],
            reference=self._reference(row, start, stage, trajectory),
            budget=Budget(max_actions=_MAX_STEPS),
            extra={"navarena": {"episode_id": row["episode_id"], "scene_path": row["scene_path"], "split": row["split"]}},
        )

    def _reference(self, row: dict[str, Any], start: tuple[float, float, float], stage: StageSpec, trajectory: Trajectory | None) -> Reference | None:
        if trajectory is not None:
            points = trajectory.poses[:, :3]
            moved = np.concatenate([[True], (np.diff(points, axis=0) != 0.0).any(axis=1)])
            path = [(float(x), float(y), float(z)) for x, y, z in _sparse(points[moved])]
            return Reference(path=path, length_m=float(row["geodesic_distance"]), stage_ends=[len(path) - 1])
        return self.planner.reference(np.array(start), [stage]) if self.planner else None

    def _category(self, row: dict[str, Any], goal: tuple[float, float, float], where: str) -> str:
        """The row's own, or that of the object that stands at the goal."""
        if row.get("object_category"):
            return str(row["object_category"])
        objects = self.world.semantics.objects if self.world is not None else []
        if not objects:
            why = "the column object_category is missing or empty"
            raise EpisodeError("what to look for is not known", where=where, why=why, next_step="give --world with its labels")
        return min(objects, key=lambda o: float(np.linalg.norm(np.array(o.center) - goal))).category


def _sparse(points: Floats) -> Floats:
    """Of the points (N, 3) of a trajectory those that make a reference: a quarter of a metre apart, and what its curves need besides."""
    if len(points) < 3:
        return points
    bent = {(x, y) for x, y in shapely.LineString(points[:, :2]).simplify(_BEND_M).coords}
    length = np.floor(arc_lengths(points[:, :2]) / _SPACING_M)
    kept: NDArray[np.bool_] = np.concatenate([[True], length[1:] != length[:-1]])
    kept |= np.array([(x, y) in bent for x, y in points[:, :2].tolist()])
    sparse: Floats = points[kept]
    return sparse


def _position(row: dict[str, Any], name: str, where: str) -> tuple[float, float, float]:
    values = [row[f"{name}_{a}"] for a in "xyz"]
    if any(v is None or not np.isfinite(v) for v in values):
        raise EpisodeError("a position is missing", where=f"{where}: {name}", why=f"found {values}")
    return (float(values[0]), float(values[1]), float(values[2]))


def _yaw(row: dict[str, Any], name: str, where: str) -> float:
    values = [row[f"{name}_{a}"] for a in ("qx", "qy", "qz", "qw")]
    if any(v is None for v in values):
        raise EpisodeError("a rotation is missing", where=f"{where}: {name}", why=f"found {values}")
    try:
        return yaw_of(*values)
    except ValueError as error:
        raise EpisodeError("a rotation makes no sense", where=f"{where}: {name}", why=str(error)) from error
