"""``portico world import``: real files become worlds."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import counted, out, timed
from portico.cli.world_facts import describe
from portico.errors import UserError
from portico.world import World, check_free, save

app = typer.Typer(no_args_is_help=True, help="Turn real files into worlds.")

Out = Annotated[Path, typer.Option("--out", help="where the result goes")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="replace what is there")]


@app.command("osm")
def import_osm_file(
    file: Annotated[Path, typer.Argument(help=".osm, .osm.pbf, .osm.bz2, .osm.gz or a .geojson export of one")],
    out_folder: Out,
    bbox: Annotated[str | None, typer.Option(help="west,south,east,north in degrees; everything when left out")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Import an OpenStreetMap extract: buildings, streets, footways, crossings, parks, shops, entrances."""
    from portico.build.osm import import_osm

    check_free(out_folder, overwrite=overwrite)
    with timed(f"importing {file.name}"):
        imported = import_osm(file, bbox=_box(bbox) if bbox else None)
        world = save(imported.world, out_folder, overwrite=overwrite)
    for line in imported.report.lines():
        out.print(line)
    describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


@app.command("splat")
def import_splat_file(
    file: Annotated[Path, typer.Argument(help=".ply (INRIA or compressed), .splat, .spz, .glb, .sog or its meta.json, .ksplat")],
    out_folder: Out,
    up: Annotated[str, typer.Option(help="axis of the file that points up: x, y, z, -x, -y, -z, or auto: where a floor lies")] = "auto",
    scale: Annotated[float, typer.Option(help="metres per unit of the file")] = 1.0,
    floor: Annotated[str, typer.Option(help="height along up that becomes z = 0: auto, keep, or a number in the file's units")] = "auto",
    voxel: Annotated[float, typer.Option(help="edge of the voxels that what is solid is made of, metres")] = 0.05,
    mesh: Annotated[Path | None, typer.Option(help="collision mesh (.glb, .obj, .ply, .stl) in the file's frame: bodies meet it, not the Gaussians")] = None,
    as_points: Annotated[bool, typer.Option("--as-points", help="take a coloured point cloud for a capture")] = False,
    robot: Annotated[str, typer.Option(help="whose free space is reported")] = "spot",
    overwrite: Overwrite = False,
) -> None:
    """Import a 3D Gaussian Splatting capture: put it upright, find floors, stairs and what is solid."""
    from portico.build.captures import import_splat

    _ready(out_folder, robot, overwrite=overwrite)
    with counted(f"importing {file.name}, per cent") as tell:
        imported = import_splat(file, up=up, scale=scale, floor=_floor(floor), voxel_m=voxel, points_as_splats=as_points, mesh=mesh, watch=tell)
    _finish(imported.world, imported.lines, out_folder, robot, overwrite=overwrite)


@app.command("rgbd")
def import_rgbd_folder(
    folder: Annotated[Path, typer.Argument(help="camera-intrinsics.txt, and NAME.color.png, NAME.depth.png (mm), NAME.pose.txt per frame")],
    out_folder: Out,
    up: Annotated[str, typer.Option(help="axis of the poses' world that points up: x, y, z, -x, -y, -z, or auto: where a floor lies")] = "auto",
    spacing: Annotated[float, typer.Option(help="metres between Gaussians")] = 0.02,
    voxel: Annotated[float, typer.Option(help="edge of the voxels that what is solid is made of, metres")] = 0.05,
    robot: Annotated[str, typer.Option(help="whose free space is reported")] = "spot",
    overwrite: Overwrite = False,
) -> None:
    """Import posed colour and depth images, laid out as 3DMatch does: fuse them into Gaussians, then as any capture."""
    from portico.build.captures import Placement, import_frames

    _ready(out_folder, robot, overwrite=overwrite)
    with timed(f"fusing the frames of {folder.name}"):
        imported = import_frames(folder, Placement(up=up, voxel_m=voxel), spacing_m=spacing)
    _finish(imported.world, imported.lines, out_folder, robot, overwrite=overwrite)


