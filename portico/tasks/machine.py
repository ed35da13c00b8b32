"""The stage machine: follows an episode state by state, confirms stages, hands off, and says how it ended.

A confirmed stage hands over the state actually reached: the next one starts there, with no reset and no move. A failed
declaration ends the episode and later stages count as not attempted [I2 B.3]. Only a policy's STOP is a declaration:
a timeout, standing still or an invalid reply never become one [I2 B.2].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from portico.geometry import Floats
from portico.interface import StageKind
from portico.tasks.annotations import Annotations, Bools
from portico.tasks.episode import Episode, StageSpec
from portico.tasks.predicates import BodySize, Ground, Predicate, SamePlane, opened, predicate

StageResult = Literal["success", "failure", "not_attempted"]
#: Why an episode ended. ``wrong_goal``: a STOP too far from every accepted instance, by NavVerse's rule [NV 6.6].
#: ``incomplete``: the record stops before anything else ended it.
TerminalReason = Literal["success", "failed_declaration", "wrong_goal", "budget_exhausted", "timeout", "fall", "out_of_bounds", "stuck", "incomplete"]


@dataclass(frozen=True)
class StageEvent:
    """What the evaluator has just decided.

    Attributes:
        kind: hand_off when another stage follows.
        stage: index of the stage that was decided. state: index of the state it was decided at.
        reason: why a stage failed.
    """

    kind: Literal["hand_off", "mission_success", "stage_failure"]
    stage: int
    state: int
    reason: TerminalReason | None = None


@dataclass(frozen=True)
class StageOutcome:
    """How one stage went. ``start`` is the hand-off state, ``end`` the state it was decided at, ``stop`` where it was declared."""

    kind: StageKind
    outcome: StageResult
    start: int | None = None
    end: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Outcome:
    """How an episode went.

    Attributes:
        completed: stages confirmed, in order, from the first.
        stages: one outcome per stage. reason: why it ended, None while it runs.
        end: index of the last state that belongs to the episode.
    """

    completed: int
    stages: tuple[StageOutcome, ...]
    reason: TerminalReason | None
    end: int

    @property
    def success(self) -> bool:
        """All stages confirmed."""
        return self.completed == len(self.stages)


def ends_on_arrival(spec: StageSpec) -> bool:
    """Whether a stage succeeds by being there: ``outdoor`` always [I2 B.2], point, image and object under ``on_arrival`` [NA].

    A STOP in such a stage costs an action and declares nothing.
    """
    return spec.kind == "outdoor" or (spec.kind in ("point", "image", "object") and spec.termination == "on_arrival")


class StageMachine:
    """Judges one episode while it happens, or again from its record (``replay``).

    Args:
        episode: the ordered stages and the budget.
        annotations: the world's ground truth.
        body: the embodiment; its radius and climb count.
        same_plane: whether two points (3,) lie on connected surfaces; None takes like heights as connected.
        arrives: which stages need no declaration.

    Raises:
        EpisodeError: from ``start`` or a hand-off, when a stage names what the world does not have.
    """

    def __init__(
        self,
        episode: Episode,
        annotations: Annotations,
        body: BodySize,
        *,
        same_plane: SamePlane | None = None,
        arrives: Callable[[StageSpec], bool] = ends_on_arrival,
    ) -> None:
        self.episode = episode
        self.stage = 0
        self.reason: TerminalReason | None = None
        self.events: list[StageEvent] = []
        self._ground = Ground(annotations, body, same_plane)
        self._arrives = arrives
        self._decided: list[StageOutcome] = []
        self._began = 0
        self._armed = self._open = False

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.reason is not None

    def start(self, position: Floats) -> StageEvent | None:
        """Begin at the start state (3,). An event here means that a stage was already satisfied (see ``trivial_at_start``)."""
        self._last = np.asarray(position, dtype=np.float64)
        self._count = 1
        self._enter(0, 0, self._last)
        return self._judge(self._last[None], 0)

    def update(self, positions: Sequence[Floats] | Floats) -> StageEvent | None:
        """Take the states (N, 3) passed through since the last call; the latest of the events they caused, if any."""
        states = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
        if self.done or not len(states):
            return None
        self._last = states[-1]
        self._count += len(states)
        return self._judge(states, self._count - len(states))

    def declare_stop(self) -> StageEvent | None:
        """The policy declares the current stage complete, at the last state. None in a stage that needs no declaration."""
        if self.done or self._arrives(self.episode.stages[self.stage]):
            return None
        here = self._count - 1
        if not (self._open and bool(self._predicate.holds(self._last[None])[0])):
            by_navverse = self.episode.stages[self.stage].by_navverse
            return self._fail("wrong_goal" if by_navverse else "failed_declaration", stop=here)
        event = self._succeed(here, self._last, stop=here)
        return self._judge(self._last[None], here) or event

    def spend(self, actions: int, time_s: float) -> StageEvent | None:
        """Check the budget after an action: ``actions`` executed so far, ``time_s`` simulated so far."""
        budget = self.episode.budget
        if self.done:
            return None
        if actions >= budget.max_actions:
            return self._fail("budget_exhausted")
        if budget.max_time_s is not None and time_s > budget.max_time_s:
            return self._fail("timeout")
        return None

    def end(self, reason: TerminalReason) -> StageEvent | None:
        """End an episode that something else cut off, e.g. a fall; the unfinished stage fails."""
        return None if self.done else self._fail(reason)

    def outcome(self) -> Outcome:
        """How it went, or how it stands."""
        decided = tuple(self._decided)
        waiting = tuple(StageOutcome(spec.kind, "not_attempted") for spec in self.episode.stages[len(decided) :])
        completed = sum(s.outcome == "success" for s in decided)
        return Outcome(completed, decided + waiting, self.reason, self._last_state())

    def _judge(self, states: Floats, first: int) -> StageEvent | None:
        """Run states, the first of which has index ``first``, through the current stage and those it hands off to."""
        event = None
        while not self.done:
            crossed = self._crossed(states)
            if not self._arrives(self.episode.stages[self.stage]):
                break
            arrived = np.flatnonzero(crossed & self._predicate.holds(states))
            if not len(arrived):
                break
            states, first = states[arrived[0] :], first + int(arrived[0])
            event = self._succeed(first, states[0])
        return event

    def _crossed(self, states: Floats) -> Bools:
        """(N,) whether the stage's history up to each state has crossed what must be crossed."""
        gate = self._predicate.gate(states)
        if gate is None:
            return np.ones(len(states), dtype=bool)
        crossed = opened(*gate, armed=self._armed) | self._open
        self._armed, self._open = self._armed or bool(gate[0].any()), bool(crossed[-1])
        return crossed

    def _enter(self, stage: int, state: int, position: Floats) -> None:
        self.stage, self._began = stage, state
        self._predicate: Predicate = predicate(self.episode.stages[stage], position, self._ground)
        self._armed = False
        self._open = self._predicate.gate(position[None]) is None

    def _succeed(self, state: int, position: Floats, stop: int | None = None) -> StageEvent:
        closed = self.stage
        self._decided.append(StageOutcome(self.episode.stages[closed].kind, "success", self._began, state, stop))
        if closed + 1 == len(self.episode.stages):
            self.reason = "success"
            return self._note(StageEvent("mission_success", closed, state))
        self._enter(closed + 1, state, position)
        return self._note(StageEvent("hand_off", closed, state))

    def _fail(self, reason: TerminalReason, stop: int | None = None) -> StageEvent:
        self.reason = reason
        state = self._count - 1
        self._decided.append(StageOutcome(self.episode.stages[self.stage].kind, "failure", self._began, state, stop))
        return self._note(StageEvent("stage_failure", self.stage, state, reason))

    def _note(self, event: StageEvent) -> StageEvent:
        self.events.append(event)
        return event

    def _last_state(self) -> int:
        """Entering the region ends an ``on_arrival`` rollout at once [NA]; after an outdoor arrival the record counts as far as it goes."""
        spec = self.episode.stages[-1]
        if self.reason == "success" and spec.kind != "outdoor":
            return int(self._decided[-1].end or 0)
        return self._count - 1


def trivial_at_start(episode: Episode, annotations: Annotations, body: BodySize, *, same_plane: SamePlane | None = None) -> bool:
    """Whether the first stage's predicate is already true at the start; never for crossings and loops, whose gate is still shut.

    Raises:
        EpisodeError: the stage names what the world does not have.
    """
    start = np.array(episode.start.position, dtype=np.float64)
    first = predicate(episode.stages[0], start, Ground(annotations, body, same_plane))
    return first.gate(start[None]) is None and bool(first.holds(start[None])[0])
