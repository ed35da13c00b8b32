"""Several detectors as one: each says what the others cannot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from portico.interface import Brief, Frame, Need
from portico.policies.detectors.contract import Detector, Labels, labels_of, suited, wanted_image_size


class SeveralDetectors:
    """Whatever any of some detectors finds; of two names for a pixel the later detector's counts.

    Args:
        detectors: at least one.
    """

    def __init__(self, detectors: Sequence[Detector]) -> None:
        self._detectors = tuple(detectors)
        self.needs: frozenset[Need] = frozenset().union(*(d.needs for d in detectors))
        sizes = [size for d in detectors if (size := wanted_image_size(d)) is not None]
        self.image_size = max(sizes) if sizes else None

    def reset(self, brief: Brief) -> None:
        """A new episode for each."""
        for detector in self._detectors:
            detector.reset(brief)

    def suited(self, category: str) -> Detector | None:
        """Those of them that can find a category; None where none can."""
        able = [narrowed for d in self._detectors if (narrowed := suited(d, category)) is not None]
        return SeveralDetectors(able) if able else None

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """Pixels that any of them takes for the category."""
        found: NDArray[np.bool_] = np.logical_or.reduce([d.detect(frame, category) for d in self._detectors])
        return found

    def labels(self, frame: Frame) -> Labels:
        """The names of all, renumbered one after the other."""
        ids = np.zeros((frame.camera.height, frame.camera.width), np.int32)
        names: dict[int, str] = {}
        complete = True
        for detector in self._detectors:
            named = labels_of(detector, frame)
            if named is not None:
                first, complete = max(names, default=0), complete and named.complete
                ids = np.where(named.ids > 0, named.ids + np.int32(first), ids)
                names |= {first + number: name for number, name in named.names.items()}
        return Labels(ids, names, complete)
