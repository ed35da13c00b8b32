"""One set of questions in several wordings: how a goal is put into words belongs to a run, not to a question [NV 4.4]."""

from __future__ import annotations

from portico.tasks.episode import Episode, InstructionType


def phrased_as(episode: Episode, wording: InstructionType) -> Episode:
    """The same episode with its place put into words of that type; episodes that know no such wording stay as they are."""
    text = episode.phrasings.get(wording)
    if text is None:
        return episode
    stages = [spec.model_copy(update={"instruction": text}) if spec.kind == "place" else spec for spec in episode.stages]
    return episode.model_copy(update={"stages": stages, "phrased": wording})
