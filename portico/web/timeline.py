"""What the time line shows: an axis that all tracks share, and what happened on each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from portico.geometry import Floats
from portico.report import wording
from portico.web.scene import Track, lean_deg, spans

EventKind = Literal["stage", "stop", "contact", "fall", "label", "end"]
#: Places of an axis; more could not be told apart on a screen, and would be slow to carry over a wire.
_MOST_PLACES = 4000
#: Contacts so few states apart are one touch.
_SAME_TOUCH = 3


@dataclass(frozen=True)
class Axis:
    """Where one can stop in a scene: the states of the only track, or moments that several tracks share.

    Attributes:
        count: number of places, 1 at least. moments_s: (count,) simulated time of each place, None where places are states.
    """

    count: int
    moments_s: Floats | None = None

    @staticmethod
    def of(tracks: Sequence[Track]) -> Axis:
        """The axis of a scene."""
        moving = [t.trajectory for t in tracks if t.trajectory is not None]
        if len(tracks) == 1 or not moving:
            return Axis(max(1, len(moving[0])) if moving else 1)
        moments = np.unique(np.round(np.concatenate([t.time_s for t in moving]), 6))
        if len(moments) > _MOST_PLACES:
            moments = moments[np.unique(np.linspace(0, len(moments) - 1, _MOST_PLACES).round().astype(int))]
        return Axis(len(moments), moments)

    def state(self, track: Track, place: int) -> int:
        """The state in which a track is at a place; its last one after its end."""
        if self.moments_s is None or track.trajectory is None:
            return min(place, max(0, track.states - 1))
        return max(0, int(np.searchsorted(track.trajectory.time_s, self.moments_s[place] + 1e-6, side="right")) - 1)

    def states(self, track: Track) -> list[int] | None:
        """The states of all places, None where they are the places."""
        if self.moments_s is None or track.trajectory is None:
            return None
        found = np.searchsorted(track.trajectory.time_s, self.moments_s + 1e-6, side="right") - 1
        return np.maximum(found, 0).tolist()  # type: ignore[no-any-return]

    def place(self, track: Track, state: int) -> int:
        """The first place at which a track has reached a state."""
        if self.moments_s is None or track.trajectory is None:
            return min(max(0, state), self.count - 1)
        moment = track.trajectory.time_s[min(max(0, state), track.states - 1)]
        return min(int(np.searchsorted(self.moments_s, moment - 1e-6)), self.count - 1)

    def clipped(self, text: str) -> int:
        """The place that an address names, the start when it names none."""
        try:
            return min(max(0, int(text[:12])), self.count - 1)
        except ValueError:
            return 0

    def share(self, place: int) -> float:
        """How far along the axis a place lies, percent."""
        return round(100.0 * place / max(1, self.count - 1), 3)


@dataclass(frozen=True)
class Event:
    """Something that happened between two states of a track (both included), in words."""

    kind: EventKind
    first: int
    last: int
    words: str
    style: str = ""


def events(track: Track) -> list[Event]:
    """What happened, in order; empty when nothing was recorded."""
    if track.trajectory is None:
        return []
    last = track.states - 1
    found = [e for e in (*_stops(track), *_stages(track), *_contacts(track), *_falls(track), *_labels(track), _end(track)) if e.first <= last]
    return sorted(found, key=lambda e: (e.first, e.last))


@dataclass(frozen=True)
class Stretch:
    """A stage on the time line: its kind, and the first and last state of it."""

    kind: str
    words: str
    outcome: str
    first: int
    last: int


def stretches(track: Track) -> list[Stretch]:
    """The stages that were attempted, one after the other; as recorded with the states where the record does not say."""
    outcomes = track.record.get("stage_outcomes") or []
    found, end = [], track.states - 1
    for outcome in outcomes:
        if outcome.get("start") is None:
            continue
        first, last = int(outcome["start"]), int(outcome["end"]) if outcome.get("end") is not None else end
        kind = str(outcome["kind"])
        found.append(Stretch(kind, wording.in_words(wording.STAGES, kind), str(outcome.get("outcome")), min(first, end), min(last, end)))
    return found


def _stages(track: Track) -> Iterator[Event]:
    for number, stretch in enumerate(stretches(track)):
        if number:
            yield Event("stage", stretch.first, stretch.first, f"{stretch.words} begins", stretch.kind)


def _stops(track: Track) -> Iterator[Event]:
    assert track.trajectory is not None
    verdicts = {o.get("stop"): o for o in track.record.get("stage_outcomes") or [] if o.get("stop") is not None}
    for state in track.trajectory.stop_steps.tolist():
        outcome = verdicts.get(state)
        said = ""
        if outcome is not None:
            stage = wording.in_words(wording.STAGES, str(outcome["kind"]))
            said = f": {stage} confirmed" if outcome.get("outcome") == "success" else f": {stage} not confirmed"
        yield Event("stop", state, state, f"STOP declared{said}", "good" if said.endswith(" confirmed") and "not" not in said else "bad" if said else "")


def _contacts(track: Track) -> Iterator[Event]:
    assert track.trajectory is not None
    for first, last in spans(track.trajectory.collided, _SAME_TOUCH):
        lasted = track.trajectory.time_s[last] - track.trajectory.time_s[max(0, first - 1)]
        yield Event("contact", first, last, "contact" + (f" for {lasted:.1f} s" if last > first and lasted >= 0.1 else ""))


def _falls(track: Track) -> Iterator[Event]:
    assert track.trajectory is not None
    if track.trajectory.fallen.any():
        first = int(np.argmax(track.trajectory.fallen))
        yield Event("fall", first, track.states - 1, f"fell over, leaning {lean_deg(track.trajectory)[first]:.0f}°")


def _labels(track: Track) -> Iterator[Event]:
    for label in track.record.get("labels") or []:
        steps = [int(s) for s in label.get("steps") or []]
        if steps:
            last = track.states - 1
            yield Event("label", min(steps[0], last), min(steps[-1], last), wording.in_words(wording.LABELS, str(label["label"])))


def _end(track: Track) -> Event:
    status = str(track.record["status"])
    words = wording.in_words(wording.REASONS, str(track.record.get("reason") or status))
    return Event("end", track.states - 1, track.states - 1, f"end: {words}", "good" if status == "success" else "bad")
