"""Where a stage could have succeeded, as far as it can be drawn: doors, a target building, a goal point, accepted things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portico.geometry import Floats, rotation_z
from portico.tasks.annotations import Annotations
from portico.tasks.episode import StageSpec
from portico.tasks.predicates import accepted, success_radius_m
from portico.world.semantics import Building, ObjectInstance, Place


@dataclass(frozen=True)
class Goal:
    """A drawable part of a stage's goal on one level: a point (3,), an outline (N, 2), or both. Metres, world frame."""

    kind: str
    level: int
    title: str
    point: Floats | None = None
    outline: Floats | None = None


def stage_goals(spec: StageSpec, start: Floats, annotations: Annotations | None) -> Iterator[Goal]:
    """Goals of a stage of an episode that starts at ``start`` (3,)."""
    if spec.goal is not None:
        radius = success_radius_m(spec)
        storey = annotations.floor_at(np.array(spec.goal)) if annotations is not None else None
        yield Goal(spec.kind, storey.level if storey else 0, f"goal, within {radius:g} m", np.array(spec.goal), _circle(spec.goal, radius))
    if annotations is None:
        return
    if spec.kind in ("exit", "entrance"):
        index = annotations.building_index(spec.building) if spec.building else int(annotations.inside(start[None])[0])
        if index >= 0:
            yield from _building_goals(spec.kind, annotations.buildings[index], annotations)
    if spec.kind in ("place", "vln"):
        for goal in accepted(spec, annotations):
            yield _ball(spec, goal, annotations)
    if spec.kind in ("ovon", "object"):
        for item in annotations.instances(spec.category):
            floor = annotations.floor_of_object(item)
            level = annotations.floors[floor].level if floor >= 0 else 0
            yield Goal(spec.kind, level, (item.name or item.category).replace("_", " "), np.array(item.center), _rectangle(item))


def _ball(spec: StageSpec, goal: ObjectInstance | Place, annotations: Annotations) -> Goal:
    """An instance and r_goal around it, half the longer side of its box seen from above [NV 6.5]."""
    storey = annotations.floor_at(np.array(goal.center))
    outline = _circle(goal.center, 0.5 * max(goal.size[:2]))
    return Goal(spec.kind, storey.level if storey else 0, (goal.name or goal.category).replace("_", " "), np.array(goal.center), outline)


def _building_goals(kind: str, building: Building, annotations: Annotations) -> Iterator[Goal]:
    levels = {f.id: f.level for f in building.floors}
    if kind == "entrance":
        yield Goal(kind, 0, building.name or building.id, None, np.array(building.footprint))
    for portal in annotations.semantics.portals:
        if portal.building == building.id and portal.exterior and portal.state == "open":
            (x0, y0), (x1, y1) = portal.segment
            word = "way out" if kind == "exit" else "way in"
            yield Goal(kind, levels.get(portal.floor, 0), f"{word} of {building.name or building.id}", np.array([(x0 + x1) / 2, (y0 + y1) / 2, portal.z_m]))


def _circle(center: tuple[float, float, float], radius_m: float) -> Floats:
    angles = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    circle: Floats = np.array(center[:2]) + radius_m * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return circle


def _rectangle(item: ObjectInstance) -> Floats:
    half = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array(item.size[:2])
    corners: Floats = half @ rotation_z(item.yaw_rad)[:2, :2].T + np.array(item.center[:2])
    return corners
