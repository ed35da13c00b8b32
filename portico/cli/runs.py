"""``portico runs``: what runs there are, and whether they can be trusted."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from portico.cli.console import counted, out
from portico.errors import SuiteError, UserError
from portico.evaluate.aggregate import summarise
from portico.evaluate.identity import read_header
from portico.evaluate.inspection import Inspection, inspect_run
from portico.evaluate.locks import at_work
from portico.evaluate.scores import read_scored

app = typer.Typer(no_args_is_help=True, help="List runs, and check that nothing of them is missing, doubled, mixed or changed.")

_SHOWN = 10


@app.command("check")
def check(
    run_folders: Annotated[list[Path], typer.Argument(help="run folders, or a folder of run folders", metavar="RUN...")],
    quick: Annotated[bool, typer.Option("--quick", help="leave the trajectories unread")] = False,
    all_names: Annotated[bool, typer.Option("--all", help=f"name every episode concerned, not the first {_SHOWN}")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON")] = False,
) -> None:
    """Check that every planned episode is scored or named, and that nothing is doubled, foreign, damaged or changed.

    The exit code is 0 when the runs are whole, 2 when anything is left to do or to mend.
    """
    folders = _folders(run_folders)
    found: list[Inspection] = []
    with counted(f"checking {len(folders)} run{'s' if len(folders) > 1 else ''}") as tell:
        for folder in folders:
            found.append(inspect_run(folder, trajectories=not quick))
            tell(len(found), len(folders))
    if as_json:
        out.print_json(json.dumps([_plain(inspection) for inspection in found]))
    else:
        for inspection in found:
            _say(inspection, None if all_names else _SHOWN)
    if not all(inspection.sound for inspection in found):
        raise typer.Exit(2)


@app.command("list")
def listing(folder: Annotated[Path, typer.Argument(help="a folder of runs, however deep", metavar="FOLDER")] = Path("runs")) -> None:
    """List the runs below a folder: who ran what, how far it is, what came of it."""
    folders = sorted(path.parent for path in folder.rglob("run.json")) if folder.is_dir() else []
    if not folders:
        raise SuiteError("no run lies there", where=str(folder), next_step="give a folder in which `portico run` has made some")
    table = Table(box=None, pad_edge=False)
    for name in ("run", "suite", "policy", "done", "errors", "success", "last change"):
        table.add_column(name, overflow="fold", justify="right" if name in ("done", "errors", "success") else "left")
    for path in folders:
        table.add_row(*_row(path, folder))
    out.print(table)


def _row(path: Path, below: Path) -> list[str]:
    name = str(path.relative_to(below)) if path != below else path.name
    try:
        header, records = read_header(path), list(read_scored(path).values())
    except UserError as error:
        return [name, "", "", "", "", "", error.what]
    summary = summarise(records, header)
    n = summary["n"]
    success = summary["measures"].get("success", {}).get("mean")
    stamps = "".join(f" [{word}]" for word, given in (("partial", header.get("partial")), ("privileged", header.get("privileged"))) if given)
    changed = max((file.stat().st_mtime for file in (path / "records").glob("*.jsonl")), default=(path / "run.json").stat().st_mtime)
    return [
        name,
        f"{header['suite'].get('name')} {header['suite'].get('split')}",
        (header["policy"] + stamps).replace("[", r"\["),
        f"{len(records)}/{n['planned']}",
        str(n["error"]),
        "–" if success is None else f"{success:.1%}",
        "at work" if at_work(path) else datetime.fromtimestamp(changed).isoformat(sep=" ", timespec="minutes"),
    ]


def _folders(given: list[Path]) -> list[Path]:
    """Run folders among the given ones; a folder of run folders stands for those in it."""
    found: list[Path] = []
    for folder in given:
        inside = sorted(path.parent for path in folder.glob("*/run.json"))
        found += inside if inside and not (folder / "run.json").is_file() else [folder]
    return list(dict.fromkeys(found))


def _say(inspection: Inspection, most: int | None) -> None:
    state = "whole" if inspection.sound else "not whole"
    out.print(
        f"{inspection.folder}: {state}; {inspection.planned} planned, {inspection.scored} scored, {inspection.errors} errors, {inspection.missing} missing",
        markup=False,
    )
    for finding in inspection.findings:
        out.print(f"  {finding.kind} [{finding.code}] {finding.sentence}", markup=False)
        for name in finding.names[:most]:
            out.print(f"    {name}", markup=False)
        if most is not None and len(finding.names) > most:
            out.print(f"    and {len(finding.names) - most} more, --all names them")


def _plain(inspection: Inspection) -> dict[str, Any]:
    return {
        "run": str(inspection.folder),
        "sound": inspection.sound,
        "n": {"planned": inspection.planned, "scored": inspection.scored, "error": inspection.errors, "missing": inspection.missing},
        "findings": [{"kind": f.kind, "code": f.code, "sentence": f.sentence, "names": list(f.names)} for f in inspection.findings],
    }
