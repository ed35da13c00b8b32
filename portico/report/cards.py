"""Episode cards: which episodes a page shows, and what it says and draws of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from PIL import Image

from portico.errors import UserError
from portico.evaluate.identity import cameras_of
from portico.evaluate.records import Key, Record
from portico.geometry import Pose, leaning
from portico.render import WorldRenderer, renderer_of
from portico.report import wording
from portico.report.flights import frame_of, grounded, grounded_way, is_flight
from portico.report.panels import PIXEL_BUDGET, Background, Panel, Visit, draw_background, draw_panel, joined, jpeg_uri, visited_levels, widened, window
from portico.report.reasons import Evidence, explain
from portico.report.runs import Run, WorldShelf
from portico.report.stages import tasks_in_order
from portico.robots import Embodiment, embodiment
from portico.tasks.annotations import Annotations

#: Measures a card shows, where it has them.
CARD_MEASURES = ("steps", "path_length_m", "spl", "route_completion", "navigation_error_m", "collision_rate", "distance_compliance")
_SHORT = {
    "path_length_m": "moved",
    "steps": "actions",
    "navigation_error_m": "still to go",
    "collision_rate": "moves blocked",
    "distance_compliance": "on allowed ground",
    "spl": "SPL",
}
#: Which outcome comes first on the page.
_ORDER = {"failure": 0, "error": 1, "success": 2}
_FRAME_SIZE = (320, 240)
_FRAME_QUALITY = 74
_MOST_PANELS = 3


@dataclass(frozen=True)
class Choice:
    """An episode of a run that gets a card."""

    run: Run
    policy: int
    key: Key
    record: Record


@dataclass(frozen=True)
class Card:
    """What the page shows of one episode."""

    policy: int
    policy_name: str
    task: str
    world: str
    episode: str
    repeat: int
    status: str
    sentence: str
    stage: str
    instruction: str
    progress: list[tuple[str, str]]
    labels: list[tuple[str, str]]
    figures: list[tuple[str, str]]
    panels: list[Panel] = field(default_factory=list)
    frame: str = ""
    steps: int = 0
    note: str = ""


@dataclass(frozen=True)
class Deck:
    """All cards of a page and the backgrounds they share. ``left_out`` counts episodes without a card, by status."""

    cards: list[Card]
    backgrounds: list[Background]
    left_out: dict[str, int]


def choose(runs: Sequence[Run], limit: int) -> tuple[list[Choice], dict[str, int]]:
    """Episodes for cards: failures, then errors, then successes; within each, policies and tasks take turns.

    Returns:
        the chosen ones, and how many of each status were left out.
    """
    everything = [Choice(run, i, key, record) for i, run in enumerate(runs) for key, record in run.records.items()]
    tasks = tasks_in_order([run.summary for run in runs])
    chosen: list[Choice] = []
    for status in sorted({c.record["status"] for c in everything}, key=lambda s: _ORDER.get(s, 3)):
        groups: dict[tuple[int, int], list[Choice]] = {}
        for choice in everything:
            if choice.record["status"] == status:
                groups.setdefault((tasks.index(str(choice.record.get("task"))), choice.policy), []).append(choice)
        chosen += [choice for turn in zip_longest(*(groups[name] for name in sorted(groups))) for choice in turn if choice is not None]
    left_out: dict[str, int] = {}
    for choice in chosen[limit:]:
        left_out[choice.record["status"]] = left_out.get(choice.record["status"], 0) + 1
    return chosen[:limit], left_out


def deal(runs: Sequence[Run], shelf: WorldShelf, *, limit: int, frames: int) -> Deck:
    """Draw the cards.

    Args:
        limit: most cards on the page. frames: failures shown as the robot saw them when they ended.
    """
    chosen, left_out = choose(runs, limit)
    stage = _Stage(shelf)
    visits = [stage.visit(choice) for choice in chosen]
    drawn = [stage.drawn(choice, visit) for choice, visit in zip(chosen, visits, strict=True)]
    backgrounds = _backgrounds(chosen, drawn, shelf)
    cards = []
    for choice, visit, shown in zip(chosen, visits, drawn, strict=True):
        frame = ""
        if frames > 0 and choice.record["status"] == "failure":
            frame = stage.last_sight(choice, visit)
            frames -= bool(frame)
        cards.append(_card(choice, visit, shown, stage, backgrounds, frame))
    return Deck(cards, [b for b in backgrounds.values() if b.href], left_out)


class _Stage:
    """Annotations, embodiments and the renderer of the world that is being looked at."""

    def __init__(self, shelf: WorldShelf) -> None:
        self._shelf = shelf
        self._annotations: dict[int, Annotations] = {}
        self._renderer: WorldRenderer | None = None

    def annotations(self, choice: Choice) -> Annotations | None:
        world = self._shelf.world(choice.run, choice.key.world)
        if world is None:
            return None
        if id(world) not in self._annotations:
            self._annotations[id(world)] = Annotations(world.semantics)
        return self._annotations[id(world)]

    def visit(self, choice: Choice) -> Visit | None:
        episode = choice.run.episodes.get((choice.key.world, choice.key.episode))
        if episode is None:
            return None
        trajectory = choice.run.trajectory(choice.key) if choice.record["status"] != "error" else None
        return Visit(episode, trajectory, self.annotations(choice), choice.record["status"] == "success")

    def drawn(self, choice: Choice, visit: Visit | None) -> Visit | None:
        """The visit as maps show it: what happened over a satellite map is brought into its metres."""
        if visit is None or not is_flight(visit.episode):
            return visit
        frame = frame_of(self._shelf.world(choice.run, choice.key.world), visit.episode)
        way = grounded_way(visit.trajectory, frame) if visit.trajectory is not None else None
        return Visit(grounded(visit.episode, frame), way, None, visit.success)

    def last_sight(self, choice: Choice, visit: Visit | None) -> str:
        """What the robot's camera saw at the end, drawn again from the recorded pose; a data URI, empty without a world."""
        world = self._shelf.world(choice.run, choice.key.world)
        if world is None or visit is None or visit.trajectory is None:
            return ""
        if self._renderer is None or self._renderer.world is not world:
            self._renderer = renderer_of(world)
        body, end = body_of(choice.run), visit.trajectory
        camera = body.cameras[0].resized(*_FRAME_SIZE)
        x, y, z = end.position[-1].tolist()
        roll, pitch = end.tilt_rad[-1].tolist()
        base = leaning(Pose(x, y, z, float(end.yaw_rad[-1])), roll, pitch, body.pivot_m)
        image = self._renderer.photograph(base @ camera.T_base_camera(), camera)
        return jpeg_uri(Image.fromarray(image), _FRAME_QUALITY)


