"""Every planned episode of a run with what became of it: what studies count, so that nothing planned is ever out of sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from portico.evaluate.records import Key, Record
from portico.report.runs import Run
from portico.tasks.episode import SCENES, TASK_STAGES, Episode


@dataclass(frozen=True)
class Case:
    """One planned episode.

    Attributes:
        record: None when it has not been run. episode: None when the run's episode file is gone.
    """

    run: Run
    key: Key
    record: Record | None
    episode: Episode | None

    @property
    def question(self) -> tuple[str, str]:
        """World and id: the same for every policy."""
        return self.key.world, self.key.episode

    @property
    def task(self) -> str:
        """Name of its task."""
        return str(self.episode.task if self.episode is not None else (self.record or {}).get("task"))

    @property
    def scene(self) -> str | None:
        """Where it takes place, None for tasks that know no scenes."""
        return self.episode.scene if self.episode is not None else (self.record or {}).get("scene")

    @property
    def phrased(self) -> str | None:
        """How its place is put into words."""
        return self.episode.phrased if self.episode is not None else (self.record or {}).get("phrased")

    @property
    def leaves(self) -> bool:
        """Whether it has to get out of a building."""
        return self.scene == "indoor_to_outdoor" or TASK_STAGES.get(self.task, ("",))[0] == "exit"  # type: ignore[call-overload]

    @property
    def length_m(self) -> float | None:
        """L, the length of the reference."""
        if self.episode is not None:
            return self.episode.reference.length_m if self.episode.reference is not None else None
        return (self.record or {}).get("reference_length_m")

    @property
    def scored(self) -> bool:
        """Whether it was run without an error of harness, policy or network."""
        return self.record is not None and self.record["status"] != "error"

    @property
    def succeeded(self) -> bool:
        """Whether it was run and done."""
        return self.record is not None and self.record["status"] == "success"

    @property
    def failed(self) -> bool:
        """Whether it was run and not done."""
        return self.record is not None and self.record["status"] == "failure"

    @property
    def reason(self) -> str:
        """Why it ended; "" when it was not run or ended in an error."""
        return str((self.record or {}).get("reason") or "") if self.scored else ""

    @property
    def surface(self) -> str | None:
        """What it ended on, where the body is under physics: "curb", "stairs" or another surface."""
        return (self.record or {}).get("surface") if self.scored else None

    def value(self, measure: str) -> float | None:
        """Its value of a measure, None when it has none."""
        return ((self.record or {}).get("measures") or {}).get(measure) if self.scored else None


def cases(run: Run) -> list[Case]:
    """Every planned episode of a run, by identity; those on record where the episode files are gone."""
    repeats = int(run.header.get("repeats") or 1)
    suite = run.header["suite"]
    planned = {Key(str(suite.get("name")), str(suite.get("split")), world, name, r): e for (world, name), e in run.episodes.items() for r in range(repeats)}
    keys = sorted(planned.keys() | run.records.keys())
    return [Case(run, key, run.records.get(key), planned.get(key) or run.episodes.get((key.world, key.episode))) for key in keys]


def tasks_of(found: Iterable[Case]) -> list[str]:
    """Tasks of some cases, in the benchmark's order."""
    known: list[str] = list(TASK_STAGES)
    return sorted({case.task for case in found}, key=lambda task: known.index(task) if task in known else len(known))


def scenes_among(found: Iterable[Case]) -> list[str]:
    """Scenes of some cases, in order."""
    there = {case.scene for case in found}
    return [scene for scene in SCENES if scene in there]


def where(found: Sequence[Case], test: Callable[[Case], bool]) -> list[Case]:
    """Those of some cases that pass a test."""
    return [case for case in found if test(case)]
