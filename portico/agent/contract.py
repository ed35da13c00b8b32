"""What the loop and a reasoner say to each other: situations, plans, verdicts, and the two ways in which a reasoner fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from portico.agent.memory import EpisodeMemory, MissionMemory
from portico.interface import Brief, Need, Observation, PolicyFailure, StageBrief, StageKind

Logical = Literal["ACCEPT", "REJECT", "UNCERTAIN"]
#: What asks for a verification: the executor's STOP, the end of an attempt, the cadence, or a lack of progress.
Occasion = Literal["proposal", "attempt_end", "periodic", "progress"]
#: Occasions that decide an attempt; the others may only advance it.
DECISIVE: frozenset[Occasion] = frozenset({"proposal", "attempt_end"})
View = Literal["start", "forward", "left", "right"]
VIEWS: tuple[View, ...] = ("start", "forward", "left", "right")
#: Confidence from which on a verdict counts; below it nobody knows [P].
CONFIDENT = 0.5


@dataclass(frozen=True)
class Verdict:
    """What a verification says, of the step at work and of the whole workflow, its parent [I2 Table 8].

    Attributes:
        step_confidence, parent_confidence: finite, 0 to 1, of the two booleans.
        evidence: what was seen. retry_guidance: what another attempt should do differently.
    """

    step_completed: bool
    step_confidence: float
    step_reason: str
    parent_completed: bool
    parent_confidence: float
    parent_reason: str
    evidence: str = ""
    retry_guidance: str = ""

    def __post_init__(self) -> None:
        for name in ("step_completed", "parent_completed"):
            if type(getattr(self, name)) is not bool:
                raise SchemaFailure(f"{name} is no boolean", repr(getattr(self, name)))
        for name in ("step_confidence", "parent_confidence"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
                raise SchemaFailure(f"{name} is no finite number from 0 to 1", repr(value))

    @property
    def step(self) -> Logical:
        """Of the step."""
        return _logical(self.step_completed, self.step_confidence)

    @property
    def parent(self) -> Logical:
        """Of the workflow."""
        return _logical(self.parent_completed, self.parent_confidence)


def _logical(completed: bool, confidence: float) -> Logical:
    if confidence < CONFIDENT:
        return "UNCERTAIN"
    return "ACCEPT" if completed else "REJECT"


@dataclass(frozen=True)
class Step:
    """One executable part of a workflow.

    Attributes:
        name: short, for records. instruction: what the executor is told.
        executor: kind of stage whose executor carries it out.
        closes: whether its completion should complete the workflow.
    """

    name: str
    instruction: str
    executor: StageKind
    closes: bool = True


@dataclass(frozen=True)
class Assessment:
    """Where the robot seems to be, from its own observations alone."""

    location: Literal["indoors", "outdoors", "unknown"] = "unknown"
    floor: Literal["ground", "upstairs", "unknown"] = "unknown"
    confidence: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Situation:
    """All that a reasoner may judge by.

    Attributes:
        stage: as the task gives it. step: the step at work, None while planning.
        observation: the newest. views: frames in the order of ``VIEWS``, those that were taken.
        episode, mission: what the agent remembers of the stage and of the episode.
        attempt: which attempt at the workflow this is, from 1. occasion: what asks for a verification.
        seconds_left: until the episode's wall clock is spent; a reasoner that waits for others must not wait longer.
    """

    stage: StageBrief
    observation: Observation
    episode: EpisodeMemory
    mission: MissionMemory
    attempt: int = 1
    step: Step | None = None
    occasion: Occasion | None = None
    views: Mapping[View, Observation] = field(default_factory=dict)
    verdict: Verdict | None = None
    seconds_left: float = 900.0


class Requests(Protocol):
    """Counts what reasoners ask of models; refuses what the budget does not hold."""

    def spend_request(self, purpose: str) -> None:
        """One HTTP call is about to be made.

        Raises:
            BudgetSpent: no request is left.
        """

    def note_reply(self, facts: Mapping[str, Any], *, seconds: float) -> None:
        """What became of it, tokens included; seconds are kept apart."""

    def note_unread(self, purpose: str, why: str) -> None:
        """A location or a plan could not be read, and something else was taken instead."""


@runtime_checkable
class Reasoner(Protocol):
    """Judges and plans. One instance serves many episodes.

    Attributes:
        name: for records. needs: what it reads of observations.
        looks: occasions at which it wants views to the left and right as well.
    """

    name: str
    needs: frozenset[Need]
    looks: frozenset[Occasion]

    def reset(self, brief: Brief, requests: Requests) -> None:
        """A new episode begins."""

    def enter(self, stage: StageBrief) -> None:
        """A stage begins: evidence of the one before is dropped."""

    def notice(self, observation: Observation) -> None:
        """Every observation, in order."""

    def assess(self, situation: Situation) -> Assessment:
        """Estimate where the robot is."""

    def plan(self, situation: Situation, assessment: Assessment) -> Sequence[Step]:
        """Steps of the workflow; with a verdict in the situation, steps that make up for what it found missing."""

    def verify(self, situation: Situation) -> Verdict:
        """Judge step and workflow.

        Raises:
            SchemaFailure: the reply was no verdict. ProviderFailure: there was no reply. BudgetSpent: it could not be asked for.
        """

    def close(self) -> None:
        """Release what was opened."""


class SchemaFailure(Exception):
    """A reply that is no verdict: the attempt is consumed and the record says so. ``got`` shows the offending part."""

    def __init__(self, why: str, got: str = "") -> None:
        super().__init__(why, got)
        self.why, self.got = why, got[:200]

    def __str__(self) -> str:
        return f"{self.why}: {self.got}" if self.got else self.why


class BudgetSpent(Exception):
    """Something the agent may use only so much of is used up; ``args[0]`` names it."""


class ProviderFailure(PolicyFailure):
    """The model's provider gave no usable answer: a system error, outside the denominator [I2 F.3]."""
