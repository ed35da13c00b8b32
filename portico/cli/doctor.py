"""``portico doctor``: is this machine ready, layer by layer?"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.table import Table

from portico.cli.console import out

#: Extra of the package, a module that it brings, and what it is for.
_EXTRAS = {
    "osm": ("osmium", "OpenStreetMap files"),
    "aerial": ("rasterio", "satellite maps"),
    "ocr": ("rapidocr", "policies that read signs"),
    "onnx": ("onnxruntime", "robots walked by ONNX networks"),
    "remote": ("websockets", "policies behind a wire"),
    "vlm": ("httpx", "agents that ask a model"),
    "web": ("fastapi", "portico view"),
    "ray": ("ray", "runs on a cluster"),
    "learn": ("torch", "training a walker"),
    "bench": ("fcl", "peers of `make bench`"),
}


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis. ``needed`` findings that are not ``ok`` make the exit code 1."""

    layer: str
    ok: bool
    detail: str
    remedy: str = ""
    needed: bool = True


def doctor() -> None:
    """Check Python, packages, kernels, rendering, disk and optional extras, and say what to do about what is missing."""
    table = Table(box=None, pad_edge=False)
    for column in ("", "layer", "found", "what to do"):
        table.add_column(column, overflow="fold")
    findings = [finding for check in _CHECKS for finding in check()]
    for f in findings:
        mark = "[green]ok[/green]" if f.ok else "[red]no[/red]" if f.needed else "[yellow]--[/yellow]"
        table.add_row(mark, f.layer, f.detail, "" if f.ok else f.remedy)
    out.print(table)
    if any(f.needed and not f.ok for f in findings):
        raise typer.Exit(1)


def _python() -> list[Finding]:
    ok = sys.version_info >= (3, 11)
    return [Finding("python", ok, f"{platform.python_version()} on {platform.system()} {platform.machine()}", "install Python 3.11 or newer")]


def _packages() -> list[Finding]:
    found = []
    for name in ("numpy", "numba", "scipy", "shapely", "pydantic", "pillow", "trimesh", "matplotlib", "pyarrow"):
        try:
            found.append(Finding(name, True, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, False, "missing", f"pip install {name}"))
    return found


def _kernels() -> list[Finding]:
    from portico.cli.warmup import warm_up

    began = time.perf_counter()
    try:
        warm_up()
    except Exception as error:
        return [
            Finding("kernels and renderer", False, f"{type(error).__name__}: {error}", "check that the folder of the package or NUMBA_CACHE_DIR is writable")
        ]
    return [Finding("kernels and renderer", True, f"a first frame and a first path in {time.perf_counter() - began:.1f} s; no GPU or display is used")]


def _machine() -> list[Finding]:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    writable = os.access(Path.cwd(), os.W_OK) and os.access(tempfile.gettempdir(), os.W_OK)
    return [
        Finding("cores", True, str(os.cpu_count())),
        Finding("disk", free > 1.0, f"{free:.0f} GiB free here", "free some space: worlds and trajectories need about 1 GiB"),
        Finding("write access", writable, str(Path.cwd()) if writable else "refused", "change to a folder you may write to"),
    ]


def _extras() -> list[Finding]:
    from portico.render.splats.gpu import why_no_gpu, why_not_alike

    obstacle = why_no_gpu() or why_not_alike()
    remedy = "captures are rendered on the CPU; pip install 'portico-nav\\[splat-gpu]' where there is CUDA"
    return [
        *(
            Finding(f"extra: {extra}", importlib.util.find_spec(module) is not None, use, f"pip install 'portico-nav\\[{extra}]'", needed=False)
            for extra, (module, use) in _EXTRAS.items()
        ),
        Finding("extra: splat-gpu", not obstacle, obstacle or "gsplat on CUDA", remedy, needed=False),
    ]


_CHECKS: tuple[Callable[[], list[Finding]], ...] = (_python, _packages, _machine, _kernels, _extras)
