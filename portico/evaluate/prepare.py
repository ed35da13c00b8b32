"""What a suite needs before it can run: its worlds and their episodes, built once and kept in a cache folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from portico.build import RECIPES
from portico.episodes import check_askable, generate, load_episodes, save_episodes
from portico.episodes.generate import QUOTA
from portico.episodes.grounds import Grounds
from portico.episodes.navverse import scenes_of
from portico.errors import EpisodeError, SuiteError, UnknownName
from portico.evaluate.locks import alone
from portico.evaluate.making import side_by_side
from portico.robots import check_robot, embodiment, robot_files
from portico.seeding import generator
from portico.space import cached_space
from portico.suites import Suite, WorldEntry
from portico.tasks import ends_by
from portico.tasks.episode import Episode, EpisodeSet
from portico.tasks.phrasing import phrased_as
from portico.tasks.sphere import measured_by
from portico.world import load, save

Announce = Callable[[str], None]
Watch = Callable[[float, int], None]


@dataclass(frozen=True)
class Prepared:
    """A world on disk and the episodes asked in it."""

    folder: Path
    world_hash: str
    episodes: EpisodeSet


def default_cache() -> Path:
    """Where generated worlds and episodes are kept between runs, below the current folder."""
    return Path("worlds")


def prepare(
    suite: Suite, cache: Path, *, relative_to: Path | None = None, announce: Announce = print, watch: Watch = lambda *_: None, workers: int = 1
) -> list[Prepared]:
    """Worlds and episodes of a suite, made where the cache lacks them.

    Args:
        relative_to: folder that world paths in the suite are relative to.
        announce: told before anything slow starts. watch: told (done, wanted) while it goes on, where that is known.
        workers: so many worlds are made at a time, in processes of their own.

    Raises:
        SuiteError: two worlds of the suite have the same id, or there is no episode at all.
        EpisodeError: an episode file belongs to another world, or holds episodes that cannot be asked.
        UserError: the robot's file, model and network do not fit each other.
    """
    base = relative_to or Path.cwd()
    check_robot(suite.embodiment, suite.motion)
    lacking = [entry for entry in suite.entries if workers > 1 and _lacks(suite, entry, cache)]
    if len(lacking) > 1:
        announce(f"building {len(lacking)} worlds, sampling and verifying their episodes, {min(workers, len(lacking))} worlds at a time")
        side_by_side(_make, [(suite, entry, cache, base) for entry in lacking], workers, watch)
    prepared = [_prepared(suite, entry, cache, base, announce, watch) for entry in suite.entries]
    if not prepared:
        splits = sorted({str(entry.split) for entry in suite.worlds})
        raise SuiteError("no world belongs to the split", where=f"{suite.name}: split {suite.split!r}", next_step=f"choose one of {', '.join(splits)}")
    ids = [p.episodes.world for p in prepared]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise SuiteError("two worlds of the suite have the same id", where=suite.name, why=", ".join(twice), next_step="give each world its own seed or id")
    if not any(p.episodes.episodes for p in prepared):
        raise SuiteError(
            "there is nothing to run",
            where=suite.name,
            why="; ".join(f"{p.episodes.world}, {task}: {_told(reasons)}" for p in prepared for task, reasons in p.episodes.rejected.items())
            or "no world of the suite has an episode of its tasks",
            next_step="raise the counts of its tasks, or choose worlds in which they can be asked",
        )
    return prepared


def _lacks(suite: Suite, entry: WorldEntry, cache: Path) -> bool:
    """Whether a generated world, or its episodes, must be made."""
    if entry.path or entry.episodes or str(entry.recipe) not in RECIPES:
        return False
    world = _world_folder(entry, cache) / "world.json"
    if not world.is_file():
        return True
    return not _episode_file(suite.asked(), entry, cache, str(json.loads(world.read_text())["content_hash"])).is_file()


def _make(suite: Suite, entry: WorldEntry, cache: Path, base: Path, watch: Watch) -> None:
    """Leave a world and its episodes in the cache, without a word but how far it is."""
    _prepared(suite, entry, cache, base, lambda _: None, watch)


def _prepared(suite: Suite, entry: WorldEntry, cache: Path, base: Path, announce: Announce, watch: Watch) -> Prepared:
    folder = base / entry.path if entry.path else _built(entry, cache, announce)
    world_hash = (
        str(json.loads((folder / "world.json").read_text())["content_hash"]) if (folder / "world.json").is_file() else load(folder).manifest.content_hash
    )
    if entry.episodes:
        episodes = load_episodes(base / entry.episodes)
        if episodes.world_hash != world_hash:
            raise EpisodeError(
                "the episodes belong to another world",
                where=entry.episodes,
                why=f"world hash {episodes.world_hash[:12]} there, {world_hash[:12]} here",
                next_step="generate or convert them for this world",
            )
        if episodes.episodes:
            world, body = load(folder), embodiment(episodes.episodes[0].embodiment)
            announce(f"checking {len(episodes.episodes)} episodes of {entry.episodes}")
            check_askable(episodes, Grounds.of(world, body, cached_space(world, body, folder)), entry.episodes, watch=watch)
        return Prepared(folder, world_hash, _ended(episodes, suite))
    asked = suite.asked()
    file = _episode_file(asked, entry, cache, world_hash)
    if not file.is_file():
        with _one_maker(file):
            if not file.is_file():
                _ask(asked, entry, folder, file, announce, watch)
    episodes = load_episodes(file)
    for task, reasons in episodes.rejected.items():
        if reasons.get(QUOTA):
            announce(f"{episodes.world}: {reasons[QUOTA]} episodes of task {task.replace('_', ' ')} could not be made: {_told(reasons)}")
    return Prepared(folder, world_hash, _ended(episodes, suite))


def _ask(asked: Suite, entry: WorldEntry, folder: Path, file: Path, announce: Announce, watch: Watch) -> None:
    """Make the episodes of a world."""
    world = load(folder)
    announce(f"surveying {world.id} for {asked.embodiment}")
    space = cached_space(world, embodiment(asked.embodiment), folder)
    scenes = scenes_of(world) if entry.scenes is None else tuple(entry.scenes)
    announce(f"sampling and verifying candidates for {asked.wanted(scenes)} episodes in {world.id}")
    # What a STOP means belongs to the run: the same questions serve both protocols.
    plain = asked.model_copy(update={"termination": None, "instructions": "category"})
    save_episodes(generate(world, plain, space=space, scenes=scenes, watch=watch), file)


def _one_maker(what: Path) -> AbstractContextManager[None]:
    """Ranks that start together find the same cache empty: one makes what is lacking, the others wait for it."""
    return alone(what.parent / ".making" / what.name)


def _ended(episodes: EpisodeSet, suite: Suite) -> EpisodeSet:
    """The set under the suite's termination protocol, its places in the suite's kind of words, its maps measured in the suite's way."""
    termination = suite.termination
    ended = [ends_by(e, termination) for e in episodes.episodes] if termination else episodes.episodes
    measured = [measured_by(e, suite.satnav.geodesy) for e in ended]
    return episodes.model_copy(update={"episodes": [phrased_as(e, suite.instructions) for e in measured]})


