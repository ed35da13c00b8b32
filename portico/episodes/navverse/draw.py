"""NavVerse's questions: a category, a start within reach of it, and the instances that are goals from there [NV 8.1].

Categories are drawn evenly among those that have a goal in the scene, starts evenly over the ground. Where the source is silent [P]:
an episode whose nearest instance is nearer than the window is dropped, since any instance counts; a building that itself holds
the category is no start of an indoor-to-outdoor episode; and the way must end where the scene does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from portico.episodes.grounds import Grounds
from portico.episodes.navverse.directions import aligned, directions, disagreements
from portico.episodes.navverse.intentions import intention
from portico.episodes.navverse.scenery import Scenery
from portico.episodes.navverse.scenes import Sites, Target
from portico.episodes.references import Planner
from portico.episodes.sampling import Question
from portico.geometry import Floats, polyline_length, wrap_angle
from portico.seeding import generator
from portico.suites import Suite
from portico.tasks.episode import Episode, GoalInstance, Reference, Scene, StageSpec, TaskName
from portico.tasks.release import default_instruction
from portico.tasks.trajectory import Trajectory
from portico.world.semantics import ObjectInstance, Place

#: Questions looked at per episode wanted, and at least so many, before a world is taken to have no more.
_TRIES, _LEAST_TRIES = 40, 200
#: A category is given up in a scene after so many failures in a row; starts are drawn this many at a time.
_GIVE_UP, _BATCH = 25, 64
#: Ways are searched this much beyond the longest that counts: distances over cells and lengths in space differ a little.
_BEYOND_M = 3.0


class SceneDraw:
    """Draws the questions of one world by NavVerse's rules, see ``portico.episodes.draws.Draw``."""

    oversampling = 1

    def __init__(self, planner: Planner, suite: Suite) -> None:
        self.planner, self.suite, self.rules = planner, suite, suite.navverse
        self.grounds: Grounds = planner.grounds
        self.sites = Sites(self.grounds, self.rules.tolerance_m)
        self.scenery = Scenery.of(self.grounds.annotations, landmarks=self.rules.landmarks)

    def questions(self, task: TaskName, scene: Scene | None, reasons: Counter[str]) -> Iterator[Question]:
        """See ``Draw``; ends after so many tries per episode wanted."""
        if scene is None:
            return
        rng = generator(self.suite.seed, self.grounds.world.id, task, scene, "scene")
        pool = self.sites.targets(task, scene)
        failures = dict.fromkeys((target.name for target in pool), 0)
        if not pool:
            reasons["no category has a goal"] += 1
        for _ in range(max(_LEAST_TRIES, _TRIES * self.suite.quotas(task, (scene,))[scene])):
            if not pool:
                return
            target = pool[int(rng.integers(len(pool)))]
            found = self._question(task, scene, target, rng)
            if isinstance(found, str):
                reasons[found] += 1
                failures[target.name] += 1
                if failures[target.name] == _GIVE_UP:
                    pool.remove(target)
            else:
                failures[target.name] = 0
                yield found

    def misfit(self, question: Question, reference: Reference) -> str:
        """Outside the window, or an end that belongs to another scene."""
        if not self.rules.shortest_m <= reference.length_m <= self.rules.longest_m:
            return self._no_goal
        inside = self.grounds.annotations.inside(np.array(reference.path))
        if question.scene == "indoor":
            return "" if (inside == inside[0]).all() and inside[0] >= 0 else "the way leaves the building"
        return "the way ends inside a building" if inside[-1] >= 0 else ""

    def finished(self, reference: Reference) -> Reference:
        """As planned."""
        return reference

    def worded(self, episode: Episode, question: Question) -> Episode | str:
        """With scene, goals, every wording of a place, and the directions of a vln episode."""
        assert episode.reference is not None
        nearest = self.grounds.annotations.by_id[question.goals[0].id]
        steps = directions(np.array(episode.reference.path), episode.start.yaw_rad, nearest, self.scenery)
        if disagreements(steps, np.array(episode.reference.path), episode.start.yaw_rad, self.scenery):
            return "directions and geometry disagree"
        route = " ".join(step.text for step in steps)
        stage = episode.stages[0]
        changes: dict[str, object] = {"scene": question.scene, "goals": list(question.goals), "alignment": steps}
        if stage.kind == "vln":
            changes["stages"] = [stage.model_copy(update={"instruction": route})]
        elif stage.kind == "place":
            wish = intention(str(stage.category), generator(episode.seed, "intention"))
            changes |= {"phrasings": {"category": default_instruction(stage), "route": route, "intention": wish}}
        return episode.model_copy(update=changes)

    def confirmed(self, episode: Episode, trajectory: Trajectory) -> Episode | str:
        """With its directions tied to the poses of the rollout [NV 8.3]."""
        steps = aligned(episode.alignment, trajectory)
        return "directions do not align with the rollout" if steps is None else episode.model_copy(update={"alignment": steps})

    def chosen(self, accepted: Sequence[tuple[Episode, str]], count: int) -> list[Episode]:
        """The first ones drawn."""
        return [episode for episode, _ in accepted[:count]]

    @property
    def _no_goal(self) -> str:
        return f"no instance within {self.rules.shortest_m:g} to {self.rules.longest_m:g} m"

    def _stage(self, task: TaskName, target: Target, goals: Sequence[GoalInstance] = ()) -> StageSpec:
        """A vln stage leads to the nearest of the goals; the others ask for any instance."""
        tolerance_m = self.rules.tolerance_m
        if task == "vln":
            return StageSpec(kind="vln", category=target.category, instances=[goals[0].id], tolerance_m=tolerance_m)
        return StageSpec(kind="place" if target.kind == "place" else "object", category=target.category, tolerance_m=tolerance_m)

    def _start(self, scene: Scene, target: Target, rng: np.random.Generator) -> int | None:
        """A node drawn evenly over the ground of a scene among those with an instance not too far off as the crow flies."""
        starts = self.sites.starts(scene)
        if not len(starts):
            return None
        batch = starts[rng.integers(len(starts), size=_BATCH)]
        if scene == "indoor_to_outdoor":
            batch = batch[~np.isin(self.grounds.building[batch], [self.sites.building_of(item) for item in target.instances])]
        near = self.sites.near(target, batch, self.rules.longest_m)
        return int(near[0]) if len(near) else None

    def _question(self, task: TaskName, scene: Scene, target: Target, rng: np.random.Generator) -> Question | str:
        """A question about a category, or why the start that was drawn gives none."""
        start = self._start(scene, target, rng)
        found = None if start is None else self._goals(scene, target, start)
        if start is None or found is None:
            return self._no_goal
        goals, way = found
        reference = Reference(path=[_xyz(point) for point in way], length_m=goals[0].length_m, stage_ends=[len(way) - 1])
        dx, dy, _ = way[1] - way[0]
        spread = np.deg2rad(self.rules.yaw_spread_deg)
        yaw = wrap_angle(float(np.arctan2(dy, dx)) + float(rng.uniform(-spread, spread)))
        return Question(task, _xyz(way[0]), (self._stage(task, target, goals),), target.category, yaw, scene, tuple(goals), reference)

    def _goals(self, scene: Scene, target: Target, start: int) -> tuple[list[GoalInstance], Floats] | None:
        """Instances within the window from a node, nearest first, and the way (M, 3) to the first; None where the very nearest is not among them."""
        space, here = self.grounds.space, self.grounds.xyz[start]
        reach = space.distance_field(np.array([start]), mask=self.grounds.usable, limit_m=self.rules.longest_m + _BEYOND_M)
        home = int(self.grounds.building[start])
        found: list[tuple[float, str, bool, int]] = []
        for item in target.instances:
            stops = self.sites.stops(item)
            if not len(stops) or not np.isfinite(reach.values[stops].min()):
                continue
            stop = int(stops[int(np.argmin(reach.values[stops]))])
            way = reach.path_from(self.grounds.xyz[stop])
            if way is not None:
                fits = self.rules.shortest_m <= way.surface_length_m <= self.rules.longest_m and self._belongs(item, scene, home)
                found.append((round(way.surface_length_m, 6), item.id, fits, stop))
        found.sort()
        if not found or not found[0][2]:
            return None
        # Ways of the field lead here; one that leads there is swept the way it is driven.
        there = space.path(here, self.grounds.xyz[found[0][3]], mask=self.grounds.usable)
        if there is None:
            return None
        way_points = np.round(there.points, 6)
        first = GoalInstance(id=found[0][1], length_m=polyline_length(way_points))
        return [first, *(GoalInstance(id=name, length_m=length_m) for length_m, name, fits, _ in found[1:] if fits)], way_points

    def _belongs(self, item: ObjectInstance | Place, scene: Scene, home: int) -> bool:
        """Whether an instance is a goal of an episode of that scene that starts in that building, -1 for outdoors."""
        if not self.sites.is_goal(item, scene):
            return False
        if scene == "indoor":
            return self.sites.building_of(item) == home
        return scene == "outdoor" or self.sites.off_building_m(item, home) <= self.rules.neighbourhood_m


def _xyz(point: Floats) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in point)
    return (x, y, z)
