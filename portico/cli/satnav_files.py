"""SatNav's episode files in and out, for ``portico episodes convert``."""

from __future__ import annotations

from pathlib import Path

from portico.cli.console import out
from portico.episodes import load_episodes, save_episodes
from portico.errors import UserError
from portico.robots import Flyer, embodiment
from portico.world import load


def convert_satnav(source: Path, out_path: Path, *, reads: bool, world_folder: Path | None, scene: str | None, split: str | None) -> None:
    """Read or write SatNav's JSON; what was written is said."""
    if reads:
        _read(source, out_path, world_folder, scene, split)
        return
    from portico.episodes.satnav.writer import to_satnav

    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    count = to_satnav([load_episodes(file) for file in files], out_path, scene=scene)
    out.print(f"{count:,} episodes written to {out_path}")


def _read(source: Path, out_path: Path, world_folder: Path | None, scene: str | None, split: str | None) -> None:
    from portico.episodes.satnav.reader import from_satnav, list_episodes, outside

    world = load(world_folder) if world_folder is not None else None
    scenes = sorted({listed.scene for listed in list_episodes(source)})
    if world is not None and scene is None and len(scenes) > 1:
        if world.id not in scenes:
            raise UserError(
                "the file has several scenes", where=str(source), why=", ".join(scenes[:8]), next_step="say with --scene which of them the world is"
            )
        scene = world.id
    sets = from_satnav(
        source, scene=scene, world_id=world.id if world else None, world_hash=world.manifest.content_hash if world else "", split=split or "eval"
    )
    if world is not None:
        flyer = Flyer(world, embodiment("flyer"))
        for found in sets:
            outside(found.episodes, flyer.misfit, source)
    folder = len(sets) > 1
    for found in sets:
        path = out_path / f"{found.world}.json" if folder else out_path
        save_episodes(found, path)
        kinds = ", ".join(f"{sum(e.task == task for e in found.episodes)} {task}" for task in ("boundary", "landmark", "route"))
        out.print(f"scene {found.world}: {len(found.episodes):,} episodes ({kinds}) written to {path}")
