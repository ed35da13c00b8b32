"""Options of the agent, as they come from Python or from a policy's name in text, checked once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from portico.agent.budgets import Budgets
from portico.errors import UnknownName, UserError

Control = Literal["agent", "continuation"]
Verifying = Literal["full", "proposals", "none"]
CONTROLS: tuple[Control, ...] = ("agent", "continuation")
VERIFYING: tuple[Verifying, ...] = ("full", "proposals", "none")


@dataclass(frozen=True)
class Settings:
    """What the loop does.

    Attributes:
        control: ``agent``, or ``continuation``: as many attempts, nobody verifies.
        verify: ``full``; ``proposals`` without periodic verification and progress checkpoints; ``none`` takes every STOP for granted.
        extra: under ``continuation``, how many STOPs of a stage are withheld to go on for another attempt.
    """

    control: Control = "agent"
    verify: Verifying = "full"
    extra: int = 1
    budgets: Budgets = Budgets()


def settings_of(control: str, verify: str, extra: int | str, replans: int | str, cadence: int | str) -> Settings:
    """Settings from options.

    Raises:
        UnknownName: a value that does not exist, with the closest that do. UserError: a number that is none.
    """
    numbers = {"replans": whole("replans", replans), "cadence": whole("cadence", cadence)}
    chosen: Control = "continuation" if one_of("control", control, CONTROLS) == "continuation" else "agent"
    how = one_of("verify", verify, VERIFYING)
    verifying: Verifying = "full" if how == "full" else "proposals" if how == "proposals" else "none"
    return Settings(chosen, verifying, whole("extra", extra), Budgets(**numbers))


def one_of(option: str, value: str, known: Collection[str]) -> str:
    """The value, if it is known.

    Raises:
        UnknownName: it is not.
    """
    if value not in known:
        raise UnknownName(f"value of the option {option}", value, known, where="policy agent")
    return value


def whole(option: str, value: int | str) -> int:
    """A whole number from 0 on.

    Raises:
        UserError: it is none.
    """
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise UserError(f"the option {option} is a whole number from 0 on", where="policy agent", why=f"got {value!r}", next_step=f"write agent?{option}=3")
    return number
