"""Tasks and stages in the benchmark's order, and how often a policy managed a kind of stage over all tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from portico.evaluate.intervals import wilson
from portico.interface import StageKind
from portico.tasks.episode import TASK_STAGES

#: Kinds in the order in which missions meet them; satellite and single-goal kinds follow.
STAGE_ORDER: tuple[str, ...] = ("exit", "outdoor", "entrance", "ovon", *(k for k in get_args(StageKind) if k not in {"exit", "outdoor", "entrance", "ovon"}))


def tasks_in_order(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Tasks of any of the summaries, in the benchmark's order; those it does not know come last."""
    found = dict.fromkeys(task for s in summaries for task in s["breakdowns"]["task"])
    known: list[str] = list(TASK_STAGES)
    return sorted(found, key=lambda task: known.index(task) if task in known else len(known))


@dataclass(frozen=True)
class PooledStage:
    """Episodes that attempted a kind of stage, and how many of them succeeded; Wilson's 95 % interval."""

    kind: str
    reached: int
    done: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Share of attempts that succeeded."""
        return self.done / self.reached


def pooled_stage(summary: Mapping[str, Any], kind: str) -> PooledStage | None:
    """Attempts at a kind of stage in all tasks of a summary, None when there were none."""
    reached = done = 0
    for table in summary["stages"].values():
        for k, name in enumerate(table["kinds"]):
            if name == kind:
                reached += table["N"][k]
                done += table["N"][k + 1]
    if not reached:
        return None
    low, high = wilson(done, reached)
    return PooledStage(kind, reached, done, low, high)
