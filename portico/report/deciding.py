"""What deciding cost, and what was noted about a policy before its first episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portico.report import wording
from portico.report.runs import Run
from portico.report.sections import Cell, Grid, Row

_HEADS = ["the world meanwhile", "per action", "slowest decision", "of the time, deciding"]
_MODES = {"paused": "waits", "charged": "goes on for as long as it took", "realtime": "goes on by the clock"}


def deciding(runs: Sequence[Run]) -> Grid:
    """Seconds that policies took beside those that the simulator took, by the clock of the machine that ran them."""
    return Grid(_HEADS, [_row(i, run) for i, run in enumerate(runs)])


def notes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What did not quite fit between a policy and its suite and was recorded with the run: code, sentence, remedy."""
    return [{"policy": i, "title": run.policy, **note} for i, run in enumerate(runs) for note in run.header.get("compatibility") or ()]


def mode_in_words(timing: str) -> str:
    """``charged:0.2`` in words."""
    mode, _, seconds = timing.partition(":")
    return f"goes on for {seconds} s" if seconds else _MODES.get(mode, timing)


def _row(i: int, run: Run) -> Row:
    kept = [(r["timing"], r["measures"].get("steps")) for r in run.records.values() if "policy_s" in (r.get("timing") or {})]
    policy_s = np.array([t["policy_s"] for t, _ in kept], np.float64)
    simulator_s = np.array([t["simulator_s"] for t, _ in kept], np.float64)
    actions = sum(n or 0 for _, n in kept)
    slowest_s = max((t.get("slowest_decision_s", 0.0) for t, _ in kept), default=None)
    both_s = float(policy_s.sum() + simulator_s.sum())
    return Row(
        run.policy,
        [
            Cell(mode_in_words(str(run.header.get("timing", "paused")))),
            Cell(_duration(float(policy_s.sum()) / actions if actions else None)),
            Cell(_duration(slowest_s)),
            Cell(wording.percent(float(policy_s.sum()) / both_s) if both_s > 0.0 else wording.DASH),
        ],
        policy=i,
    )


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return wording.DASH
    return f"{1000.0 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.1f} s"
