"""A suite file: which worlds, tasks and counts, what the policy may see, how it moves, what is measured."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from portico.errors import SuiteError, UnknownName
from portico.interface import TRACKS, ActionSpace
from portico.robots import Robot, embodiment, make_robot
from portico.space import Space
from portico.suites.satnav import InstructionStyle as InstructionStyle
from portico.suites.satnav import SatNav as SatNav
from portico.tasks.episode import AERIAL_TASKS, LEVELS, TASK_STAGES, Budget, InstructionType, Level, Scene, TaskName, Termination
from portico.world import World

#: Tasks that NavArena's sampling can draw.
GRID_TASKS: frozenset[TaskName] = frozenset({"point", "image", "object"})
#: Tasks on satellite maps.
SATNAV_TASKS: frozenset[TaskName] = frozenset(AERIAL_TASKS)
#: Tasks that NavVerse's sampling can draw.
NAVVERSE_TASKS: frozenset[TaskName] = frozenset({"object", "place", "vln"})

Count = Annotated[int, Field(ge=0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorldEntry(_Section):
    """A generated world (``recipe`` and ``seed``) or one on disk (``path``, relative to the suite file).

    Attributes:
        split: the only split that it belongs to; every split when left out.
        scenes: for rules ``navverse``, what episodes it is for; those that its kind of world has when left out.
    """

    recipe: str | None = None
    seed: int = 0
    params: dict[str, Any] = {}
    path: str | None = None
    episodes: str | None = None
    split: str | None = None
    scenes: list[Scene] | None = None

    @property
    def source(self) -> str:
        """What makes it the world it is: recipe and seed whatever the parameters, or the folder."""
        return f"{self.recipe} seed {self.seed}" if self.recipe is not None else f"path {self.path}"

    @model_validator(mode="after")
    def _one_source(self) -> WorldEntry:
        if (self.recipe is None) == (self.path is None):
            raise ValueError("give either recipe (with seed) or path")
        return self


class Actions(_Section):
    """Discrete amounts; ``slide`` decides what contact does to the rest of a motion."""

    step_m: Annotated[FiniteFloat, Field(gt=0)] = 0.25
    turn_deg: Annotated[FiniteFloat, Field(gt=0, le=180)] = 15.0
    slide: bool = False

    def space(self) -> ActionSpace:
        """The amounts as policies are told them."""
        return ActionSpace(step_m=self.step_m, turn_rad=float(np.deg2rad(self.turn_deg)))


class Grid(_Section):
    """NavArena's sampling of starts and goals: grid spacing, headings per point, window of path lengths, ends included [NA]."""

    spacing_m: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    headings: Annotated[int, Field(gt=0)] = 6
    shortest_m: Annotated[FiniteFloat, Field(ge=0)] = 1.0
    longest_m: Annotated[FiniteFloat, Field(gt=0)] = 30.0

    @model_validator(mode="after")
    def _a_window(self) -> Grid:
        if self.shortest_m > self.longest_m:
            raise ValueError("shortest_m is more than longest_m")
        return self


class Difficulty(_Section):
    """Levels by rank of the reference length within a task of a world [P]; 180 / 240 / 180 of 600, and budgets in actions [NA]."""

    shares: dict[Level, Annotated[FiniteFloat, Field(ge=0, le=1)]] = {"easy": 0.3, "medium": 0.4, "hard": 0.3}
    max_actions: dict[Level, Annotated[int, Field(gt=0)]] = {"easy": 500, "medium": 1000, "hard": 1500}

    @model_validator(mode="after")
    def _complete(self) -> Difficulty:
        for name, table in (("shares", self.shares), ("max_actions", self.max_actions)):
            if set(table) != set(LEVELS):
                raise ValueError(f"{name} must name {', '.join(LEVELS)}")
        if abs(sum(self.shares.values()) - 1.0) > 1e-9:
            raise ValueError(f"shares must add up to 1, not {sum(self.shares.values()):g}")
        return self

    def cuts(self, count: int) -> tuple[int, int]:
        """Of that many episodes in order of length, the rank of the first medium and of the first hard one."""
        easy, medium = self.shares["easy"], self.shares["medium"]
        return round(easy * count), round((easy + medium) * count)


