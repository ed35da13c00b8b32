"""Executors that declare as unreliably as the source found published models to: before they are there, or never.

Map-building baselines judge completion well, so that there is little for a verifier to find. The source's executors do not: they see the
outdoors and stop before the door, stop in front of an entrance, pass what they look for, or stand where they should and never stop
(I2O2I-Nav, section 4.5). A profile gives a member these faults, attempt by attempt, by dice that know nothing of the world. How it searches
and moves stays as it is, so that a run with slips and one without differ in declarations alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot
from typing import Literal

import numpy as np

from portico.errors import UnknownName
from portico.geometry import Pose
from portico.interface import Action, ActionSpace, Answering, Brief, Move, Observation, Policy, StageKind, Stop, Waypoints
from portico.policies.pilot import Pilot
from portico.seeding import generator

#: Stages that end by a declaration.
_DECLARED: frozenset[StageKind] = frozenset({"exit", "entrance", "ovon"})
#: What a map-building member calls the end of its way, and from how far a hasty one takes it for reached.
_ENDS, _HASTY_M = frozenset({"opening", "object"}), 2.5
#: Outdoors shows where so much of the view rises so high: a door some 3 m away, or a large window.
_OPEN_SHARE, _OPEN_M = 0.25, 5.0
_FORWARD_SHARE = 0.5
_Fault = Literal["none", "hasty", "blind"]


@dataclass(frozen=True)
class Slips:
    """Shares of attempts.

    Attributes:
        hasty: declares as soon as it sees the outdoors, or within 2.5 m of the opening or the object that it is going to.
        blind: does not notice that it is done; where it would stop it loses itself in steps and turns instead.
    """

    hasty: float
    blind: float


#: ``both`` leaves a quarter of the attempts as they are: the source's fixed chain gets through 20 to 30 % of exits, 17 to 29 % of entrances
#: and 20 % of object searches, and it does not say how its failures divide.
PROFILES: Mapping[str, Slips] = {"hasty": Slips(0.5, 0.0), "blind": Slips(0.0, 0.5), "both": Slips(0.375, 0.375)}


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
    """A member with slips; its dice depend on the episode, on the stage, and on how often it was reset."""

    def __init__(self, member: Policy, slips: Slips) -> None:
        self.member, self.slips = member, slips
        self.spec = member.spec
        self._seed, self._resets, self._stage = "", 0, -1
        self._actions = ActionSpace()
        self._lost = False
        self._begin()

    def ready(self) -> None:
        """See whether the member's server answers, where it has one.

        Raises:
            PolicyFailure: it does not.
        """
        if isinstance(self.member, Answering):
            self.member.ready()

    def reset(self, brief: Brief) -> None:
        """Reset the member and throw new dice."""
        seed = f"{brief.seed}:{brief.episode_key}"
        self._resets = self._resets + 1 if seed == self._seed else 0
        self._seed, self._stage, self._actions = seed, brief.stage.index, brief.actions
        self._begin()
        self.member.reset(brief)

    def act(self, observation: Observation) -> Action:
        """The member's action, or a slip."""
        if observation.stage.index != self._stage:
            self._stage = observation.stage.index
            self._begin()
        if self._lost:
            return self._wander()
        action = self.member.act(observation)
        if observation.stage.kind not in _DECLARED:
            return action
        if self._fault == "blind" and isinstance(action, Stop):
            self._lost = True
            return self._wander()
        return Stop() if self._fault == "hasty" and self._nearly_there(observation.stage.kind) else action

    def close(self) -> None:
        """Release the member."""
        self.member.close()

    def _begin(self) -> None:
        self._dice: np.random.Generator = generator("slips", self._seed, self._resets, self._stage)
        thrown = float(self._dice.random())
        self._fault: _Fault = "hasty" if thrown < self.slips.hasty else "blind" if thrown < self.slips.hasty + self.slips.blind else "none"
        self._lost = False

    def _wander(self) -> Action:
        forward = bool(self._dice.random() < _FORWARD_SHARE)
        if "move" in self._actions.accepts:
            return Move("forward" if forward else "turn_left")
        step = Pose(self._actions.step_m, 0.0) if forward else Pose(0.0, 0.0, 0.0, self._actions.turn_rad)
        return Waypoints((step,))

    def _nearly_there(self, stage: StageKind) -> bool:
        """Whether the member sees where it wants to be, by its own eyes and map."""
        pilot: Pilot | None = getattr(self.member, "pilot", None)
        if pilot is None or pilot.sight is None:
            return False
        if stage == "exit":
            return float((pilot.sight.top_m > _OPEN_M).mean()) >= _OPEN_SHARE
        if pilot.target is None or pilot.target.name not in _ENDS:
            return False
        x, y, _ = pilot.target.position
        return hypot(x - pilot.pose.x, y - pilot.pose.y) < _HASTY_M
