"""One stage as the agent carries it out: its steps, its attempts, and what asks for a verification."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from portico.agent.budgets import Budgets
from portico.agent.checkpoints import ProgressCheckpoint
from portico.agent.contract import Occasion, Step, Verdict
from portico.agent.memory import EpisodeMemory
from portico.geometry import Pose
from portico.interface import Observation, StageBrief

#: So many checkpoints without progress around one place end an attempt, while there is another one to go to [P].
_STALLS, _SAME_PLACE_M = 3, 2.0


class Workflow:
    """State of the current stage.

    Attributes:
        stage, memory: what it is and what is remembered of it. steps: still to do, the one at work first.
        attempt: from 1. step_started: whether the executor of the step at work has begun. start_view: what was seen when it did.
        withheld: STOPs that ``continuation`` did not pass on. failed: why it ended without a declaration, "" while it has not.
    """

    def __init__(self, stage: StageBrief, memory: EpisodeMemory, budgets: Budgets) -> None:
        self.stage, self.memory, self._budgets = stage, memory, budgets
        self.steps: list[Step] = []
        self.attempt = 0
        self.step_started = False
        self.start_view: Observation | None = None
        self.withheld = 0
        self.failed = ""
        self.verdict: Verdict | None = None
        self._attempt_began = memory.began
        self._checked = 0
        self._stalls: list[Pose] = []
        self._progress = ProgressCheckpoint()

    @property
    def step(self) -> Step:
        """The step at work."""
        return self.steps[0]

    @property
    def replans_left(self) -> int:
        """Replanning cycles that are left."""
        return self._budgets.replans + 1 - self.attempt

    def take(self, steps: Sequence[Step], action: int) -> None:
        """Begin an attempt with these steps."""
        self.steps = list(steps)
        self.attempt += 1
        self._attempt_began = action
        self._stalls = []
        self._restart()
        self.memory.plan = tuple(step.name for step in steps)

    def advance(self) -> None:
        """The step at work is done; the next one begins within the same attempt."""
        self.memory.done.append(self.steps.pop(0).name)
        self._restart()

    def begin_step(self, observation: Observation) -> None:
        """The executor of the step at work begins here."""
        self.step_started, self.start_view = True, observation

    def due(self, observation: Observation, pose: Pose, periodic_left: int) -> Occasion | None:
        """What asks for a verification now, before the executor is asked again."""
        stalled = self._progress.add(pose)
        count = (observation.step - self.memory.began) // self._budgets.cadence if self._budgets.cadence else 0
        cadence, self._checked = count > self._checked, max(count, self._checked)
        if observation.step - self._attempt_began >= self._budgets.attempt_steps:
            return "attempt_end"
        if periodic_left <= 0:
            return None
        if stalled:
            self._stalls = [p for p in self._stalls if hypot(p.x - pose.x, p.y - pose.y) < _SAME_PLACE_M] + [pose]
            return "progress"
        return "periodic" if cadence and self.stage.kind != "outdoor" else None

    @property
    def stalled(self) -> bool:
        """Whether this attempt gets nowhere and another one may be tried."""
        return len(self._stalls) >= _STALLS and self.replans_left > 0

    def _restart(self) -> None:
        self.step_started = False
        self._progress.clear()
