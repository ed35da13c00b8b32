"""What an agent did in an episode, for the record: every plan, verification, replanning and request, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from portico.agent.budgets import Ledger
from portico.agent.contract import Assessment, Occasion, Step, Verdict, View
from portico.interface import Observation, StageBrief

SCHEMA = "portico.agent/1"


class Journal:
    """Events of one episode. ``action`` in an event is the number of actions executed before it, which finds its frame in the trajectory.

    Args:
        episode: its key. settings: what the agent was told to do, as it goes into the record.
    """

    def __init__(self, episode: str, settings: Mapping[str, Any], ledger: Ledger) -> None:
        self.episode, self.settings, self.ledger = episode, dict(settings), ledger
        self.events: list[dict[str, Any]] = []
        self.stages: list[dict[str, Any]] = []
        self.action = 0

    def add(self, event: str, **facts: Any) -> None:
        """Write an event down."""
        self.events.append({"event": event, "action": self.action, "stage": len(self.stages) - 1, **facts})

    def enter(self, stage: StageBrief) -> None:
        """A stage begins; the one before was confirmed."""
        if self.stages and self.stages[-1]["outcome"] in ("running", "declared"):
            self.stages[-1]["outcome"] = "confirmed"
        self.stages.append({"kind": stage.kind, "outcome": "running", "began": self.action, "attempts": 0, "replans": 0, "verifications": 0})

    def close_stage(self, outcome: str, why: str = "") -> None:
        """The current workflow is over as far as the agent can tell: ``declared`` or ``failed``."""
        self.stages[-1]["outcome"] = outcome
        if why:
            self.stages[-1]["why"] = why

    def count(self, name: str) -> None:
        """One more attempt, replanning or verification of the current stage."""
        self.stages[-1][name] += 1

    def plan(self, assessment: Assessment, steps: Sequence[Step], attempt: int) -> None:
        """A plan was made."""
        where = {"location": assessment.location, "floor": assessment.floor, "confidence": round(assessment.confidence, 3), "why": assessment.reason}
        self.add("plan" if attempt == 1 else "replan", attempt=attempt, steps=[step.name for step in steps], where=where)

    def verification(self, occasion: Occasion, step: Step, verdict: Verdict, views: Mapping[View, Observation], attempt: int) -> None:
        """A verdict was given."""
        self.add(
            "verification",
            occasion=occasion,
            attempt=attempt,
            step=step.name,
            outcome=verdict.parent,
            step_outcome=verdict.step,
            confidence=round(verdict.parent_confidence, 3),
            step_confidence=round(verdict.step_confidence, 3),
            why=verdict.parent_reason,
            evidence=verdict.evidence,
            guidance=verdict.retry_guidance,
            views={name: seen.step for name, seen in views.items()},
        )

    def report(self) -> dict[str, Any]:
        """All of it as plain data; ``timing`` holds what differs from run to run."""
        ledger = self.ledger
        return {
            "schema": SCHEMA,
            "episode": self.episode,
            **self.settings,
            "budgets": ledger.limits(),
            "counts": ledger.counts(),
            "stages": self.stages,
            "events": self.events,
            "timing": {f"{name}_s": round(seconds, 3) for name, seconds in ledger.seconds.items()},
        }
