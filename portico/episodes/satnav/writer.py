"""Writes episodes as SatNav's evaluator reads them; what came from such a file goes back as it was."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from portico.episodes.satnav.reader import FAMILIES
from portico.errors import EpisodeError
from portico.tasks.episode import AERIAL_TASKS, Episode, EpisodeSet
from portico.world.geodesy import heading_deg
from portico.world.whole_file import whole_file

_FAMILY_OF = {task: family for family, task in FAMILIES.items()}


def to_satnav(sets: Sequence[EpisodeSet], path: Path, *, scene: str | None = None) -> int:
    """Write sets into one file, gzipped where its name ends in .gz; returns the number of episodes.

    Args:
        scene: name of the scene; the world's when left out.

    Raises:
        EpisodeError: an episode of another kind, named. StorageError: the disk refuses.
    """
    metadata: dict[str, Any] = next((s.extra["satnav"] for s in sets if "satnav" in s.extra), {})
    listed = [as_satnav(e, scene) for s in sets for e in s.episodes]
    text = json.dumps({**metadata, "episodes": listed}, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    if path.suffix == ".gz":
        packed = io.BytesIO()
        # Without a time stamp the same episodes are the same bytes.
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
            file.write(text)
        text = packed.getvalue()
    with whole_file(path) as file:
        file.write(text)
    return len(listed)


def as_satnav(episode: Episode, scene: str | None = None) -> dict[str, Any]:
    """An episode as an object of SatNav's files.

    Raises:
        EpisodeError: it is none of boundary, landmark and route.
    """
    if "satnav" in episode.extra:
        return dict(episode.extra["satnav"])
    stage, flight = episode.stages[0], episode.flight
    if episode.task not in AERIAL_TASKS or stage.goal is None:
        raise EpisodeError(
            "SatNav knows no such task", where=f"episode {episode.id}", why=f"task {episode.task}", next_step=f"write {', '.join(AERIAL_TASKS)} episodes only"
        )
    instruction: dict[str, Any] = {"instruction_text": stage.instruction}
    if flight is not None and flight.style:
        instruction["instruction_type"] = flight.style
    made: dict[str, Any] = {
        "episode_id": episode.id,
        "trajectory_id": flight.route if flight is not None else episode.id,
        "trajectory_type": _FAMILY_OF[episode.task],
        "scene_id": scene or episode.world,
        "start_position": list(episode.start.position),
        "start_rotation": round(heading_deg(episode.start.yaw_rad), 6),
        "goals": [{"position": list(stage.goal)}],
        "instruction": instruction,
        "waypoints": [list(p) for p in flight.waypoints] if flight is not None else [],
        "reference_path": [list(p) for p in episode.reference.path] if episode.reference is not None else [],
        "aux_info": {"side": flight.side, "outline": [list(p) for p in flight.outline]} if flight is not None and flight.side else {},
    }
    return made | ({"trajectory_subtype": flight.subtype} if flight is not None and flight.subtype else {})
