"""Where text goes: results to standard output, progress and mistakes to standard error; plain lines off a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

out = Console(soft_wrap=True, highlight=False)
errors = Console(stderr=True, soft_wrap=True, highlight=False)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say what is being done, and how long it took once it is done."""
    began = time.perf_counter()
    if errors.is_terminal:
        with errors.status(f"{what} ..."):
            yield
    else:
        errors.print(f"{what} ...")
        yield
    errors.print(f"{what}: done in {time.perf_counter() - began:.1f} s")


def duration(seconds: float) -> str:
    """A length of time as people write it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
