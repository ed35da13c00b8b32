"""What the world commands say of a world."""

from __future__ import annotations

from rich.table import Table

from portico.cli.console import out
from portico.world import World


def describe(world: World) -> None:
    """Print what a world holds, where it came from and its hash."""
    m = world.manifest
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("world", f"{m.id} ({m.kind})")
    if world.appearance.raster is not None:
        info, (across, down) = world.appearance.raster.info, world.appearance.raster.grid.size_m()
        table.add_row("extent", f"{across:,.0f} x {down:,.0f} m, {info.gsd_m:.2f} m a pixel, {info.crs if len(info.crs) < 20 else 'a projection of its own'}")
    else:
        low, high = world.geometry.bounds()
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
