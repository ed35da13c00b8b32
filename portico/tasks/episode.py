"""The episode schema: what is asked, from where, in which order, and the reference that answers it.

One ``EpisodeSet`` file (JSON) holds the episodes of one world and split. Positions in metres, world frame.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from portico.interface import StageKind
from portico.world.semantics import Point3

EPISODES_SCHEMA = "portico.episodes/1"

TaskName = Literal["point", "image", "object", "exit", "outdoor", "entrance", "ovon", "i2o", "o2i", "i2o2i"]
#: Satellite-map tasks, one stage each; their positions are (longitude °, latitude °, altitude m) [SN 1].
AerialTaskName = Literal["boundary", "landmark", "route"]
Termination = Literal["explicit_stop", "on_arrival"]
Level = Literal["easy", "medium", "hard"]
#: Levels of difficulty, in order.
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")

#: Stage kinds of every task, in the order the benchmark fixes [I2 B.1].
TASK_STAGES: dict[TaskName, tuple[StageKind, ...]] = {
    "point": ("point",),
    "image": ("image",),
    "object": ("object",),
    "exit": ("exit",),
    "outdoor": ("outdoor",),
    "entrance": ("entrance",),
    "ovon": ("ovon",),
    "i2o": ("exit", "outdoor"),
    "o2i": ("outdoor", "entrance"),
    "i2o2i": ("exit", "outdoor", "entrance", "ovon"),
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
        category: what to find (object, ovon); any instance of it counts.
        goal: goal point (point, outdoor), or where the goal image is taken from (image). radius_m: success radius around it.
        goal_yaw_rad: heading of the robot that takes the goal image.
        termination: explicit_stop or on_arrival; outdoor always ends on arrival.
        rule: for ``object``: "navverse" (footprint-radius distance) or "navarena" (distance to the centre).
        route: outdoor pedestrian route handed to the policy once released.
    """

    kind: StageKind
    instruction: str = ""
    building: str | None = None
    category: str | None = None
    goal: Point3 | None = None
    goal_yaw_rad: FiniteFloat | None = None
    radius_m: FiniteFloat | None = None
    termination: Termination = "explicit_stop"
    rule: Literal["navverse", "navarena"] = "navverse"
    route: list[Point3] = []


class Reference(_Record):
    """Shortest path that satisfies every stage in order. ``stage_ends[k]`` is the vertex at which stage k is done."""

    path: list[Point3]
    length_m: FiniteFloat
    stage_ends: list[int]


class Budget(_Record):
    """I2O2I-Nav: 800 executed actions [I2 Table 9]; NavVerse adds 300 s of simulated time."""

    max_actions: Annotated[int, Field(gt=0)] = 800
    max_time_s: FiniteFloat | None = None


class Episode(_Record):
    """One question: a start, ordered stages, a reference and a budget.

    Attributes:
        difficulty: its level within its task and world, where the suite grades them.
    """

    id: str
    world: str
    task: TaskName | AerialTaskName
    embodiment: str
    start: Start
    stages: Annotated[list[StageSpec], Field(min_length=1)]
    reference: Reference | None = None
    budget: Budget = Budget()
    seed: int = 0
    difficulty: Level | None = None
    extra: dict[str, Any] = {}


class EpisodeSet(_Record):
    """Episodes of one world and split, with how they were made: rejected candidates are counted by reason."""

    schema_version: str = EPISODES_SCHEMA
    suite: str
    split: str = "eval"
    world: str
    world_hash: str
    seed: int = 0
    episodes: list[Episode]
    rejected: dict[str, dict[str, int]] = {}
