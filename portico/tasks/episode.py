"""The episode schema: what is asked, from where, in which order, and the reference that answers it.

One ``EpisodeSet`` file (JSON) holds the episodes of one world and split. Positions in metres, world frame.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from portico.interface import StageKind
from portico.world.geodesy import GeodesyName
from portico.world.semantics import Point2, Point3

EPISODES_SCHEMA = "portico.episodes/1"

TaskName = Literal["point", "image", "object", "exit", "outdoor", "entrance", "ovon", "place", "vln", "i2o", "o2i", "i2o2i", "boundary", "landmark", "route"]
#: Satellite-map tasks, one stage each; their positions are (longitude °, latitude °, altitude m) [SN 1].
AerialTaskName = Literal["boundary", "landmark", "route"]
AERIAL_TASKS: tuple[AerialTaskName, ...] = ("boundary", "landmark", "route")
Termination = Literal["explicit_stop", "on_arrival"]
Level = Literal["easy", "medium", "hard"]
#: Levels of difficulty, in order.
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")
#: Where an episode takes place [NV 3.2]; ``indoor_to_outdoor`` starts in a building and ends outdoors.
Scene = Literal["indoor", "outdoor", "indoor_to_outdoor"]
#: Scenes in the order that tables show them.
SCENES: tuple[Scene, ...] = ("indoor", "outdoor", "indoor_to_outdoor")
#: How a PlaceNav goal is put into words: "Go to a cafe.", the way there, or what one wants [NV 4.4].
InstructionType = Literal["category", "route", "intention"]
INSTRUCTION_TYPES: tuple[InstructionType, ...] = ("category", "route", "intention")
Side = Literal["left", "right", "ahead", "behind"]

#: Stage kinds of every task, in the order the benchmark fixes [I2 B.1].
TASK_STAGES: dict[TaskName, tuple[StageKind, ...]] = {
    "point": ("point",),
    "image": ("image",),
    "object": ("object",),
    "exit": ("exit",),
    "outdoor": ("outdoor",),
    "entrance": ("entrance",),
    "ovon": ("ovon",),
    "place": ("place",),
    "vln": ("vln",),
    "i2o": ("exit", "outdoor"),
    "o2i": ("outdoor", "entrance"),
    "i2o2i": ("exit", "outdoor", "entrance", "ovon"),
    "boundary": ("boundary",),
    "landmark": ("landmark",),
    "route": ("route",),
}


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Start(_Record):
    """Where the robot's foot point starts, and its heading."""

    position: Point3
    yaw_rad: FiniteFloat


class StageSpec(_Record):
    """One stage. Which fields count depends on ``kind``.

    Attributes:
        building: the start building (exit) or the target building (entrance, ovon).
        category: what to find (object, ovon, place), or what the instruction leads to (vln); any instance of it counts.
        instances: ids of the only objects or places that count, by NavVerse's rule; all of the category when empty. vln names one.
        goal: goal point (point, outdoor), or where the goal image is taken from (image). radius_m: success radius around it.
        goal_yaw_rad: heading of the robot that takes the goal image.
        termination: explicit_stop or on_arrival; outdoor always ends on arrival.
        rule: for ``object``: "navverse" (footprint-radius distance) or "navarena" (distance to the centre).
        tolerance_m: goal distance that counts by NavVerse's rule; 1.0 m plus the embodiment's radius when None [NV 6.5].
        route: outdoor pedestrian route handed to the policy once released.
        geodesy: how distances are measured on a satellite map, see ``portico.world.geodesy``.
    """

    kind: StageKind
    instruction: str = ""
    building: str | None = None
    category: str | None = None
    instances: list[str] = []
    goal: Point3 | None = None
    goal_yaw_rad: FiniteFloat | None = None
    radius_m: FiniteFloat | None = None
    termination: Termination = "explicit_stop"
    rule: Literal["navverse", "navarena"] = "navverse"
    tolerance_m: Annotated[FiniteFloat, Field(gt=0)] | None = None
    route: list[Point3] = []
    geodesy: GeodesyName = "sphere"

    @property
    def by_navverse(self) -> bool:
        """Whether NavVerse's distance to instances judges the stage [NV 6.5]."""
        return self.kind in ("place", "vln") or (self.kind == "object" and self.rule == "navverse")


