"""Problems of episodes on satellite maps: what cannot be asked, what is true from the start, and words that say otherwise than the geometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from portico.episodes.satnav.agree import boundary_disagreements, kept_side, leg_disagreements, legs_of
from portico.episodes.satnav.along import route_disagreements
from portico.episodes.satnav.rollouts import flown
from portico.geometry import Floats
from portico.policies.privileged.reference_follower import ARRIVAL_M
from portico.robots import Flyer, embodiment
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode
from portico.tasks.machine import trivial_at_start
from portico.tasks.predicates import success_radius_m
from portico.world import SPHERE, Semantics, World

_NOTHING = Annotations(Semantics())
#: A reference that begins this far from the start is another episode's.
_BESIDE_M = 30.0


class FlightChecks:
    """Checks episodes against an aerial world."""

    def __init__(self, world: World) -> None:
        self._flyer = Flyer(world, embodiment("flyer"))

    def problems(self, episode: Episode) -> Iterator[tuple[str, str]]:
        """(code, text) of every problem."""
        stage, start = episode.stages[0], episode.start.position
        if stage.goal is None:
            yield "no_goal", "the stage has no goal"
            return
        misfit = self._flyer.misfit(*start)
        if misfit:
            yield "start_outside", f"start_position {list(start)}: {misfit}"
            return
        off = self._flyer.misfit(stage.goal[0], stage.goal[1], start[2])
        if off:
            yield "goal_outside", f"goals[0].position {list(stage.goal)}: {off}"
        if trivial_at_start(episode, _NOTHING, self._flyer.embodiment):
            yield "trivial_at_start", "the goal is reached at the start"
        if episode.task != "boundary" and SPHERE.distance_m(np.array(start), np.array(stage.goal)) < success_radius_m(stage):
            yield (
                "silent_loop",
                f"the goal lies within {success_radius_m(stage):g} m of the start: SatNav's rule asks to leave and return, which the words may not say",
            )
        if stage.geodesy == "satnav" and abs(stage.goal[2] - start[2]) >= success_radius_m(stage):
            yield (
                "goal_height",
                f"the goal is {abs(stage.goal[2] - start[2]):g} m above or below the flight: no radius of {success_radius_m(stage):g} m reaches it",
            )
        yield from (("text_disagrees", text) for text in text_problems(episode))
        if episode.reference is None or not episode.reference.path:
            yield "no_reference", "there is no reference path: its length is that from start to goal, and paths are not compared"
            return
        yield from self._reference(episode)

    def _reference(self, episode: Episode) -> Iterator[tuple[str, str]]:
        assert episode.reference is not None
        path = np.array(episode.reference.path)
        away = float(SPHERE.distance_m(path[0], np.array(episode.start.position)))
        if away > _BESIDE_M:
            yield "reference_elsewhere", f"reference_path begins {away:.0f} m from the start"
        rollout = flown(episode, self._flyer)
        if not rollout.success:
            how = f", {rollout.rejected} moves led out of the imagery" if rollout.rejected else ""
            yield "expert_fails", f"following reference_path to within {ARRIVAL_M.get(episode.stages[0].kind, 10.0):g} m ends as {rollout.reason}{how}"


def text_problems(episode: Episode) -> list[str]:
    """What the instruction says otherwise than the geometry: turns, their angles and distances, and of boundaries the side.

    SatNav's own boundaries state no outline, so that only their sides could be wrong and nobody knows.
    """
    flight, text = episode.flight, episode.stages[0].instruction
    if not text.strip():
        return ["there are no words"]
    if flight is None or episode.reference is None or len(episode.reference.path) < 2:
        return []
    origin = np.array(episode.reference.path[0])
    line, waypoints = _metres(origin, episode.reference.path), _metres(origin, flight.waypoints)
    if episode.task == "landmark" and len(waypoints) >= 3:
        return leg_disagreements(text, *legs_of(waypoints))
    if episode.task == "route" and len(waypoints) >= 2:
        return route_disagreements(text, line, waypoints)
    if episode.task == "boundary" and flight.side and flight.outline and len(waypoints) >= 2:
        outline = _metres(origin, flight.outline)
        true = kept_side(line, outline)
        found = [] if true == flight.side else [f"the outline lies on the {true}, the episode says {flight.side}"]
        return found + boundary_disagreements(text, line, waypoints, outline, flight.subtype)
    return []


def _metres(origin: Floats, points: Sequence[tuple[float, ...]]) -> Floats:
    return SPHERE.offset_m(origin, np.array(points)) if points else np.zeros((0, 2))
