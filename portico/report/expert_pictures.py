"""Some experts of a task on the map of their world: the way each drove, where it began and where it ended."""

from __future__ import annotations

import colorsys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from portico.episodes.navarena import Trajectory, read_task, read_trajectory
from portico.errors import StorageError
from portico.geometry import Floats
from portico.render import MapFrame, annotate_map, overview
from portico.world import World

#: Trajectories drawn, evenly over the data; neighbours among them get hues a golden angle apart.
_MOST, _GOLDEN = 16, 0.618034
_FINE = 2
_HALO = (255, 255, 255)


def draw_experts(world: World, task: Path, path: Path) -> None:
    """Write a PNG of some trajectories of a task's folder.

    Raises:
        EpisodeError: the folder holds no readable data.
        StorageError: the picture cannot be written.
    """
    data = read_task(task)
    # Of one chunk, which is read as a whole for every one of them.
    names = [row["episode_id"] for row in data.rows if row["chunk_index"] == data.rows[0]["chunk_index"]]
    chosen = [names[k] for k in np.unique(np.linspace(0, len(names) - 1, _MOST).astype(int))]
    found = [trajectory for name in chosen if (trajectory := read_trajectory(data, name)) is not None]
    image, frame = overview(world)
    picture = Image.fromarray(annotate_map(image, frame, world)).resize((_FINE * frame.width, _FINE * frame.height), Image.Resampling.LANCZOS)
    draw = ImageDraw.Draw(picture)
    for k, trajectory in enumerate(found):
        red, green, blue = colorsys.hsv_to_rgb(k * _GOLDEN % 1.0, 0.9, 0.75)
        _trace(draw, frame, trajectory, (round(255 * red), round(255 * green), round(255 * blue)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.resize((frame.width, frame.height), Image.Resampling.LANCZOS).save(path, format="PNG")
    except OSError as error:
        raise StorageError("the picture could not be written", where=str(path), why=str(error), next_step="choose another --picture") from error


def _trace(draw: ImageDraw.ImageDraw, frame: MapFrame, trajectory: Trajectory, color: tuple[int, int, int]) -> None:
    """A line with a disc at its start, and an arrow along the heading at its end."""
    points: Floats = _FINE * frame.to_pixels(trajectory.poses)
    line = [(float(x), float(y)) for x, y in points]
    unit = _FINE * frame.width / 400
    for width, ink in ((1.6 * unit, _HALO), (0.9 * unit, color)):
        draw.line(line, fill=ink, width=max(1, round(width)), joint="curve")
    x, y = line[0]
    draw.ellipse((x - 1.6 * unit, y - 1.6 * unit, x + 1.6 * unit, y + 1.6 * unit), fill=color, outline=_HALO, width=max(1, round(0.3 * unit)))
    yaw = float(trajectory.poses[-1, 3])
    tip = points[-1] + 3.0 * unit * np.array([np.cos(yaw), -np.sin(yaw)])
    sides = [points[-1] + 1.8 * unit * np.array([np.cos(yaw + turn), -np.sin(yaw + turn)]) for turn in (2.3, -2.3)]
    draw.polygon([(float(a), float(b)) for a, b in (tip, sides[0], points[-1], sides[1])], fill=color, outline=_HALO)
