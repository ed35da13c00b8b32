"""One set of questions under either termination protocol: what a STOP means belongs to a run, not to a question [NA]."""

from __future__ import annotations

from portico.interface import StageKind
from portico.tasks.episode import Episode, StageSpec, Termination
from portico.tasks.release import default_instruction

#: Stage kinds that know both protocols.
_EITHER: frozenset[StageKind] = frozenset({"point", "image", "object"})


def ends_by(episode: Episode, termination: Termination) -> Episode:
    """The same episode, its point, image and object stages ended by STOP or by arrival; other kinds have one way to end."""
    return episode.model_copy(update={"stages": [_stage(s, termination) if s.kind in _EITHER else s for s in episode.stages]})


def _stage(spec: StageSpec, termination: Termination) -> StageSpec:
    changed = spec.model_copy(update={"termination": termination})
    # An instruction of the episode's own keeps its words.
    if spec.instruction == default_instruction(spec):
        return changed.model_copy(update={"instruction": default_instruction(changed)})
    return changed
