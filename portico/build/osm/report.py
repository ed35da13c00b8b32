"""What an import read, kept, dropped, repaired and assumed: said once, with counts and ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["dropped", "repaired", "assumed", "ignored", "missing"]
_SHOWN_IDS = 8


@dataclass(frozen=True)
class Remark:
    """One thing the importer did to the input, and the OSM elements concerned (n1 a node, w1 a way, r1 a relation)."""

    kind: Kind
    what: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.ids[:_SHOWN_IDS])
        more = f" and {len(self.ids) - _SHOWN_IDS} more" if len(self.ids) > _SHOWN_IDS else ""
        return f"{self.kind} {len(self.ids)}: {self.what} ({shown}{more})"


@dataclass(frozen=True)
class ImportReport:
    """The account of one import.

    Attributes:
        source: name of the file. read: elements by type. kept: things in the world by kind.
        remarks: grouped by what happened, in the order in which it first did.
    """

    source: str
    extent_m: tuple[float, float]
    read: dict[str, int]
    kept: dict[str, int]
    remarks: tuple[Remark, ...]

    def lines(self) -> list[str]:
        """The report as plain lines, for a terminal and for the world's notes."""
        read = ", ".join(f"{n} {name}" for name, n in self.read.items())
        kept = ", ".join(f"{n} {name}" for name, n in self.kept.items())
        head = [f"read {self.source}: {read}; {self.extent_m[0]:.0f} x {self.extent_m[1]:.0f} m", f"kept: {kept}"]
        return head + [str(remark) for remark in self.remarks]


@dataclass
class Ledger:
    """Collects remarks while an import runs; the same words for several elements become one remark."""

    _entries: dict[tuple[Kind, str], list[str]] = field(default_factory=dict)

    def note(self, kind: Kind, what: str, element_id: str) -> None:
        """Say that ``what`` happened to an element."""
        ids = self._entries.setdefault((kind, what), [])
        if element_id not in ids[-1:]:
            ids.append(element_id)

    def remarks(self) -> tuple[Remark, ...]:
        """Everything noted so far."""
        return tuple(Remark(kind, what, tuple(ids)) for (kind, what), ids in self._entries.items())
