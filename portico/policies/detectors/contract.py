"""What a detector is: it finds one category; one that can name all it sees helps a search more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from portico.interface import Brief, Frame, Need


@runtime_checkable
class Detector(Protocol):
    """Finds instances of a category in one frame.

    It may also have an ``image_size``, (width, height) in pixels, below which it sees little: policies then ask for such images;
    and ``suited(category)``, which returns what of it can find a category, None where nothing can: who looks for that need not ask it.

    Attributes:
        needs: what it reads, e.g. {"rgb"}; added to the policy's needs.
    """

    needs: frozenset[Need]

    def reset(self, brief: Brief) -> None:
        """A new episode begins."""

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """(H, W) mask of the pixels that show the category; empty where it cannot know or did not look."""


class Labels(NamedTuple):
    """All that a detector names in a frame.

    Attributes:
        ids: (H, W), 0 where it names nothing. names: what they stand for.
        complete: it looked; False where it passed the frame over, so that what is not named may be there all the same.
    """

    ids: NDArray[np.int32]
    names: Mapping[int, str]
    complete: bool = True


@runtime_checkable
class Namer(Protocol):
    """A detector that says what everything is that it recognises, asked for or not."""

    def labels(self, frame: Frame) -> Labels:
        """Of one frame; asked twice for the same frame it says the same."""


def labels_of(detector: Detector | None, frame: Frame) -> Labels | None:
    """What a detector names in a frame, None where it cannot."""
    return detector.labels(frame) if isinstance(detector, Namer) else None


def wanted_image_size(detector: Detector | None) -> tuple[int, int] | None:
    """(width, height) below which a detector sees little, None where any size will do."""
    size: tuple[int, int] | None = getattr(detector, "image_size", None)
    return size


def suited(detector: Detector | None, category: str) -> Detector | None:
    """The detector, or what of it can find a category; None where nothing of it can. Without a category all of it may help."""
    if detector is None or not category:
        return detector
    narrow = getattr(detector, "suited", None)
    found: Detector | None = detector if narrow is None else narrow(category)
    return found
