"""An episode as the viewer plays it: one track per run that answered the same question, brought into the metres of one map."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from portico.errors import EpisodeError, StorageError, UserError
from portico.evaluate.records import Record
from portico.interface import Camera
from portico.report import wording
from portico.report.cards import body_of
from portico.report.flights import frame_of, grounded, grounded_way, is_flight
from portico.report.panels import Visit, visited_levels
from portico.report.reasons import Evidence, explain
from portico.robots import Embodiment
from portico.tasks.episode import Episode
from portico.tasks.trajectory import Trajectory
from portico.web.listing import Item
from portico.web.worlds import Atlas, Recent, Site
from portico.world import Surface

#: Files and episodes that are kept in memory.
_EPISODE_FILES, _EPISODES = 4, 24


@dataclass(frozen=True)
class Track:
    """What one run did.

    Attributes:
        episode, trajectory: as recorded; None when their files are gone or damaged. visit: the same in metres, for maps.
        notes: sentences about what is missing.
    """

    item: Item
    record: Record
    site: Site
    episode: Episode | None
    trajectory: Trajectory | None
    visit: Visit | None
    notes: tuple[str, ...] = ()

    @property
    def states(self) -> int:
        """How many were recorded."""
        return 0 if self.trajectory is None else len(self.trajectory)

    @cached_property
    def body(self) -> Embodiment:
        """The robot."""
        return body_of(self.item.run.run())

    @property
    def way(self) -> Trajectory | None:
        """What happened, in the metres of the map."""
        return self.visit.trajectory if self.visit is not None else self.trajectory

    def camera(self, name: str = "") -> Camera:
        """The camera of that name, else the first, else an ordinary one."""
        return next((camera for camera in self.body.cameras if camera.name == name), next(iter(self.body.cameras), Camera()))

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """(T,) level of each state."""
        if self.visit is None or self.way is None:
            return np.zeros(self.states, np.int32)
        return np.array(self.visit.levels(self.way.position), np.int32)

    @cached_property
    def sentence(self) -> str:
        """Why it ended as it did."""
        plain = wording.in_words(wording.REASONS, str(self.record.get("reason") or self.record["status"]))
        if self.episode is None:
            return _capital(plain)
        annotations = self.site.annotations
        try:
            return _capital(explain(Evidence(self.record, self.episode, self.body, self.trajectory, annotations)))
        except (UserError, KeyError, IndexError):
            return _capital(plain)


@dataclass(frozen=True)
class Scene:
    """The tracks of one question; the first is the one that was asked for."""

    tracks: tuple[Track, ...]

    @property
    def first(self) -> Track:
        """The one that was asked for."""
        return self.tracks[0]

    @cached_property
    def levels(self) -> list[int]:
        """Levels worth a map: of the first track in the order in which it came to them, then of the others."""
        found = [level for track in self.tracks if track.visit is not None for level in visited_levels(track.visit)]
        return list(dict.fromkeys(found)) or [0]


@dataclass(frozen=True)
class _Recorded:
    """What lies in a run folder about one episode."""

    record: Record
    episode: Episode | None
    trajectory: Trajectory | None
    notes: tuple[str, ...]


class Stage:
    """Sets scenes.

    Args:
        atlas: where worlds come from.
    """

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self._files: Recent[dict[str, Any]] = Recent(_EPISODE_FILES)
        self._recorded: Recent[_Recorded] = Recent(_EPISODES)

    def scene(self, items: Sequence[Item]) -> Scene:
        """The scene of one question, as the given runs answered it.

        Raises:
            StorageError: a record is gone.
        """
        return Scene(tuple(self.track(item) for item in items))

    def track(self, item: Item) -> Track:
        """What one run did.

        Raises:
            StorageError: its record is gone.
        """
        found = self._recorded.get((item.run.folder, item.row, stamp(item)), lambda: self._read(item))
        site = self.atlas.site(item.run, item.row.key.world)
        return Track(item, found.record, site, found.episode, found.trajectory, _visit(site, found), found.notes)

    def _read(self, item: Item) -> _Recorded:
        try:
            record = item.run.index.record(item.row)
        except (OSError, ValueError) as error:
            raise StorageError("the record is not there any more", where=str(item.run.folder), why=str(error), next_step="load the page again") from error
        episode, trajectory, notes = self._episode(item), None, []
        if episode is None:
            notes.append("The run's episode file is gone or damaged, so start, goal and instruction are not shown.")
        try:
            trajectory = Trajectory.load(trajectory_file(item)) if trajectory_file(item).is_file() else None
            if trajectory is None and record["status"] != "error":
                notes.append("The trajectory of this episode is gone, so there is no way and no camera picture.")
        except EpisodeError as error:
            notes.append(f"The trajectory of this episode cannot be read ({error.why}).")
        return _Recorded(record, episode, trajectory if trajectory is not None and len(trajectory) else None, tuple(notes))

    def _episode(self, item: Item) -> Episode | None:
        path = item.run.folder / "episodes" / f"{item.row.key.world}.json"
        try:
            # One episode is checked, not the thousands beside it.
            raw = self._files.get((path, path.stat().st_mtime_ns), lambda: {e["id"]: e for e in json.loads(path.read_bytes())["episodes"]})
            return Episode.model_validate(raw[item.row.key.episode])
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            return None


def trajectory_file(item: Item) -> Path:
    """Where a run keeps what happened."""
    return item.run.folder / "trajectories" / f"{item.row.slug}.npz"


def surface_words(value: int) -> str:
    """What a body stands on, "" where that is not known."""
    try:
        return Surface(value).name.lower().replace("_", " ") if value else ""
    except ValueError:
        return ""


def lean_deg(trajectory: Trajectory) -> NDArray[np.float64]:
    """(T,) angle between the body's axis and the vertical, degrees."""
    cosine = np.cos(trajectory.tilt_rad[:, 0]) * np.cos(trajectory.tilt_rad[:, 1])
    lean: NDArray[np.float64] = np.rad2deg(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return lean


def spans(mask: NDArray[np.bool_], gap: int = 0) -> Iterator[tuple[int, int]]:
    """First and last index of each stretch of true entries; stretches at most ``gap`` entries apart are one."""
    places = np.flatnonzero(mask)
    if not len(places):
        return
    breaks = np.flatnonzero(np.diff(places) > gap + 1)
    for first, last in zip(np.append(0, breaks + 1), np.append(breaks, len(places) - 1), strict=True):
        yield int(places[first]), int(places[last])


def stamp(item: Item) -> int:
    """Changes when the episode is run again, so that no browser shows a frame of the run before."""
    try:
        return trajectory_file(item).stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _visit(site: Site, found: _Recorded) -> Visit | None:
    episode, way = found.episode, found.trajectory
    if episode is None:
        return None
    success = found.record["status"] == "success"
    if not is_flight(episode):
        return Visit(episode, way, site.annotations, success)
    frame = frame_of(site.world, episode)
    return Visit(grounded(episode, frame), grounded_way(way, frame) if way is not None else None, None, success)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
