"""All measures by name, with version, direction, unit and the sentence that defines each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from portico.errors import UnknownName
from portico.evaluate.measures import alignment, arrival, coverage, outlines, safety
from portico.evaluate.measures.evaluation import Context, Evaluation, Unscored, Value
from portico.evaluate.measures.stages import stage_evaluation
from portico.tasks.episode import Episode
from portico.tasks.trajectory import Trajectory


@dataclass(frozen=True)
class Measure:
    """One number per episode.

    Attributes:
        direction: whether higher or lower is better, or neither. unit: "" for a ratio.
        rate: True for 0/1 values, whose mean is a rate with a Wilson interval.
        failed: what an episode that failed outright scores; a strict mean counts errors as that. None where no such value exists.
        function: Evaluation -> float, or Unscored with the reason.
    """

    name: str
    version: int
    direction: Literal["higher", "lower", "neither"]
    unit: str
    function: Callable[[Evaluation], Value]
    rate: bool = False
    failed: float | None = None

    @property
    def label(self) -> str:
        """Versioned name, e.g. ``spl@1``."""
        return f"{self.name}@{self.version}"

    @property
    def definition(self) -> str:
        """The first paragraph of the function's documentation."""
        return " ".join((self.function.__doc__ or "").split("\n\n")[0].split())


_ALL = (
    Measure("success", 1, "higher", "", arrival.success, rate=True, failed=0.0),
    Measure("pose_success", 1, "higher", "", arrival.pose_success, rate=True, failed=0.0),
    Measure("spl", 1, "higher", "", arrival.spl, failed=0.0),
    Measure("soft_success", 1, "higher", "", arrival.soft_success, failed=0.0),
    Measure("soft_spl", 1, "higher", "", arrival.soft_spl, failed=0.0),
    Measure("oracle_success", 1, "higher", "", arrival.oracle_success, rate=True, failed=0.0),
    Measure("completion", 1, "higher", "", arrival.completion, failed=0.0),
    Measure("full_success", 1, "higher", "", arrival.full_success, rate=True, failed=0.0),
    Measure("navigation_error_m", 1, "lower", "m", arrival.navigation_error_m),
    Measure("min_goal_distance_m", 1, "lower", "m", arrival.min_goal_distance_m),
    Measure("stop_distance_m", 1, "lower", "m", arrival.stop_distance_m),
    Measure("path_length_m", 1, "neither", "m", arrival.path_length),
    Measure("steps", 1, "lower", "", arrival.steps),
    Measure("duration_s", 1, "lower", "s", arrival.duration_s),
    Measure("route_completion", 1, "higher", "", alignment.route_completion, failed=0.0),
    Measure("dtw", 2, "lower", "m", alignment.dtw),
    Measure("ndtw", 2, "higher", "", alignment.ndtw, failed=0.0),
    Measure("sdtw", 2, "higher", "", alignment.sdtw, failed=0.0),
    Measure("cls", 1, "higher", "", alignment.cls, failed=0.0),
    Measure("coverage_efficiency", 1, "higher", "1/m", coverage.coverage_efficiency),
    Measure("coverage_efficiency_before_exit", 1, "higher", "1/m", coverage.coverage_efficiency_before_exit),
    Measure("coverage_efficiency_after_exit", 1, "higher", "1/m", coverage.coverage_efficiency_after_exit),
    Measure("reached_outdoors", 1, "higher", "", coverage.reached_outdoors, rate=True, failed=0.0),
    Measure("distance_compliance", 1, "higher", "", safety.distance_compliance),
    Measure("collision", 1, "lower", "", safety.collision, rate=True),
    Measure("collision_rate", 1, "lower", "", safety.collision_rate),
    Measure("obstacle_distance_m", 1, "higher", "m", safety.obstacle_distance_m),
    Measure("navigable_ratio", 1, "higher", "", safety.navigable_ratio),
    Measure("outline_followed", 1, "higher", "", outlines.outline_followed, failed=0.0),
    Measure("rejected_moves", 1, "lower", "", outlines.rejected_moves),
)

MEASURES: dict[str, Measure] = {m.name: m for m in _ALL}

#: Measures that say nothing about a single stage which the whole mission does not.
_MISSION_ONLY = frozenset(
    {"completion", "full_success", "route_completion", "coverage_efficiency_before_exit", "coverage_efficiency_after_exit", "reached_outdoors"}
)
_STAGE_NAME = re.compile(r"stage_[a-z]+\d*_(?P<measure>.+)")


def score_episode(episode: Episode, trajectory: Trajectory, context: Context, names: Collection[str] = ()) -> dict[str, Value]:
    """Score one episode from its record.

    Args:
        names: measures to compute; empty means all. For missions each that can is also given per stage, as ``stage_<kind>_<name>``.

    Returns:
        name -> finite float, or ``Unscored`` with the reason.

    Raises:
        UnknownName: a name that is no measure.
        EpisodeError: a stage names what the world does not have.
    """
    return score(Evaluation(episode, trajectory, context), names)


def score(e: Evaluation, names: Collection[str] = ()) -> dict[str, Value]:
    """As ``score_episode``, for an evaluation that is at hand."""
    chosen = [measure(name) for name in names] or list(_ALL)
    values = {m.name: m.function(e) for m in chosen}
    if len(e.episode.stages) > 1:
        views = [stage_evaluation(e, k) for k in range(len(e.episode.stages))]
        for name, view in zip(stage_names(e.episode), views, strict=True):
            for m in chosen:
                if m.name not in _MISSION_ONLY:
                    values[f"stage_{name}_{m.name}"] = Unscored("not_attempted") if view is None else m.function(view)
    return values


def stage_names(episode: Episode) -> list[str]:
    """Name of each stage within its episode: its kind, numbered from the second of a kind on."""
    kinds = [spec.kind for spec in episode.stages]
    before = [kinds[:k].count(kind) for k, kind in enumerate(kinds)]
    return [kind if not seen else f"{kind}{seen + 1}" for kind, seen in zip(kinds, before, strict=True)]


def measure(name: str) -> Measure:
    """The measure of a name; per-stage names and versioned names lead to the measure behind them.

    Raises:
        UnknownName: with the closest matches.
    """
    bare = name.split("@")[0]
    found = MEASURES.get(bare)
    if found is None and (match := _STAGE_NAME.fullmatch(bare)):
        found = MEASURES.get(match["measure"])
    if found is None:
        raise UnknownName("measure", name, MEASURES, list_command="portico list measures")
    return found


def versions(names: Sequence[str] = ()) -> dict[str, int]:
    """Name -> version of the measures named, or of all: what a run writes down."""
    return {m.name: m.version for m in ([measure(name) for name in names] or _ALL)}
