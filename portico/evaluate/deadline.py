"""A wall-clock limit on every decision: a policy that hangs costs its episode an error instead of holding up the run.

Twice: an alarm interrupts whatever runs Python; where native code does not let go, the process writes where it hangs, ends, and is replaced.
"""

from __future__ import annotations

import faulthandler
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import IO

from portico.errors import UserError, stems_from
from portico.interface import Action, Brief, Observation, Policy, PolicyFailure

#: How long native code may go on after the alarm, and how often the alarm rings for those who caught it.
GRACE_S, _AGAIN_S = 5.0, 1.0


class Overdue(BaseException):
    """Rings inside a policy. No ``Exception``, so that one who catches those does not catch this."""


class Punctual:
    """A policy that decides in time or fails with ``timeout``.

    Args:
        seconds: for every ``reset`` and every ``act``.
        last_words: file that is told where native code hangs before this process ends itself; None where the process must not end.

    Raises:
        UserError: this is not the main thread, which is the only one that can be interrupted.
    """

    def __init__(self, policy: Policy, seconds: float, last_words: Path | None = None) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise UserError("decisions can only be timed in the main thread", where="--policy-timeout", next_step="call it from there, or leave the limit out")
        self._policy, self._seconds, self._armed = policy, seconds, False
        self.spec = policy.spec
        self._words: IO[str] | None = None
        if last_words is not None:
            last_words.parent.mkdir(parents=True, exist_ok=True)
            self._words = open(last_words, "a", encoding="utf-8")  # noqa: SIM115 - held for as long as the policy, closed below

    def reset(self, brief: Brief) -> None:
        """Begin an episode.

        Raises:
            PolicyFailure: it took too long.
        """
        self._timed("reset", brief)

    def act(self, observation: Observation) -> Action:
        """Decide.

        Raises:
            PolicyFailure: it took too long.
        """
        return self._timed("act", observation)  # type: ignore[return-value]

    def close(self) -> None:
        """Release what was opened here; the policy itself stays open."""
        if self._words is not None:
            self._words.close()

    def _timed(self, call: str, argument: object) -> object:
        before = signal.signal(signal.SIGALRM, self._ring)
        self._armed = True
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN_S)
                if self._words is not None:
                    faulthandler.dump_traceback_later(self._seconds + GRACE_S, exit=True, file=self._words)
                return getattr(self._policy, call)(argument)
            finally:
                self._armed = False
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                if self._words is not None:
                    faulthandler.cancel_dump_traceback_later()
                signal.signal(signal.SIGALRM, before)
        except (Overdue, SystemError) as error:
            if not stems_from(error, Overdue):
                raise
            raise overdue(self._seconds, call) from None

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise Overdue


def overdue(seconds: float, call: str = "") -> PolicyFailure:
    """What a policy that took too long has done wrong."""
    return PolicyFailure(
        "timeout",
        f"the policy did not answer within {seconds:g} s",
        where=f"{call}()" if call else "",
        why="" if call else "it hung in native code and could not be interrupted; its worker was replaced",
        next_step="give it more with --policy-timeout, or find out what it waits for",
    )


def last_words_of(run_folder: Path, rank: int, worker: int) -> Path:
    """Where a worker writes where it hangs."""
    return run_folder / "logs" / f"hang-rank-{rank:05d}-worker-{worker:03d}.txt"


def has_hung(run_folder: Path, rank: int, worker: int) -> int:
    """How much a worker has written about where it hung: more than before means that it has ended itself."""
    path = last_words_of(run_folder, rank, worker)
    return path.stat().st_size if path.is_file() else 0
