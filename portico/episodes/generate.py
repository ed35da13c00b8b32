"""Makes the episodes of a suite in one world: sample, plan references, verify by rollout, thin to the quota."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from portico.episodes.grounds import Grounds
from portico.episodes.references import Planner, outdoor_route
from portico.episodes.sampling import OUTDOOR_MIN_PATH_M, OVERSAMPLING, Question, questions, sample_points, thinned
from portico.episodes.verify import Verifier
from portico.geometry import arc_lengths
from portico.robots import embodiment
from portico.seeding import derive_seed, generator
from portico.space import Space
from portico.suites import Suite
from portico.tasks.episode import Episode, EpisodeSet, Reference, StageSpec, Start, TaskName
from portico.tasks.release import default_instruction
from portico.world import World

#: References of the NavVerse object task stay within these lengths [NV 8.1].
_OBJECT_LENGTH_M = (5.0, 50.0)


def generate(world: World, suite: Suite, *, space: Space | None = None, watch: Callable[[int, int], None] = lambda *_: None) -> EpisodeSet:
    """The episode set of a world under a suite; candidates that fall out are counted by task and reason.

    Args:
        space: of the world for the suite's embodiment; built when absent.
        watch: told (candidates accepted, candidates wanted) after each one that was looked at.
    """
    grounds = Grounds.of(world, embodiment(suite.embodiment), space)
    planner, verifier = Planner(grounds), Verifier(grounds, suite)
    quota = max(suite.tasks.values())
    points = sample_points(grounds, quota, _reach_m(suite), suite.seed, world.id)
    episodes: list[Episode] = []
    done, wanted = 0, OVERSAMPLING * sum(suite.tasks.values())
    rejected: dict[str, dict[str, int]] = {}
    for task, count in suite.tasks.items():
        reasons: Counter[str] = Counter()
        accepted: list[tuple[Episode, str]] = []
        order = generator(suite.seed, world.id, task, "order")
        for question in questions(grounds, points, task, order):
            if len(accepted) >= OVERSAMPLING * count:
                break
            outcome = _episode(question, planner, verifier, suite, world)
            if isinstance(outcome, str):
                reasons[outcome] += 1
            else:
                accepted.append((outcome, question.stratum))
            watch(done + len(accepted), wanted)
        done += OVERSAMPLING * count
        chosen = thinned(accepted, count, length=_length, stratum=lambda pair: pair[1])
        episodes += [_named(episode, task, i) for i, (episode, _) in enumerate(chosen)]
        if len(chosen) < count:
            reasons["quota not met"] += count - len(chosen)
        rejected[task] = dict(sorted(reasons.items()))
    return EpisodeSet(
        suite=suite.name, split=suite.split, world=world.id, world_hash=world.manifest.content_hash, seed=suite.seed, episodes=episodes, rejected=rejected
    )


def _episode(question: Question, planner: Planner, verifier: Verifier, suite: Suite, world: World) -> Episode | str:
    """The verified episode, or the reason why the question was dropped."""
    stages = list(question.stages)
    if _straight_m(question) > _reach_m(suite):
        return "farther than the budget lets a robot walk"
    reference = planner.reference(np.array(question.start), stages)
    if reference is None:
        return "unreachable"
    if reference.length_m > _reach_m(suite):
        return "farther than the budget lets a robot walk"
    misfit = _misfit(question.task, reference)
    if misfit:
        return misfit
    seed = derive_seed(suite.seed, world.id, question.task, *(str(v) for v in question.start), *(s.model_dump_json() for s in stages)) % 2**63
    yaw = float(generator(seed, "yaw").uniform(-np.pi, np.pi))
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
    return verifier.problem(episode) or episode


def _completed(stage: StageSpec, k: int, stages: list[StageSpec], reference: Reference, grounds: Grounds) -> StageSpec:
    """A stage with its instruction and, for an outdoor one, its route."""
    changes: dict[str, object] = {"instruction": default_instruction(stage, grounds.annotations.semantics)}
    if stage.kind == "outdoor":
        changes["route"] = outdoor_route(reference, stages, k)
    return StageSpec.model_validate(stage.model_dump() | changes)


def _misfit(task: TaskName, reference: Reference) -> str:
    """Why a reference does not fit the task's rules, "" when it does."""
    if task == "object" and not _OBJECT_LENGTH_M[0] <= reference.length_m <= _OBJECT_LENGTH_M[1]:
        return "reference shorter than 5 m or longer than 50 m"
    if task in ("outdoor", "i2o", "o2i", "i2o2i"):
        k = 0 if task in ("outdoor", "o2i") else 1
        along = arc_lengths(np.array(reference.path)[:, :2])
        outdoor = along[reference.stage_ends[k]] - (along[reference.stage_ends[k - 1]] if k else 0.0)
        if task == "outdoor" and outdoor <= OUTDOOR_MIN_PATH_M:
            return "outdoor path not longer than 20 m"
        if outdoor <= 0.0:
            return "outdoor goal reached at the hand-off"
    return ""


def _reach_m(suite: Suite) -> float:
    """Length of the way that all actions of the budget make when each is one step forward."""
    return suite.budget.max_actions * suite.actions.step_m


def _straight_m(question: Question) -> float:
    """Through the goals that are places, as the crow flies: no way is shorter."""
    places = np.array([question.start, *(stage.goal for stage in question.stages if stage.goal is not None)])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def _length(pair: tuple[Episode, str]) -> float:
    return pair[0].reference.length_m if pair[0].reference else 0.0


def _named(episode: Episode, task: TaskName, index: int) -> Episode:
    return episode.model_copy(update={"id": f"{task}-{index:03d}"})
