"""``portico reproduce``: the command that a run was made with, run again, and whether it comes to the same."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from portico.cli.console import errors, out
from portico.errors import SuiteError
from portico.evaluate.identity import read_header
from portico.evaluate.reproduction import Verdict, verdict

#: Options that do not change what comes of a run, and those that every run has of its own.
_FREE = frozenset(
    {"policy", "out_folder", "workers", "rank", "world_size", "executor", "ray_address", "worker_memory_gb", "retries", "max_errors", "policy_timeout_s"}
)
_SHOWN = 20


def words_of(context: typer.Context) -> list[str]:
    """The words that start the same run again, paths made absolute; without policy and folder, which are added for each run."""
    words = ["portico", "run"]
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in _FREE or value in (None, False, [], ()) or (value == parameter.get_default(context) and parameter.param_type_name == "option"):
            continue
        if parameter.param_type_name == "argument":
            words.append(_absolute(value))
        elif value is True:
            words.append(parameter.opts[0])
        else:
            words += [word for one in (value if isinstance(value, list | tuple) else [value]) for word in (parameter.opts[0], _absolute(one))]
    return words


def reproduce(
    run_folder: Annotated[Path, typer.Argument(help="run folder", metavar="RUN")],
    out_folder: Annotated[Path | None, typer.Option("--out", help="where the second run goes and stays; a temporary folder when left out")] = None,
    workers: Annotated[int, typer.Option(min=1, help="processes on this machine; results do not depend on it")] = 1,
    print_only: Annotated[bool, typer.Option("--print", help="print the command and stop")] = False,
) -> None:
    """Print the command that a run was made with, run it into a folder of its own, and compare every outcome by hash.

    The exit code is 0 when all is the same, 2 when something differs.
    """
    header = read_header(run_folder)
    words = list(header.get("command") or ())
    if not words:
        raise SuiteError(
            "the run does not say how it was started",
            where=str(run_folder / "run.json"),
            why="it was started from Python, or by an older version",
            next_step="start it again by hand and give both folders to `portico compare`",
        )
    out.print(shlex.join(words), markup=False)
    if print_only:
        return
    with tempfile.TemporaryDirectory(prefix="portico-reproduce-") as scratch:
        second = out_folder or Path(scratch) / "run"
        code = _run([*words, "--out", str(second.resolve()), "--workers", str(workers)])
        if not (second / "run.json").is_file():
            raise SuiteError("the command did not run", where=shlex.join(words), why=f"exit code {code}", next_step="mend what it says above")
        found = verdict(run_folder, second)
    _say(found, header)
    if not found.same:
        raise typer.Exit(2)


def _run(words: list[str]) -> int:
    call = "import sys; from portico.cli.main import main; sys.argv = ['portico', *sys.argv[1:]]; main()"
    return subprocess.run([sys.executable, "-c", call, *words[1:]], stdout=subprocess.DEVNULL, check=False).returncode


def _say(found: Verdict, header: dict[str, Any]) -> None:
    for text in found.unlike:
        out.print(f"not the same run any more, {text}", markup=False)
    out.print(f"outcomes of {found.episodes} episodes  then {found.digests[0][:16]}  now {found.digests[1][:16]}")
    if found.errors:
        out.print(f"{found.errors} episodes ended in an error in one of the runs and were left out")
    if found.same:
        out.print("reproduced: every outcome is the same")
        return
    out.print(f"not reproduced: {len(found.changed)} of {found.episodes} outcomes differ")
    for text in found.changed[:_SHOWN]:
        out.print(f"  {text}", markup=False)
    if not header.get("seedable", True):
        errors.print("the policy draws its answers, so two runs of it differ; see --repeats")


def _absolute(value: object) -> str:
    """Paths as they are found from anywhere; everything else as it is."""
    text = str(value)
    looks_like_one = isinstance(value, Path) or "/" in text or text.endswith((".yaml", ".yml", ".json"))
    return str(Path(text).resolve()) if looks_like_one and (isinstance(value, Path) or Path(text).exists()) else text
