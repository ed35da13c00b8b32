"""``portico world``: build, import, look at and export worlds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from portico.cli.console import out, timed
from portico.errors import StorageError, UnknownName, UserError
from portico.world import World, load, save

app = typer.Typer(no_args_is_help=True, help="Build, import, look at and export worlds.")
importers = typer.Typer(no_args_is_help=True, help="Turn real files into worlds.")
app.add_typer(importers, name="import")

WorldFolder = Annotated[Path, typer.Argument(help="folder of a world, as made by `world build` or `world import`", metavar="WORLD")]
Out = Annotated[Path, typer.Option("--out", help="where the result goes")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="replace what is there")]


@app.command()
def build(
    recipe: Annotated[str, typer.Argument(help="what to build, see `portico list recipes`")] = "composite",
    out_folder: Out = Path("worlds/block"),
    seed: Annotated[int, typer.Option(help="same seed, same world, same hash")] = 7,
    overwrite: Overwrite = False,
) -> None:
    """Build a world from a recipe and a seed."""
    from portico.build import RECIPES

    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES, list_command="portico list recipes")
    with timed(f"building {recipe} with seed {seed}"):
        world = save(RECIPES[recipe](seed), out_folder, overwrite=overwrite)
    _describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


@app.command()
def info(world_folder: WorldFolder) -> None:
    """Say what a world holds, where it came from and whether its hash is right."""
    _describe(load(world_folder))


@app.command()
def render(
    world_folder: WorldFolder,
    out_folder: Annotated[Path | None, typer.Option("--out", help="folder for the pictures; the current one by default")] = None,
    frames: Annotated[int, typer.Option(help="first-person frames on the contact sheet")] = 16,
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
def export(
    world_folder: WorldFolder,
    out_folder: Out,
) -> None:
    """Write GLB (y up, named materials) and JSON (semantics and manifest) for other tools."""
    from portico.world.export import export_glb, export_json

    world = load(world_folder)
    try:
        out_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError("cannot write there", where=str(out_folder), why=str(error), next_step="choose a folder you may write to") from error
    export_glb(world, out_folder / f"{world.id}.glb")
    export_json(world, out_folder / f"{world.id}.json")
    out.print(f"{out_folder / world.id}.glb\n{out_folder / world.id}.json")


@importers.command("osm")
def import_osm_file(
    file: Annotated[Path, typer.Argument(help=".osm, .osm.pbf, .osm.bz2, .osm.gz or a .geojson export of one")],
    out_folder: Out,
    bbox: Annotated[str | None, typer.Option(help="west,south,east,north in degrees; everything when left out")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Import an OpenStreetMap extract: buildings, streets, footways, crossings, parks, shops, entrances."""
    from portico.build.osm import import_osm

    with timed(f"importing {file.name}"):
        imported = import_osm(file, bbox=_box(bbox) if bbox else None)
        world = save(imported.world, out_folder, overwrite=overwrite)
    for line in imported.report.lines():
        out.print(line)
    _describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


@importers.command("splat")
def import_splat_file(
    file: Annotated[Path, typer.Argument(help=".ply (INRIA or compressed), .splat, .spz or .glb")],
    out_folder: Out,
    up: Annotated[str, typer.Option(help="axis of the file that points up: x, y, z, -x, -y, -z, or auto: where a floor lies")] = "auto",
    scale: Annotated[float, typer.Option(help="metres per unit of the file")] = 1.0,
    floor: Annotated[str, typer.Option(help="height along up that becomes z = 0: auto, keep, or a number in the file's units")] = "auto",
    voxel: Annotated[float, typer.Option(help="edge of the voxels that what is solid is made of, metres")] = 0.05,
    as_points: Annotated[bool, typer.Option("--as-points", help="take a coloured point cloud for a capture")] = False,
    robot: Annotated[str, typer.Option(help="whose free space is reported")] = "spot",
    overwrite: Overwrite = False,
) -> None:
    """Import a 3D Gaussian Splatting capture: put it upright, find floors, stairs and what is solid."""
    from portico.build.captures import import_splat
    from portico.robots import embodiment
    from portico.space import build_space

    body = embodiment(robot)
    with timed(f"importing {file.name}"):
        imported = import_splat(file, up=up, scale=scale, floor=_floor(floor), voxel_m=voxel, points_as_splats=as_points)
        space = build_space(imported.world, body)
        world = save(imported.world, out_folder, overwrite=overwrite)
    for line in imported.lines:
        out.print(line)
    out.print(f"{body.name} can stand on {space.roomy.sum() * space.cell_m**2:.1f} m²")
    _describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


def _floor(text: str) -> str | float:
    if text in ("auto", "keep"):
        return text
    try:
        return float(text)
    except ValueError as error:
        raise UserError("cannot read the height of the floor", where=f"--floor {text}", next_step="write auto, keep or a number") from error


@app.command()
def splat(
    world_folder: WorldFolder,
    out_file: Annotated[Path, typer.Option("--out", help=".ply or .splat file to write, or a folder for a world that keeps mesh and labels")],
    spacing: Annotated[float, typer.Option(help="metres between Gaussians on a surface")] = 0.04,
    overwrite: Overwrite = False,
) -> None:
    """Turn a mesh world into a Gaussian capture with known truth."""
    from portico.build.captures import gaussians_of
    from portico.build.splats import write_ply, write_splat

    world = load(world_folder)
    with timed(f"splatting {world.id}"):
        gaussians = gaussians_of(world, spacing_m=spacing)
        if out_file.suffix == ".ply":
            write_ply(gaussians, out_file)
        elif out_file.suffix == ".splat":
            write_splat(gaussians, out_file)
        else:
            save(replace(world, appearance=replace(world.appearance, gaussians=gaussians)), out_file, overwrite=overwrite)
    out.print(f"{len(gaussians):,} Gaussians written to {out_file}")


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(
            "cannot read the bounding box", where=f"--bbox {text}", next_step="write west,south,east,north in degrees, e.g. 24.93,60.16,24.95,60.17"
        ) from error
    return west, south, east, north


def _describe(world: World) -> None:
    m = world.manifest
    low, high = world.geometry.bounds()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("world", f"{m.id} ({m.kind})")
    table.add_row("extent", " x ".join(f"{b - a:.1f}" for a, b in zip(low, high, strict=True)) + " m")
    for key, value in m.counts.items():
        table.add_row(key, f"{value:,}")
    if m.origin:
        table.add_row("origin", f"{m.origin.latitude_deg:.6f}, {m.origin.longitude_deg:.6f} (WGS84)")
    table.add_row("source", f"{m.provenance.source} ({m.provenance.licence})")
    for note in m.notes:
        table.add_row("note", note)
    table.add_row("hash", m.content_hash)
    out.print(table)
