"""A suite file: which worlds, tasks and counts, what the policy may see, how it moves, what is measured."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from portico.errors import SuiteError, UnknownName
from portico.interface import TRACKS, ActionSpace
from portico.robots import embodiment
from portico.tasks.episode import LEVELS, TASK_STAGES, Budget, Level, TaskName, Termination

#: Tasks that NavArena's sampling can draw.
GRID_TASKS: frozenset[TaskName] = frozenset({"point", "image", "object"})


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorldEntry(_Section):
    """A generated world (``recipe`` and ``seed``) or one on disk (``path``, relative to the suite file)."""

    recipe: str | None = None
    seed: int = 0
    params: dict[str, Any] = {}
    path: str | None = None
    episodes: str | None = None

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


class Suite(_Section):
    """A benchmark definition.

    Attributes:
        rules: whose rules starts and goals are drawn by, and objects judged by: ``i2o2i`` (evenly spread points; NavVerse's
            distance to objects) or ``navarena`` (``grid``; distance to centres; point, image and object tasks).
        termination: how point, image and object stages end: ``explicit_stop``, ``on_arrival``, or as the episodes say when left out.
        difficulty: grades episodes and gives each level its own budget; ungraded when left out.
        tasks: episodes per world, by task name.
        track: what policies may see; ``rgb`` as in I2O2I-Nav, ``rgbd`` adds depth and odometry.
        measures: names from `portico list measures`; empty means all that apply.
        policies: whom `portico demo` and `portico run` without --policy evaluate.
    """

    name: str
    version: int = 1
    description: str = ""
    split: str = "eval"
    seed: int = 0
    embodiment: str = "spot"
    track: Literal["rgb", "rgbd"] = "rgbd"
    actions: Actions = Actions()
    budget: Budget = Budget()
    worlds: Annotated[list[WorldEntry], Field(min_length=1)]
    tasks: dict[TaskName, Annotated[int, Field(ge=0)]]
    rules: Literal["i2o2i", "navarena"] = "i2o2i"
    grid: Grid = Grid()
    termination: Termination | None = None
    difficulty: Difficulty | None = None
    measures: list[str] = []
    policies: list[str] = []

    @model_validator(mode="after")
    def _known(self) -> Suite:
        embodiment(self.embodiment)
        strange = sorted(set(self.tasks) - GRID_TASKS) if self.rules == "navarena" else []
        if strange:
            raise ValueError(f"rules navarena know the tasks {', '.join(sorted(GRID_TASKS))}, not {', '.join(strange)}")
        return self


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
    except OSError as error:
        raise SuiteError(
            "the suite file cannot be read", where=str(path), why=str(error), next_step="list bundled suites with `portico list suites`"
        ) from error


def _hint(problem: Any) -> str:
    sections: dict[str, type[BaseModel]] = {"actions": Actions, "budget": Budget, "worlds": WorldEntry, "grid": Grid, "difficulty": Difficulty}
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
    return "change the value, or remove the line to take the default"
