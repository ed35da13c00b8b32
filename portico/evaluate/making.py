"""Worlds and episodes made side by side, a process each: they need nothing of one another."""

from __future__ import annotations

import multiprocessing
import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from typing import Any

from portico.evaluate.executors import die_with

Watch = Callable[[float, int], None]
_POLL_S = 0.5


def side_by_side(make: Callable[..., object], jobs: Sequence[tuple[Any, ...]], workers: int, watch: Watch) -> None:
    """Call ``make(*job, watch)`` for every job, in processes; what it returns is dropped, it leaves its work on disk.

    Args:
        make: importable by name. jobs: arguments that can be pickled.
        watch: told (done, wanted) in jobs and tenths of them.

    Raises:
        Exception: the first that a job raised; jobs that were begun are finished, the others are not begun.
    """
    context = multiprocessing.get_context("spawn")
    said: Any = context.Queue()
    told = dict.fromkeys(range(len(jobs)), 0.0)
    with ProcessPoolExecutor(min(workers, len(jobs)), context, _begin, (said, workers, os.getpid())) as pool:
        numbers = {pool.submit(_make, make, job, n): n for n, job in enumerate(jobs)}
        pending = set(numbers)
        try:
            while pending:
                done, pending = wait(pending, timeout=_POLL_S, return_when=FIRST_EXCEPTION)
                if failed := next((f for f in done if f.exception() is not None), None):
                    pool.shutdown(wait=True, cancel_futures=True)
                    failed.result()
                _listen(said, told)
                told |= {numbers[f]: 1.0 for f in done}
                watch(round(sum(told.values()), 1), len(jobs))
        except KeyboardInterrupt:
            # Nobody wants to wait for worlds that were given up; what is on disk is whole or not there.
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _listen(said: Any, told: dict[int, float]) -> None:
    while True:
        try:
            job, done, wanted = said.get_nowait()
        except queue.Empty:
            return
        # What a job said last may be heard after it has ended.
        told[job] = max(told[job], done / max(wanted, 1))


_said: Any = None


def _begin(said: Any, workers: int, parent: int) -> None:
    global _said
    import numba

    _said = said
    die_with(parent)
    numba.set_num_threads(max(1, numba.get_num_threads() // workers))


def _make(make: Callable[..., object], job: tuple[Any, ...], number: int) -> None:
    make(*job, lambda done, wanted: _said.put((number, done, wanted)))
