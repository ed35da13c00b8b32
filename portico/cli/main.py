"""Puts the verbs together and turns mistakes into messages instead of tracebacks."""

from __future__ import annotations

import importlib
import os
import shlex
import sys

import typer

from portico import __version__
from portico.cli.console import errors
from portico.errors import UserError, stems_from

#: Verb -> module of this room and its function, or its group of verbs. A verb's module is imported only when it is asked for: all together take seconds.
VERBS: dict[str, tuple[str, str]] = {
    "world": ("world", "app"),
    "episodes": ("episodes", "app"),
    "demo": ("demo", "demo"),
    "run": ("run", "run"),
    "runs": ("runs", "app"),
    "reproduce": ("reproduce", "reproduce"),
    "score": ("score", "score"),
    "report": ("report", "report"),
    "tables": ("tables", "tables"),
    "compare": ("compare", "compare"),
    "view": ("view", "view"),
    "serve": ("serve", "serve"),
    "list": ("listing", "listing"),
    "doctor": ("doctor", "doctor"),
    "warmup": ("warmup", "warm_up"),
}


def application(verb: str = "") -> typer.Typer:
    """The command line with one verb, or with all when it is none of them: then help and suggestions know every verb."""
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
    app.callback(invoke_without_command=True)(_version)
    for name in [verb] if verb in VERBS else VERBS:
        module, attribute = VERBS[name]
        found = getattr(importlib.import_module(f"portico.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def _version(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        typer.echo(f"portico {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_INTERRUPTED = 130
#: Wrong options and arguments. Found by name because some versions of typer carry a click of their own.
_Misuse: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def main() -> None:
    """Entry point of the ``portico`` command."""
    _find_modules_here()
    try:
        code = application(sys.argv[1] if len(sys.argv) > 1 else "")(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        code = 0
    except Exception as error:
        code = _told(error)
    # Some versions of typer turn an interruption into this code themselves.
    if code == _INTERRUPTED:
        errors.print(f"\ninterrupted; what is finished is kept. To go on:\n  {shlex.join(['portico', *sys.argv[1:]])}", markup=False)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: Exception) -> int:
    """The exit code of an error, after it was printed where it is one that users can mend; others are raised again."""
    if stems_from(error, KeyboardInterrupt):
        return _INTERRUPTED
    if isinstance(error, UserError):
        errors.print(f"[bold red]error:[/bold red] {_escaped(str(error))}", soft_wrap=True)
        return 1
    if isinstance(error, _Misuse):
        error.show()  # type: ignore[attr-defined]
        return 1
    raise error


def _find_modules_here() -> None:
    """A policy of one's own is often a file in the folder one works in; it comes last, so that it hides no module that is installed."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        # The folder was removed beneath us; nobody can have a policy in it.
        return
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
