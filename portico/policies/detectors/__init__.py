"""Who says where in an image the things are that are looked for: detectors, and the registry that names them.

A detector is a plug point of every policy that searches; ``portico.testing.check_detector`` checks one.
"""

from portico.policies.detectors.contract import Detector, Labels, Namer, labels_of, suited, wanted_image_size
from portico.policies.detectors.registry import DETECTORS, ENTRY_POINT_GROUP, create_detector, describe_detectors, detector_names
from portico.policies.detectors.semantic import SemanticDetector

__all__ = [
    "DETECTORS",
    "ENTRY_POINT_GROUP",
    "Detector",
    "Labels",
    "Namer",
    "SemanticDetector",
    "create_detector",
    "describe_detectors",
    "detector_names",
    "labels_of",
    "suited",
    "wanted_image_size",
]
