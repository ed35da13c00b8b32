"""Pictures of a world: a map of every level and a contact sheet of what a robot sees in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from portico.errors import StorageError
from portico.render import annotate_map, contact_sheet, overview, renderer_of
from portico.report.sights import marked, sights
from portico.report.viewpoints import choose_viewpoints
from portico.robots import embodiment
from portico.world import World

_TILE = (400, 300)


def draw_world(world: World, folder: Path, *, frames: int = 16, robot: str = "spot") -> list[Path]:
    """Write ``map-level-<n>.png`` for the street and every other level with rooms, and ``contact-sheet.png``.

    Args:
        frames: most first-person frames on the sheet. robot: whose front camera takes them.

    Returns:
        the files written, maps first.

    Raises:
        UnknownName: no such robot.
        StorageError: the folder cannot be written.
    """
    if world.appearance.raster is not None:
        return _draw_map(world, folder, frames)
    camera = embodiment(robot).cameras[0].resized(*_TILE)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for level in levels_with_rooms(world):
        image, frame = overview(world, level=level)
        pictures.append((folder / f"map-level-{level}.png", annotate_map(image, frame, world)))
    renderer = renderer_of(world)
    viewpoints = choose_viewpoints(world, renderer, camera, frames)
    if viewpoints:
        looks = [(v.pose.matrix() @ camera.T_base_camera(), v.caption) for v in viewpoints]
        pictures.append((folder / "contact-sheet.png", contact_sheet(renderer, looks, camera)))
    with _writing(folder):
        for path, picture in pictures:
            Image.fromarray(picture).save(path)
    return [path for path, _ in pictures]


def _draw_map(world: World, folder: Path, frames: int) -> list[Path]:
    """An aerial world: all of it with what can be followed on it, and what its camera sees here and there."""
    camera = embodiment("flyer").cameras[0]
    image, frame = overview(world)
    pictures = [(folder / "map.png", marked(image, frame, world))]
    looks = [(pose.matrix() @ camera.T_base_camera(), caption) for pose, caption in sights(world, camera, frames)]
    if looks:
        pictures.append((folder / "contact-sheet.png", contact_sheet(renderer_of(world), looks, camera.resized(300, 300))))
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path, picture in pictures:
            Image.fromarray(picture).save(path)
    return [path for path, _ in pictures]


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError("the pictures could not be written", where=str(folder), why=str(error), next_step="choose another --out") from error


def levels_with_rooms(world: World) -> list[int]:
    """The street's level, then every other level that has rooms, upwards."""
    level_of = {(b.id, f.id): f.level for b in world.semantics.buildings for f in b.floors}
    return [0, *sorted({level_of[room.building, room.floor] for room in world.semantics.rooms if (room.building, room.floor) in level_of} - {0})]
