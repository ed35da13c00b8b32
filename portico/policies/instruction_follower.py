"""Follows directions in words, by its own map and what it sees: NavVerse's vln task."""

from __future__ import annotations

from portico.interface import PolicySpec, StageBrief, StageKind
from portico.policies.detectors import Detector, create_detector, wanted_image_size
from portico.policies.directions import parse_directions
from portico.policies.frontier import IMAGE_SIZE, MAP_NEEDS, MappingPolicy
from portico.policies.instruction_seeker import InstructionSeeker
from portico.policies.seekers import Seeker
from portico.policies.semantic_seeker import SemanticSeeker


class InstructionFollower(MappingPolicy):
    """Parses directions into turns, distances, doors, stairs and landmarks, and carries them out where the map allows.

    Places that are asked for by the way there are gone to in the same way; a category alone is searched for as ``semantic-frontier`` does.

    Args:
        detector: a name of ``portico list detectors``, several joined by ``+``, ``none``, or ``package.module:Class``: it finds the goal and
            the landmarks. Without one the robot stops where the directions end by its reckoning.
    """

    def __init__(self, detector: str | Detector | None = None) -> None:
        found = create_detector(detector)
        needs = MAP_NEEDS | (found.needs if found else frozenset())
        stages: frozenset[StageKind] = frozenset({"vln", "place", "object"})
        super().__init__(PolicySpec("instruction-follower", needs=needs, stages=stages, image_size=wanted_image_size(found) or IMAGE_SIZE), found)

    def _seeker_for(self, stage: StageBrief) -> Seeker:
        if stage.kind == "vln" or (not stage.category and parse_directions(stage.instruction).steps):
            return InstructionSeeker(self._detector, stage)
        return SemanticSeeker(self._detector, stage)
