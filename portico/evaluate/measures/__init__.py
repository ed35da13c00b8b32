"""Pure functions of (episode, trajectory, world): the same during a run, after it, and on trajectories that others wrote.

``score_episode`` gives every measure; ``MEASURES`` names and defines them.
"""

from portico.evaluate.measures.evaluation import Context, Evaluation, ScoringProtocol, Unscored, Value, path_length_m, protocol_of
from portico.evaluate.measures.registry import MEASURES, Measure, measure, score, score_episode, stage_names, versions
from portico.evaluate.measures.stages import stage_evaluation

__all__ = [
    "MEASURES",
    "Context",
    "Evaluation",
    "Measure",
    "ScoringProtocol",
    "Unscored",
    "Value",
    "measure",
    "path_length_m",
    "protocol_of",
    "score",
    "score_episode",
    "stage_evaluation",
    "stage_names",
    "versions",
]
