"""What the agent remembers: a memory per stage, and one per mission, with the rules of the hand-off between them [I2 F.4]."""

from __future__ import annotations

from dataclasses import dataclass, field

from portico.interface import StageKind

_RECENT = 12


@dataclass
class EpisodeMemory:
    """Of one stage.

    Attributes:
        kind: of the stage. began: number of actions executed before it.
        plan: names of the steps planned last. done: names of the steps that were verified.
        directions: facts about where things are, as seen from here. recent: the latest events, oldest first.
        failures: what did not work and why, one sentence each.
    """

    kind: StageKind
    began: int = 0
    plan: tuple[str, ...] = ()
    done: list[str] = field(default_factory=list)
    directions: list[str] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def note(self, event: str) -> None:
        """Remember an event, and forget the oldest beyond a dozen."""
        self.recent = [*self.recent, event][-_RECENT:]


@dataclass(frozen=True)
class Sourced:
    """How a stage went, and who says so."""

    kind: StageKind
    outcome: str
    source: str
    action: int


@dataclass
class MissionMemory:
    """Of one episode.

    Attributes:
        contract: kinds of the stages, in the order that the benchmark fixes.
        outcomes: of the stages before, with their sources. hypotheses: why attempts failed.
    """

    contract: tuple[StageKind, ...]
    outcomes: list[Sourced] = field(default_factory=list)
    hypotheses: list[str] = field(default_factory=list)

    def hand_off(self, closed: EpisodeMemory, outcome: str, source: str, action: int, kind: StageKind) -> EpisodeMemory:
        """Close a stage: keep its outcome and the failures, drop directions and recent evidence; the memory of the next one."""
        self.outcomes.append(Sourced(closed.kind, outcome, source, action))
        self.hypotheses += [f"{closed.kind}: {text}" for text in closed.failures]
        return EpisodeMemory(kind, action)
