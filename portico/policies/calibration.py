"""Policies that calibrate a benchmark: they look at nothing, so whatever they score is luck."""

from __future__ import annotations

from typing import get_args

import numpy as np

from portico.interface import Action, Brief, Move, MoveName, Observation, PolicySpec, StageKind, Stop
from portico.seeding import generator

EVERY_STAGE: frozenset[StageKind] = frozenset(get_args(StageKind))


class StopPolicy:
    """Declares every stage complete at once: the score of standing still."""

    spec = PolicySpec("stop", stages=EVERY_STAGE)

    def reset(self, brief: Brief) -> None:
        """Nothing to forget."""

    def act(self, observation: Observation) -> Action:
        """STOP."""
        return Stop()

    def close(self) -> None:
        """Nothing to release."""


class RandomPolicy:
    """Forward with probability 0.68, a left or a right turn with 0.15 each, STOP with 0.02, drawn from the brief's seed."""

    spec = PolicySpec("random", stages=EVERY_STAGE)
    _MOVES: tuple[MoveName, ...] = ("forward", "turn_left", "turn_right")
    _CUMULATIVE = np.array([0.68, 0.83, 0.98])

    def __init__(self) -> None:
        self._random = generator("policy", "random")

    def reset(self, brief: Brief) -> None:
        """Start the stream that belongs to this seed."""
        self._random = generator("policy", "random", brief.seed)

    def act(self, observation: Observation) -> Action:
        """Draw one action, whatever is seen."""
        drawn = int(np.searchsorted(self._CUMULATIVE, self._random.random(), side="right"))
        return Move(self._MOVES[drawn]) if drawn < len(self._MOVES) else Stop()

    def close(self) -> None:
        """Nothing to release."""


class ForwardPolicy:
    """Walks ahead and, after a contact, turns left by about 90 degrees. Never stops: the budget ends the episode."""

    spec = PolicySpec("forward", stages=EVERY_STAGE)

    def __init__(self) -> None:
        self._turns_left, self._turns_per_contact = 0, 6

    def reset(self, brief: Brief) -> None:
        """Read how many turns make a right angle."""
        self._turns_left = 0
        self._turns_per_contact = max(1, round(0.5 * np.pi / brief.actions.turn_rad))

    def act(self, observation: Observation) -> Action:
        """Forward, or the rest of a turn."""
        if observation.collided and self._turns_left == 0:
            self._turns_left = self._turns_per_contact
        if self._turns_left > 0:
            self._turns_left -= 1
            return Move("turn_left")
        return Move("forward")

    def close(self) -> None:
        """Nothing to release."""
