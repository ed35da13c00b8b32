"""Who says where in an image the thing is that is looked for. A detector is a plug point of ``frontier``."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from portico.errors import PolicyRefused
from portico.interface import Brief, Frame, Need


@runtime_checkable
class Detector(Protocol):
    """Finds instances of a category in one frame.

    Attributes:
        needs: what it reads, e.g. {"rgb"}; added to the policy's needs.
    """

    needs: frozenset[Need]

    def reset(self, brief: Brief) -> None:
        """A new episode begins."""

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """(H, W) mask of the pixels that show the category."""


class SemanticDetector:
    """Reads the simulator's semantic channel: perfect sight, therefore privileged."""

    needs: frozenset[Need] = frozenset({"semantic"})

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def reset(self, brief: Brief) -> None:
        """Learn the ids of the categories."""
        self._ids = {name: number for number, name in brief.categories.items()}

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """Pixels that carry the category's id.

        Raises:
            PolicyRefused: the frame has no semantic channel.
        """
        if frame.semantic is None:
            raise PolicyRefused("the semantic detector needs the semantic channel", next_step="run it with --allow-privileged, or choose another detector")
        mask: NDArray[np.bool_] = frame.semantic == self._ids.get(category, -1)
        return mask
