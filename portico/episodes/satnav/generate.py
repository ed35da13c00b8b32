"""Makes the episodes of a suite in an aerial world: drafts, words that agree with them, a rollout that verifies them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from portico.episodes.satnav import boundaries, landmarks, routes
from portico.episodes.satnav.agree import boundary_disagreements, leg_disagreements, legs_of
from portico.episodes.satnav.along import route_disagreements
from portico.episodes.satnav.drafts import Draft, Draw
from portico.episodes.satnav.rollouts import flown
from portico.episodes.satnav.skies import Skies, heading_rad, spaced
from portico.episodes.satnav.words import worded
from portico.errors import EpisodeError
from portico.robots import Flyer, embodiment
from portico.seeding import derive_seed, generator
from portico.suites.suite import InstructionStyle, Suite
from portico.tasks.episode import AERIAL_TASKS, AerialTaskName, Episode, EpisodeSet, Flight, Reference, StageSpec, Start, TaskName
from portico.world import GEODESIES, World

QUOTA = "quota not met"
#: Points of references are so far apart on straight stretches [SN].
_SPACING_M = 20.0
#: The first heading is off the way by up to this much, and a multiple of nothing: policies see it in the picture.
_YAW_SPREAD_RAD = 0.15

SUBTYPES: dict[AerialTaskName, dict[str, Draw]] = {
    "boundary": {"loop": boundaries.loops, "arc": boundaries.arcs, "extended": boundaries.extended},
    "landmark": {"one_turn": landmarks.one_turn, "two_turn": landmarks.two_turn},
    "route": {"road": routes.road, "waterway": routes.waterway, "hybrid": routes.hybrid},
}


def generate_flights(world: World, suite: Suite, *, watch: Callable[[int, int], None] = lambda *_: None) -> EpisodeSet:
    """The episode set of an aerial world; candidates that fall out are counted by task and reason.

    Counts of tasks are of episodes; every route is asked in each of the suite's styles, and subtypes take turns.

    Raises:
        WorldError: the world is no aerial one. EpisodeError: it is too small to fly over.
    """
    body = embodiment(suite.embodiment)
    if not body.cameras or suite.embodiment != "flyer":
        raise EpisodeError("questions on satellite maps are for a flyer", where=f"embodiment {suite.embodiment!r}", next_step="use embodiment: flyer")
    skies = Skies(world, body.cameras[0], suite.satnav.height_m)
    flyer = Flyer(world, body, suite.actions.space())
    episodes: list[Episode] = []
    rejected: dict[str, dict[str, int]] = {}
    wanted = suite.wanted()
    for task in AERIAL_TASKS:
        count = suite.quotas(task).get(None, 0)
        if not count:
            continue
        reasons: Counter[str] = Counter()
        for route, drafted in enumerate(_routes(task, skies, suite, flyer, reasons, -(-count // len(suite.satnav.styles)))):
            room = count - sum(e.task == task for e in episodes)
            episodes += [_named(e, task, route) for e in drafted[:room]]
            watch(len(episodes), wanted)
        made = sum(e.task == task for e in episodes)
        if made < count:
            reasons[QUOTA] += count - made
        rejected[task] = dict(sorted(reasons.items()))
    return EpisodeSet(
        suite=suite.name, split=suite.split, world=world.id, world_hash=world.manifest.content_hash, seed=suite.seed, episodes=episodes, rejected=rejected
    )


def _routes(task: AerialTaskName, skies: Skies, suite: Suite, flyer: Flyer, reasons: Counter[str], count: int) -> Iterator[list[Episode]]:
    """So many routes, each as the episodes of its styles."""
    sources: dict[str, Iterator[Draft]] = {}
    asked: set[str] = set()
    for name, draw in SUBTYPES[task].items():
        sources[name] = _varied(draw(skies, suite.satnav, generator(suite.seed, skies.world.id, task, name)))
    made = 0
    while sources and made < count:
        for name in list(sources):
            drafted = _next(sources[name], asked, skies, suite, flyer, reasons)
            if drafted is None:
                del sources[name]
            elif made < count:
                made += 1
                yield drafted


def _next(drafts: Iterator[Draft], asked: set[str], skies: Skies, suite: Suite, flyer: Flyer, reasons: Counter[str]) -> list[Episode] | None:
    """The next draft of a subtype that words and expert bear out; None when there is none."""
    for draft in drafts:
        name = ";".join(f"{v:.1f}" for v in draft.line.ravel())
        if name in asked:
            continue
        asked.add(name)
        rng = generator(suite.seed, skies.world.id, draft.task, draft.subtype, *(f"{v:.2f}" for v in draft.line[[0, -1]].ravel()), len(draft.line))
        start_yaw = heading_rad(draft.line) + float(rng.uniform(-_YAW_SPREAD_RAD, _YAW_SPREAD_RAD))
        found = []
        for style in suite.satnav.styles:
            text = worded(draft, style, rng)
            if disagreements(draft, text):
                reasons["text and geometry disagree"] += 1
                break
            found.append(_episode(draft, text, style, start_yaw, skies, suite))
        else:
            rollout = flown(found[0], flyer)
            if rollout.success and not rollout.rejected:
                return found
            reasons["the expert fails" if not rollout.rejected else "the expert is turned back at the border"] += 1
    return None


def disagreements(draft: Draft, text: str) -> list[str]:
    """What a text says otherwise than its draft's line, outline and nodes; of what the words were made of nothing is taken for granted."""
    match draft.task:
        case "boundary":
            assert draft.outline is not None
            return boundary_disagreements(text, draft.line, draft.waypoints, draft.outline, draft.subtype)
        case "landmark":
            return leg_disagreements(text, *legs_of(draft.waypoints))
        case _:
            return route_disagreements(text, draft.line, draft.waypoints)


