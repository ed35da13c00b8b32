"""``portico world export``: worlds as files of other tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import out, timed
from portico.errors import UnknownName
from portico.world import World, load
from portico.world.staged import staged


@dataclass(frozen=True)
class _Wish:
    """What the options ask for, beside the format."""

    world: World
    out_folder: Path
    robot: str
    floor: int
    resolution_m: float | None
    dataset: str | None
    compressed: bool


def export(
    world_folder: Annotated[Path, typer.Argument(help="folder of a world, as made by `world build` or `world import`", metavar="WORLD")],
    out_folder: Annotated[Path, typer.Option("--out", help="folder for the files")],
    format_name: Annotated[
        str, typer.Option("--format", help="glb (and JSON), rosmap (map.pgm and map.yaml of a floor), or navarena (a V1 scene folder)")
    ] = "glb",
    floor: Annotated[int, typer.Option(help="which floor a map shows, 0 at the street")] = 0,
    robot: Annotated[str, typer.Option(help="whose body decides what is in the way on a map")] = "spot",
    resolution: Annotated[float | None, typer.Option(help="metres per cell of a map; the world's own by default")] = None,
    dataset: Annotated[str | None, typer.Option(help="dataset that a NavArena scene's id is made of; its own, else portico")] = None,
    compressed: Annotated[bool, typer.Option("--compressed", help="add compressed.splat, which NavArena's viewer shows")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace files that are there")] = False,
) -> None:
    """Write a world for other tools: GLB (y up, named materials) and JSON, the map of a floor for ROS, or a NavArena scene."""
    if format_name not in _FORMATS:
        raise UnknownName("format", format_name, _FORMATS)
    wish = _Wish(load(world_folder), out_folder, robot, floor, resolution, dataset, compressed)
    with timed(f"exporting {wish.world.id}"), staged(out_folder, overwrite=overwrite) as folder:
        names, lines = _FORMATS[format_name](wish, folder)
    for line in lines:
        out.print(line)
    for name in names:
        out.print(str(out_folder / name))


def _glb(wish: _Wish, folder: Path) -> tuple[list[str], list[str]]:
    from portico.world.export import export_glb, export_json

    export_glb(wish.world, folder / f"{wish.world.id}.glb")
    export_json(wish.world, folder / f"{wish.world.id}.json")
    return [f"{wish.world.id}.glb", f"{wish.world.id}.json"], []


def _rosmap(wish: _Wish, folder: Path) -> tuple[list[str], list[str]]:
    from portico.build.rosmap import grid_of, occupancy_of, write_rosmap
    from portico.robots import embodiment

    body = embodiment(wish.robot)
    occupancy = occupancy_of(wish.world, body, level=wish.floor, grid=grid_of(wish.world, wish.resolution_m))
    image, file = write_rosmap(occupancy, folder)
    return [image.name, file.name], [f"floor {wish.floor} as {body.name} meets it: {occupancy.account()}"]


def _navarena(wish: _Wish, folder: Path) -> tuple[list[str], list[str]]:
    from portico.build.navarena import export_navarena, ids_beside
    from portico.robots import embodiment

    exported = export_navarena(
        wish.world,
        folder,
        embodiment(wish.robot),
        level=wish.floor,
        resolution_m=wish.resolution_m,
        dataset=wish.dataset,
        taken=ids_beside(wish.out_folder),
        compressed=wish.compressed,
    )
    return list(exported.files), [f"scene {exported.scene_id}", *exported.lines]


_FORMATS: dict[str, Callable[[_Wish, Path], tuple[list[str], list[str]]]] = {"glb": _glb, "rosmap": _rosmap, "navarena": _navarena}
