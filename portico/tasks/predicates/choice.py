"""Which predicate a stage has, by its kind and rule; refuses stages that lack what their kind needs."""

from __future__ import annotations

import numpy as np

from portico.errors import EpisodeError
from portico.geometry import Floats
from portico.interface import StageKind
from portico.tasks.annotations import Annotations
from portico.tasks.episode import StageSpec
from portico.tasks.predicates.crossings import Entrance, Exit
from portico.tasks.predicates.ground import REACH_M, Ground, Predicate
from portico.tasks.predicates.reach import FindOnFloor, ReachInstance, ReachLocation, ReachPoint
from portico.world.geodesy import GEODESIES
from portico.world.semantics import ObjectInstance, Place

#: Success radius where a stage names none: outdoor [P], point, image and object by NavArena's rule [NA], the satellite families [SN 5].
DEFAULT_RADIUS_M: dict[StageKind, float] = {
    "outdoor": 3.0,
    "point": 0.5,
    "image": 1.0,
    "object": 1.0,
    "boundary": 10.0,
    "landmark": 30.0,
    "route": 10.0,
}


def predicate(spec: StageSpec, start: Floats, ground: Ground) -> Predicate:
    """The predicate of a stage that starts at ``start`` (3,).

    Raises:
        EpisodeError: the stage lacks the field its kind needs, or names a building that the world does not have.
    """
    match spec.kind:
        case "exit":
            building = _building(spec, ground) if spec.building else int(ground.annotations.inside(start[None])[0])
            return Exit(ground, building)
        case "entrance":
            return Entrance(ground, _building(spec, ground))
        case "ovon":
            return FindOnFloor(ground, ground.annotations.instances(_category(spec)))
        case "object" | "place" | "vln" if spec.by_navverse:
            tolerance_m = REACH_M + ground.body.radius_m if spec.tolerance_m is None else float(spec.tolerance_m)
            return ReachInstance.of(accepted(spec, ground.annotations), tolerance_m)
        case "object":
            centers = [o.center for o in ground.annotations.instances(_category(spec))]
            return ReachPoint(np.array(centers, dtype=np.float64).reshape(-1, 3), success_radius_m(spec))
        case "point" | "image":
            return ReachPoint(_goal(spec)[None], success_radius_m(spec))
        case "outdoor":
            return ReachPoint(_goal(spec)[None], success_radius_m(spec), ground)
        case _:
            return ReachLocation(_goal(spec), success_radius_m(spec), np.asarray(start, dtype=np.float64), GEODESIES[spec.geodesy])


def accepted(spec: StageSpec, annotations: Annotations) -> tuple[ObjectInstance | Place, ...]:
    """What a stage that is judged by NavVerse's rule may end at: the instances it names, else all of its category [NV 6.4].

    Raises:
        EpisodeError: it names neither, or an instance that the world does not have.
    """
    if spec.instances:
        known = annotations.by_id
        missing = [name for name in spec.instances if name not in known]
        if missing:
            raise EpisodeError(
                f"a stage of kind {spec.kind!r} names an instance that the world does not have",
                where=f"instance {missing[0]!r}",
                next_step="give the stage ids of objects or places in semantics.json",
            )
        return tuple(known[name] for name in spec.instances)
    if spec.kind == "vln":
        raise EpisodeError("a stage of kind 'vln' has no target", next_step="give the stage `instances` with the id of the object or place it leads to")
    return annotations.places(_category(spec)) if spec.kind == "place" else annotations.instances(_category(spec))


def success_radius_m(spec: StageSpec) -> float:
    """The radius a stage names, else the one of its kind; for kinds that are judged by a radius."""
    return DEFAULT_RADIUS_M[spec.kind] if spec.radius_m is None else float(spec.radius_m)


def _goal(spec: StageSpec) -> Floats:
    if spec.goal is None:
        raise EpisodeError(f"a stage of kind {spec.kind!r} has no goal point", next_step="give the stage a `goal`")
    return np.array(spec.goal, dtype=np.float64)


def _category(spec: StageSpec) -> str:
    if spec.category is None:
        raise EpisodeError(f"a stage of kind {spec.kind!r} names no category", next_step="give the stage a `category`")
    return spec.category


def _building(spec: StageSpec, ground: Ground) -> int:
    index = ground.annotations.building_index(spec.building)
    if index < 0:
        raise EpisodeError(
            f"a stage of kind {spec.kind!r} names no building of this world",
            where=f"building {spec.building!r}",
            next_step="give the stage the id of a building in semantics.json",
        )
    return index
