"""Scores of walks in the little town."""

from little_town import BODY, TOWN, episode

from portico.evaluate.measures import Context, score_episode
from portico.tasks import Annotations, Reference

CONTEXT = Context(Annotations(TOWN), BODY)


def values(task, record, context=CONTEXT, **options):
    return score_episode(episode(task, start=tuple(record.position[0]), **options), record, context)


def reference(length_m, *path):
    return Reference(path=list(path), length_m=length_m, stage_ends=[max(0, len(path) - 1)])
