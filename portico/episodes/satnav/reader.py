"""Reads SatNav's episode files (.json, .json.gz) without losing anything, and checks every field that an episode is asked with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from portico.episodes.satnav.scan import EpisodeSlices
from portico.errors import ImportFailed
from portico.tasks.episode import AerialTaskName, Budget, Episode, EpisodeSet, Flight, Reference, StageSpec, Start
from portico.tasks.predicates import DEFAULT_RADIUS_M
from portico.world import GEODESIES, GeodesyName
from portico.world.geodesy import yaw_of

#: SatNav's families, and the task that any other is asked as, with SatNav's default radius.
FAMILIES: dict[str, AerialTaskName] = {"Boundary": "boundary", "LandmarkSet": "landmark", "Road": "route"}
_OTHER: AerialTaskName = "route"
_MAX_STEPS = 500
_SEPARATOR = "::"


class Listed(NamedTuple):
    """An episode in a file: position in the list, scene and id."""

    position: int
    scene: str
    id: str


def list_episodes(path: Path) -> list[Listed]:
    """Who is in a file, without reading more of it than ids; fast and in little memory.

    Raises:
        ImportFailed: the file is damaged, an id or scene is missing, or two episodes have the same; names the file and the field.
    """
    return [listed for listed, _ in _identified(EpisodeSlices(path))]


def read_satnav(path: Path, scene: str | None = None) -> tuple[dict[str, list[Episode]], dict[str, Any]]:
    """Episodes by scene, and the other keys of the file.

    Args:
        scene: only of this one.

    Raises:
        ImportFailed: as ``list_episodes``; and a field that is missing, no number, not finite, or no place on earth.
    """
    slices = EpisodeSlices(path)
    found: dict[str, list[Episode]] = {}
    for listed, text in _identified(slices):
        if scene is not None and listed.scene != scene:
            continue
        raw = _loaded(text, path, listed.position)
        found.setdefault(listed.scene, []).append(_episode(raw, listed, path))
    return found, slices.metadata


def from_satnav(path: Path, *, scene: str | None = None, world_id: str | None = None, world_hash: str = "", split: str = "eval") -> list[EpisodeSet]:
    """A file as episode sets, one per scene.

    Args:
        world_id, world_hash: of the world that a single scene is asked in; the scene's own name when left out.

    Raises:
        ImportFailed: as ``read_satnav``, or the file has no such scene, or no episodes at all.
    """
    found, metadata = read_satnav(path, scene)
    if not found and scene is None:
        raise ImportFailed("the file has no episodes", where=f"{path}: episodes", why="the list is empty", next_step="check where the file comes from")
    if scene is not None and scene not in found:
        raise ImportFailed("the file has no such scene", where=f"{path}: scene_id", why=f"{scene!r} is in none of its episodes", next_step="leave --scene out")
    sets = []
    for name, episodes in found.items():
        world = world_id or name
        asked = [e.model_copy(update={"world": world}) for e in episodes]
        sets.append(EpisodeSet(suite="satnav", split=split, world=world, world_hash=world_hash, episodes=asked, extra={"satnav": metadata}))
    return sets


def _identified(slices: EpisodeSlices) -> Iterator[tuple[Listed, bytes]]:
    first_at: dict[tuple[str, str], int] = {}
    scenes: dict[bytes, str] = {}
    for position, text, id_text, scene_text in slices:
        scene = scenes.get(scene_text)
        if scene is None:
            named = _name(scene_text, f"{slices.path}: episodes[{position}].scene_id")
            # SatNav strips what leads to a scene's file, and finds it by its name.
            scene = scenes[scene_text] = named.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".tif")
        # Whole numbers and plain texts need no parser.
        identity = id_text.decode() if id_text.isdigit() else _name(id_text, f"{slices.path}: episodes[{position}].episode_id")
        if first_at.setdefault((scene, identity), position) != position:
            before = first_at[scene, identity]
            raise ImportFailed(
                f"duplicate episode id {identity!r}",
                where=f"{slices.path}: episodes[{before}].episode_id and episodes[{position}].episode_id",
                why=f"both are of scene {scene!r}; numbers and texts name the same",
                next_step="rename one of them",
            )
        yield Listed(position, scene, identity), text


def _name(text: bytes, where: str) -> str:
    """An id or scene as text; SatNav takes numbers for their digits."""
    try:
        value = json.loads(text) if text else None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed("a name cannot be read", where=where, why=str(error), next_step="write it as a text or a whole number") from error
    if isinstance(value, bool) or not isinstance(value, int | str):
        what = "a name is missing" if value is None else "a name is neither text nor a whole number"
        raise ImportFailed(what, where=where, next_step="write it as a text or a whole number")
    name = str(value)
    if not name.strip() or _SEPARATOR in name:
        raise ImportFailed("a name is empty or holds '::'", where=where, why=f"{name!r}", next_step="rename it")
    return name


def _loaded(text: bytes, path: Path, position: int) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed("an episode is no JSON", where=f"{path}: episodes[{position}]", why=str(error), next_step="mend it") from error
    assert isinstance(raw, dict)
    return raw


def _episode(raw: dict[str, Any], listed: Listed, path: Path) -> Episode:
    where = f"{path}: episodes[{listed.position}]"
    start = _position(raw.get("start_position"), f"{where}.start_position")
    goals = raw.get("goals")
    if not isinstance(goals, list) or not goals:
        raise ImportFailed(
            "an episode has no goals", where=f"{where}.goals", why="the list is empty or missing", next_step="give it a goal, or leave the episode out"
        )
    goal = _position(goals[0].get("position") if isinstance(goals[0], dict) else None, f"{where}.goals[0].position")
    rotation = _number(raw.get("start_rotation", 0.0), f"{where}.start_rotation")
    path_points = _positions(raw.get("reference_path"), f"{where}.reference_path")
    family = raw.get("trajectory_type")
    kind = FAMILIES.get(str(family), _OTHER)
    text, style = _instruction(raw.get("instruction"), f"{where}.instruction")
    radius = None if str(family) in FAMILIES else DEFAULT_RADIUS_M["route"]
    return Episode(
        id=listed.id,
        world=listed.scene,
        task=kind,
        embodiment="flyer",
        start=Start(position=start, yaw_rad=yaw_of(rotation)),
        stages=[StageSpec(kind=kind, instruction=text, goal=goal, radius_m=radius)],
        reference=_reference(path_points, "sphere"),
        budget=Budget(max_actions=_MAX_STEPS),
        flight=Flight(
            subtype=str(raw.get("trajectory_subtype") or ""),
            style=style,
            route=str(raw.get("trajectory_id", "")),
            waypoints=_positions(raw.get("waypoints"), f"{where}.waypoints"),
            **_outline(raw.get("aux_info"), f"{where}.aux_info"),
        ),
        extra={"satnav": raw},
    )


def _reference(points: list[tuple[float, float, float]], geodesy: GeodesyName) -> Reference | None:
    if not points:
        return None
    xyz = np.array(points)
    length = float(GEODESIES[geodesy].distance_m(xyz[1:], xyz[:-1]).sum())
    return Reference(path=points, length_m=round(length, 6), stage_ends=[len(points) - 1])


def _outline(value: Any, where: str) -> dict[str, Any]:
    """Side and outline, which Portico writes and SatNav's own files lack."""
    if not isinstance(value, dict) or value.get("side") not in ("left", "right") or not isinstance(value.get("outline"), list):
        return {}
    return {"side": value["side"], "outline": [(lon, lat) for lon, lat, _ in _positions(value["outline"], f"{where}.outline")]}


