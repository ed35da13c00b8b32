"""What is asked and when it is done: episodes, predicates, the stage machine, what each stage releases, trajectories.

Ground truth lives in ``Annotations``, for the evaluator alone; a policy gets a ``StageBrief`` and no more.
"""

from portico.tasks.annotations import Annotations
from portico.tasks.episode import TASK_STAGES, Budget, Episode, EpisodeSet, Reference, StageSpec, Start, TaskName
from portico.tasks.machine import Outcome, StageEvent, StageMachine, StageOutcome, TerminalReason, ends_on_arrival, trivial_at_start
from portico.tasks.predicates import Ground, Predicate, predicate, satisfied
from portico.tasks.release import Release, default_instruction, released, stage_brief
from portico.tasks.replay import replay
from portico.tasks.termination import ends_by
from portico.tasks.trajectory import Trajectory

__all__ = [
    "TASK_STAGES",
    "Annotations",
    "Budget",
    "Episode",
    "EpisodeSet",
    "Ground",
    "Outcome",
    "Predicate",
    "Reference",
    "Release",
    "StageEvent",
    "StageMachine",
    "StageOutcome",
    "StageSpec",
    "Start",
    "TaskName",
    "TerminalReason",
    "Trajectory",
    "default_instruction",
    "ends_by",
    "ends_on_arrival",
    "predicate",
    "released",
    "replay",
    "satisfied",
    "stage_brief",
    "trivial_at_start",
]
