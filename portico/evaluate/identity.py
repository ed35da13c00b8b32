"""What makes a run the run it is: written into ``run.json`` once, checked whenever somebody goes on with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portico.episodes import save_episodes
from portico.errors import SuiteError
from portico.evaluate.locks import alone
from portico.evaluate.logbook import versions
from portico.evaluate.measures import MEASURES
from portico.evaluate.plan import Assignment, selection
from portico.evaluate.records import Key
from portico.evaluate.storage import write_json
from portico.interface import Camera
from portico.robots import robot_files

if TYPE_CHECKING:
    from portico.evaluate.run import Fit, RunRequest

RUN_SCHEMA = "portico.run/1"
#: Parts of a suite that change neither what is asked nor what comes of it.
_ASIDE = ("description", "policies")
#: So many entries that only one side has are named, the others counted.
_NAMED = 6
#: What two starts of one run share, with what a run has that was written before there was such an entry; None where that is not known.
_SHARED: dict[str, Any] = {
    "suite": None,
    "policy": None,
    "policy_version": None,
    "timing": "paused",
    "repeats": None,
    "shuffle": None,
    "planned": None,
    "selection": None,
    "robot": None,
    "measures": None,
    "portico": None,
}


def header_of(request: RunRequest, fit: Fit, measures: tuple[str, ...], plan: Mapping[Key, Assignment]) -> dict[str, Any]:
    """The contents of ``run.json``.

    ``policy_version`` and ``declared`` are what the policy says of itself; ``cameras`` are those that it brings in place of the robot's own; ``selection`` is a
    digest of every question, ``command`` how to start the same run.
    """
    return {
        "schema_version": RUN_SCHEMA,
        "suite": request.suite.model_dump(mode="json"),
        "policy": request.policy,
        "policy_version": fit.version,
        "declared": dict(fit.declared),
        "seedable": fit.seedable,
        "cameras": [asdict(camera) for camera in fit.cameras],
        "privileged": list(fit.beyond),
        "timing": request.timing,
        "compatibility": [{"code": note.code, "sentence": note.sentence, "remedy": note.remedy} for note in fit.notes],
        "repeats": request.repeats,
        "partial": request.partial,
        "shuffle": request.shuffle,
        "planned": len(plan),
        "selection": selection(plan),
        "robot": robot_files(request.suite.embodiment, request.suite.motion),
        "worlds": {p.episodes.world: {"hash": p.world_hash, "folder": str(p.folder.resolve())} for p in request.prepared},
        "measures": {name: MEASURES[name].version for name in measures or MEASURES},
        "versions": versions(),
        "command": list(request.command),
    }


def settle_header(request: RunRequest, header: dict[str, Any]) -> dict[str, Any]:
    """Write ``run.json`` and the questions, or check that those that are there are of the same run; returns what is there then.

    Raises:
        SuiteError: the folder holds another run, with what differs; or its header is damaged.
        StorageError: the disk refused.
    """
    path = request.folder / "run.json"
    with alone(request.folder / ".lock-header"):
        if path.is_file():
            there = read_header(request.folder)
            check_same_run(there, header, path)
        else:
            there = header
            write_json(path, header)
        for p in request.prepared:
            file = request.folder / "episodes" / f"{p.episodes.world}.json"
            if not file.is_file():
                save_episodes(p.episodes, file)
    return there


def read_header(run_folder: Path) -> dict[str, Any]:
    """``run.json``.

    Raises:
        SuiteError: there is none, or it is damaged.
    """
    path = run_folder / "run.json"
    if not path.is_file():
        raise SuiteError("this is not a run folder", where=str(run_folder), why="run.json is missing", next_step="give a folder made by `portico run`")
    again = "run the suite again into another --out"
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SuiteError("the run's header is damaged", where=str(path), why=str(error), next_step=again) from error
    try:
        missing = sorted({"suite", "policy", "worlds", "planned"} - header.keys())
        if not missing:
            str(header["suite"]["name"]), {world: dict(facts) for world, facts in header["worlds"].items()}, int(header["planned"])
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise SuiteError("the run's header is damaged", where=str(path), why="it is not what `portico run` writes", next_step=again) from error
    if missing:
        raise SuiteError("the run's header is incomplete", where=str(path), why=f"it lacks {', '.join(missing)}", next_step=again)
    return dict(header)


def cameras_of(header: Mapping[str, Any]) -> tuple[Camera, ...]:
    """The cameras that the policy of a run brought, empty where it saw through the robot's own or none can be made out."""
    try:
        return tuple(Camera(**facts) for facts in header.get("cameras") or ())
    except TypeError:
        return ()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, in words) for everything that two headers of one run must share and do not."""
    found = []
    for name, usual in _SHARED.items():
        a, b = _entry(there, name, usual), _entry(here, name, usual)
        if a != b and not (a is None and name not in there):
            found.append((name, "other episodes are asked, or the same otherwise" if name == "selection" else _difference(a, b)))
    for world in sorted({*there["worlds"], *here["worlds"]}):
        a, b = (side["worlds"].get(world, {}).get("hash") for side in (there, here))
        if a != b:
            found.append((f"worlds.{world}", f"hash {a} there, {b} now"))
    return found


def check_same_run(there: Mapping[str, Any], here: Mapping[str, Any], path: Path) -> None:
    """Refuse to go on with another run.

    Raises:
        SuiteError: naming everything that differs.
    """
    found = differences(there, here)
    if found:
        raise SuiteError(
            "the folder holds another run",
            where=f"{path}: {', '.join(name for name, _ in found)}",
            why="; ".join(f"{name}: {words}" if len(found) > 1 else words for name, words in found),
            next_step="choose another --out, or start the same run to continue it",
        )


def _entry(header: Mapping[str, Any], name: str, usual: Any) -> Any:
    if name == "portico":
        return (header.get("versions") or {}).get("portico")
    value = header.get(name, usual)
    return {k: v for k, v in value.items() if k not in _ASIDE} if name == "suite" and isinstance(value, dict) else value


def _difference(there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        names = sorted(k for k in there.keys() & here.keys() if there[k] != here[k])
        changed = [f"{k}: {_short(there[k])} there, {_short(here[k])} now" for k in names]
        only = [
            f"{side}: {_named(sorted(a.keys() - b.keys()))}" for side, a, b in (("only there", there, here), ("only now", here, there)) if a.keys() - b.keys()
        ]
        return "; ".join(changed + only)
    return f"{_short(there)} there, {_short(here)} now"


def _named(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _short(value: Any) -> str:
    text = "none" if value is None else repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
