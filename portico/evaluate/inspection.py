"""Whether a run folder can be trusted: every planned episode scored or named, nothing twice, nothing foreign, nothing changed since."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from portico.episodes import load_episodes
from portico.errors import EpisodeError
from portico.evaluate.identity import read_header
from portico.evaluate.logbook import read_logs
from portico.evaluate.plan import dealt, question
from portico.evaluate.records import Key, Line, Record, outcome_digest, planned_keys, scan, without_timing
from portico.evaluate.scores import SCORES, about_scores, read_scored
from portico.evaluate.scoring import trajectory_digest
from portico.tasks.trajectory import Trajectory

Kind = Literal["fault", "open", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing about a run.

    Attributes:
        kind: ``fault``: results cannot be trusted until it is mended. ``open``: the run is not finished. ``note``: good to know.
        code: stable, for scripts: header, questions, foreign, damaged, torn, duplicate, conflict, retried, missing, rank, error, trajectory,
            summary, scores, world, versions. names: what it concerns, all of it.
    """

    kind: Kind
    code: str
    sentence: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """What was found in a run folder; counts of episodes."""

    folder: Path
    planned: int
    scored: int
    errors: int
    missing: int
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """No fault, and nothing left to do."""
        return all(f.kind == "note" for f in self.findings)


def inspect_run(folder: Path, *, trajectories: bool = True) -> Inspection:
    """Look at every file of a run.

    Args:
        trajectories: read each of them and compare it with its record.

    Raises:
        SuiteError: this is no run folder, or its header is damaged.
    """
    header = read_header(folder)
    planned = planned_keys(folder)
    lines, asked = list(scan(folder)), set(planned or ())
    by_key: dict[Key, list[Line]] = {}
    foreign: list[Line] = []
    for line in lines:
        if line.record is not None:
            key = Key.of(line.record)
            if planned is None or key in asked:
                by_key.setdefault(key, []).append(line)
            else:
                foreign.append(line)
    chosen = {key: _chosen(found) for key, found in sorted(by_key.items())}
    missing = [key for key in planned or () if key not in chosen]
    errors = [key for key, record in chosen.items() if record["status"] == "error"]
    findings = [
        *_questions(folder, header, planned, chosen),
        *_lines(lines, foreign),
        *_twice(by_key),
        *_unfinished(folder, header, planned or [], missing, {key: chosen[key] for key in errors}),
        *(_trajectories(folder, chosen) if trajectories else ()),
        *_scores(folder, chosen),
        *_surroundings(folder, header, chosen),
    ]
    return Inspection(folder, len(planned or ()), len(chosen) - len(errors), len(errors), len(missing), tuple(findings))


def _chosen(found: list[Line]) -> Record:
    """The record that counts, as ``read_records`` takes it."""
    records = [line.record for line in found if line.record is not None]
    return next((r for r in records if r["status"] != "error"), records[-1])


def _questions(folder: Path, header: Mapping[str, Any], planned: list[Key] | None, chosen: Mapping[Key, Record]) -> Iterator[Finding]:
    if planned is None:
        yield Finding("fault", "questions", "the run's own copy of its questions is gone or damaged, so nobody can say what is missing")
        return
    if len(planned) != header["planned"]:
        yield Finding("fault", "questions", f"run.json plans {header['planned']} episodes, the questions beside it are {len(planned)}")
    asked: dict[tuple[str, str], str] = {}
    for world in header["worlds"]:
        try:
            asked |= {(world, e.id): question(e) for e in load_episodes(folder / "episodes" / f"{world}.json").episodes}
        except EpisodeError as error:
            yield Finding("fault", "questions", f"the questions of world {world} cannot be read: {error.why or error.what}")
    other = [str(key) for key, r in chosen.items() if r.get("question") not in (None, asked.get((key.world, key.episode)))]
    if other:
        yield Finding("fault", "questions", f"{len(other)} records answer another question than the one of their name", tuple(other))


def _lines(lines: list[Line], foreign: list[Line]) -> Iterator[Finding]:
    if foreign:
        yield Finding("fault", "foreign", f"{len(foreign)} records are not of this run", tuple(_place(line) for line in foreign))
    damaged = [line for line in lines if line.record is None and not line.torn]
    if damaged:
        yield Finding("fault", "damaged", f"{len(damaged)} lines cannot be read; their episodes are run again", tuple(_place(line) for line in damaged))
    torn = [line for line in lines if line.torn]
    if torn:
        yield Finding(
            "note", "torn", f"{len(torn)} files end in half a line, as a kill leaves them; the next start cuts it", tuple(_place(line) for line in torn)
        )


def _place(line: Line) -> str:
    about = f": {Key.of(line.record)} of suite {Key.of(line.record).suite}" if line.record is not None else ""
    return f"{line.path.name} line {line.number}{about}"


