"""An episode as a film strip: its way on the map, and what the robot's camera saw at moments along it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from portico.errors import StorageError, UnknownName, WorldError
from portico.evaluate.records import Key
from portico.geometry import Pose, leaning
from portico.render import annotate_map, overview, renderer_of
from portico.report.cards import body_of
from portico.report.flights import grounded_way
from portico.report.runs import Run, WorldShelf, load_run
from portico.tasks.trajectory import Trajectory
from portico.world import World

_FRAME = (320, 240)
_MAP_PX = 480
_AROUND_M, _AROUND_FLIGHT_M = 4.0, 40.0
_PAPER, _INK, _WAY, _TOUCH = (250, 249, 246), (30, 33, 40), (37, 99, 190), (200, 40, 30)
_CAPTION_PX = 22


def draw_films(folders: Sequence[Path], episodes: Sequence[str], out: Path, worlds: Path | None = None) -> list[Path]:
    """Film strips of the named episodes, one per run that recorded it, in ``out``; returns the files.

    Args:
        worlds: folder that holds the worlds, when they have moved since the run.

    Raises:
        UnknownName: no run recorded such an episode. StorageError: a picture cannot be written.
    """
    shelf, written = WorldShelf(worlds), []
    runs = [load_run(folder) for folder in folders] if episodes else []
    for name in episodes:
        found = [(run, key) for run in runs for key in run.records if key.episode == name and run.trajectory(key) is not None]
        if not found:
            raise UnknownName("recorded episode", name, sorted({key.episode for run in runs for key in run.records}))
        for run, key in found:
            path = out / f"{run.folder.name}-{key.slug()}.png"
            film_strip(run, key, path, shelf=shelf)
            written.append(path)
    return written


def film_strip(run: Run, key: Key, path: Path, *, frames: int = 6, shelf: WorldShelf | None = None) -> None:
    """Write a PNG of an episode: the map with the way walked, then frames evenly over its time, the last one at its end.

    Args:
        shelf: where the run's worlds are found.

    Raises:
        WorldError: the episode's world is gone, or nothing was recorded. StorageError: the picture cannot be written.
    """
    trajectory, worlds = run.trajectory(key), shelf or WorldShelf()
    world = worlds.world(run, key.world)
    if trajectory is None or world is None:
        why = "nothing was recorded" if trajectory is None else " ".join(worlds.notes)
        raise WorldError(
            "the episode cannot be drawn", where=f"{run.folder}: {key.slug()}", why=why, next_step="run the suite again, or point --worlds at its worlds"
        )
    pictures = [_map(world, _seen_from_above(world, trajectory)), *_looks(run, world, trajectory, frames)]
    height = max(p.height for p in pictures)
    columns = -(-(len(pictures) - 1) // 2)
    canvas = Image.new("RGB", (pictures[0].width + columns * _FRAME[0], max(height, 2 * (_FRAME[1] + _CAPTION_PX))), _PAPER)
    canvas.paste(pictures[0], (0, 0))
    for k, picture in enumerate(pictures[1:]):
        canvas.paste(picture, (pictures[0].width + k % columns * _FRAME[0], k // columns * (_FRAME[1] + _CAPTION_PX)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        canvas.save(path, format="PNG")
    except OSError as error:
        raise StorageError("the picture could not be written", where=str(path), why=str(error), next_step="choose another --out") from error


def _seen_from_above(world: World, trajectory: Trajectory) -> Trajectory:
    """What happened in metres, over satellite maps too."""
    return trajectory if world.appearance.raster is None else grounded_way(trajectory, world.local_frame)


def _map(world: World, trajectory: Trajectory) -> Image.Image:
    points = trajectory.position
    around_m = _AROUND_M if world.appearance.raster is None else _AROUND_FLIGHT_M
    low, high = points[:, :2].min(axis=0) - around_m, points[:, :2].max(axis=0) + around_m
    grow = np.maximum(0.0, 0.5 * ((high - low).max() - (high - low)))
    west, south = (low - grow).tolist()
    east, north = (high + grow).tolist()
    image, frame = overview(world, size_px=_MAP_PX, bounds=(west, south, east, north), level=_level(world, float(np.median(points[:, 2]))))
    picture = Image.fromarray(annotate_map(image, frame, world))
    draw = ImageDraw.Draw(picture)
    line = [(float(x), float(y)) for x, y in frame.to_pixels(points)]
    draw.line(line, fill=_PAPER, width=6, joint="curve")
    draw.line(line, fill=_WAY, width=3, joint="curve")
    for k in np.flatnonzero(trajectory.collided):
        _disc(draw, line[k], 3, _TOUCH)
    _disc(draw, line[0], 6, _WAY)
    _disc(draw, line[-1], 6, _TOUCH if trajectory.fallen.any() else _INK)
    return picture


def _disc(draw: ImageDraw.ImageDraw, at: tuple[float, float], radius: int, color: tuple[int, int, int]) -> None:
    draw.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill=color, outline=_PAPER)


def _level(world: World, z: float) -> int:
    """The storey whose floor lies nearest below z; the street's where there is none."""
    below = [(f.z_m, f.level) for b in world.semantics.buildings for f in b.floors if f.z_m <= z + 0.5]
    return max(below)[1] if below else 0


def _looks(run: Run, world: World, trajectory: Trajectory, count: int) -> list[Image.Image]:
    """Frames with captions, drawn again from recorded poses, leaning as the body did."""
    body, renderer = body_of(run), renderer_of(world)
    camera = body.cameras[0].resized(*_FRAME)
    times = np.linspace(0.0, float(trajectory.time_s[-1]), count)
    looks = []
    for k in np.minimum(np.searchsorted(trajectory.time_s, times), len(trajectory) - 1).tolist():
        x, y, z = trajectory.position[k].tolist()
        roll, pitch = trajectory.tilt_rad[k].tolist()
        base = leaning(Pose(x, y, z, float(trajectory.yaw_rad[k])), roll, pitch, body.pivot_m)
        image = Image.new("RGB", (_FRAME[0], _FRAME[1] + _CAPTION_PX), _PAPER)
        image.paste(Image.fromarray(renderer.photograph(base @ camera.T_base_camera(), camera)), (0, _CAPTION_PX))
        lean = float(np.rad2deg(np.arccos(np.cos(roll) * np.cos(pitch))))
        said = f"{trajectory.time_s[k]:.0f} s" + (f", leans {lean:.0f}°" if lean >= 5.0 else "") + (", fallen" if trajectory.fallen[k] else "")
        ImageDraw.Draw(image).text((6, 3), said, fill=_INK, font=ImageFont.load_default(14))
        looks.append(image)
    return looks
