"""Where NavVerse's episodes start, and what counts as a goal there: indoors, outdoors, and out of a building [NV 8.1, 7.1]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.episodes.grounds import Grounds
from portico.tasks.episode import Scene, StageSpec, TaskName
from portico.tasks.predicates import REACH_M
from portico.world import World
from portico.world.semantics import ObjectInstance, Place

Ints = NDArray[np.int64]

#: Scenes that a kind of world has when a suite does not say.
_SCENES: dict[str, tuple[Scene, ...]] = {"indoor": ("indoor",), "outdoor": ("outdoor",), "composite": ("outdoor", "indoor_to_outdoor"), "aerial": ()}


def scenes_of(world: World) -> tuple[Scene, ...]:
    """Scenes that episodes in a world may be of: those of its kind."""
    return _SCENES[world.manifest.kind]


@dataclass(frozen=True)
class Target:
    """A kind of thing to look for, and every instance of it in the world.

    Attributes:
        kind: ``object`` or ``place``.
    """

    kind: TaskName
    category: str
    instances: tuple[ObjectInstance | Place, ...]

    @property
    def name(self) -> tuple[TaskName, str]:
        """Kind and category."""
        return self.kind, self.category


@dataclass
class Sites:
    """What the scenes of one world offer: nodes to start from, targets, and nodes at which a STOP at an instance counts."""

    grounds: Grounds
    tolerance_m: float | None = None
    _stops: dict[str, Ints] = field(default_factory=dict)
    _starts: dict[Scene, Ints] = field(default_factory=dict)

    def starts(self, scene: Scene) -> Ints:
        """Nodes roomy enough to start from."""
        if scene not in self._starts:
            self._starts[scene] = np.flatnonzero(self.grounds.outdoor_starts if scene == "outdoor" else self.grounds.indoor_starts())
        return self._starts[scene]

    def near(self, target: Target, starts: Ints, reach_m: float) -> Ints:
        """Those of some nodes that lie within a reach of an instance's success set as the crow flies."""
        if not len(starts):
            return starts
        centers = np.array([item.center for item in target.instances])
        radii = np.array([0.5 * max(item.size[:2]) for item in target.instances])
        gaps = np.linalg.norm(self.grounds.xyz[starts, None, :2] - centers[None, :, :2], axis=2) - radii
        tolerance_m = REACH_M + self.grounds.body.radius_m if self.tolerance_m is None else self.tolerance_m
        kept: Ints = starts[gaps.min(axis=1) - tolerance_m <= reach_m]
        return kept

    def targets(self, task: TaskName, scene: Scene) -> list[Target]:
        """Categories of a task with a goal of the scene that can be reached, by name; directions lead to either kind."""
        return [target for target in self._all if task in (target.kind, "vln") and any(self.is_goal(i, scene) and len(self.stops(i)) for i in target.instances)]

    def is_goal(self, item: ObjectInstance | Place, scene: Scene) -> bool:
        """Whether an instance may be the goal of a scene: inside for indoor ones, else outdoors, where places are gone to."""
        if isinstance(item, Place):
            return scene != "indoor"
        return (self.building_of(item) >= 0) == (scene == "indoor")

    def building_of(self, item: ObjectInstance | Place) -> int:
        """Index of the building that an instance is in, or that a place is behind the front of; -1 for none."""
        annotations = self.grounds.annotations
        if isinstance(item, Place):
            return annotations.building_index(item.building)
        floor = annotations.floor_of_object(item)
        return int(annotations.floor_building[floor]) if floor >= 0 else annotations.building_index(item.building)

    def stops(self, item: ObjectInstance | Place) -> Ints:
        """Nodes at which a STOP at that one instance counts."""
        if item.id not in self._stops:
            stage = StageSpec(kind="vln", instances=[item.id], tolerance_m=self.tolerance_m)
            self._stops[item.id] = self.grounds.stop_nodes(stage)
        return self._stops[item.id]

    def off_building_m(self, item: ObjectInstance | Place, building: int) -> float:
        """Planar distance from a building's footprint to the middle of an instance."""
        return float(shapely.distance(self.grounds.annotations.footprint_shapes[building], shapely.Point(item.center[:2])))

    @cached_property
    def _all(self) -> list[Target]:
        annotations = self.grounds.annotations
        objects = [Target("object", c, annotations.instances(c)) for c in sorted({o.category for o in annotations.semantics.objects})]
        places = [Target("place", c, annotations.places(c)) for c in sorted({p.category for p in annotations.semantics.places})]
        return [*objects, *places]
