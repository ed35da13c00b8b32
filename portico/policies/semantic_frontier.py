"""Modular, map-based search by what things are: in the manner of SGImagineNav, the modular baseline of NavVerse's paper [NV 4.1]."""

from __future__ import annotations

from portico.interface import PolicySpec, StageBrief, StageKind
from portico.policies.detectors import Detector, create_detector, wanted_image_size
from portico.policies.frontier import IMAGE_SIZE, MAP_NEEDS, MappingPolicy
from portico.policies.seekers import Seeker
from portico.policies.semantic_seeker import SemanticSeeker

_SEARCHED: frozenset[StageKind] = frozenset({"object", "place", "vln", "ovon"})


class SemanticFrontier(MappingPolicy):
    """Frontiers worth what is seen around them and what usually is where; reads signs, checks candidates, stops beside them.

    Of directions it reads where they end, no more. Other stages are left to what ``frontier`` does.

    Args:
        detector: a name of ``portico list detectors``, several joined by ``+``, ``none``, or ``package.module:Class``. ``text`` is fair on
            track rgbd, ``semantic`` is privileged. Without one it explores by depth alone and declares nothing.
    """

    def __init__(self, detector: str | Detector | None = None) -> None:
        found = create_detector(detector)
        needs = MAP_NEEDS | (found.needs if found else frozenset())
        stages: frozenset[StageKind] = _SEARCHED | {"point", "image", "exit", "outdoor", "entrance"}
        super().__init__(PolicySpec("semantic-frontier", needs=needs, stages=stages, image_size=wanted_image_size(found) or IMAGE_SIZE), found)

    def _seeker_for(self, stage: StageBrief) -> Seeker:
        return SemanticSeeker(self._detector, stage) if stage.kind in _SEARCHED else super()._seeker_for(stage)
