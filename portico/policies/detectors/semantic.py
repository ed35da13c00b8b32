"""The simulator's labels as a detector: perfect sight, therefore privileged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from portico.errors import PolicyRefused
from portico.interface import Brief, Frame, Need
from portico.policies.detectors.contract import Labels


class SemanticDetector:
    """Reads the simulator's semantic channel (privileged). Signs are labelled as signs there: what is written on them is for others to read."""

    needs: frozenset[Need] = frozenset({"semantic"})

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._ids: dict[str, int] = {}

    def reset(self, brief: Brief) -> None:
        """Learn the ids of the categories."""
        self._names = dict(brief.categories)
        self._ids = {name: number for number, name in brief.categories.items()}

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """Pixels that carry the category's id.

        Raises:
            PolicyRefused: the frame has no semantic channel.
        """
        mask: NDArray[np.bool_] = _channel(frame) == self._ids.get(category, -1)
        return mask

    def labels(self, frame: Frame) -> Labels:
        """The channel itself.

        Raises:
            PolicyRefused: the frame has no semantic channel.
        """
        return Labels(_channel(frame), self._names)


def _channel(frame: Frame) -> NDArray[np.int32]:
    if frame.semantic is None:
        raise PolicyRefused("the semantic detector needs the semantic channel", next_step="run it with --allow-privileged, or choose another detector")
    return frame.semantic
