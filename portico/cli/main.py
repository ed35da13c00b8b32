"""Puts the verbs together and turns mistakes into messages instead of tracebacks."""

from __future__ import annotations

import shlex
import sys

import typer

from portico import __version__
from portico.cli import compare, demo, doctor, episodes, listing, report, reproduce, run, runs, score, serve, tables, view, warmup, world
from portico.cli.console import errors
from portico.errors import UserError

app = typer.Typer(
    name="portico",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help=(
        "Find out whether a navigation policy can get from a room, out of the building, along the street, into another "
        "building and up to the thing it was asked for, and where it fails.\n\n"
        "Start with [bold]portico demo[/bold]. Then: world build -> episodes generate -> run -> report -> compare."
    ),
)
app.add_typer(world.app, name="world")
app.add_typer(episodes.app, name="episodes")
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.add_typer(runs.app, name="runs")
app.command("reproduce")(reproduce.reproduce)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("tables")(tables.tables)
app.command("compare")(compare.compare)
app.command("view")(view.view)
app.command("serve")(serve.serve)
app.command("list")(listing.listing)
app.command("doctor")(doctor.doctor)
app.command("warmup")(warmup.warm_up)


@app.callback(invoke_without_command=True)
def _version(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        typer.echo(f"portico {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


#: Wrong options and arguments. Found by name because some versions of typer carry a click of their own.
_Misuse: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main() -> None:
    """Entry point of the ``portico`` command."""
    try:
        code = app(standalone_mode=False)
    except UserError as error:
        errors.print(f"[bold red]error:[/bold red] {_escaped(str(error))}", soft_wrap=True)
        code = 1
    except _Misuse as error:
        error.show()  # type: ignore[attr-defined]
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        errors.print(f"\ninterrupted; what is finished is kept. To go on:\n  {shlex.join(['portico', *sys.argv[1:]])}", markup=False)
        code = 130
    except BrokenPipeError:
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
