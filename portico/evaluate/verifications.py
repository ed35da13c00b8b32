"""What an agent's verifications were worth: beside each verdict in a record, whether the state it judged would have counted.

The evaluator writes this after an episode; no policy ever sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from portico.evaluate.measures.evaluation import Evaluation
from portico.evaluate.measures.stages import stage_evaluation
from portico.tasks.predicates import satisfied

#: Events of a report that judge a state.
JUDGING = ("verification", "verification_schema_failure", "declaration")


def mark_verifications(report: Mapping[str, Any], e: Evaluation) -> None:
    """Add ``valid`` to every event that judged a state: whether a declaration there would have completed its stage."""
    actions = e.trajectory.action
    known: dict[int, tuple[int, Any] | None] = {}
    for event in report.get("events", ()):
        stage = event.get("stage")
        if event.get("event") not in JUDGING or not isinstance(stage, int) or not 0 <= stage < len(e.episode.stages):
            continue
        if stage not in known:
            view = stage_evaluation(e, stage)
            known[stage] = None if view is None else (e.outcome.stages[stage].start or 0, satisfied(view.goal, view.positions))
        found = known[stage]
        state = int(np.searchsorted(actions, event["action"], side="right")) - 1
        if found is not None and 0 <= state - found[0] < len(found[1]):
            event["valid"] = bool(found[1][state - found[0]])