def _told(reasons: Mapping[str, int]) -> str:
    """What each filter removed."""
    return ", ".join(f"{reason} {n}" for reason, n in reasons.items() if reason != QUOTA) or "nothing was left out, the world has no more"


def _built(entry: WorldEntry, cache: Path, announce: Announce) -> Path:
    recipe = str(entry.recipe)
    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES, list_command="portico list recipes")
    folder = _world_folder(entry, cache)
    if not (folder / "world.json").is_file():
        with _one_maker(folder):
            if not (folder / "world.json").is_file():
                announce(f"building world {folder.name}")
                save(RECIPES[recipe](entry.seed, **entry.params), folder, overwrite=True)
    return folder


def _world_folder(entry: WorldEntry, cache: Path) -> Path:
    suffix = "" if not entry.params else "-" + hashlib.sha256(json.dumps(entry.params, sort_keys=True).encode()).hexdigest()[:8]
    return cache / f"{entry.recipe}-{entry.seed:04d}{suffix}"


def _episode_file(suite: Suite, entry: WorldEntry, cache: Path, world_hash: str) -> Path:
    """Its name changes with everything the episodes depend on."""
    scenic = {"navverse"} if suite.rules == "navverse" else set()
    scenes = [entry.scenes] if suite.rules == "navverse" else []
    flown = {"satnav"} if suite.rules == "satnav" else set()
    physical = {"motion", "friction"} if suite.motion == "physics" else set()
    parts = suite.model_dump(
        mode="json", include=physical | scenic | flown | {"name", "split", "seed", "embodiment", "tasks", "budget", "actions", "rules", "grid", "difficulty"}
    )
    files = robot_files(suite.embodiment, suite.motion)
    parts |= {"robot": files} if files else {}
    digest = hashlib.sha256(json.dumps([parts, world_hash, *scenes], sort_keys=True).encode()).hexdigest()
    return cache / "episodes" / f"{suite.name}-{digest[:16]}.json"


def _in_turn(episodes: Sequence[Episode], shuffle: int | None) -> list[int]:
    """Positions of episodes in the order in which offset and limit count: task by task in turn, or shuffled by a seed."""
    if shuffle is not None and episodes:
        return [int(i) for i in generator("order of episodes", shuffle, episodes[0].world).permutation(len(episodes))]
    turn: Counter[str] = Counter()
    ranked = []
    for i, episode in enumerate(episodes):
        ranked.append((turn[episode.task], i))
        turn[episode.task] += 1
    return [i for _, i in sorted(ranked)]


def select(
    prepared: Sequence[Prepared],
    *,
    offset: int = 0,
    limit: int | None = None,
    shuffle: int | None = None,
    only: Sequence[str] = (),
    tasks: Collection[str] = (),
) -> list[Prepared]:
    """Keep the episodes of some tasks, the named ones, or part of each world's: ``limit`` of them after the first ``offset``.

    Offset and limit count task by task in turn, so that any part is spread over the tasks, or in an order shuffled by the seed
    ``shuffle``; parts that adjoin hold every episode once. What is kept stays in its order.

    Raises:
        UnknownName: an episode id that no world has.
        SuiteError: nothing is left.
    """
    if only:
        known = {e.id for p in prepared for e in p.episodes.episodes}
        for name in only:
            if name not in known:
                raise UnknownName("episode", name, known)
    kept = []
    for p in prepared:
        episodes = [e for e in p.episodes.episodes if (not only or e.id in only) and (not tasks or e.task in tasks)]
        part = _in_turn(episodes, shuffle)[offset:][:limit]
        kept.append(Prepared(p.folder, p.world_hash, p.episodes.model_copy(update={"episodes": [episodes[i] for i in sorted(part)]})))
    if offset and not any(p.episodes.episodes for p in kept):
        raise SuiteError("no episode is left", where=f"--offset {offset}", why="no world has that many", next_step="give a smaller one")
    return kept
