"""``portico world aerial``: an outdoor world as its own satellite view."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from portico.cli.console import out, timed
from portico.cli.world_facts import describe
from portico.world import check_free, load, save


def aerial(
    world_folder: Annotated[Path, typer.Argument(help="folder of an outdoor or composite world", metavar="WORLD")],
    out_folder: Annotated[Path, typer.Option("--out", help="where the aerial world goes")],
    gsd: Annotated[float, typer.Option(min=0.05, max=5.0, help="metres per pixel")] = 0.25,
    margin: Annotated[float, typer.Option(min=0.0, help="metres of meadow around it, so that a flyer can go over all of it")] = 80.0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace what is there")] = False,
) -> None:
    """Draw an outdoor world from straight above, so that it can be flown over."""
    from portico.build.aerial.from_world import aerial_view

    check_free(out_folder, overwrite=overwrite)
    world = load(world_folder)
    with timed(f"drawing {world.id} from above"):
        view = save(aerial_view(world, gsd_m=gsd, margin_m=margin), out_folder, overwrite=overwrite)
    describe(view)
    out.print(f"\nwritten to {out_folder}\nlook at it:  portico world render {out_folder}")
