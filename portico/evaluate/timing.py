"""What deciding costs in simulated time: nothing, what it took, or what it takes on a clock that does not wait."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from portico.errors import UserError


@dataclass(frozen=True)
class TimingMode:
    """How a run treats the time that a policy takes to decide; part of what a run is.

    Attributes:
        mode: ``paused``: the world waits. ``charged``: the world goes on for as long as deciding took. ``realtime``: the same, and motion takes
            as long as it does on the clock.
        latency_s: charged for every decision whatever it took, so that runs can be repeated; None charges what was measured.
    """

    mode: Literal["paused", "charged", "realtime"] = "paused"
    latency_s: float | None = None

    def charge_s(self, decided_s: float) -> float:
        """Simulated seconds to let pass for a decision that took ``decided_s``."""
        if self.mode == "paused":
            return 0.0
        return decided_s if self.latency_s is None else self.latency_s

    def keep_pace(self, simulated_s: float, spent_s: float) -> None:
        """Wait until a motion of ``simulated_s`` that took ``spent_s`` to compute has lasted as long as it would; only in real time."""
        if self.mode == "realtime" and simulated_s > spent_s:
            time.sleep(simulated_s - spent_s)


def timing_mode(text: str) -> TimingMode:
    """``paused``, ``charged``, ``charged:SECONDS`` or ``realtime``.

    Raises:
        UserError: none of them.
    """
    mode, colon, latency = text.partition(":")
    if mode in ("paused", "realtime") and not colon:
        return TimingMode(mode)  # type: ignore[arg-type]
    if mode == "charged":
        if not colon:
            return TimingMode("charged")
        try:
            latency_s = float(latency)
        except ValueError:
            latency_s = -1.0
        if isfinite(latency_s) and latency_s >= 0.0:
            return TimingMode("charged", latency_s)
    raise UserError("unknown timing", where=f"--timing {text}", next_step="choose paused, charged, charged:0.2 (seconds for every decision) or realtime")
