"""What happened in one episode, step by step: enough to score it again and to render every frame again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import EpisodeError
from portico.geometry import Floats


@dataclass(frozen=True)
class Trajectory:
    """Recorded base states, the start first; an action may pass through several.

    Attributes:
        position: (T, 3) float64, the base's foot point, metres, world frame.
        yaw_rad: (T,) float64. time_s: (T,) float64, simulated.
        action: (T,) int32, number of actions executed before and including the one that led here; 0 at the start.
        stage: (T,) int32, index of the stage that was active while the robot moved to this state.
        collided: (T,) bool, the motion that led here was cut short by contact.
        stop_steps: (K,) int32, indices into the states at which STOP was declared, in order.
        moved: (T,) bool, the motion that led here was asked to translate (denominator of the collision rate).
    """

    position: Floats
    yaw_rad: Floats
    time_s: Floats
    action: NDArray[np.int32]
    stage: NDArray[np.int32]
    collided: NDArray[np.bool_]
    stop_steps: NDArray[np.int32]
    moved: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.position)

    def save(self, path: Path) -> None:
        """Write as ``.npz``, whole or not at all."""
        staging = path.with_suffix(".tmp.npz")
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        np.savez_compressed(staging, **arrays)
        staging.replace(path)

    @staticmethod
    def load(path: Path) -> Trajectory:
        """Read what ``save`` wrote.

        Raises:
            EpisodeError: the file is missing or damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                return Trajectory(**{f.name: archive[f.name] for f in fields(Trajectory)})
        except Exception as error:
            raise EpisodeError(
                "a trajectory cannot be read", where=str(path), why=str(error), next_step="run the episode again: delete its record and resume the run"
            ) from error
