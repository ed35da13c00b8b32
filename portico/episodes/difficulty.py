"""Easy, medium and hard: by rank of the reference length within a task of a world [P]; shares and budgets are the suite's [NA]."""

from __future__ import annotations

from collections.abc import Sequence

from portico.suites import Difficulty
from portico.tasks.episode import LEVELS, Episode


def graded(episodes: Sequence[Episode], difficulty: Difficulty) -> list[Episode]:
    """Episodes of one task and world with their level and its budget, in their order.

    The shortest references are easy, the longest hard; of equally long ones those that come first are the easier.
    600 episodes by the default shares make 180, 240 and 180.
    """
    ranked = sorted(range(len(episodes)), key=lambda i: _length_m(episodes[i]))
    cuts = difficulty.cuts(len(episodes))
    level = {i: LEVELS[sum(rank >= cut for cut in cuts)] for rank, i in enumerate(ranked)}
    return [
        episode.model_copy(
            update={"difficulty": level[i], "budget": episode.budget.model_copy(update={"max_actions": difficulty.max_actions[level[i]]})},
        )
        for i, episode in enumerate(episodes)
    ]


def _length_m(episode: Episode) -> float:
    return episode.reference.length_m if episode.reference else 0.0
