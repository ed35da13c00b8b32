"""The modular map-based baseline: depth to map, map to frontier, frontier to path, path to moves."""

from __future__ import annotations

from math import ceil, pi

from portico.errors import PolicyRefused
from portico.interface import Action, Brief, Need, Observation, PolicySpec, StageBrief, StageKind, Stop
from portico.policies.detectors import Detector, create_detector, wanted_image_size
from portico.policies.entrance_seeker import EntranceSeeker
from portico.policies.exit_seeker import ExitSeeker
from portico.policies.image_seeker import ImageSeeker
from portico.policies.object_seeker import ObjectSeeker
from portico.policies.pilot import Pilot
from portico.policies.route_seeker import RouteSeeker
from portico.policies.seekers import Glancing, PointSeeker, Seeker
from portico.policies.shrink import shrunk

IMAGE_SIZE = (160, 120)
MAP_NEEDS: frozenset[Need] = frozenset({"depth", "odometry"})


class MappingPolicy:
    """Builds a map and lets a seeker per stage decide where to go; ``FrontierPolicy`` and ``RouteFollower`` configure it.

    Args:
        spec: what it is and needs.
        detector: finds objects, or None.
    """

    def __init__(self, spec: PolicySpec, detector: Detector | None = None) -> None:
        self.spec, self._detector = spec, detector
        self._pilot: Pilot | None = None
        self._seeker: Seeker | None = None
        self._stage, self._turns = -1, 0
        self._relaxed_at = -100

    def reset(self, brief: Brief) -> None:
        """An empty map."""
        self._pilot = Pilot(brief)
        self._seeker = None
        self._stage, self._turns = -1, 0
        self._relaxed_at = -100
        if self._detector is not None:
            self._detector.reset(brief)

    def act(self, observation: Observation) -> Action:
        """Map, judge, and move.

        Raises:
            PolicyRefused: depth or odometry is missing.
        """
        pilot = self._pilot
        if pilot is None:
            raise PolicyRefused("the policy was not reset", next_step="call reset(brief) before act(observation)")
        if self._seeker is None or observation.stage.index != self._stage:
            self._seeker, self._stage = self._seeker_for(observation.stage), observation.stage.index
            pilot.target = None
            self._turns = _look_around_turns(pilot) if self._seeker.looks_around else 0
        pilot.observe(shrunk(observation, IMAGE_SIZE))
        seeker = self._seeker
        seeker.notice(pilot, observation)
        if seeker.done(pilot):
            return Stop()
        if self._turns > 0:
            self._turns -= 1
            return pilot.turn()
        glance = seeker.glance(pilot) if isinstance(seeker, Glancing) else None
        if glance is not None:
            return glance
        if pilot.wants_target:
            self._choose(pilot, seeker)
        return pilot.move()

    def _choose(self, pilot: Pilot, seeker: Seeker) -> None:
        """Take a target; with none left, look around once more and lower the standards."""
        weight, costs = pilot.plan(seeker.reach_m)
        target = seeker.target(pilot, weight, costs)
        if target is None and pilot.steps >= self._relaxed_at + 2.0 * pi / pilot.pace.most_turn_rad:
            self._relaxed_at = pilot.steps
            pilot.relax()
            weight, costs = pilot.plan(seeker.reach_m)
            target = seeker.target(pilot, weight, costs)
        pilot.pursue(target, weight, costs)

    def close(self) -> None:
        """Forget the map."""
        self._pilot = None

    @property
    def pilot(self) -> Pilot | None:
        """The map and pose of the running episode, for display."""
        return self._pilot

    def _seeker_for(self, stage: StageBrief) -> Seeker:
        match stage.kind:
            case "exit":
                return ExitSeeker()
            case "entrance":
                return EntranceSeeker()
            case "object" | "ovon":
                return ObjectSeeker(self._detector, stage.category, closely=stage.kind == "object")
            case "place" | "vln":
                return ObjectSeeker(self._detector, stage.category, roams=True, overhead=stage.kind == "place")
            case "image":
                return ImageSeeker()
            case "outdoor" if stage.route is not None:
                return RouteSeeker()
            case _:
                return PointSeeker(stage, stops=stage.kind == "point")


class FrontierPolicy(MappingPolicy):
    """Explores its own depth map frontier by frontier until it is out, in, or beside the object.

    Directions are not read: a vln target is searched for like any other, and declared by nobody.
    Image goals are searched for by going everywhere: pictures are not compared, so they are found by arriving, never declared.

    Args:
        detector: a name of ``portico list detectors``, several joined by ``+``, ``none``, or ``package.module:Class``.
            Without one, object stages are explored but never declared.
    """

    def __init__(self, detector: str | Detector | None = None) -> None:
        found = create_detector(detector)
        needs = MAP_NEEDS | (found.needs if found else frozenset())
        stages: frozenset[StageKind] = frozenset({"point", "image", "object", "exit", "outdoor", "entrance", "ovon", "place", "vln"})
        super().__init__(PolicySpec("frontier", needs=needs, stages=stages, image_size=wanted_image_size(found) or IMAGE_SIZE), found)


def _look_around_turns(pilot: Pilot) -> int:
    """Turns after which every direction has been in view once."""
    view = pilot.brief.cameras[0].hfov_rad if pilot.brief.cameras else 0.0
    return ceil((2.0 * pi - view) / pilot.pace.most_turn_rad + 0.3)