def _varied(drafts: Iterator[Draft], lookahead: int = 6) -> Iterator[Draft]:
    """Drafts of which those of a stratum that came least often so far go first, among a few at a time."""
    seen: Counter[str] = Counter()
    waiting: list[Draft] = []
    for draft in drafts:
        waiting.append(draft)
        if len(waiting) == lookahead:
            chosen = waiting.pop(min(range(lookahead), key=lambda k: seen[waiting[k].stratum]))
            seen[chosen.stratum] += 1
            yield chosen
    yield from waiting


def _episode(draft: Draft, text: str, style: InstructionStyle, yaw_rad: float, skies: Skies, suite: Suite) -> Episode:
    path = skies.degrees(spaced(draft.line, _SPACING_M))
    geodesy = GEODESIES[suite.satnav.geodesy]
    points = np.array(path)
    length = float(geodesy.distance_m(points[1:], points[:-1]).sum())
    outline = [(lon, lat) for lon, lat, _ in skies.degrees(draft.outline)] if draft.outline is not None else []
    route = f"{draft.subtype}-{derive_seed(*(str(v) for p in path for v in p)) % 16**8:08x}"
    task: TaskName = draft.task
    return Episode(
        id="candidate",
        world=skies.world.id,
        task=task,
        embodiment=suite.embodiment,
        start=Start(position=path[0], yaw_rad=round(yaw_rad, 6)),
        stages=[StageSpec(kind=draft.task, instruction=text, goal=path[-1], geodesy=suite.satnav.geodesy)],
        reference=Reference(path=path, length_m=round(length, 6), stage_ends=[len(path) - 1]),
        budget=suite.budget,
        seed=derive_seed(suite.seed, skies.world.id, route, style) % 2**63,
        flight=Flight(subtype=draft.subtype, style=style, route=route, side=draft.side, outline=outline, waypoints=skies.degrees(draft.waypoints)),
    )


def _named(episode: Episode, task: str, route: int) -> Episode:
    style = episode.flight.style if episode.flight else ""
    return episode.model_copy(update={"id": f"{task}-{route:03d}-{style}"})
