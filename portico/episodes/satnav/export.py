"""Expert flights as training data in SatNav's form: frames as JPEG, actions as numbers, one folder per episode, annotations in chunks.

``actions[i]`` produced image ``i``; the first is -1, the last 0, STOP, whose image shows what was seen before it [SN 6].
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from portico.episodes.satnav.rollouts import Flown, flown
from portico.errors import StorageError
from portico.geometry import Pose
from portico.interface import ActionSpace, Camera, Channel, MoveName
from portico.render.aerial import AerialRenderer
from portico.robots import Flyer, embodiment
from portico.tasks.episode import Episode, EpisodeSet
from portico.world import GeoPose, World
from portico.world.whole_file import whole_file

#: SatNav's numbers of actions; -1 is what led to the first image.
INITIAL, STOP = -1, 0
NUMBERS: dict[MoveName, int] = {"forward": 1, "turn_left": 2, "turn_right": 3}
_CHUNK, _QUALITY = 1000, 90
_DONE = ".done"


@dataclass(frozen=True)
class Exported:
    """What an export left: flights written now and in all, frames in all, and why others were left out.

    Attributes:
        greedy: flights that SatNav's own expert, which goes by its rule alone, would have finished.
    """

    made: int
    total: int
    frames: int
    rejected: dict[str, int]
    greedy: int
    asked: int


def export_flights(
    world: World,
    episodes: EpisodeSet,
    folder: Path,
    *,
    actions: ActionSpace | None = None,
    chunk_size: int = _CHUNK,
    watch: Callable[[int, int], None] = lambda *_: None,
) -> Exported:
    """Fly every episode and write what is not there yet; the same call after an interruption comes to the same files.

    ``annotations/chunk-<n>.json`` hold so many flights each, in the order of the episodes; ``summary.json`` counts.

    Raises:
        WorldError: the world is no aerial one. StorageError: the disk refuses.
    """
    flyer, renderer = Flyer(world, embodiment("flyer"), actions), AerialRenderer(world)
    rejected: Counter[str] = Counter()
    listed: list[dict[str, Any]] = []
    made = greedy = 0
    for index, episode in enumerate(episodes.episodes):
        flight = flown(episode, flyer)
        greedy += flown(episode, flyer, searches=False).success
        if not flight.success or flight.rejected:
            rejected["turned back at the border" if flight.rejected else str(flight.reason)] += 1
        else:
            name = f"images/{episode.world}_satnav_{index:06d}"
            made += _write_frames(folder / name, episode, flight, renderer)
            listed.append(annotation(index, name, episode, flight))
        watch(index + 1, len(episodes.episodes))
    for n in range(0, len(listed), chunk_size):
        _write_json(folder / "annotations" / f"chunk-{n // chunk_size:04d}.json", listed[n : n + chunk_size])
    frames = sum(len(a["actions"]) for a in listed)
    exported = Exported(made, len(listed), frames, dict(sorted(rejected.items())), greedy, len(episodes.episodes))
    _write_json(
        folder / "summary.json",
        {
            "world": world.id,
            "world_hash": world.manifest.content_hash,
            "episodes": exported.asked,
            "flights": exported.total,
            "frames": frames,
            "rejected": exported.rejected,
            "solved_by_satnav_rule": greedy,
            "actions": dict(sorted(Counter(str(a) for x in listed for a in x["actions"]).items())),
        },
    )
    return exported


def annotation(index: int, name: str, episode: Episode, flight: Flown) -> dict[str, Any]:
    """What SatNav's trainers read of a flight; ``episode_id`` and ``steps`` beside it say which it is and how long."""
    actions = [INITIAL, *(NUMBERS[m] for m in flight.moves), STOP]
    return {
        "id": index,
        "episode_id": episode.id,
        "trajectory_id": episode.flight.route if episode.flight else episode.id,
        "video": name,
        "instructions": [episode.stages[0].instruction],
        "actions": actions,
        "steps": len(actions) - 1,
    }


def _write_frames(folder: Path, episode: Episode, flight: Flown, renderer: AerialRenderer) -> bool:
    """The frames of a flight, unless they are there whole; whether they were written."""
    poses = [GeoPose(lon, lat, height, yaw) for (lon, lat, height), yaw in zip(flight.positions.tolist(), flight.yaw_rad.tolist(), strict=True)]
    poses.append(poses[-1])
    done = folder / _DONE
    mark = f"{episode.world} {episode.id} {len(poses)}"
    if done.is_file() and done.read_text() == mark:
        return False
    camera = embodiment("flyer").cameras[0]
    try:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "rgb").mkdir(parents=True)
        for n, pose in enumerate(poses):
            Image.fromarray(_seen(renderer, pose, camera)).save(folder / "rgb" / f"{n + 1:03d}.jpg", quality=_QUALITY)
        done.write_text(mark)
    except OSError as error:
        raise StorageError(
            "the frames could not be written", where=str(folder), why=str(error), next_step="free some space; the same command goes on"
        ) from error
    return True


def _seen(renderer: AerialRenderer, pose: Pose, camera: Camera) -> NDArray[np.uint8]:
    channels: tuple[Channel, ...] = ("rgb",)
    rgb = renderer.render(pose.matrix() @ camera.T_base_camera(), camera, channels).rgb
    assert rgb is not None
    return rgb


def _write_json(path: Path, value: Sequence[Any] | dict[str, Any]) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n")
