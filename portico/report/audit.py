"""The failure audit of an agent: the verdict that decided a failed episode, why it was given, and the frames that it was given on.

Frames are drawn again from recorded poses. The sample is chosen for what it shows, the wrong verdicts first; it gives no frequencies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from PIL import Image

from portico.evaluate.records import Key, Record
from portico.geometry import Pose, leaning
from portico.render import WorldRenderer, renderer_of
from portico.report import wording
from portico.report.cards import body_of
from portico.report.panels import jpeg_uri
from portico.report.runs import Run, WorldShelf
from portico.tasks.trajectory import Trajectory

_FRAME_SIZE, _QUALITY = (320, 240), 70
_CAPTIONS = {"start": "when the step began", "forward": "ahead", "left": "left", "right": "right"}
_OCCASIONS = {"proposal": "the executor's STOP", "attempt_end": "the end of an attempt", "periodic": "a periodic check", "progress": "a lack of progress"}
_JUDGING = ("verification", "verification_schema_failure")


@dataclass(frozen=True)
class Sight:
    """One frame: what it is, and a data URI, empty where the world is gone."""

    caption: str
    image: str


@dataclass(frozen=True)
class Audit:
    """One case. ``sentence`` says what was decided and whether rightly; ``why`` and ``evidence`` are the reasoner's own words."""

    policy: int
    policy_name: str
    task: str
    world: str
    episode: str
    sentence: str
    why: str
    evidence: str
    sights: tuple[Sight, ...]


def audits(runs: Sequence[Run], shelf: WorldShelf, *, limit: int = 12) -> list[Audit]:
    """Cases of agents that failed, the most telling first, runs taking turns."""
    queues = [sorted(_cases(run), key=lambda case: (_rank(case[2]), case[0])) for run in runs]
    order = [found for turn in zip_longest(*([(i, case) for case in queue] for i, queue in enumerate(queues))) for found in turn if found is not None]
    chosen = sorted(order[:limit], key=lambda found: (found[1][0].world, found[0], found[1][0]))
    eyes = _Eyes(shelf)
    made = {(i, key): _audit(runs[i], i, key, record, event, eyes) for i, (key, record, event) in chosen}
    return [made[i, key] for i, (key, _, _) in order[:limit]]


def _cases(run: Run) -> list[tuple[Key, Record, Mapping[str, Any]]]:
    """Failed episodes with the event that decided each."""
    found = []
    for key, record in run.records.items():
        if record["status"] == "failure" and "agent" in record and (event := deciding(record["agent"])) is not None:
            found.append((key, record, event))
    return found


def deciding(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The judgement that a failed mission turned on: the last one that was wrong, else the last one of the stage that failed."""
    last = len(report["stages"]) - 1
    judged = [event for event in report["events"] if event["event"] in _JUDGING and event["stage"] == last]
    return next((event for event in reversed(judged) if _rank(event) < 2), judged[-1] if judged else None)


def _rank(event: Mapping[str, Any]) -> int:
    """0: accepted what did not count; 1: did not accept what would have; 2: the rest."""
    accepted = event.get("outcome") == "ACCEPT"
    if "valid" not in event or accepted == event["valid"]:
        return 2
    return 0 if accepted else 1


def _audit(run: Run, policy: int, key: Key, record: Record, event: Mapping[str, Any], eyes: _Eyes) -> Audit:
    kind = record["agent"]["stages"][event["stage"]]["kind"]
    sights = eyes.sights(run, key, event.get("views") or {"forward": event["action"]})
    why, evidence = str(event.get("why", "")), str(event.get("evidence", ""))
    return Audit(policy, run.policy, str(record["task"]), key.world, key.episode, _sentence(kind, event), why, evidence, sights)


def _sentence(kind: str, event: Mapping[str, Any]) -> str:
    stage = wording.in_words(wording.STAGES, kind)
    occasion = _OCCASIONS.get(str(event.get("occasion")), "a check")
    said = {"ACCEPT": "accepted", "REJECT": "rejected", "UNCERTAIN": "left undecided"}.get(str(event.get("outcome")), "answered with what was no verdict")
    truth = {True: "It would have counted.", False: "It would not have counted."}.get(event.get("valid"), "")  # type: ignore[arg-type]
    return f"{stage}: {occasion} after {event['action']} actions was {said}. {truth}".strip()


class _Eyes:
    """Draws frames again, keeping one world's renderer at a time."""

    def __init__(self, shelf: WorldShelf) -> None:
        self._shelf = shelf
        self._renderer: WorldRenderer | None = None

    def sights(self, run: Run, key: Key, views: Mapping[str, int]) -> tuple[Sight, ...]:
        world, trajectory = self._shelf.world(run, key.world), run.trajectory(key)
        if world is None or trajectory is None:
            return ()
        if self._renderer is None or self._renderer.world is not world:
            self._renderer = renderer_of(world)
        wanted = [name for name in _CAPTIONS if name in views]
        return tuple(Sight(_CAPTIONS[name], self._frame(run, trajectory, int(views[name]))) for name in wanted)

    def _frame(self, run: Run, trajectory: Trajectory, actions: int) -> str:
        """What the first camera saw after so many actions."""
        assert self._renderer is not None
        body, k = body_of(run), max(int(np.searchsorted(trajectory.action, actions, side="right")) - 1, 0)
        camera = body.cameras[0].resized(*_FRAME_SIZE)
        x, y, z = trajectory.position[k].tolist()
        roll, pitch = trajectory.tilt_rad[k].tolist()
        base = leaning(Pose(x, y, z, float(trajectory.yaw_rad[k])), roll, pitch, body.pivot_m)
        return jpeg_uri(Image.fromarray(self._renderer.photograph(base @ camera.T_base_camera(), camera)), _QUALITY)