@app.command("rosmap")
def import_rosmap_file(
    file: Annotated[Path, typer.Argument(help="the map's .yaml file; its image lies beside it")],
    out_folder: Out,
    wall_height: Annotated[float, typer.Option(help="height of occupied cells, metres")] = 2.5,
    unknown: Annotated[str, typer.Option(help="what unseen cells become: void (nothing stands there), wall or floor")] = "void",
    robot: Annotated[str, typer.Option(help="whose free space is reported")] = "spot",
    overwrite: Overwrite = False,
) -> None:
    """Import a map of ROS' map_server (PGM or PNG with YAML): occupied cells become walls, free ones a floor."""
    from portico.build.rosmap import import_rosmap

    _ready(out_folder, robot, overwrite=overwrite)
    with timed(f"importing {file.name}"):
        imported = import_rosmap(file, wall_height_m=wall_height, unknown=unknown)
    _finish(imported.world, imported.lines, out_folder, robot, overwrite=overwrite)


@app.command("navarena")
def import_navarena_folder(
    folder: Annotated[Path, typer.Argument(help="a scene's folder: manifest.json, aligned.ply, nav_map.pgm and .yaml, perhaps nav_mask.png and labels.json")],
    out_folder: Out,
    collision: Annotated[str, typer.Option(help="what bodies meet: gaussians (within the mask) or map (its walls and floor)")] = "gaussians",
    voxel: Annotated[float, typer.Option(help="edge of the voxels that what is solid is made of, metres")] = 0.05,
    robot: Annotated[str, typer.Option(help="whose free space is reported")] = "spot",
    overwrite: Overwrite = False,
) -> None:
    """Import a NavArena V1 scene: its capture is seen, its labels become objects."""
    from portico.build.navarena import import_navarena

    _ready(out_folder, robot, overwrite=overwrite)
    with timed(f"importing {folder.name}"):
        imported = import_navarena(folder, collision=collision, voxel_m=voxel)
    _finish(imported.world, imported.lines, out_folder, robot, overwrite=overwrite)


@app.command("aerial")
def import_aerial_file(
    file: Annotated[Path, typer.Argument(help="a GeoTIFF, in any coordinate reference system and type of number")],
    out_folder: Out,
    vectors: Annotated[
        list[Path] | None, typer.Option(help="roads, waters, buildings: .geojson, .osm, .osm.pbf, or a .tif mask of roads; may be repeated")
    ] = None,
    name: Annotated[str | None, typer.Option(help="id of the world; the file's name when left out")] = None,
    licence: Annotated[str, typer.Option(help="of the imagery; it travels with the world")] = "unknown",
    attribution: Annotated[str, typer.Option(help="whom to name beside the imagery")] = "",
    overwrite: Overwrite = False,
) -> None:
    """Import satellite or aerial imagery to fly over, with vectors to follow and to name."""
    from portico.build.aerial.importer import import_aerial

    check_free(out_folder, overwrite=overwrite)
    with timed(f"importing {file.name}"):
        imported = import_aerial(file, vectors=vectors or [], world_id=name, licence=licence, attribution=attribution)
        world = save(imported.world, out_folder, overwrite=overwrite)
    for line in imported.lines:
        out.print(line)
    describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


def _ready(out_folder: Path, robot: str, *, overwrite: bool) -> None:
    """Refuse before the work what would be refused after it."""
    from portico.robots import embodiment

    embodiment(robot)
    check_free(out_folder, overwrite=overwrite)


def _finish(world: World, lines: Iterable[str], out_folder: Path, robot: str, *, overwrite: bool) -> None:
    """Say how much room the robot has, which fails where it has none; then write the world and say what was done."""
    from portico.robots import embodiment
    from portico.space import build_space

    body = embodiment(robot)
    with timed(f"surveying {world.id} for {body.name}"):
        space = build_space(world, body)
    world = save(world, out_folder, overwrite=overwrite)
    for line in lines:
        out.print(line)
    out.print(f"{body.name} can stand on {space.roomy.sum() * space.cell_m**2:.1f} m²")
    describe(world)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")


def _floor(text: str) -> str | float:
    if text in ("auto", "keep"):
        return text
    try:
        height = float(text)
        if not isfinite(height):
            raise ValueError(text)
        return height
    except ValueError as error:
        raise UserError("cannot read the height of the floor", where=f"--floor {text}", next_step="write auto, keep or a number") from error


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(
            "cannot read the bounding box", where=f"--bbox {text}", next_step="write west,south,east,north in degrees, e.g. 24.93,60.16,24.95,60.17"
        ) from error
    return west, south, east, north
