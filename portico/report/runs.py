"""A run folder as a report reads it: header, records, episodes, trajectories, and the worlds if they can still be found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from portico.episodes import load_episodes
from portico.errors import EpisodeError, SuiteError, WorldError
from portico.evaluate.aggregate import summarise
from portico.evaluate.compare import Run as Side
from portico.evaluate.identity import read_header
from portico.evaluate.records import Key, Record
from portico.evaluate.scores import read_scored, scored_header
from portico.tasks.episode import Episode
from portico.tasks.trajectory import Trajectory
from portico.world import World, load


@dataclass(frozen=True)
class Run:
    """One policy on one suite.

    Attributes:
        folder: the run folder. header: ``run.json``. records: by identity, sorted; scored again where that was done.
        summary: as ``portico.evaluate.aggregate.summarise`` makes it.
    """

    folder: Path
    header: dict[str, Any]
    records: dict[Key, Record]
    summary: dict[str, Any]

    @property
    def policy(self) -> str:
        """Name of the policy."""
        return str(self.header["policy"])

    @property
    def suite(self) -> str:
        """Name of the suite."""
        return str(self.header["suite"]["name"])

    @cached_property
    def episodes(self) -> dict[tuple[str, str], Episode]:
        """Episodes by (world, id); those whose file is gone are missing."""
        found: dict[tuple[str, str], Episode] = {}
        for world in self.header["worlds"]:
            try:
                loaded = load_episodes(self.folder / "episodes" / f"{world}.json")
            except EpisodeError:
                continue
            found.update({(world, episode.id): episode for episode in loaded.episodes})
        return found

    def side(self) -> Side:
        """This run as one side of a comparison."""
        return Side(self.folder.name, self.header, tuple(self.records.values()))

    def trajectory(self, key: Key) -> Trajectory | None:
        """What happened, None when nothing was recorded or the file is damaged."""
        path = self.folder / "trajectories" / f"{key.slug()}.npz"
        try:
            return Trajectory.load(path) if path.is_file() else None
        except EpisodeError:
            return None


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Run folders among the given ones; a folder of run folders stands for those in it.

    Raises:
        SuiteError: a folder that neither is a run nor holds any.
    """
    found: list[Path] = []
    for folder in folders:
        below = sorted(path.parent for path in folder.glob("*/run.json"))
        if not (folder / "run.json").is_file() and not below:
            load_run(folder)
        found += [folder] if (folder / "run.json").is_file() else below
    return list(dict.fromkeys(found))


def load_run(folder: Path) -> Run:
    """Read a run folder; the summary is taken from the records, so that it never lags behind them.

    Raises:
        SuiteError: no such folder, no run in it, or a header that is damaged.
    """
    if not folder.is_dir():
        raise SuiteError("there is no such run folder", where=str(folder), next_step="give the --out of a `portico run`, or start one: portico run i2o2i-demo")
    if not (folder / "run.json").is_file():
        inside = sorted(p.parent.name for p in folder.glob("*/run.json"))
        hint = f"it holds the runs {', '.join(inside)}: give one of those folders" if inside else "give the --out of a `portico run`"
        raise SuiteError("this folder holds no run", where=str(folder), why="run.json is missing", next_step=hint)
    header = read_header(folder)
    header, records = scored_header(folder, header), read_scored(folder)
    return Run(folder, header, records, summarise(list(records.values()), header))


@dataclass
class WorldShelf:
    """Finds the worlds of runs, loads each once, and notes why one cannot be shown.

    Attributes:
        override: folder that holds the worlds now, when they have moved: each below it, or the one world itself.
        notes: sentences for the reader about worlds that are missing or have changed.
    """

    override: Path | None = None
    notes: list[str] = field(default_factory=list)
    _loaded: dict[tuple[str, str], World | None] = field(default_factory=dict)

    def world(self, run: Run, world_id: str) -> World | None:
        """A world of a run, None when it is not found or is not the one that was run."""
        facts = run.header["worlds"].get(world_id, {})
        key = (world_id, str(facts.get("hash", "")))
        if key not in self._loaded:
            self._loaded[key] = self._find(world_id, facts)
        return self._loaded[key]

    def _find(self, world_id: str, facts: dict[str, Any]) -> World | None:
        reason = "its folder is gone"
        for folder in self._candidates(world_id, str(facts.get("folder", ""))):
            try:
                world = load(folder)
            except WorldError as error:
                reason = f"{error.what} ({folder})"
                continue
            if world.manifest.content_hash == facts.get("hash"):
                return world
            reason = f"the world in {folder} has another hash than the one that was run"
        self.notes.append(
            f"World {world_id} is not shown, so maps have no background and distances to doors are missing: {reason}. Point --worlds at its folder."
        )
        return None

    def _candidates(self, world_id: str, recorded: str) -> list[Path]:
        if self.override is None:
            folders = [Path(recorded)] if recorded else []
        else:
            below = sorted(path.parent for path in self.override.glob("*/world.json"))
            folders = [self.override, self.override / world_id, *below]
        return [f for f in dict.fromkeys(folders) if (f / "world.json").is_file() and _id_of(f) == world_id]


def _id_of(folder: Path) -> str:
    try:
        return str(json.loads((folder / "world.json").read_text(encoding="utf-8")).get("id", ""))
    except (OSError, ValueError, AttributeError):
        return ""
