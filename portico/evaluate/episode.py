"""The loop: reset, observe, act, step, record."""

from __future__ import annotations

import time
from dataclasses import dataclass

from portico.errors import UserError
from portico.interface import Action, Move, Observation, Policy, Stop, Velocity, Waypoints
from portico.sim import Simulator
from portico.tasks.episode import Episode
from portico.tasks.machine import Outcome
from portico.tasks.trajectory import Trajectory


class PolicyFault(UserError):
    """The policy raised, or returned something that is no Action. Never turned into a stop or a move."""


@dataclass(frozen=True)
class Rollout:
    """What one episode left behind; seconds of wall clock by who spent them."""

    trajectory: Trajectory
    outcome: Outcome
    policy_s: float
    simulator_s: float


def run_episode(simulator: Simulator, policy: Policy, episode: Episode, *, key: str, seed: int) -> Rollout:
    """Run a policy through one episode.

    Raises:
        PolicyFault: the policy raised or returned no Action.
        EpisodeError: the episode cannot start in this world.
    """
    clock = _Clock()
    observation: Observation | None
    brief, observation = simulator.reset(episode, key=key, seed=seed)
    clock.lap("simulator")
    _guarded(policy, "reset", brief)
    while observation is not None:
        action = _guarded(policy, "act", observation)
        clock.lap("policy")
        if not isinstance(action, Action):
            raise PolicyFault("the policy returned no action", where=policy.spec.name, why=f"got {action!r}", next_step=_ACTIONS)
        observation = simulator.step(action)
        clock.lap("simulator")
    return Rollout(simulator.trajectory(), simulator.outcome(), clock.spent["policy"], clock.spent["simulator"])


_ACTIONS = "return one of " + ", ".join(kind.__name__ for kind in (Stop, Move, Waypoints, Velocity))


def _guarded(policy: Policy, call: str, argument: object) -> object:
    try:
        return getattr(policy, call)(argument)
    except Exception as error:
        raise PolicyFault(f"the policy failed in {call}()", where=policy.spec.name, why=f"{type(error).__name__}: {error}") from error


class _Clock:
    def __init__(self) -> None:
        self.spent = {"policy": 0.0, "simulator": 0.0}
        self._last = time.perf_counter()

    def lap(self, who: str) -> None:
        now = time.perf_counter()
        self.spent[who] += now - self._last
        self._last = now
