"""Why an episode ended the way it did, in one plain sentence, with the distances that prove it.

A sentence draws on the record, on the trajectory and on the world's annotations; what is missing leaves its distance out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from portico.errors import EpisodeError
from portico.evaluate.records import Record
from portico.geometry import Floats
from portico.robots import Embodiment
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.predicates import Ground, footprint_distance_m, predicate
from portico.tasks.trajectory import Trajectory
from portico.world.semantics import Building

#: A robot that stayed within this much has not set off.
_STILL_M = 0.25
_GROUND_NAMES = {
    "sidewalk": "a sidewalk",
    "crosswalk": "a crosswalk",
    "shared_road": "a shared road",
    "vehicle_lane": "a vehicle lane",
    "open_area": "a square",
    "vegetated": "planted ground",
    "water": "water",
}


@dataclass(frozen=True)
class Evidence:
    """What a sentence may draw on.

    Attributes:
        trajectory, annotations: None when they cannot be found.
    """

    record: Record
    episode: Episode
    body: Embodiment
    trajectory: Trajectory | None = None
    annotations: Annotations | None = None

    @property
    def stage(self) -> int:
        """Index of the stage that decided the episode: the first that was not confirmed, else the last."""
        return min(int(self.record["completed"]), len(self.episode.stages) - 1)

    @property
    def spec(self) -> StageSpec:
        """That stage."""
        return self.episode.stages[self.stage]

    @property
    def began(self) -> int:
        """State at which that stage began."""
        outcomes = self.record.get("stage_outcomes") or []
        return int(outcomes[self.stage].get("start") or 0) if self.stage < len(outcomes) else 0

    def span(self) -> Floats:
        """(N, 3) positions of that stage; empty without a trajectory."""
        return np.zeros((0, 3)) if self.trajectory is None else self.trajectory.position[self.began :]

    def goal_distances_m(self) -> Floats:
        """(N,) distance to the stage's goal along ``span``; empty when it cannot be computed."""
        span = self.span()
        if not len(span) or self.annotations is None:
            return np.zeros(0)
        try:
            return predicate(self.spec, span[0], Ground(self.annotations, self.body)).distance_m(span)
        except EpisodeError:
            return np.zeros(0)


def explain(evidence: Evidence) -> str:
    """One sentence, without a full stop at its end."""
    record = evidence.record
    if record["status"] == "error":
        return _error(record)
    if record["status"] == "success":
        return _success(evidence)
    reason = str(record.get("reason") or "")
    if reason in ("failed_declaration", "wrong_goal"):
        return _STOPPED.get(evidence.spec.kind, _stopped_short)(evidence)
    ended = _ENDED.get(reason)
    if ended is None:
        return f"{_unfinished(evidence)}: {_how_it_ended(evidence, reason)}"
    return ended


def turning_actions(trajectory: Trajectory, began: int = 0) -> tuple[int, int]:
    """Actions executed since state ``began``, and how many of them turned without asking to move."""
    actions, moved = trajectory.action[began + 1 :], trajectory.moved[began + 1 :]
    turned = np.abs(np.diff(trajectory.yaw_rad[began:])) > 1e-6
    numbers = np.unique(actions)
    travelling = np.unique(actions[moved])
    turning = np.setdiff1d(np.unique(actions[turned & ~moved]), travelling)
    return len(numbers), len(turning)


_ENDED = {
    "fall": "fell over",
    "out_of_bounds": "left the world's ground",
    "stuck": "got stuck and could not move on",
}


def _error(record: Record) -> str:
    error = record.get("error") or {}
    culprit = "the policy" if error.get("where") == "policy" else "the simulator or the harness"
    return f"error in {culprit}, not counted as a failure: {_cause(error)}".rstrip(": ")


def _cause(error: dict[str, Any]) -> str:
    """The reason a user's error gives, else its first line with the type of the exception."""
    lines = [line.strip() for line in str(error.get("message", "")).splitlines() if line.strip()]
    for line in lines:
        if line.startswith("why:"):
            return line.removeprefix("why:").strip()
    first = lines[0] if lines else ""
    return ": ".join(part for part in (str(error.get("type") or ""), first) if part)


def _success(evidence: Evidence) -> str:
    measures = evidence.record.get("measures") or {}
    parts = [f"{int(measures['steps'])} actions"] if measures.get("steps") is not None else []
    if measures.get("path_length_m") is not None:
        reference = evidence.record.get("reference_length_m")
        parts.append(f"{measures['path_length_m']:.1f} m" + (f" where {reference:.1f} m would do" if reference else ""))
    return "done" + (f" in {', '.join(parts)}" if parts else "")


