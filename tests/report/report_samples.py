"""A street corner and runs on it, small enough to reason about by hand.

Maple House (x 0..10, y 0..8, two floors) and Corner Cafe (x 20..30, y 0..8) stand on the north side of a street; a
sidewalk lies before their doors, then a vehicle lane with a crosswalk, another sidewalk and a square.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from portico.build.primitives import box, flat_polygon
from portico.build.scene import Scene
from portico.episodes import save_episodes
from portico.evaluate.labels import label_episode
from portico.evaluate.measures import MEASURES, Context, Evaluation, Unscored, score
from portico.evaluate.records import Key, RecordWriter, write_json
from portico.robots import embodiment
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Budget, Episode, EpisodeSet, Reference, StageSpec, Start
from portico.tasks.trajectory import Trajectory
from portico.world import Building, Floor, ObjectInstance, Place, Portal, Provenance, Region, Room, RouteGraph, Surface, World, save

GRAY, BRICK, WOOD, GREEN = (0.5, 0.5, 0.52), (0.6, 0.3, 0.25), (0.6, 0.45, 0.3), (0.3, 0.5, 0.25)


def corner() -> World:
    """The street corner."""
    scene = Scene()
    _ground(scene)
    _house(scene, "maple", "Maple House", 0.0, levels=2)
    _house(scene, "cafe", "Corner Cafe", 20.0, levels=1)
    scene.buildings.append(
        Building(
            id="bank", name="Bank", category="bank", footprint=_rectangle(12.0, 1.0, 18.0, 8.0), floors=[Floor(id="bank-0", level=0, z_m=0.0, height_m=3.0)]
        )
    )
    _block(scene, (15.0, 4.5, 3.0), (6.0, 7.0, 6.0), Surface.WALL, "building", GRAY)
    for name, x, y, z, floor in (("chair-1", 27.5, 6.0, 0.45, "cafe-0"), ("chair-2", 8.5, 6.5, 3.65, "maple-1")):
        scene.objects.append(
            ObjectInstance(id=name, category="chair", name="wooden chair", center=(x, y, z), size=(0.6, 0.6, 0.9), building=floor.split("-")[0], floor=floor)
        )
        _block(scene, (x, y, z), (0.6, 0.6, 0.9), Surface.FURNITURE, "chair", WOOD, name)
    scene.places.append(
        Place(id="place-cafe", category="cafe", name="Corner Cafe", building="cafe", frontage=((26.0, 0.0), (29.0, 0.0)), center=(27.5, 0.0, 1.5))
    )
    scene.routes = RouteGraph(nodes=[(-8.0, -2.0, 0.0), (13.5, -2.0, 0.0), (13.5, -12.0, 0.0), (38.0, -2.0, 0.0)], edges=[(0, 1), (1, 2), (1, 3)])
    return scene.world("corner", "composite", Provenance(source="made for tests", licence="CC0-1.0", attribution="nobody"), seed=1)


def _rectangle(x0: float, y0: float, x1: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _ground(scene: Scene) -> None:
    for name, kind, surface, access, outline, color in (
        ("north", "sidewalk", Surface.SIDEWALK, "allowed", (-10.0, -4.0, 40.0, 0.0), (0.55, 0.55, 0.55)),
        ("lane", "vehicle_lane", Surface.VEHICLE_LANE, "prohibited", (-10.0, -10.0, 40.0, -4.0), (0.2, 0.2, 0.22)),
        ("south", "sidewalk", Surface.SIDEWALK, "allowed", (-10.0, -14.0, 40.0, -10.0), (0.55, 0.55, 0.55)),
        ("square", "open_area", Surface.OPEN_AREA, "allowed", (18.0, -26.0, 40.0, -14.0), (0.65, 0.6, 0.5)),
        ("zebra", "crosswalk", Surface.CROSSWALK, "allowed", (12.0, -10.0, 15.0, -4.0), (0.8, 0.8, 0.8)),
    ):
        scene.regions.append(Region(id=name, type=kind, access=access, polygon=_rectangle(*outline)))
        z = 0.01 if kind == "crosswalk" else 0.0
        _flat(scene, outline, z, surface, kind, color)
    _flat(scene, (-10.0, 0.0, 40.0, 10.0), -0.02, Surface.VEGETATED, "grass", GREEN)


def _house(scene: Scene, key: str, name: str, x: float, levels: int) -> None:
    floors = [Floor(id=f"{key}-{k}", level=k, z_m=3.2 * k, height_m=3.0) for k in range(levels)]
    scene.buildings.append(Building(id=key, name=name, category="house", footprint=_rectangle(x, 0.0, x + 10.0, 8.0), floors=floors, enterable=True))
    scene.portals.append(Portal(id=f"{key}-door", building=key, floor=f"{key}-0", segment=((x + 4.0, 0.0), (x + 5.2, 0.0)), z_m=0.0, exterior=True))
    for floor in floors:
        z = floor.z_m
        scene.rooms.append(
            Room(
                id=f"{floor.id}-room",
                building=key,
                floor=floor.id,
                category="living_room" if floor.level == 0 else "bedroom",
                polygon=_rectangle(x + 0.2, 0.2, x + 9.8, 7.8),
            )
        )
        _flat(scene, (x, 0.0, x + 10.0, 8.0), z, Surface.FLOOR, "floor", WOOD, indoor=True)
        front = [(x + 2.0, 0.1, 4.0, 0.2), (x + 7.6, 0.1, 4.8, 0.2)] if floor.level == 0 else [(x + 5.0, 0.1, 10.0, 0.2)]
        for cx, cy, sx, sy in [*front, (x + 5.0, 7.9, 10.0, 0.2), (x + 0.1, 4.0, 0.2, 8.0), (x + 9.9, 4.0, 0.2, 8.0)]:
            _block(scene, (cx, cy, z + 1.5), (sx, sy, 3.0), Surface.WALL, "wall", BRICK)
    for k in range(16 if levels > 1 else 0):
        _block(scene, (x + 1.2 + 0.3 * k, 7.0, 0.1 * k + 0.1), (0.3, 1.0, 0.2 * (k + 1)), Surface.STAIRS, "stairs", GRAY)
    _flat(scene, (x, 0.0, x + 10.0, 8.0), 3.2 * levels, Surface.ROOF, "roof", GRAY)


def _flat(
    scene: Scene, outline: tuple[float, float, float, float], z: float, surface: Surface, category: str, color: tuple[float, float, float], indoor: bool = False
) -> None:
    mesh = flat_polygon(shapely.box(*outline), z)
    scene.add_mesh(*mesh, surface=surface, material=scene.material(category, color), instance=scene.instance(category), indoor=indoor)


def _block(scene: Scene, center: Any, size: Any, surface: Surface, category: str, color: tuple[float, float, float], object_id: str | None = None) -> None:
    scene.add_mesh(
        *box(center, size),
        surface=surface,
        material=scene.material(category, color),
        instance=scene.instance(category, object_id),
        indoor=surface == Surface.FURNITURE,
    )


@dataclass(frozen=True)
class Walk:
    """What a robot did: corners it went through, how many turns it made before them, whether it declared at the corners of these numbers."""

    corners: list[tuple[float, float, float]]
    stops: tuple[int, ...] = ()
    spins: int = 0
    bumps: tuple[int, ...] = ()


def episodes() -> list[Episode]:
    """Eleven questions of every kind."""
    inside, door, out = (5.0, 5.0, 0.0), (4.6, 0.0, 0.0), (4.6, -2.0, 0.0)
    cafe_door, cafe_in, chair = (24.6, -1.5, 0.0), (24.6, 2.0, 0.0), (26.5, 5.5, 0.0)
    leave = StageSpec(kind="exit", building="maple", instruction="Leave Maple House through an exit and stop outdoors.")
    street = StageSpec(kind="outdoor", goal=(23.0, -2.0, 0.0), radius_m=3.0, instruction="Follow the route to the goal.")
    enter = StageSpec(kind="entrance", building="cafe", instruction="Enter Corner Cafe.")
    find = StageSpec(kind="ovon", building="cafe", category="chair", instruction="Find a chair.")
    mission = [leave, street, enter, find]
    way = [inside, door, out, (22.0, -2.0, 0.0), cafe_door, cafe_in, chair]

    def asked(name: str, task: str, stages: list[StageSpec], path: list[tuple[float, float, float]], ends: list[int], budget: int = 400) -> Episode:
        length = float(np.linalg.norm(np.diff(np.array(path)[:, :2], axis=0), axis=1).sum())
        reference = Reference(path=path, length_m=length, stage_ends=ends)
        return Episode(
            id=name,
            world="corner",
            task=task,
            embodiment="spot",
            start=Start(position=path[0], yaw_rad=-1.57),
            stages=stages,
            reference=reference,
            budget=Budget(max_actions=budget),
        )

    return [
        asked("exit-0", "exit", [leave], way[:3], [2]),
        asked("exit-1", "exit", [leave], way[:3], [2]),
        asked("exit-2", "exit", [leave], way[:3], [2], budget=120),
        asked("exit-3", "exit", [leave], [(2.0, 4.0, 3.2), (5.0, 7.0, 3.2), (2.0, 7.0, 0.5), inside, door, out], [5]),
        asked("outdoor-0", "outdoor", [street], way[2:4], [1], budget=60),
        asked("entrance-0", "entrance", [enter], way[4:6], [1]),
        asked("entrance-1", "entrance", [enter], way[4:6], [1]),
        asked("ovon-0", "ovon", [find], way[5:7], [1]),
        asked("ovon-1", "ovon", [find], way[5:7], [1], budget=40),
        asked("i2o2i-0", "i2o2i", mission, way, [2, 3, 5, 6]),
        asked("i2o2i-1", "i2o2i", mission, way, [2, 3, 5, 6]),
    ]


#: What a policy of mixed luck does in each episode; ``None`` is an error of the policy.
WALKS: dict[str, Walk | None] = {
    "exit-0": Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -2.0, 0.0)], stops=(2,)),
    "exit-1": Walk([(5.0, 5.0, 0.0), (4.6, 2.3, 0.0)], stops=(1,)),
    "exit-2": Walk([(5.0, 5.0, 0.0), (7.0, 6.0, 0.0), (7.0, 2.0, 0.0)], spins=140),
    "exit-3": Walk([(2.0, 4.0, 3.2), (8.0, 4.0, 3.2)], stops=(1,)),
    "outdoor-0": Walk([(4.6, -2.0, 0.0), (9.0, -6.0, 0.0), (13.0, -7.0, 0.0), (15.0, -12.0, 0.0), (19.0, -13.0, 0.0)], bumps=(20, 21, 34)),
    "entrance-0": Walk([(24.6, -1.5, 0.0), (22.0, -1.0, 0.0)], stops=(1,)),
    "entrance-1": Walk([(24.6, -1.5, 0.0), (8.0, -1.5, 0.0), (4.6, -1.0, 0.0), (4.6, 2.0, 0.0)], stops=(3,)),
    "ovon-0": Walk([(24.6, 2.0, 0.0), (22.0, 4.0, 0.0)], stops=(1,)),
    "ovon-1": Walk([(24.6, 2.0, 0.0), (26.6, 5.4, 0.0), (22.0, 5.0, 0.0)], spins=30),
    "i2o2i-0": Walk([(5.0, 5.0, 0.0), (4.6, 0.5, 0.0), (4.6, -2.0, 0.0), (22.0, -2.0, 0.0), (24.6, -1.5, 0.0)], stops=(2, 4)),
    "i2o2i-1": None,
}


def trajectory(walk: Walk, episode: Episode) -> Trajectory:
    """States of a walk in steps of 0.25 m and turns of 15 degrees, cut where the budget ends."""
    points, yaws, stops = [np.array(walk.corners[0])], [-1.57], []
    moved = [False]
    for _ in range(walk.spins):
        points.append(points[-1])
        yaws.append(yaws[-1] + np.deg2rad(15.0))
        moved.append(False)
    for number, corner in enumerate(walk.corners[1:], start=1):
        target = np.array(corner)
        steps = max(1, int(np.ceil(np.linalg.norm((target - points[-1])[:2]) / 0.25)))
        yaw = float(np.arctan2(*(target - points[-1])[[1, 0]]))
        start = points[-1]
        for k in range(1, steps + 1):
            points.append(start + (target - start) * k / steps)
            yaws.append(yaw)
            moved.append(True)
        if number in walk.stops:
            stops.append(len(points) - 1)
    n = min(len(points), episode.budget.max_actions + 1)
    collided = np.zeros(n, bool)
    collided[[b for b in walk.bumps if b < n]] = True
    return Trajectory(
        position=np.array(points)[:n],
        yaw_rad=np.array(yaws)[:n],
        time_s=np.arange(n) * 0.5,
        action=np.arange(n, dtype=np.int32),
        stage=np.zeros(n, np.int32),
        collided=collided,
        stop_steps=np.array([s for s in stops if s < n], np.int32),
        moved=np.array(moved)[:n],
    )


def scored(key: Key, episode: Episode, policy: str, path: Trajectory, world: World, privileged: list[str]) -> tuple[dict[str, Any], Trajectory]:
    """The record of a walk, and the trajectory with the stage of each state."""
    evaluation = Evaluation(episode, path, Context(Annotations(world.semantics), embodiment("spot")))
    outcome = evaluation.outcome
    stage = np.zeros(len(path), np.int32)
    for k, part in enumerate(outcome.stages):
        if part.start is not None and part.end is not None:
            stage[part.start + 1 : part.end + 1] = k
    path = Trajectory(path.position, path.yaw_rad, path.time_s, path.action, stage, path.collided, path.stop_steps, path.moved)
    values = score(evaluation)
    record = {
        "key": key.as_dict(),
        "task": episode.task,
        "policy": policy,
        "privileged": privileged,
        "status": "success" if outcome.success else "failure",
        "reason": outcome.reason,
        "error": None,
        "stages": len(episode.stages),
        "completed": outcome.completed,
        "stage_outcomes": [{"kind": s.kind, "outcome": s.outcome, "start": s.start, "end": s.end} for s in outcome.stages],
        "measures": {n: None if isinstance(v, Unscored) else v for n, v in values.items()},
        "unscored": {n: v.reason for n, v in values.items() if isinstance(v, Unscored)},
        "labels": [label.as_dict() for label in label_episode(evaluation)],
        "reference_length_m": episode.reference.length_m if episode.reference else None,
    }
    return record, path


def failed(key: Key, episode: Episode, policy: str) -> dict[str, Any]:
    """The record of an episode that an error cut off."""
    return {
        "key": key.as_dict(),
        "task": episode.task,
        "policy": policy,
        "privileged": [],
        "status": "error",
        "reason": "error",
        "error": {"where": "policy", "type": "ValueError", "message": "the policy failed in act()\n  why: ValueError: no depth", "traceback": "Traceback"},
        "stages": len(episode.stages),
        "completed": 0,
        "stage_outcomes": [],
        "measures": {},
        "unscored": {},
        "labels": [],
        "reference_length_m": episode.reference.length_m if episode.reference else None,
    }


def write_run(
    folder: Path,
    world: World,
    world_folder: Path,
    policy: str,
    walks: dict[str, Walk | None],
    *,
    privileged: list[str] | None = None,
    partial: bool = False,
    planned: int = 11,
) -> Path:
    """A run folder as `portico run` leaves it."""
    privileged = privileged or []
    asked = episodes()
    header = {
        "schema_version": "portico.run/1",
        "suite": {
            "name": "corner-suite",
            "version": 1,
            "description": "Questions at a street corner.\n",
            "split": "eval",
            "seed": 3,
            "embodiment": "spot",
            "track": "rgbd",
            "budget": {"max_actions": 400, "max_time_s": None},
        },
        "policy": policy,
        "privileged": privileged,
        "repeats": 1,
        "partial": partial,
        "planned": planned,
        "worlds": {"corner": {"hash": world.manifest.content_hash, "folder": str(world_folder)}},
        "measures": {name: m.version for name, m in MEASURES.items()},
        "versions": {"portico": "0.1.0", "numpy": "2.4.0"},
    }
    write_json(folder / "run.json", header)
    save_episodes(EpisodeSet(suite="corner-suite", world="corner", world_hash=world.manifest.content_hash, episodes=asked), folder / "episodes" / "corner.json")
    (folder / "records").mkdir()
    (folder / "trajectories").mkdir()
    writer = RecordWriter(folder, 0)
    for episode in asked:
        if episode.id not in walks:
            continue
        key, walk = Key("corner-suite", "eval", "corner", episode.id), walks[episode.id]
        if walk is None:
            writer.append(failed(key, episode, policy))
            continue
        record, path = scored(key, episode, policy, trajectory(walk, episode), world, privileged)
        path.save(folder / "trajectories" / f"{key.slug()}.npz")
        writer.append(json.loads(json.dumps(record)))
    return folder


def oracle_walks() -> dict[str, Walk | None]:
    """Walks along the references, declaring where stages end."""
    return {
        e.id: Walk(
            [tuple(p) for p in e.reference.path], stops=tuple(end for end, spec in zip(e.reference.stage_ends, e.stages, strict=True) if spec.kind != "outdoor")
        )
        for e in episodes()
        if e.reference
    }


def saved_corner(folder: Path) -> World:
    """The corner, written to disk and sealed."""
    return save(corner(), folder)
