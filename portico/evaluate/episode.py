"""The loop: reset, observe, act, step, record."""

from __future__ import annotations

import time
from dataclasses import dataclass

from portico.evaluate.guard import PolicyFault as PolicyFault
from portico.evaluate.guard import begin, decide
from portico.evaluate.timing import TimingMode
from portico.interface import Observation, Policy
from portico.sim import Simulator
from portico.tasks.episode import Episode
from portico.tasks.machine import Outcome
from portico.tasks.trajectory import Trajectory


@dataclass(frozen=True)
class Rollout:
    """What one episode left behind; seconds of wall clock by who spent them, and for each decision."""

    trajectory: Trajectory
    outcome: Outcome
    policy_s: float
    simulator_s: float
    decisions_s: tuple[float, ...] = ()


def run_episode(simulator: Simulator, policy: Policy, episode: Episode, *, key: str, seed: int, timing: TimingMode = TimingMode()) -> Rollout:
    """Run a policy through one episode.

    Args:
        timing: what deciding costs in simulated time.

    Raises:
        PolicyFault: the policy raised or returned no Action.
        EpisodeError: the episode cannot start in this world.
    """
    clock = _Clock()
    decisions_s: list[float] = []
    observation: Observation | None
    brief, observation = simulator.reset(episode, key=key, seed=seed)
    clock.lap("simulator")
    begin(policy, brief)
    clock.lap("policy")
    while observation is not None:
        action = decide(policy, observation)
        decisions_s.append(clock.lap("policy"))
        charged_s, before_s = timing.charge_s(decisions_s[-1]), observation.time_s
        observation = simulator.step(action, after_s=charged_s, holds_s=policy.spec.timing.expires_s or 0.0)
        stepped_s = clock.lap("simulator")
        if observation is not None:
            timing.keep_pace(observation.time_s - before_s - charged_s, stepped_s)
            clock.lap("waiting")
    return Rollout(simulator.trajectory(), simulator.outcome(), clock.spent["policy"], clock.spent["simulator"], tuple(decisions_s))


class _Clock:
    def __init__(self) -> None:
        self.spent = {"policy": 0.0, "simulator": 0.0, "waiting": 0.0}
        self._last = time.perf_counter()

    def lap(self, who: str) -> float:
        """Seconds since the last lap, put to somebody's account."""
        now = time.perf_counter()
        lap_s, self._last = now - self._last, now
        self.spent[who] += lap_s
        return lap_s
