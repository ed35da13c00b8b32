"""Executors whose declarations are unreliable, as the source found those of published models to be: STOP too early, or never.

A published model may find the door and still stop before it, or be outdoors and not notice (I2O2I-Nav, section 4.5). Map-building
baselines judge completion well. To measure what verification is worth where declarations are poor, a profile spoils them at stated
rates, by dice that know nothing of the world. Search and motion stay those of the member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from portico.errors import UnknownName
from portico.interface import Action, Brief, Move, Observation, Policy, StageKind, Stop
from portico.seeding import generator

#: Stages that end by a declaration.
_DECLARED: frozenset[StageKind] = frozenset({"exit", "entrance", "ovon"})


@dataclass(frozen=True)
class Slips:
    """Rates.

    Attributes:
        early: probability per action of a STOP that nothing calls for.
        missed: probability, per reset and stage, that completion goes unnoticed: every STOP becomes a step or a turn.
    """

    early: float
    missed: float


#: ``hasty`` only stops too early, once in fifty actions; ``blind`` misses every second completion; ``both`` does either. Round rates with
#: which a fixed chain of the baselines gets through a stage about as often as the source's: 20 to 30 % of exits, 17 to 29 % of entrances.
PROFILES: Mapping[str, Slips] = {"hasty": Slips(0.02, 0.0), "blind": Slips(0.0, 0.5), "both": Slips(0.02, 0.5)}
_FORWARD_SHARE = 0.5


def slips_of(name: str | None) -> Slips | None:
    """A profile by name, None for none.

    Raises:
        UnknownName: no such profile.
    """
    if name in (None, "", "none"):
        return None
    if name not in PROFILES:
        raise UnknownName("profile of slips", str(name), PROFILES)
    return PROFILES[str(name)]


class SlippingPolicy:
    """A member with slips; its dice depend on the episode and on how often it was reset in it."""

    def __init__(self, member: Policy, slips: Slips) -> None:
        self.member, self.slips = member, slips
        self.spec = member.spec
        self._seed, self._resets = "", 0
        self._stage = -1
        self._begin()

    def reset(self, brief: Brief) -> None:
        """Reset the member and throw new dice."""
        seed = f"{brief.seed}:{brief.episode_key}"
        self._resets = self._resets + 1 if seed == self._seed else 0
        self._seed, self._stage = seed, brief.stage.index
        self._begin()
        self.member.reset(brief)

    def act(self, observation: Observation) -> Action:
        """The member's action, or a slip."""
        if observation.stage.index != self._stage:
            self._stage = observation.stage.index
            self._begin()
        action = self.member.act(observation)
        if observation.stage.kind not in _DECLARED:
            return action
        if self._dice.random() < self.slips.early:
            return Stop()
        if isinstance(action, Stop) and self._blind:
            return Move("forward" if self._dice.random() < _FORWARD_SHARE else "turn_left")
        return action

    def close(self) -> None:
        """Release the member."""
        self.member.close()

    def _begin(self) -> None:
        self._dice: np.random.Generator = generator("slips", self._seed, self._resets, self._stage)
        self._blind = bool(self._dice.random() < self.slips.missed)