class NavVerse(_Section):
    """NavVerse's sampling and verification: windows of lengths and durations, what directions name [NV 8].

    Attributes:
        tolerance_m: goal distance that counts, 1.0 m plus the robot's radius; the embodiment's collision radius when left out.
            NavVerse takes 0.6 m for Spot, so 1.6 m [NV 6.5].
        shortest_m, longest_m: instances whose way L is within these bounds, ends included, are goals [NV 8.1]; in verification
            the executed length lies strictly between them [NV 8.2].
        neighbourhood_m: goals of indoor-to-outdoor episodes lie this near to the building they start in [NV 7.1].
        yaw_spread_deg: how far the first heading may be off the next waypoint, to either side [NV 8.1].
        shortest_s, longest_s: the rollout takes longer than the one and no longer than the other [NV 8.2].
        landmarks: whether directions name doors and things beside the way [P].
    """

    tolerance_m: Annotated[FiniteFloat, Field(gt=0)] | None = None
    shortest_m: Annotated[FiniteFloat, Field(ge=0)] = 5.0
    longest_m: Annotated[FiniteFloat, Field(gt=0)] = 50.0
    neighbourhood_m: Annotated[FiniteFloat, Field(gt=0)] = 50.0
    yaw_spread_deg: Annotated[FiniteFloat, Field(ge=0, le=180)] = 30.0
    shortest_s: Annotated[FiniteFloat, Field(ge=0)] = 5.0
    longest_s: Annotated[FiniteFloat, Field(gt=0)] = 100.0
    landmarks: bool = True

    @model_validator(mode="after")
    def _windows(self) -> NavVerse:
        if self.shortest_m > self.longest_m or self.shortest_s > self.longest_s:
            raise ValueError("the shortest is more than the longest")
        return self


class AskedOf(_Section):
    """The robot that questions are made for: they start where it can stand, and it can do them."""

    embodiment: str = "spot"
    motion: Literal["kinematic", "physics"] = "kinematic"
    friction: Annotated[FiniteFloat, Field(gt=0)] = 1.0


class Suite(_Section):
    """A benchmark definition.

    Attributes:
        split: which of the worlds are asked about: those of this split and those of none.
        rules: whose rules starts and goals are drawn by, and objects judged by: ``i2o2i`` (evenly spread points; NavVerse's
            distance to objects), ``navarena`` (``grid``; distance to centres; point, image and object tasks), ``navverse``
            (``navverse``; object, place and vln tasks in scenes) or ``satnav`` (``satnav``; boundary, landmark and route tasks in aerial worlds).
        termination: how point, image and object stages end: ``explicit_stop``, ``on_arrival``, or as the episodes say when left out.
        difficulty: grades episodes and gives each level its own budget; ungraded when left out.
        tasks: episodes per world, by task name; for rules ``navverse`` by scene too, one number standing for every scene.
        instructions: how places are put into words, for rules ``navverse``: the same episodes under each.
        track: what policies may see; ``rgb`` as in I2O2I-Nav, ``rgbd`` adds depth and odometry, ``aerial`` is rgb and the pose relative to the start.
        embodiment: a built-in body, or the path of a robot file.
        motion: how the body moves: ``kinematic`` goes where it is told until it touches something, ``physics`` has mass and can fall.
        friction: under physics, factor on what surfaces grip.
        asked_of: the robot that the questions are made for and verified with; the suite's own when left out.
        measures: names from `portico list measures`; empty means all that apply.
        policies: whom `portico demo` and `portico run` without --policy evaluate.
    """

    name: str
    version: int = 1
    description: str = ""
    split: str = "eval"
    seed: int = 0
    embodiment: str = "spot"
    motion: Literal["kinematic", "physics"] = "kinematic"
    friction: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    asked_of: AskedOf | None = None
    track: Literal["rgb", "rgbd", "aerial"] = "rgbd"
    actions: Actions = Actions()
    budget: Budget = Budget()
    worlds: Annotated[list[WorldEntry], Field(min_length=1)]
    tasks: dict[TaskName, Count | dict[Scene, Count]]
    rules: Literal["i2o2i", "navarena", "navverse", "satnav"] = "i2o2i"
    grid: Grid = Grid()
    navverse: NavVerse = NavVerse()
    satnav: SatNav = SatNav()
    instructions: InstructionType = "category"
    termination: Termination | None = None
    difficulty: Difficulty | None = None
    measures: list[str] = []
    policies: list[str] = []

    def asked(self) -> Suite:
        """The suite as its questions are made: for the robot of ``asked_of``."""
        return self.model_copy(update={**dict(self.asked_of), "asked_of": None}) if self.asked_of else self

    def robot(self, world: World, space: Space) -> Robot:
        """The robot that its episodes are run with, in a world; ``space`` is that world's for the suite's embodiment."""
        return make_robot(
            world,
            self.embodiment,
            space,
            self.actions.space(),
            motion=self.motion,
            friction=self.friction,
            slide=self.actions.slide,
            geodesy=self.satnav.geodesy,
        )

    @model_validator(mode="after")
    def _known(self) -> Suite:
        embodiment(self.embodiment)
        known = {"navarena": GRID_TASKS, "navverse": NAVVERSE_TASKS, "satnav": SATNAV_TASKS}.get(
            self.rules, frozenset(TASK_STAGES) - {"place", "vln"} - SATNAV_TASKS
        )
        strange = sorted(set(self.tasks) - known)
        if strange:
            raise ValueError(f"rules {self.rules} know the tasks {', '.join(sorted(known))}, not {', '.join(strange)}")
        if self.rules != "navverse" and any(isinstance(count, dict) for count in self.tasks.values()):
            raise ValueError("counts by scene are for rules navverse")
        if self.rules == "navverse" and self.termination == "on_arrival":
            raise ValueError("NavVerse's tasks end by STOP: leave termination out")
        return self

    @model_validator(mode="after")
    def _disjoint(self) -> Suite:
        splits: dict[str, set[str]] = {}
        for entry in self.worlds:
            splits.setdefault(entry.source, set()).add(entry.split or "every split")
        shared = sorted(source for source, names in splits.items() if len(names) > 1)
        if shared:
            raise ValueError(f"{shared[0]} is in {' and in '.join(sorted(splits[shared[0]]))}: policies would be evaluated where they were trained")
        return self

    @property
    def entries(self) -> tuple[WorldEntry, ...]:
        """The worlds of the suite's split."""
        return tuple(entry for entry in self.worlds if entry.split in (None, self.split))

    def quotas(self, task: TaskName, scenes: Sequence[Scene] = ()) -> dict[Scene | None, int]:
        """Episodes of a task wanted in a world that has some scenes: by scene for rules ``navverse``, else under None."""
        count = self.tasks.get(task, 0)
        if self.rules != "navverse":
            return {None: count} if isinstance(count, int) else {}
        return {scene: count if isinstance(count, int) else count.get(scene, 0) for scene in scenes}

    def wanted(self, scenes: Sequence[Scene] = ()) -> int:
        """Episodes wanted of all tasks in a world that has some scenes."""
        return sum(count for task in self.tasks for count in self.quotas(task, scenes).values())

    def asks(self, task: TaskName) -> bool:
        """Whether any episode of a task is wanted."""
        count = self.tasks.get(task, 0)
        return bool(count if isinstance(count, int) else sum(count.values()))


