"""Reasoners by name."""

from __future__ import annotations

from collections.abc import Mapping

from portico.agent.contract import Reasoner
from portico.agent.geometric import GeometricReasoner
from portico.errors import UnknownName, UserError

REASONERS: tuple[str, ...] = ("geometric", "vlm")


def make_reasoner(reasoner: str | Reasoner, detector: str | None, options: Mapping[str, str | None]) -> Reasoner:
    """A reasoner by name, or the one given.

    Args:
        options: of ``vlm``, None where they are left out.

    Raises:
        UnknownName: no such reasoner. UserError: options that it does not have.
    """
    if not isinstance(reasoner, str):
        return reasoner
    if reasoner not in REASONERS:
        raise UnknownName("reasoner", reasoner, REASONERS, where="policy agent")
    given = {name: value for name, value in options.items() if value is not None}
    if reasoner == "geometric":
        if given:
            raise UserError(f"the geometric reasoner takes no {', '.join(given)}", where="policy agent", next_step="add reasoner=vlm")
        return GeometricReasoner(detector)
    from portico.agent.vlm import VlmReasoner

    return VlmReasoner(**given)
