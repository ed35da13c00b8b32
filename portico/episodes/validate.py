"""Checks an episode set against its world, and calibrates it: the oracle must succeed, standing still must not."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from portico.episodes.files import check_unique
from portico.episodes.grounds import Grounds
from portico.episodes.navverse.directions import disagreements
from portico.episodes.navverse.scenery import Scenery
from portico.episodes.references import Planner
from portico.episodes.satnav.checks import FlightChecks
from portico.episodes.satnav.rollouts import flown
from portico.episodes.verify import Verifier
from portico.errors import EpisodeError
from portico.interface import StageKind
from portico.robots import Flyer, misplacement
from portico.suites import Suite
from portico.tasks.episode import Episode, EpisodeSet
from portico.tasks.machine import StageMachine, trivial_at_start

#: What a suite must show before its numbers mean anything: the oracle at least, doing nothing at most.
ORACLE_AT_LEAST = 0.99
NOTHING_AT_MOST = 0.01


@dataclass(frozen=True)
class Problem:
    """What is wrong with one episode, and whether it may still be asked."""

    episode: str
    code: str
    text: str


#: Problems with which an episode cannot be asked at all; the others cost it a measure or its point.
FATAL = frozenset(
    {"unknown_category", "unknown_instance", "unknown_building", "no_goal", "no_floor", "start_blocked", "unreachable", "start_outside", "goal_outside"}
)

#: What stages of a kind cannot be asked without.
_GOAL_FIELDS: dict[StageKind, tuple[str, ...]] = {"point": ("goal",), "outdoor": ("goal",), "image": ("goal", "goal_yaw_rad")}


@dataclass(frozen=True)
class Calibration:
    """Success rates of the trajectory oracle and of a STOP at the start, over the episodes of a set."""

    episodes: int
    oracle: float
    stop_at_start: float
    failures: tuple[Problem, ...]

    @property
    def passed(self) -> bool:
        """Whether the set separates doing it from doing nothing."""
        return self.oracle >= ORACLE_AT_LEAST and self.stop_at_start <= NOTHING_AT_MOST


def validate(episodes: EpisodeSet, grounds: Grounds, *, watch: Callable[[int, int], None] = lambda *_: None) -> list[Problem]:
    """Every problem of every episode: start, floor, goal, category, reachability, triviality, reference.

    Raises:
        EpisodeError: the set belongs to another world, or holds the same id twice.
    """
    world = grounds.world
    if episodes.world_hash != world.manifest.content_hash:
        raise EpisodeError(
            "the episodes belong to another world",
            where=f"world {world.id}",
            why=f"they were made for hash {episodes.world_hash[:12]}, this one is {world.manifest.content_hash[:12]}",
            next_step="generate episodes for this world",
        )
    check_unique(episodes, f"episodes of {episodes.world}")
    if world.appearance.raster is not None:
        return _flights(episodes, grounds, watch)
    planner = Planner(grounds)
    problems: list[Problem] = []
    for i, episode in enumerate(episodes.episodes):
        problems += _problems(episode, grounds, planner)
        watch(i + 1, len(episodes.episodes))
    return problems


def _flights(episodes: EpisodeSet, grounds: Grounds, watch: Callable[[int, int], None]) -> list[Problem]:
    """Problems of questions on a satellite map."""
    checks, found = FlightChecks(grounds.world), []
    for i, episode in enumerate(episodes.episodes):
        found += [Problem(episode.id, code, text) for code, text in checks.problems(episode)]
        watch(i + 1, len(episodes.episodes))
    return found


def check_askable(episodes: EpisodeSet, grounds: Grounds, where: str, *, watch: Callable[[int, int], None] = lambda *_: None) -> None:
    """Refuse a set with episodes that nobody could do.

    Raises:
        EpisodeError: naming the first of them, and how many there are.
    """
    fatal = [p for p in validate(episodes, grounds, watch=watch) if p.code in FATAL]
    if fatal:
        first = "; ".join(f"{p.episode}: {p.code}, {p.text}" for p in fatal[:3])
        raise EpisodeError(
            f"{len({p.episode for p in fatal})} of {len(episodes.episodes)} episodes cannot be asked",
            where=where,
            why=first,
            next_step="mend or remove them; `portico episodes validate` lists every problem",
        )


def calibrate(episodes: EpisodeSet, suite: Suite, grounds: Grounds, *, watch: Callable[[int, int], None] = lambda *_: None) -> Calibration:
    """Roll out the oracle, and stop at the start, on every episode."""
    if grounds.world.appearance.raster is not None:
        return _calibrated_flights(episodes, grounds, watch)
    verifier = Verifier(grounds, suite)
    failures, stopped = [], 0
    for i, episode in enumerate(episodes.episodes):
        problem = verifier.problem(episode)
        if problem:
            failures.append(Problem(episode.id, "oracle", problem))
        stopped += _stops_at_start(episode, grounds)
        watch(i + 1, len(episodes.episodes))
    n = max(1, len(episodes.episodes))
    return Calibration(len(episodes.episodes), 1.0 - len(failures) / n, stopped / n, tuple(failures))


def _calibrated_flights(episodes: EpisodeSet, grounds: Grounds, watch: Callable[[int, int], None]) -> Calibration:
    """The same on a satellite map, where the oracle is the reference follower."""
    flyer = Flyer(grounds.world, grounds.body)
    failures, stopped = [], 0
    for i, episode in enumerate(episodes.episodes):
        rollout = flown(episode, flyer)
        if not rollout.success:
            failures.append(Problem(episode.id, "oracle", f"ends as {rollout.reason} after {len(rollout.moves)} moves"))
        stopped += _stops_at_start(episode, grounds)
        watch(i + 1, len(episodes.episodes))
    n = max(1, len(episodes.episodes))
    return Calibration(len(episodes.episodes), 1.0 - len(failures) / n, stopped / n, tuple(failures))


def _stops_at_start(episode: Episode, grounds: Grounds) -> bool:
    machine = StageMachine(episode, grounds.annotations, grounds.body)
    machine.start(np.array(episode.start.position))
    machine.declare_stop()
    return machine.outcome().success


def _problems(episode: Episode, grounds: Grounds, planner: Planner) -> Iterator[Problem]:
    start = np.array(episode.start.position, dtype=np.float64)
    semantics = grounds.annotations.semantics
    objects, places = {o.category for o in semantics.objects}, {p.category for p in semantics.places}
    for k, stage in enumerate(episode.stages):
        missing = [name for name in stage.instances if name not in grounds.annotations.by_id]
        if missing or (stage.kind == "vln" and not stage.instances):
            what = f"names {missing[0]!r}, which the world does not have" if missing else "has no target"
            yield Problem(episode.id, "unknown_instance", f"stage {k} {what}")
            return
        known = places if stage.kind == "place" else objects
        if stage.kind in ("ovon", "object", "place") and stage.category not in known:
            close = difflib.get_close_matches(str(stage.category), sorted(known), n=2, cutoff=0.6)
            hint = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
            yield Problem(
                episode.id,
                "unknown_category",
                f"stage {k} asks for {stage.category!r}, which no {'place' if stage.kind == 'place' else 'object'} of the world is{hint}",
            )
            return
        lacking = [name for name in _GOAL_FIELDS.get(stage.kind, ()) if getattr(stage, name) is None]
        if lacking:
            yield Problem(episode.id, "no_goal", f"stage {k} is of kind {stage.kind!r} and has no {' and no '.join(lacking)}")
            return
        named = stage.building is not None or stage.kind in ("entrance", "ovon")
        if named and grounds.annotations.building_index(stage.building) < 0:
            yield Problem(episode.id, "unknown_building", f"stage {k} names building {stage.building!r}, which the world does not have")
            return
    misfit = misplacement(grounds.space, start)
    if misfit is not None:
        code = "no_floor" if misfit[0] == "on no floor" else "start_blocked"
        yield Problem(episode.id, code, f"the start {episode.start.position} is {misfit[0]}: {misfit[1]}")
        return
    if trivial_at_start(episode, grounds.annotations, grounds.body):
        yield Problem(episode.id, "trivial_at_start", "the first stage is already satisfied at the start")
    if planner.reference(start, list(episode.stages)) is None:
        yield Problem(episode.id, "unreachable", "no path from the start through every stage's success set")
    if episode.alignment and episode.reference is not None:
        path, scenery = np.array(episode.reference.path), Scenery.of(grounds.annotations, landmarks=True)
        for why in disagreements(episode.alignment, path, episode.start.yaw_rad, scenery):
            yield Problem(episode.id, "directions", why)
    if episode.reference is None:
        yield Problem(episode.id, "no_reference", "there is no reference path, so SPL and route completion stay unscored")