def available() -> dict[str, str]:
    """Bundled suites: name -> first line of the description."""
    found = {}
    for file in sorted(resources.files("portico.suites").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            raw = yaml.safe_load(file.read_text(encoding="utf-8"))
            found[file.name.removesuffix(".yaml")] = str(raw.get("description", "")).strip().split("\n")[0]
    return found


def load_suite(name: str | Path, **overrides: Any) -> Suite:
    """A bundled suite by name, or a YAML file by path; ``overrides`` replace top-level keys.

    Raises:
        SuiteError: no such file, not YAML, or a key or value that the schema does not know, named with its place.
        UnknownName: no bundled suite of that name.
    """
    path = Path(name)
    if path.suffix in {".yaml", ".yml"} or path.exists():
        text, where = _read(path), str(path)
    else:
        bundled = resources.files("portico.suites") / f"{name}.yaml"
        if not bundled.is_file():
            raise UnknownName("suite", str(name), available(), list_command="portico list suites")
        text, where = bundled.read_text(encoding="utf-8"), f"suite {name}"
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SuiteError("the suite file is not YAML", where=where, why=str(error), next_step="mend the line named above") from error
    if not isinstance(raw, dict):
        raise SuiteError("the suite file holds no mapping", where=where, next_step="start from `portico list suites`")
    raw.update({key: value for key, value in overrides.items() if value is not None})
    return parse_suite(raw, where)


def parse_suite(raw: dict[str, Any], where: str) -> Suite:
    """A suite from plain data.

    Raises:
        SuiteError: naming the key and, for a misspelt one, the closest that exists.
    """
    try:
        return Suite.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(top level)"
        raise SuiteError("the suite breaks its schema", where=f"{where}: {key}", why=first["msg"], next_step=_hint(first)) from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(
            "the suite file cannot be read", where=str(path), why=str(error), next_step="list bundled suites with `portico list suites`"
        ) from error


def _hint(problem: Any) -> str:
    sections: dict[str, type[BaseModel]] = {
        "actions": Actions,
        "budget": Budget,
        "worlds": WorldEntry,
        "grid": Grid,
        "difficulty": Difficulty,
        "navverse": NavVerse,
        "satnav": SatNav,
    }
    parents = [part for part in problem["loc"][:-1] if isinstance(part, str)]
    if problem["type"] == "extra_forbidden":
        known = list(sections.get(parents[0] if parents else "", Suite).model_fields)
        close = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1)
        return f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
    if problem["loc"] and problem["loc"][0] == "tasks":
        close = difflib.get_close_matches(str(problem["loc"][1]) if len(problem["loc"]) > 1 else "", list(TASK_STAGES), n=2, cutoff=0.5)
        return f"did you mean {' or '.join(repr(c) for c in close)}?" if close else "known tasks: " + ", ".join(TASK_STAGES)
    if problem["loc"] == ("termination",):
        return "known ways to end: " + ", ".join(get_args(Termination))
    if problem["loc"] == ("track",):
        return "known tracks: " + ", ".join(TRACKS)
    if problem["type"] == "missing":
        return f"add a line {problem['loc'][-1]}: ..."
    return "change the value, or remove the line to take the default"
