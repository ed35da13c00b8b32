"""What happened in one episode, step by step: enough to score it again and to render every frame again."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import EpisodeError
from portico.geometry import Floats

#: Columns that only bodies under physics fill.
_OF_BODIES = ("tilt_rad", "clipped", "fallen", "surface")


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
        tilt_rad: (T, 2) float64, roll and pitch of the body, positive pitch is nose down; zeros where nothing can lean.
        clipped: (T,) bool, more was asked for than the body or the world allows.
        fallen: (T,) bool, the body no longer stands [NV 6.6].
        surface: (T,) uint8, the ``portico.world.Surface`` that mattered most under and around the body, 0 where that is not known. The last
            four may be left out.
    """

    position: Floats
    yaw_rad: Floats
    time_s: Floats
    action: NDArray[np.int32]
    stage: NDArray[np.int32]
    collided: NDArray[np.bool_]
    stop_steps: NDArray[np.int32]
    moved: NDArray[np.bool_]
    tilt_rad: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    clipped: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    fallen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    surface: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    def __post_init__(self) -> None:
        count = len(self.position)
        for name in _OF_BODIES:
            if len(getattr(self, name)) == 0:
                shape = (count, 2) if name == "tilt_rad" else (count,)
                object.__setattr__(self, name, np.zeros(shape, getattr(self, name).dtype))

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
                return Trajectory(**{f.name: archive[f.name] for f in fields(Trajectory) if f.name in archive or f.name not in _OF_BODIES})
        except Exception as error:
            raise EpisodeError(
                "a trajectory cannot be read", where=str(path), why=str(error), next_step="run the episode again: delete its record and resume the run"
            ) from error
