"""The user-facing error family: every message says what, where, why and what next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake the user can mend. The CLI prints it without a traceback and exits with 1.

    Args:
        what: what went wrong, one sentence.
        where: file, element, option or episode concerned.
        why: the cause, when it is known.
        next_step: a command or change that resolves it.
    """

    def __init__(self, what: str, *, where: str = "", why: str = "", next_step: str = "") -> None:
        self.what, self.where, self.why, self.next_step = what, where, why, next_step
        lines = [what]
        lines += [f"  where: {where}"] if where else []
        lines += [f"  why:   {why}"] if why else []
        lines += [f"  next:  {next_step}"] if next_step else []
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), str(self), self.what, self.where, self.why, self.next_step))


def _rebuild(cls: type[UserError], text: str, what: str, where: str, why: str, next_step: str) -> UserError:
    """Carry an error across a process border whatever its constructor looks like."""
    error = cls.__new__(cls)
    Exception.__init__(error, text)
    error.what, error.where, error.why, error.next_step = what, where, why, next_step
    return error


class WorldError(UserError):
    """A world bundle that is missing, damaged or inconsistent."""


class ImportFailed(UserError):
    """A foreign file that cannot become a world or an episode set."""


class EpisodeError(UserError):
    """An episode that cannot be asked: invalid start, unreachable goal, duplicate identity."""


class SuiteError(UserError):
    """A suite or run configuration that cannot be carried out."""


class PolicyRefused(UserError):
    """A policy that needs more than the protocol's allowance, or does not fit the task."""


class StorageError(UserError):
    """The disk refused: read-only folder, no space left. Finished work is kept."""


class UnknownName(UserError):
    """A name that no registry holds; answers with the closest matches and the command that lists them."""

    def __init__(self, kind: str, name: str, choices: Iterable[str], *, where: str = "", list_command: str = "") -> None:
        known = sorted(choices)
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(repr(c) for c in close)}?" if close else f"known: {', '.join(known[:12])}"
        listing = f" List them with `{list_command}`." if list_command else ""
        super().__init__(f"unknown {kind} {name!r}", where=where, next_step=f"{hint}{listing}")


def stems_from(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether an error, or one that it was raised from, is of a kind.

    Native code that a signal interrupts reports a ``SystemError`` in place of what the handler raised.
    """
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, kind):
            return True
        link = link.__cause__ or link.__context__
    return False
