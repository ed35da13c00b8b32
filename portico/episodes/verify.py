"""Verification by rollout: the oracle must succeed through the motion interface, or the episode is not asked [NV 8.2]."""

from __future__ import annotations

from dataclasses import dataclass, field

from portico.episodes.grounds import Grounds
from portico.episodes.navverse.rollouts import unfit
from portico.errors import EpisodeError
from portico.interface import Observation
from portico.policies.privileged import OracleTrajectory
from portico.sim import Simulator
from portico.suites import Suite
from portico.tasks.episode import Episode
from portico.tasks.machine import trivial_at_start
from portico.tasks.trajectory import Trajectory


@dataclass
class Verifier:
    """Rolls episodes out with the trajectory oracle in one world."""

    grounds: Grounds
    suite: Suite
    _simulator: Simulator = field(init=False)
    _oracle: OracleTrajectory = field(init=False)

    def __post_init__(self) -> None:
        self._simulator = Simulator(
            self.grounds.world,
            self.grounds.body,
            space=self.grounds.space,
            track=self.suite.track,
            actions=self.suite.actions.space(),
            robot=self.suite.robot(self.grounds.world, self.grounds.space),
        )
        self._oracle = OracleTrajectory()

    def problem(self, episode: Episode) -> str:
        """Why the oracle cannot do it, "" when it can."""
        if trivial_at_start(episode, self.grounds.annotations, self.grounds.body):
            return "trivial at start"
        self._oracle.attach(self._simulator, episode)
        observation: Observation | None
        try:
            brief, observation = self._simulator.reset(episode)
        except EpisodeError as error:
            return error.what
        self._oracle.reset(brief)
        while observation is not None:
            observation = self._simulator.step(self._oracle.act(observation))
        outcome = self._simulator.outcome()
        if self.suite.rules == "navverse":
            return unfit(episode, self.rollout, outcome, self.grounds, self.suite.navverse)
        return "" if outcome.success else f"oracle: {outcome.reason}"

    @property
    def rollout(self) -> Trajectory:
        """What the oracle did in the episode that was looked at last."""
        return self._simulator.trajectory()