def body_of(run: Run) -> Embodiment:
    """The embodiment of a run's suite with the cameras that the policy saw through, Spot where the header names none that is known."""
    try:
        body = embodiment(str(run.header["suite"].get("embodiment", "spot")))
    except UserError:
        body = embodiment("spot")
    cameras = cameras_of(run.header)
    return replace(body, cameras=cameras) if cameras else body


def _backgrounds(chosen: Sequence[Choice], visits: Sequence[Visit | None], shelf: WorldShelf) -> dict[tuple[str, str, int], Background]:
    """One picture per level of a world, just large enough for the windows on it."""
    windows: dict[tuple[str, str, int], list[tuple[float, float, float, float]]] = {}
    owner: dict[tuple[str, str, int], Choice] = {}
    for choice, visit in zip(chosen, visits, strict=True):
        if visit is None or not _mapped(choice):
            continue
        for level in visited_levels(visit)[:_MOST_PANELS]:
            shown = window(visit, level)
            if shown is not None:
                windows.setdefault(_place(choice, level), []).append(widened(shown))
                owner.setdefault(_place(choice, level), choice)
    share = PIXEL_BUDGET / max(1, len(windows))
    return {
        place: draw_background(shelf.world(owner[place].run, place[0]), place[2], joined(bounds), share, f"ground-{i}")
        for i, (place, bounds) in enumerate(windows.items())
    }


def _mapped(choice: Choice) -> bool:
    """Errors left no way to draw."""
    return bool(choice.record["status"] != "error")


def _place(choice: Choice, level: int) -> tuple[str, str, int]:
    facts = choice.run.header["worlds"].get(choice.key.world, {})
    return choice.key.world, str(facts.get("hash", "")), level


def _card(choice: Choice, visit: Visit | None, shown: Visit | None, stage: _Stage, backgrounds: dict[tuple[str, str, int], Background], frame: str) -> Card:
    record = choice.record
    panels: list[Panel] = []
    note = "" if visit is not None else "the run's episode file is gone, so there is no map"
    if shown is not None and _mapped(choice):
        for level in visited_levels(shown)[:_MOST_PANELS]:
            ground = backgrounds.get(_place(choice, level))
            panel = draw_panel(shown, level, ground) if ground is not None else None
            panels += [panel] if panel is not None else []
        if shown.trajectory is None:
            note = "the trajectory of this episode is gone, so the map shows only what was asked"
    sentence = _sentence(choice, visit, stage)
    measures = record.get("measures") or {}
    return Card(
        policy=choice.policy,
        policy_name=choice.run.policy,
        task=str(record.get("task")),
        world=choice.key.world,
        episode=choice.key.episode,
        repeat=choice.key.repeat,
        status=record["status"],
        sentence=sentence[:1].upper() + sentence[1:],
        stage=_stage_words(record, visit),
        instruction=_instruction(record, visit),
        progress=[(wording.in_words(wording.STAGES, o["kind"]), o["outcome"]) for o in record.get("stage_outcomes") or []],
        labels=list(
            {
                label["label"]: (wording.in_words(wording.LABELS, label["label"]), label.get("text", "")) for label in reversed(record.get("labels") or [])
            }.values()
        )[::-1],
        figures=[(_short(name), wording.value(name, measures[name], _unit(name))) for name in CARD_MEASURES if measures.get(name) is not None],
        panels=panels,
        frame=frame,
        steps=int(measures.get("steps") or 0),
        note=note,
    )


def _sentence(choice: Choice, visit: Visit | None, stage: _Stage) -> str:
    if visit is None:
        return wording.in_words(wording.REASONS, str(choice.record.get("reason") or choice.record["status"]))
    return explain(Evidence(choice.record, visit.episode, body_of(choice.run), visit.trajectory, visit.annotations))


def _stage_words(record: Record, visit: Visit | None) -> str:
    if visit is None or record["status"] != "failure" or len(visit.episode.stages) < 2:
        return ""
    at = min(int(record["completed"]), len(visit.episode.stages) - 1)
    return f"stage {at + 1} of {len(visit.episode.stages)}, {wording.in_words(wording.STAGES, visit.episode.stages[at].kind)}"


def _instruction(record: Record, visit: Visit | None) -> str:
    if visit is None:
        return ""
    return visit.episode.stages[min(int(record["completed"]), len(visit.episode.stages) - 1)].instruction


def _short(name: str) -> str:
    return _SHORT.get(name, name.replace("_", " "))


def _unit(name: str) -> str:
    return "m" if name.endswith("_m") else ""
