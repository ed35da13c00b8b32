"""SatNav's episode files in and out, for ``portico episodes convert``."""

from __future__ import annotations

from pathlib import Path

from portico.cli.console import counted, out
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


def fly_experts(world_folder: Path, episodes_file: Path | None, out_folder: Path) -> bool:
    """Export the experts of an aerial world; False where the world is another kind."""
    header = world_folder / "world.json"
    if not header.is_file() or '"kind": "aerial"' not in header.read_text(encoding="utf-8"):
        return False
    from portico.episodes.satnav.export import export_flights

    if episodes_file is None:
        raise UserError("which flights?", where="--episodes", next_step="make some: portico episodes generate WORLD --suite satnav --out FILE")
    with counted("flying experts") as tell:
        exported = export_flights(load(world_folder), load_episodes(episodes_file), out_folder, watch=tell)
    share, rule = exported.total / max(1, exported.asked), exported.greedy / max(1, exported.asked)
    out.print(f"{exported.total:,} of {exported.asked:,} episodes flown ({share:.1%}), {exported.frames:,} frames; {exported.made:,} flights written now")
    out.print(f"SatNav's own rule, without a search for the last stretch, finishes {exported.greedy:,} ({rule:.1%})")
    out.print("rejected: " + (", ".join(f"{reason}: {n:,}" for reason, n in exported.rejected.items()) or "none"))
    out.print(f"written to {out_folder}")
    return True


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
