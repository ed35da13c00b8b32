"""``portico world``: build, look at and splat worlds; import and export are files of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from portico.cli import world_aerial, world_export, world_import, world_label
from portico.cli.console import out, timed
from portico.cli.world_facts import describe
from portico.errors import StorageError, UnknownName, UserError
from portico.world import World, check_free, load, save

app = typer.Typer(no_args_is_help=True, help="Build, import, look at and export worlds.")
app.add_typer(world_import.app, name="import")
app.command("export")(world_export.export)
app.command("label")(world_label.label)
app.command("aerial")(world_aerial.aerial)

WorldFolder = Annotated[Path, typer.Argument(help="folder of a world, as made by `world build` or `world import`", metavar="WORLD")]
Out = Annotated[Path, typer.Option("--out", help="where the result goes")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="replace what is there")]


@app.command()
def build(
    recipe: Annotated[str, typer.Argument(help="what to build, see `portico list recipes`")] = "composite",
    out_folder: Out = Path("worlds/block"),
    seed: Annotated[int, typer.Option(help="same seed, same world, same hash")] = 7,
    parameters: Annotated[list[str] | None, typer.Option("--set", help="a parameter of the recipe, e.g. --set program=cafe --set floors=1")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build a world from a recipe and a seed."""
    from portico.build import RECIPES

    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES, list_command="portico list recipes")
    given = _parameters(recipe, RECIPES[recipe], parameters or [])
    check_free(out_folder, overwrite=overwrite)
    with timed(f"building {recipe} with seed {seed}"):
        world = save(RECIPES[recipe](seed, **given), out_folder, overwrite=overwrite)
    describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


def _parameters(name: str, recipe: Callable[..., World], given: list[str]) -> dict[str, Any]:
    """``key=value`` texts as keyword arguments, values in YAML."""
    known = [p for p in inspect.signature(recipe).parameters if p != "seed"]
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise UserError("a parameter has no value", where=f"--set {text}", next_step="write --set KEY=VALUE")
        if key not in known:
            raise UnknownName(f"parameter of recipe {name}", key, known)
        found[key] = yaml.safe_load(value)
    return found


@app.command()
def info(world_folder: WorldFolder) -> None:
    """Say what a world holds, where it came from and whether its hash is right."""
    describe(load(world_folder))


@app.command()
def render(
    world_folder: WorldFolder,
    out_folder: Annotated[Path | None, typer.Option("--out", help="folder for the pictures; the current one by default")] = None,
    frames: Annotated[int, typer.Option(min=1, help="first-person frames on the contact sheet")] = 16,
    robot: Annotated[str, typer.Option(help="whose camera, see `portico list embodiments`")] = "spot",
) -> None:
    """Draw a top-down map of every level and a contact sheet of first-person frames."""
    from portico.report.world_pictures import draw_world

    world = load(world_folder)
    folder = out_folder or Path.cwd()
    with timed(f"drawing {world.id}"):
        pictures = draw_world(world, folder, frames=frames, robot=robot)
    for picture in pictures:
        out.print(str(picture))


@app.command()
def look(
    file: Annotated[Path, typer.Argument(help="a capture: .ply, .splat, .spz, .glb, .sog or its meta.json, .ksplat")],
    out_folder: Annotated[Path | None, typer.Option("--out", help="folder for the picture; the current one by default")] = None,
    up: Annotated[str, typer.Option(help="axis of the file that points up: x, y, z, -x, -y, -z, or auto: where a floor lies")] = "auto",
    scale: Annotated[float, typer.Option(help="metres per unit of the file")] = 1.0,
    as_points: Annotated[bool, typer.Option("--as-points", help="take a coloured point cloud (.ply, .npz) for a capture")] = False,
) -> None:
    """Draw a capture's file from all sides before importing it: does it stand upright, and is it as large as it should be?"""
    from portico.report.capture_pictures import draw_capture

    with timed(f"drawing {file.name}"):
        picture, lines = draw_capture(file, out_folder or Path.cwd(), up=up, scale=scale, points_as_splats=as_points)
    for line in lines:
        out.print(line)
    out.print(f"\n{picture}\nmake it a world:  portico world import splat {file} --up {up} --out worlds/{picture.stem.removesuffix('-look')}")


@app.command()
def splat(
    world_folder: WorldFolder,
    out_file: Annotated[Path, typer.Option("--out", help=".ply or .splat file to write, or a folder for a world that keeps mesh and labels")],
    spacing: Annotated[float, typer.Option(help="metres between Gaussians on a surface")] = 0.04,
    overwrite: Overwrite = False,
) -> None:
    """Turn a mesh world into a Gaussian capture with known truth, or write the Gaussians of a captured world."""
    from portico.build.captures import gaussians_of
    from portico.build.splats import write_ply, write_splat

    if out_file.suffix not in (".ply", ".splat", ""):
        raise UserError(f"{out_file.suffix} is not written", where=f"--out {out_file}", next_step="give a .ply or .splat file, or a folder without a suffix")
    if not out_file.suffix:
        check_free(out_file, overwrite=overwrite)
    if out_file.is_file() and not overwrite:
        raise StorageError("there is such a file already", where=str(out_file), next_step="choose another --out, or add --overwrite")
    world = load(world_folder)
    with timed(f"splatting {world.id}"):
        gaussians = world.appearance.gaussians or gaussians_of(world, spacing_m=spacing)
        if out_file.suffix == ".ply":
            write_ply(gaussians, out_file)
        elif out_file.suffix == ".splat":
            write_splat(gaussians, out_file)
        else:
            save(replace(world, appearance=replace(world.appearance, gaussians=gaussians)), out_file, overwrite=overwrite)
    out.print(f"{len(gaussians):,} Gaussians written to {out_file}")
