"""The runs that a viewer shows: which folders they lie in, what their headers say, and how far they have come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portico.errors import SuiteError
from portico.evaluate.identity import read_header
from portico.report.runs import Run
from portico.web.index import RunIndex

#: A run that lacks episodes and has written nothing for so long is not expected to go on.
_QUIET_S = 180.0


@dataclass
class Shelved:
    """A run on the shelf.

    Attributes:
        name: addresses it, unique on the shelf. number: its place among the runs, which gives its colour.
    """

    name: str
    number: int
    folder: Path
    header: dict[str, Any]
    index: RunIndex
    stamp: int = 0

    @property
    def policy(self) -> str:
        """Name of the policy."""
        return str(self.header["policy"])

    @property
    def planned(self) -> int:
        """Episodes that the run is to answer."""
        return int(self.header["planned"])

    @property
    def live(self) -> bool:
        """Whether episodes are missing and something was written a short while ago."""
        return len(self.index.rows) < self.planned and time.time() - self._written() < _QUIET_S

    def run(self) -> Run:
        """As reports know it, without its records."""
        return Run(self.folder, self.header, {}, {})

    def _written(self) -> float:
        paths = [self.folder / "run.json", *(self.folder / "records").glob("rank-*.jsonl")]
        return max((path.stat().st_mtime for path in paths if path.is_file()), default=0.0)


@dataclass
class Library:
    """Runs by name, found anew whenever somebody looks: a folder of run folders may get more of them.

    Attributes:
        folders: as given, each a run or a folder of runs. problems: sentences about runs that cannot be shown.
    """

    folders: Sequence[Path]
    runs: dict[str, Shelved] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def refresh(self) -> None:
        """Find new runs and read what has been recorded since the last time."""
        self.problems = []
        for folder in dict.fromkeys(path.resolve() for given in self.folders for path in runs_in(given)):
            try:
                self._shelve(folder)
            except SuiteError as error:
                self.problems.append(f"{folder.name}: {error.what}" + (f", {error.why}" if error.why else ""))
            except OSError as error:
                self.problems.append(f"{folder.name}: {error}")
        for run in self.runs.values():
            run.index.refresh()

    @classmethod
    def opened(cls, folders: Sequence[Path]) -> Library:
        """A library that has been read.

        Raises:
            SuiteError: a folder is missing, holds no run, or none of its runs can be read.
        """
        library = cls(folders)
        for folder in folders:
            if not runs_in(folder):
                raise _no_run(folder)
        library.refresh()
        if not library.runs:
            raise SuiteError("no run can be read", where=", ".join(map(str, folders)), why="; ".join(library.problems), next_step="run the suite again")
        return library

    def _shelve(self, folder: Path) -> None:
        path = folder / "run.json"
        stamp = path.stat().st_mtime_ns
        known = next((run for run in self.runs.values() if run.folder == folder), None)
        if known is not None and known.stamp == stamp:
            return
        header = read_header(folder)
        if known is not None:
            known.header, known.index.header, known.stamp = header, header, stamp
            return
        name = _free_name(folder, set(self.runs))
        self.runs[name] = Shelved(name, len(self.runs), folder, header, RunIndex(folder, header), stamp)


def runs_in(folder: Path) -> list[Path]:
    """The run folders that a folder stands for: itself, or those in it."""
    if (folder / "run.json").is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/run.json"))


def _free_name(folder: Path, taken: set[str]) -> str:
    names = [folder.name, f"{folder.parent.name}.{folder.name}", *(f"{folder.name}.{n}" for n in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _no_run(folder: Path) -> SuiteError:
    if not folder.is_dir():
        return SuiteError("there is no such run folder", where=str(folder), next_step="give the --out of a `portico run`, or start one: portico run i2o2i-demo")
    above = next((parent for parent in (folder.resolve().parent, folder.resolve().parent.parent) if (parent / "run.json").is_file()), None)
    hint = f"did you mean the run above it? portico view {above}" if above else "give the --out of a `portico run`"
    return SuiteError("this folder holds no run", where=str(folder), why="there is no run.json in it, nor in a folder in it", next_step=hint)
