"""Where text goes: results to standard output, progress and mistakes to standard error; plain lines off a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

_PLAIN_EVERY_S = 5.0

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


class Narrator:
    """Plain lines about one step of work after the other: what begins, and every few seconds how much of it is done and the time left."""

    def begin(self, what: str) -> None:
        """Something slow starts."""
        self._what = what
        self._began = self._said = time.perf_counter()
        errors.print(f"{what} ...")

    def tell(self, done: float, wanted: int, note: str = "") -> None:
        """So much of it is done, and what else there is to say of it."""
        now = time.perf_counter()
        if now - self._said > _PLAIN_EVERY_S:
            self._said = now
            errors.print(f"{self._what}: {done} of {wanted}  {_left(now - self._began, done, wanted)}  {note}".rstrip())


class Tell(Protocol):
    """How work says how far it is."""

    def __call__(self, done: int, wanted: int, note: str = "") -> None:
        """So much of it is done, and what else there is to say of it."""


@contextmanager
def counted(what: str) -> Iterator[Tell]:
    """Like ``timed``, for work that can say (done, wanted): shows both and the time left."""
    began = time.perf_counter()
    if errors.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
        with Progress(*columns, console=errors, transient=True) as bar:
            task = bar.add_task(what, total=None, left="")

            def tell(done: int, wanted: int, note: str = "") -> None:
                left = f"{_left(time.perf_counter() - began, done, wanted)}  {note}".strip()
                bar.update(task, completed=done, total=wanted, left=left)

            yield tell
    else:
        narrator = Narrator()
        narrator.begin(what)
        yield narrator.tell
    errors.print(f"{what}: done in {duration(time.perf_counter() - began)}")


def _left(spent_s: float, done: float, wanted: int) -> str:
    return f"{duration(spent_s / done * (wanted - done))} left" if 0 < done < wanted else ""


def duration(seconds: float) -> str:
    """A length of time as people write it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
