"""What an episode may cost, and the ledger that is charged for it [I2 Table 9]."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from portico.agent.contract import BudgetSpent


@dataclass(frozen=True)
class Budgets:
    """Limits of the reference agent.

    Attributes:
        actions: executed actions per episode. attempt_steps: actions per attempt. wall_s: wall clock per episode, seconds.
        requests: HTTP calls to models per episode. cadence: actions of a stage between two periodic verifications, 0 for none.
        periodic: verifications per episode that cadence and progress checkpoint share.
        replans: replanning cycles per workflow beside the initial plan.
    """

    actions: int = 800
    attempt_steps: int = 200
    wall_s: float = 900.0
    requests: int = 50
    cadence: int = 50
    periodic: int = 20
    replans: int = 3


@dataclass
class Ledger:
    """What one episode has cost so far.

    Attributes:
        budgets: what it may cost. now: the clock, seconds.
    """

    budgets: Budgets
    now: Callable[[], float] = time.monotonic
    actions: int = 0
    executor_calls: int = 0
    looks: int = 0
    idle: int = 0
    attempts: int = 0
    replans: int = 0
    proposals: int = 0
    verifications: int = 0
    periodic: int = 0
    schema_failures: int = 0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"reasoner": 0.0, "executor": 0.0, "model": 0.0})

    def __post_init__(self) -> None:
        self._began = self.now()

    @property
    def seconds_left(self) -> float:
        """Wall clock until the episode's share is spent."""
        return self.budgets.wall_s - (self.now() - self._began)

    def charge_request(self) -> None:
        """One HTTP call.

        Raises:
            BudgetSpent: none is left, or no time.
        """
        if self.requests >= self.budgets.requests:
            raise BudgetSpent("requests")
        if self.seconds_left <= 0.0:
            raise BudgetSpent("wall clock")
        self.requests += 1

    def spent(self) -> str:
        """Which budget of the episode is used up, "" while none is."""
        if self.actions >= self.budgets.actions:
            return "actions"
        return "wall clock" if self.seconds_left <= 0.0 else ""

    def counts(self) -> dict[str, Any]:
        """All but seconds, for the record."""
        hidden = {"budgets", "now", "seconds"}
        return {name: value for name, value in vars(self).items() if name not in hidden and not name.startswith("_")}

    def limits(self) -> dict[str, Any]:
        """The budgets, for the record."""
        return asdict(self.budgets)