def _instruction(value: Any, where: str) -> tuple[str, str]:
    if isinstance(value, str):
        return value, ""
    if isinstance(value, dict) and isinstance(value.get("instruction_text"), str):
        return value["instruction_text"], str(value.get("instruction_type") or "")
    raise ImportFailed("an episode has no instruction", where=f"{where}.instruction_text", next_step="give it a text")


def _positions(value: Any, where: str) -> list[tuple[float, float, float]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ImportFailed("a path is no list", where=where, next_step="write it as [[longitude, latitude, height], ...]")
    return [_position(point, f"{where}[{n}]") for n, point in enumerate(value)]


def _position(value: Any, where: str) -> tuple[float, float, float]:
    """Longitude, latitude and height.

    Raises:
        ImportFailed: missing, no numbers, or nowhere on earth.
    """
    if not isinstance(value, list) or len(value) not in (2, 3):
        what = "a position is missing" if value is None else "a position has neither two nor three numbers"
        raise ImportFailed(what, where=where, next_step="write it as [longitude, latitude, height]")
    lon, lat, height = [*(_number(v, where) for v in value), 0.0][:3]
    if abs(lat) > 90.0 or abs(lon) > 180.0:
        swapped = abs(lon) <= 90.0 and abs(lat) <= 180.0
        raise ImportFailed(
            "a position lies nowhere on earth" + (": longitude and latitude seem to be swapped" if swapped else ""),
            where=where,
            why=f"longitude {lon:g}, latitude {lat:g}",
            next_step="write it as [longitude, latitude, height] in degrees and metres",
        )
    return lon, lat, height


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ImportFailed("a coordinate is no number", where=where, why=f"found {json.dumps(value)[:40]}", next_step="write it as a number")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise ImportFailed("a coordinate is not finite", where=where, why=f"found {str(value)[:40]}", next_step="write it as a number")
    return number


def outside(episodes: Sequence[Episode], misfit: Callable[[float, float, float], str], path: Path) -> None:
    """Refuse episodes that start where a flyer cannot hover.

    Raises:
        ImportFailed: naming the first of them, and how many there are.
    """
    bad = [(e, problem) for e in episodes if (problem := misfit(*e.start.position))]
    if bad:
        episode, problem = bad[0]
        raise ImportFailed(
            f"{len(bad)} of {len(episodes)} episodes start where nobody can hover",
            where=f"{path}: episode {episode.id}, start_position",
            why=f"{list(episode.start.position)}: {problem}",
            next_step="give the world of the scene that they belong to, or mend the position; its third number is the height, 50 in SatNav",
        )
