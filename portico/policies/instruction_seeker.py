"""Directions carried out: leg by leg towards where the words most likely lead, then up to what they end at."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

import numpy as np
from scipy import ndimage

from portico.geometry import Pose
from portico.grids.surface_grid import GROUND, LINTEL
from portico.interface import Action, Observation, StageBrief
from portico.policies.detectors import Detector, labels_of
from portico.policies.directions import Route, Step, parse_directions
from portico.policies.explore import Place, best_frontier, unvisited
from portico.policies.local_map import Costs
from portico.policies.optimism import optimistic_distance_m
from portico.policies.pilot import Pilot, Target, depth_frame
from portico.policies.semantic_seeker import SemanticSeeker
from portico.policies.sightings import Candidate, Sightings
from portico.policies.way_belief import Belief, Ground, believe
from portico.seeding import generator

_THINK_EVERY = 6
_DONE_M, _DONE_SHARE, _NEAR_M, _ARRIVED_M = 1.5, 0.3, 1.2, 0.8
_AHEAD_WEIGHT = 2.0
#: Share of the guessed ends that a candidate must explain: on the way, on the last leg, and once all was walked.
_SURE_ON_THE_WAY, _SURE_AT_THE_END, _AROUND_END_M = 0.25, 0.08, 7.0
#: A goal counts within this of its sides [NV 6.5], and a guess of the end lies there.
_COUNTS_M = 2.6
#: Actions that are spent looking for a goal near the end before the robot stops where it is.
_PATIENCE = 60
_LEVEL_M, _STAIRS_LEVEL_M = 1.0, 4.0
_SOLID_TALL_M = 0.5


class InstructionSeeker(SemanticSeeker):
    """Keeps a belief over where every leg ends, walks to the likeliest end of the current one, and stops beside the goal that the last one leads to.

    Without a detector the end of the last leg is the goal.

    Args:
        detector: finds the goal and the landmarks, or None.
        stage: holds the directions.
    """

    begins_with_a_turn = False

    def __init__(self, detector: Detector | None, stage: StageBrief) -> None:
        super().__init__(detector, stage)
        route = parse_directions(stage.instruction)
        self.route = route if route.steps else Route((Step("", (-0.3, 0.3)),), route.target, route.side)
        self.leg = 0
        self.belief: Belief | None = None
        self._start: Pose | None = None
        self._marks = {step.landmark: Sightings(place=False) for step in self.route.steps if step.landmark}
        self._thought_at, self._searched = -_THINK_EVERY, 0

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Look for goal and landmarks; think again about where the legs end."""
        super().notice(pilot, observation)
        if self._start is None or pilot.steps == 1:
            self._start = pilot.pose
        labels = None
        if self._detector is not None and self._marks:
            frame = depth_frame(observation)
            labels = labels_of(self._detector, frame)
            T = pilot.base @ frame.camera.T_base_camera()
            for number, name in labels.names.items() if labels is not None else ():
                if name in self._marks and labels is not None:
                    self._marks[name].see(frame, labels.ids == number, T)
        if pilot.steps - self._thought_at >= _THINK_EVERY or self.belief is None:
            self._think(pilot)
        self._advance(pilot)
        if self.finished:
            self._searched += 1

    @property
    def finished(self) -> bool:
        """Whether every leg was walked."""
        return self.leg >= len(self.route.steps)

    def done(self, pilot: Pilot) -> bool:
        """Beside the goal; without one in view, at the end of the last leg once looking for it was in vain."""
        if super().done(pilot):
            return True
        if not self.finished or self._wanted(pilot):
            return False
        x, y = self._aim
        back = hypot(x - pilot.pose.x, y - pilot.pose.y) < _ARRIVED_M or self._searched > 2 * _PATIENCE
        return back and (self._searched > _PATIENCE or not self._findable)

    @property
    def _findable(self) -> bool:
        """Whether there is a goal to see, and somebody who might."""
        return self._detector is not None and bool(self._category)

    def glance(self, pilot: Pilot) -> Action | None:
        """As any search does, but the way needs no looking around."""
        return super().glance(pilot) if self.finished or self._doubtful(pilot) is not None else None

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """The goal when it is seen where the words lead, else the likeliest end of the leg, else what brings nearer to it."""
        approach = self._approach(pilot, costs)
        if approach is not None:
            return approach
        x, y = self._aim
        standing = self._stand_near(pilot, costs, x, y)
        if standing is not None and not (self.finished and 0 < self._searched <= _PATIENCE):
            return standing
        ahead_m = optimistic_distance_m(pilot, weight, (x, y, pilot.pose.z))
        stairs = self._step.stairs if not self.finished else None
        rise = {"up": -6.0, "down": 6.0}.get(stairs or "", 0.0)

        def charge(place: Place) -> float:
            return _AHEAD_WEIGHT * ahead_m(place) + rise * max(min(place[2] - pilot.pose.z, 2.0), -2.0)

        frontier = best_frontier(pilot, costs, lambda c: charge(c.position))
        if self.finished and (frontier is None or hypot(frontier.position[0] - x, frontier.position[1] - y) > _AROUND_END_M):
            self._searched = max(self._searched, _PATIENCE + 1)
            return standing
        return frontier or unvisited(pilot, costs, charge)

    @property
    def _step(self) -> Step:
        return self.route.steps[min(self.leg, len(self.route.steps) - 1)]

    @property
    def _aim(self) -> tuple[float, float]:
        assert self.belief is not None
        return self.belief.mode(min(self.leg, len(self.route.steps) - 1))

    def _wanted(self, pilot: Pilot) -> Sequence[Candidate]:
        """Candidates that enough guesses of the end are beside; once all was walked, the one nearest to the likeliest end, if it is near."""
        candidates = super()._wanted(pilot)
        if self.belief is None:
            return []
        last = len(self.route.steps) - 1
        least = _SURE_AT_THE_END if self.leg >= last else _SURE_ON_THE_WAY
        shares = [(self.belief.share_near(last, float(c.middle[0]), float(c.middle[1]), _COUNTS_M + c.half_m), c) for c in candidates]
        likely = [c for share, c in shares if share >= least]
        if likely or not self.finished or not shares:
            return [max(shares, key=lambda pair: pair[0])[1]] if likely else []
        x, y = self.belief.mode(last)
        around = [(hypot(c.middle[0] - x, c.middle[1] - y) - c.half_m, n) for n, c in enumerate(candidates)]
        gap, n = min(around)
        return [candidates[n]] if gap < _AROUND_END_M else []

    def _think(self, pilot: Pilot) -> None:
        assert self._start is not None
        self.belief = believe(
            self.route.steps,
            self._start,
            generator("policy", "directions", pilot.brief.seed),
            _ground(pilot),
            lambda name: np.array([c.middle[:2] for c in self._marks[name].candidates]).reshape(-1, 2),
        )
        self._thought_at = pilot.steps

    def _advance(self, pilot: Pilot) -> None:
        """Go on to the next leg where this one, or a later one, most likely ends."""
        assert self.belief is not None
        here = (pilot.pose.x, pilot.pose.y)
        for leg in range(len(self.route.steps) - 1, self.leg - 1, -1):
            x, y = self.belief.mode(leg)
            near = hypot(x - here[0], y - here[1])
            last = leg + 1 == len(self.route.steps)
            if near < (_ARRIVED_M if last else _NEAR_M) or (not last and leg == self.leg and self.belief.share_near(leg, *here, _DONE_M) > _DONE_SHARE):
                self.leg = leg + 1
                return

    def _stand_near(self, pilot: Pilot, costs: Costs, x: float, y: float) -> Target | None:
        """Reachable ground around a point, the nearer to it the better."""
        tolerance = _STAIRS_LEVEL_M if any(step.stairs for step in self.route.steps) else _LEVEL_M
        near = pilot.map.disc(x, y, pilot.pose.z, 1.0, tolerance)
        near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
        if len(near) == 0:
            return None
        places = pilot.map.positions(near)
        gaps = np.hypot(places[:, 0] - x, places[:, 1] - y)
        position = (x, y, float(places[int(np.argmin(gaps)), 2]))
        return None if pilot.is_tabu(position) else Target(near, position, "leg", offsets_m=3.0 * gaps)


def _ground(pilot: Pilot) -> Ground:
    """Walls and standing ground at the robot's level, as far as it is known."""
    rows, cols = pilot.map.known()
    part = pilot.map.grid.window(rows, cols)
    level = np.abs(part.height - pilot.pose.z) <= _LEVEL_M
    blocked = (level & (part.odds > 0)).any(axis=0)
    standing = (level & (part.flags & GROUND > 0) & (part.odds <= 0)).any(axis=0)
    stand = ndimage.binary_dilation(standing & ~blocked, iterations=2)
    lintel = ndimage.binary_dilation((level & (part.flags & LINTEL > 0)).any(axis=0), iterations=2)
    return Ground(part.x0, part.y0, part.cell_m, blocked & ~standing, stand, blocked | standing, lintel)
