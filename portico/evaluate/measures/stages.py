"""One stage of a mission as an episode of its own, so that every measure works within a stage."""

from __future__ import annotations

from portico.evaluate.measures.evaluation import Evaluation, cut, path_length_m
from portico.tasks.episode import Reference
from portico.tasks.machine import Outcome, StageOutcome


def stage_evaluation(e: Evaluation, stage: int) -> Evaluation | None:
    """The evaluation of one stage, from its hand-off state to the state it was decided at; None when it was not attempted."""
    how = e.outcome.stages[stage]
    if how.start is None or how.end is None:
        return None
    spec = e.episode.stages[stage]
    episode = e.episode.model_copy(update={"stages": [spec], "reference": _reference(e, stage)})
    stop = None if how.stop is None else how.stop - how.start
    won = how.outcome == "success"
    outcome = Outcome(
        completed=int(won),
        stages=(StageOutcome(how.kind, how.outcome, 0, how.end - how.start, stop),),
        reason="success" if won else e.outcome.reason,
        end=how.end - how.start,
    )
    stops = () if how.stop is None else (how.stop,)
    return Evaluation(episode, cut(e.trajectory, how.start, how.end, stops), e.context, outcome)


def _reference(e: Evaluation, stage: int) -> Reference | None:
    """The stretch of the mission's reference that belongs to a stage; None when it does not say where stages end."""
    whole = e.episode.reference
    if whole is None or e.reference_path is None or len(whole.stage_ends) != len(e.episode.stages):
        return None
    first = whole.stage_ends[stage - 1] if stage else 0
    points = e.reference_path[first : whole.stage_ends[stage] + 1]
    path = [(float(x), float(y), float(z)) for x, y, z in points]
    return Reference(path=path, length_m=path_length_m(points, e.protocol), stage_ends=[max(0, len(path) - 1)])