def _stopped_in_exit(evidence: Evidence) -> str:
    if evidence.annotations is None or not len(evidence.span()):
        return "declared the exit, but was not outdoors where people may walk"
    here = evidence.span()[-1]
    building = evidence.annotations.building_at(here)
    if building is None:
        region = evidence.annotations.region_at(here)
        ground = _GROUND_NAMES[region.type] if region else "unmapped ground"
        distances = evidence.goal_distances_m()
        away = f": {distances[-1]:.1f} m from where people may walk" if len(distances) and np.isfinite(distances[-1]) else ""
        return f"stopped outdoors on {ground}{away}"
    start = evidence.annotations.building_at(evidence.span()[0])
    where = "inside" if start is not None and start.id == building.id else f"inside {_name(building)}, another building"
    return f"stopped {where}{_before_the_door(evidence.annotations, building, here)}"


def _stopped_in_entrance(evidence: Evidence) -> str:
    target = _target(evidence)
    if evidence.annotations is None or target is None or not len(evidence.span()):
        return "declared the entrance, but had not entered the target building"
    here = evidence.span()[-1]
    building = evidence.annotations.building_at(here)
    if building is None:
        door = _nearest_door_m(evidence.annotations, target, here)
        if door is None:
            return f"stopped outside {_name(target)}: {evidence.goal_distances_m()[-1]:.1f} m from its walls"
        return f"stopped outside {_name(target)}: {door:.1f} m before the door"
    if building.id != target.id:
        return f"stopped in the wrong building: {_name(building)} instead of {_name(target)}"
    return f"declared the entrance inside {_name(target)}, but had not walked into it during this stage"


def _stopped_at_object(evidence: Evidence) -> str:
    thing = _thing(evidence.spec)
    if evidence.annotations is None or not len(evidence.span()):
        return f"stopped too far from the nearest {thing}"
    here = evidence.span()[-1]
    instances = evidence.annotations.instances(evidence.spec.category)
    if not instances:
        return f"stopped, but the world holds no {thing}"
    standing = evidence.annotations.floor_at(here)
    floors = [evidence.annotations.floor_of_object(item) for item in instances]
    same = [item for item, floor in zip(instances, floors, strict=True) if (evidence.annotations.floors[floor] if floor >= 0 else None) == standing]
    if not same:
        levels = sorted({evidence.annotations.floors[f].level for f in floors if f >= 0})
        there = f"on level {' or '.join(map(str, levels))}" if levels else "outdoors"
        return f"stopped {f'on level {standing.level}' if standing else 'outdoors'}, but every {thing} is {there}"
    gap = min(float(footprint_distance_m(here[None], item)[0]) for item in same)
    return f"stopped {gap:.1f} m from the nearest {thing}; {1.0 + evidence.body.radius_m:.2f} m would count"


def _stopped_short(evidence: Evidence) -> str:
    distances = evidence.goal_distances_m()
    if not len(distances) or not np.isfinite(distances[-1]):
        return "stopped too far from the goal"
    return f"stopped {distances[-1]:.1f} m from the goal" + (
        f", after having been {distances.min():.1f} m near" if distances.min() + 0.5 < distances[-1] else ""
    )


def _stopped_at_wrong_goal(evidence: Evidence) -> str:
    distances = evidence.goal_distances_m()
    if not len(distances) or not np.isfinite(distances[-1]):
        return "stopped at a wrong goal"
    assert evidence.annotations is not None
    tolerance_m = predicate(evidence.spec, evidence.span()[0], Ground(evidence.annotations, evidence.body)).tolerance_m
    nearest = f"the {_thing(evidence.spec)} meant" if evidence.spec.kind == "vln" else f"the nearest {_thing(evidence.spec)}"
    return f"stopped {distances[-1]:.1f} m from {nearest}; {tolerance_m:.2f} m would count" + (
        f", after having been {distances.min():.1f} m near" if distances.min() + 0.5 < distances[-1] else ""
    )


def _unfinished(evidence: Evidence) -> str:
    """What was not achieved when no declaration ended the stage."""
    if evidence.spec.kind == "exit":
        return _never_out(evidence)
    span, distances = evidence.span(), evidence.goal_distances_m()
    known = len(distances) > 0 and bool(np.isfinite(distances).any())
    if len(span) > 1 and float(np.ptp(span[:, :2], axis=0).max()) < _STILL_M and not _was_there(evidence):
        return "never set off" + (f", {distances[0]:.1f} m from the goal" if known else "")
    if evidence.spec.kind == "entrance":
        return _never_in(evidence)
    closest = f", {distances.min():.1f} m at its closest" if known else ""
    if evidence.spec.kind in ("ovon", "object", "place", "vln"):
        thing = _with_article(_thing(evidence.spec))
        return f"was next to {thing} but never stopped there" if _was_there(evidence) else f"never reached {thing}{closest}"
    return f"never reached the goal{closest}"