class Reference(_Record):
    """Shortest path that satisfies every stage in order. ``stage_ends[k]`` is the vertex at which stage k is done."""

    path: list[Point3]
    length_m: FiniteFloat
    stage_ends: list[int]


class GoalInstance(_Record):
    """An instance that may be gone to, and the length L of the shortest way into its success set [NV 8.1]."""

    id: str
    length_m: FiniteFloat


class Directive(_Record):
    """One turn-and-move part of an instruction, or its arrival statement, tied to the reference and to the rollout that verified it [NV 8.3].

    Attributes:
        text: its sentence. turn_rad: change of heading before it, counter-clockwise. distance_m: arc length from the directive before.
        point: reference waypoint that it ends at. arc_m: arc length of the reference up to there.
        landmark, side: what is named, by id, and where it lies as seen when the directive ends; None without one.
        state, time_s: state of the verifying rollout that is nearest to ``point``, and its simulated time.
    """

    text: str
    turn_rad: FiniteFloat
    distance_m: FiniteFloat
    point: Point3
    arc_m: FiniteFloat
    landmark: str | None = None
    side: Side | None = None
    state: int | None = None
    time_s: FiniteFloat | None = None


class Flight(_Record):
    """What a question on a satellite map is about, for the evaluator and its tables [SN 1, 2].

    Attributes:
        subtype: loop, arc, extended; one_turn, two_turn; road, waterway, hybrid. style: how the instruction is worded.
        route: episodes of one route differ in their words alone (SatNav's ``trajectory_id``).
        side: of the flyer, on which an outline is to be kept. outline: the stretch to be followed, longitude and latitude in the order of travel.
        waypoints: sparse nodes of the route, start and goal included.
    """

    subtype: str = ""
    style: str = ""
    route: str = ""
    side: Literal["left", "right"] | None = None
    outline: list[Point2] = []
    waypoints: list[Point3] = []


class Budget(_Record):
    """I2O2I-Nav: 800 executed actions [I2 Table 9]; NavVerse adds 300 s of simulated time."""

    max_actions: Annotated[int, Field(gt=0)] = 800
    max_time_s: FiniteFloat | None = None


class Episode(_Record):
    """One question: a start, ordered stages, a reference and a budget.

    Attributes:
        difficulty: its level within its task and world, where the suite grades them.
        scene: where it takes place, for NavVerse's tasks. goals: instances that are in reach, nearest first.
        phrasings: the instruction in every type that is known. phrased: the type that is given, None when there is but one.
        alignment: the directives of the route's description, in order.
        flight: what a question on a satellite map is about.
    """

    id: str
    world: str
    task: TaskName
    embodiment: str
    start: Start
    stages: Annotated[list[StageSpec], Field(min_length=1)]
    reference: Reference | None = None
    budget: Budget = Budget()
    seed: int = 0
    difficulty: Level | None = None
    scene: Scene | None = None
    goals: list[GoalInstance] = []
    phrasings: dict[InstructionType, str] = {}
    phrased: InstructionType | None = None
    alignment: list[Directive] = []
    flight: Flight | None = None
    extra: dict[str, Any] = {}


class EpisodeSet(_Record):
    """Episodes of one world and split, with how they were made: rejected candidates are counted by reason. ``extra`` is what a foreign file said besides."""

    schema_version: str = EPISODES_SCHEMA
    suite: str
    split: str = "eval"
    world: str
    world_hash: str
    seed: int = 0
    episodes: list[Episode]
    rejected: dict[str, dict[str, int]] = {}
    extra: dict[str, Any] = {}
