"""What a stage tells a policy, and when: instruction, goal, route and pose. Never building ids, polygons or region labels [I2 C.7]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portico.interface import StageBrief, StageKind
from portico.tasks.episode import Episode, StageSpec
from portico.world.semantics import Semantics

#: Stage kinds that give the base pose in the world frame; what was released stays released [P].
_POSE: frozenset[StageKind] = frozenset({"point", "image", "object", "place", "vln", "outdoor"})
#: Stage kinds that name a category to look for; a vln stage has a hidden target, known by the way there alone [NV 6.4].
_CATEGORY: frozenset[StageKind] = frozenset({"object", "ovon", "place"})
#: Stage kinds whose goal point is a task input.
_GOAL: frozenset[StageKind] = frozenset({"point", "outdoor"})


@dataclass(frozen=True)
class Release:
    """What a policy may have during a stage, within what its track grants."""

    pose: bool
    route: bool


def released(episode: Episode, stage: int) -> Release:
    """Pose and route during the stage of that index.

    Exit, entrance and ovon alone give neither. The outdoor route belongs to the outdoor stage; the pose comes with it and
    stays. So a task that begins with exit withholds both until the exit is confirmed, and one that begins outdoors has both
    from the start [I2 C.7].
    """
    return Release(pose=any(s.kind in _POSE for s in episode.stages[: stage + 1]), route=episode.stages[stage].kind == "outdoor")


def stage_brief(episode: Episode, stage: int) -> StageBrief:
    """The stage of that index as a policy may know it; the goal image is for the simulator to add.

    The category of a place is told by the instruction type ``category`` alone: a route or an intention has to be understood.
    """
    spec = episode.stages[stage]
    route = spec.route if released(episode, stage).route else []
    return StageBrief(
        kind=spec.kind,
        index=stage,
        count=len(episode.stages),
        instruction=spec.instruction or default_instruction(spec),
        category=(spec.category or "") if spec.kind in _CATEGORY and episode.phrased in (None, "category") else "",
        goal=spec.goal if spec.kind in _GOAL else None,
        route=np.array(route, dtype=np.float64) if route else None,
    )


def default_instruction(spec: StageSpec, semantics: Semantics | None = None) -> str:
    """An English sentence for a stage that has none; with ``semantics`` it names the building as people would."""
    where = _spoken(spec.building, semantics)
    thing = (spec.category or "goal").replace("_", " ")
    declares = spec.termination == "explicit_stop"
    match spec.kind:
        case "exit":
            return f"Leave {where} through an exit and stop outdoors where people may walk."
        case "outdoor":
            return "Follow the route to the goal point, staying where people may walk."
        case "entrance":
            return f"Find the entrance of {where}, go in and stop inside."
        case "ovon":
            return f"Find the {thing} in this building and stop next to it."
        case "object":
            return f"Find {article(thing)} {thing} and stop next to it." if declares else f"Find {article(thing)} {thing} and go up to it."
        case "place":
            place = noun_of(spec.category or "place")
            return f"Go to {article(place)} {place}."
        case "vln":
            return "Follow the directions and stop where they end."
        case "point":
            return "Go to the goal point and stop there." if declares else "Go to the goal point."
        case "image":
            return "Find the place where the goal picture was taken" + (" and stop there, facing the same way." if declares else ".")
        case "boundary":
            return "Follow the outline to the goal and stop there."
        case "landmark":
            return "Go from landmark to landmark to the goal and stop there."
        case _:
            return "Follow the way to the goal and stop there."


def _spoken(building: str | None, semantics: Semantics | None) -> str:
    """What a building is called: its name, else the place that is alone in it, else its category."""
    found = next((b for b in semantics.buildings if b.id == building), None) if semantics else None
    if semantics is None or found is None:
        return "the building"
    if found.name:
        return found.name
    places = [p.name for p in semantics.places if p.building == building and p.name]
    return places[0] if len(places) == 1 else f"the {found.category.replace('_', ' ')}"


#: Categories whose own word is no noun of one thing.
_NOUNS = {"electronics": "electronics store", "apartments": "apartment building", "office": "office building", "suv": "SUV", "tv": "TV"}


def noun_of(category: str) -> str:
    """What people call one thing or place of a category."""
    return _NOUNS.get(category, category.replace("_", " "))


def article(noun: str) -> str:
    """The indefinite article of a noun: ``an`` office, ``a`` cafe."""
    return "an" if noun[:1].lower() in "aeiou" or noun == "SUV" else "a"
