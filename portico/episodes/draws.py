"""How a task's questions are drawn, which of them are kept, and what a reference must look like: by one rule book or another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from portico.episodes.grounds import Grounds
from portico.episodes.sampling import OUTDOOR_MIN_PATH_M, OVERSAMPLING, Points, Question, questions, sample_points, thinned
from portico.geometry import arc_lengths
from portico.seeding import generator
from portico.suites import Suite
from portico.tasks.episode import Episode, Reference, Scene, TaskName
from portico.tasks.trajectory import Trajectory

#: References of the NavVerse object task stay within these lengths [NV 8.1].
_OBJECT_LENGTH_M = (5.0, 50.0)


class Draw(Protocol):
    """A rule book for one world.

    Attributes:
        oversampling: candidates wanted per episode of the quota.
    """

    oversampling: int

    def questions(self, task: TaskName, scene: Scene | None, reasons: Counter[str]) -> Iterator[Question]:
        """Questions of a task, in one scene where the rules know scenes, in a seeded order; what falls out before is counted in ``reasons``."""

    def misfit(self, question: Question, reference: Reference) -> str:
        """Why a reference does not fit the rules, "" when it does."""

    def finished(self, reference: Reference) -> Reference:
        """The reference as it is written down."""

    def worded(self, episode: Episode, question: Question) -> Episode | str:
        """The episode with all that the rules add to it before it is verified, or why it cannot be had."""

    def confirmed(self, episode: Episode, trajectory: Trajectory) -> Episode | str:
        """The episode with what the verifying rollout tells, or why it is dropped after all."""

    def chosen(self, accepted: Sequence[tuple[Episode, str]], count: int) -> list[Episode]:
        """``count`` of the accepted (episode, stratum), in the order they are named in."""


class SpreadDraw:
    """I2O2I-Nav's rules: points spread evenly, three times the quota thinned to it [I2 C.2, C.5]."""

    oversampling = OVERSAMPLING

    def __init__(self, grounds: Grounds, suite: Suite) -> None:
        self._grounds, self._suite = grounds, suite

    def questions(self, task: TaskName, scene: Scene | None, reasons: Counter[str]) -> Iterator[Question]:
        """See ``Draw``."""
        return questions(self._grounds, self._points, task, generator(self._suite.seed, self._grounds.world.id, task, "order"))

    def misfit(self, question: Question, reference: Reference) -> str:
        """See ``Draw``."""
        task = question.task
        if task == "object" and not _OBJECT_LENGTH_M[0] <= reference.length_m <= _OBJECT_LENGTH_M[1]:
            return "reference shorter than 5 m or longer than 50 m"
        if task in ("outdoor", "i2o", "o2i", "i2o2i"):
            k = 0 if task in ("outdoor", "o2i") else 1
            along = arc_lengths(np.array(reference.path)[:, :2])
            outdoor = along[reference.stage_ends[k]] - (along[reference.stage_ends[k - 1]] if k else 0.0)
            if task == "outdoor" and outdoor <= OUTDOOR_MIN_PATH_M:
                return "outdoor path not longer than 20 m"
            if outdoor <= 0.0:
                return "outdoor goal reached at the hand-off"
        return ""

    def finished(self, reference: Reference) -> Reference:
        """As planned."""
        return reference

    def worded(self, episode: Episode, question: Question) -> Episode | str:
        """As it is."""
        return episode

    def confirmed(self, episode: Episode, trajectory: Trajectory) -> Episode | str:
        """As it is."""
        return episode

    def chosen(self, accepted: Sequence[tuple[Episode, str]], count: int) -> list[Episode]:
        """Even over strata and lengths, shortest first."""
        return [episode for episode, _ in thinned(accepted, count, length=_length_m, stratum=lambda pair: pair[1])]

    @cached_property
    def _points(self) -> Points:
        quota = max(count for task in self._suite.tasks for count in self._suite.quotas(task).values())
        return sample_points(self._grounds, quota, reach_m(self._suite), self._suite.seed, self._grounds.world.id)


def reach_m(suite: Suite) -> float:
    """Length of the way that all actions of the budget make when each is one step forward."""
    return suite.budget.max_actions * suite.actions.step_m


def _length_m(pair: tuple[Episode, str]) -> float:
    return pair[0].reference.length_m if pair[0].reference else 0.0
