"""Makes the episodes of a suite in one world: draw questions, plan references, verify by rollout, keep the quota, grade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from portico.episodes.difficulty import graded
from portico.episodes.draws import Draw, SpreadDraw, reach_m
from portico.episodes.grid import GridDraw
from portico.episodes.grounds import Grounds
from portico.episodes.navverse import SceneDraw, scenes_of
from portico.episodes.references import Planner, outdoor_route
from portico.episodes.sampling import Question
from portico.episodes.satnav.generate import generate_flights
from portico.episodes.verify import Verifier
from portico.robots import embodiment
from portico.seeding import derive_seed, generator
from portico.space import Space
from portico.suites import Suite
from portico.tasks.episode import Episode, EpisodeSet, Reference, Scene, StageSpec, Start, TaskName
from portico.tasks.phrasing import phrased_as
from portico.tasks.release import default_instruction
from portico.tasks.termination import ends_by
from portico.world import World

#: The reason under which episodes that could not be made are counted.
QUOTA = "quota not met"
#: Fields of stages that seeds do not depend on: they came later, and the questions from before keep theirs.
_LATER = {"instances", "tolerance_m", "geodesy"}


def generate(
    world: World, suite: Suite, *, space: Space | None = None, scenes: Sequence[Scene] | None = None, watch: Callable[[int, int], None] = lambda *_: None
) -> EpisodeSet:
    """The episode set of a world under a suite; candidates that fall out are counted by task, scene where there are scenes, and reason.

    Args:
        space: of the world for the suite's embodiment; built when absent.
        scenes: for rules ``navverse``, which scenes the world is for; those of its kind when left out.
        watch: told (candidates accepted, candidates wanted) after each one that was looked at.
    """
    if suite.rules == "satnav":
        return generate_flights(world, suite, watch=watch)
    grounds = Grounds.of(world, embodiment(suite.embodiment), space)
    planner, verifier = Planner(grounds), Verifier(grounds, suite)
    draw = _draw(planner, suite)
    episodes: list[Episode] = []
    quotas = [(task, scene, count) for task in suite.tasks for scene, count in suite.quotas(task, scenes_of(world) if scenes is None else scenes).items()]
    done, wanted = 0, draw.oversampling * sum(count for _, _, count in quotas)
    rejected: dict[str, dict[str, int]] = {}
    for task, scene, count in quotas:
        reasons: Counter[str] = Counter()
        accepted: list[tuple[Episode, str]] = []
        for question in draw.questions(task, scene, reasons) if count else ():
            if len(accepted) >= draw.oversampling * count:
                break
            outcome = _episode(question, planner, verifier, draw, suite)
            if isinstance(outcome, str):
                reasons[outcome] += 1
            else:
                accepted.append((outcome, question.stratum))
            watch(done + len(accepted), wanted)
        done += draw.oversampling * count
        chosen = draw.chosen(accepted, count)
        if len(chosen) < count:
            reasons[QUOTA] += count - len(chosen)
        episodes += _finished(chosen, task, scene, suite)
        rejected[task if scene is None else f"{task} {scene}"] = dict(sorted(reasons.items()))
    return EpisodeSet(
        suite=suite.name, split=suite.split, world=world.id, world_hash=world.manifest.content_hash, seed=suite.seed, episodes=episodes, rejected=rejected
    )


def _draw(planner: Planner, suite: Suite) -> Draw:
    match suite.rules:
        case "navarena":
            return GridDraw(planner, suite)
        case "navverse":
            return SceneDraw(planner, suite)
        case _:
            return SpreadDraw(planner.grounds, suite)


def _finished(chosen: list[Episode], task: TaskName, scene: Scene | None, suite: Suite) -> list[Episode]:
    """Named, graded, ended and put into words as the suite says."""
    stem = task if scene is None else f"{task}-{scene.replace('_', '-')}"
    named = [episode.model_copy(update={"id": f"{stem}-{i:03d}"}) for i, episode in enumerate(chosen)]
    levelled = graded(named, suite.difficulty) if suite.difficulty else named
    ended = [ends_by(episode, suite.termination) for episode in levelled] if suite.termination else levelled
    return [phrased_as(episode, suite.instructions) for episode in ended]


def _episode(question: Question, planner: Planner, verifier: Verifier, draw: Draw, suite: Suite) -> Episode | str:
    """The verified episode, or the reason why the question was dropped."""
    stages = list(question.stages)
    if _straight_m(question) > reach_m(suite):
        return "farther than the budget lets a robot walk"
    reference = question.reference or planner.reference(np.array(question.start), stages)
    if reference is None:
        return "unreachable"
    if reference.length_m > reach_m(suite):
        return "farther than the budget lets a robot walk"
    misfit = draw.misfit(question, reference)
    if misfit:
        return misfit
    reference = draw.finished(reference)
    world = planner.grounds.world
    seed = derive_seed(suite.seed, world.id, question.task, *(str(v) for v in question.start), *(s.model_dump_json(exclude=_LATER) for s in stages)) % 2**63
    yaw = float(generator(seed, "yaw").uniform(-np.pi, np.pi)) if question.yaw_rad is None else question.yaw_rad
    episode = Episode(
        id="candidate",
        world=world.id,
        task=question.task,
        embodiment=suite.embodiment,
        start=Start(position=question.start, yaw_rad=round(yaw, 6)),
        stages=[_completed(stage, k, stages, reference, planner.grounds) for k, stage in enumerate(stages)],
        reference=reference,
        budget=suite.budget,
        seed=seed,
    )
    asked = draw.worded(episode, question)
    if isinstance(asked, str):
        return asked
    return verifier.problem(asked) or draw.confirmed(asked, verifier.rollout)


def _completed(stage: StageSpec, k: int, stages: list[StageSpec], reference: Reference, grounds: Grounds) -> StageSpec:
    """A stage with its instruction and, for an outdoor one, its route."""
    changes: dict[str, object] = {"instruction": default_instruction(stage, grounds.annotations.semantics)}
    if stage.kind == "outdoor":
        changes["route"] = outdoor_route(reference, stages, k)
    return StageSpec.model_validate(stage.model_dump() | changes)


def _straight_m(question: Question) -> float:
    """Through the goals that are places, as the crow flies: no way is shorter."""
    places = np.array([question.start, *(stage.goal for stage in question.stages if stage.goal is not None)])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