def _twice(by_key: Mapping[Key, list[Line]]) -> Iterator[Finding]:
    same: list[str] = []
    conflict: list[str] = []
    retried: list[str] = []
    for key, found in sorted(by_key.items()):
        outcomes = [line for line in found if line.record is not None and line.record["status"] != "error"]
        where = ", ".join(f"{line.path.name} line {line.number}" for line in outcomes)
        if len(outcomes) > 1:
            texts = {json.dumps(without_timing(line.record or {}), sort_keys=True) for line in outcomes}
            (same if len(texts) == 1 else conflict).append(f"{key}: {where}")
        elif outcomes and len(found) > 1:
            retried.append(str(key))
    if conflict:
        yield Finding("fault", "conflict", f"{len(conflict)} episodes have two outcomes that differ; the first counts", tuple(conflict))
    if same:
        yield Finding("note", "duplicate", f"{len(same)} episodes were run twice and came to the same", tuple(same))
    if retried:
        yield Finding("note", "retried", f"{len(retried)} episodes ended in an error first and have an outcome now", tuple(retried))


def _unfinished(folder: Path, header: Mapping[str, Any], planned: list[Key], missing: list[Key], errors: Mapping[Key, Record]) -> Iterator[Finding]:
    if errors:
        names = tuple(f"{key}: {_in_a_line(r)}" for key, r in errors.items())
        yield Finding("open", "error", f"{len(errors)} episodes ended in an error", names)
    if not missing:
        return
    starts = [(str(entry["at"]), rank, int(entry.get("world_size", 1))) for rank, entry in read_logs(folder) if entry["event"] == "start"]
    world_size = max(starts)[2] if starts else 1
    if world_size == 1:
        yield Finding("open", "missing", f"{len(missing)} episodes were not run", tuple(map(str, missing)))
        return
    ended = _how_ranks_ended(folder, world_size)
    order, lacking = dealt(planned, header.get("shuffle")), set(missing)
    for rank in range(world_size):
        share = order[rank::world_size]
        names = tuple(str(key) for key in share if key in lacking)
        if names:
            words = f"rank {rank} of {world_size} {ended.get(rank, 'never started')}: {len(names)} of its {len(share)} episodes were not run"
            yield Finding("open", "rank", words, names)


def _in_a_line(record: Record) -> str:
    """What went wrong, and why where the error says so."""
    first, *more = str((record.get("error") or {}).get("message", "")).split("\n")
    why = next((line.strip().removeprefix("why:").strip() for line in more if line.strip().startswith("why:")), "")
    return f"{first}: {why}" if why else first


def _how_ranks_ended(folder: Path, world_size: int) -> dict[int, str]:
    """Of every rank that was started among so many: what its log says last."""
    told: dict[int, str] = {}
    for rank, entry in read_logs(folder):
        if entry["event"] == "start" and int(entry.get("world_size", 1)) == world_size:
            told[rank] = f"is at work or was killed, it started {entry['at']} on {entry.get('host')}"
        elif rank in told and entry["event"] == "stopped":
            told[rank] = f"stopped ({entry.get('why')})"
        elif rank in told and entry["event"] == "end":
            told[rank] = "ended"
    return told


def _trajectories(folder: Path, chosen: Mapping[Key, Record]) -> Iterator[Finding]:
    lost = []
    for key, record in chosen.items():
        if record["status"] == "error":
            continue
        try:
            digest = trajectory_digest(Trajectory.load(folder / "trajectories" / f"{key.slug()}.npz"))
        except EpisodeError:
            lost.append(f"{key}: gone or damaged")
            continue
        if record.get("trajectory") not in (None, digest):
            lost.append(f"{key}: not the one that was scored")
    if lost:
        yield Finding("fault", "trajectory", f"{len(lost)} trajectories do not belong to their records; delete them, and the run makes them again", tuple(lost))


def _scores(folder: Path, chosen: Mapping[Key, Record]) -> Iterator[Finding]:
    if not (folder / SCORES).is_file():
        return
    if about_scores(folder) is None:
        yield Finding("note", "scores", f"{SCORES} is older than some records, which count instead; `portico score` makes it anew")
        return
    again = read_scored(folder)
    other = tuple(str(key) for key, record in chosen.items() if without_timing(again.get(key, {})) != without_timing(record))
    if other:
        yield Finding("note", "scores", f"{len(other)} records were scored again and came to something else, which counts from then on", other)


def _surroundings(folder: Path, header: Mapping[str, Any], chosen: Mapping[Key, Record]) -> Iterator[Finding]:
    try:
        outcome = json.loads((folder / "summary.json").read_text(encoding="utf-8")).get("outcome")
    except (OSError, ValueError, AttributeError):
        outcome = None
    if outcome != outcome_digest(chosen.values()):
        yield Finding("open", "summary", "summary.json is not of these records; start the run again, or `portico score` it")
    moved = []
    for world, facts in header["worlds"].items():
        try:
            now = json.loads((Path(facts["folder"]) / "world.json").read_text(encoding="utf-8")).get("content_hash")
        except (OSError, ValueError, AttributeError):
            now = None
        if now != facts["hash"]:
            moved.append(f"{world}: {'changed since' if now else 'not found'} in {facts['folder']}")
    if moved:
        yield Finding("note", "world", f"{len(moved)} worlds are not where they were; scoring again needs --worlds", tuple(moved))
    used = {json.dumps(entry.get("versions"), sort_keys=True) for _, entry in read_logs(folder) if entry["event"] == "start"}
    if len(used) > 1:
        yield Finding("note", "versions", "the run was started under different versions of what it depends on", tuple(sorted(used)))