def _never_out(evidence: Evidence) -> str:
    span, annotations = evidence.span(), evidence.annotations
    if annotations is None or not len(span):
        return "did not complete the exit"
    if (annotations.inside(span) >= 0).all():
        return "never left the building"
    if annotations.allowed(span).any():
        return "left the building but never declared it"
    return "left the building but never reached ground where people may walk"


def _never_in(evidence: Evidence) -> str:
    span, annotations, target = evidence.span(), evidence.annotations, _target(evidence)
    if annotations is None or target is None or not len(span):
        return "never entered the target building"
    if (annotations.inside(span) == annotations.building_index(target.id)).any():
        return f"entered {_name(target)} but never declared it"
    doors = [line for _, line in _street_doors(annotations, target)]
    if not doors:
        return f"never entered {_name(target)}"
    way = shapely.MultiPoint(span[:, :2])
    return f"never entered {_name(target)}, {min(way.distance(door) for door in doors):.1f} m from its door at the closest"


def _was_there(evidence: Evidence) -> bool:
    span = evidence.span()
    if evidence.annotations is None or not len(span):
        return any(label.get("label") == "missed_stop" for label in evidence.record.get("labels") or [])
    return bool(predicate(evidence.spec, span[0], Ground(evidence.annotations, evidence.body)).holds(span).any())


def _how_it_ended(evidence: Evidence, reason: str) -> str:
    spent = ""
    if evidence.trajectory is not None and len(evidence.trajectory) > 1:
        actions, turning = turning_actions(evidence.trajectory, evidence.began)
        contacts = len(np.unique(evidence.trajectory.action[evidence.began + 1 :][evidence.trajectory.collided[evidence.began + 1 :]]))
        detail = [f"{turning} of them turning"] if turning else []
        detail += [f"{contacts} ended in contact"] if contacts else []
        spent = f"{actions} actions spent" + (f", {', '.join(detail)}" if detail else "")
    if reason == "timeout":
        limit = evidence.episode.budget.max_time_s
        return (f"time ran out after {limit:.0f} s" if limit else "time ran out") + (f", {spent}" if spent else "")
    if reason == "budget_exhausted":
        return spent or f"the budget of {evidence.episode.budget.max_actions} actions was spent"
    return "the record stops early" + (f", {spent}" if spent else "")


def _before_the_door(annotations: Annotations, building: Building, here: Floats) -> str:
    floor = annotations.floor_at(here)
    doors = _street_doors(annotations, building)
    if not doors:
        return ""
    levels = {f.id: f.level for f in building.floors}
    if floor is not None and all(door_floor != floor.id for door_floor, _ in doors):
        there = sorted({levels[f] for f, _ in doors if f in levels})
        return f" on level {floor.level}; the way out is on level {' or '.join(map(str, there))}"
    return f": {_nearest_door_m(annotations, building, here):.1f} m before the door"


def _street_doors(annotations: Annotations, building: Building) -> list[tuple[str, shapely.LineString]]:
    portals = [p for p in annotations.semantics.portals if p.building == building.id and p.exterior and p.state == "open"]
    return [(p.floor, shapely.LineString(p.segment)) for p in portals]


def _nearest_door_m(annotations: Annotations, building: Building, here: Floats) -> float | None:
    doors = _street_doors(annotations, building)
    return min((float(line.distance(shapely.Point(here[:2]))) for _, line in doors), default=None)


def _target(evidence: Evidence) -> Building | None:
    if evidence.annotations is None:
        return None
    index = evidence.annotations.building_index(evidence.spec.building)
    return evidence.annotations.buildings[index] if index >= 0 else None


def _name(building: Building) -> str:
    return building.name or building.id.replace("_", " ")


def _thing(spec: StageSpec) -> str:
    return (spec.category or "goal").replace("_", " ")


def _with_article(thing: str) -> str:
    return f"{'an' if thing[:1] in 'aeiou' else 'a'} {thing}"


_STOPPED: dict[str, Callable[[Evidence], str]] = {
    "exit": _stopped_in_exit,
    "entrance": _stopped_in_entrance,
    "ovon": _stopped_at_object,
    "place": _stopped_at_wrong_goal,
    "vln": _stopped_at_wrong_goal,
}
