"""Search by what things are: frontiers are worth what has been seen around them, candidates are checked from nearby before they are declared."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, hypot, inf, pi

import numpy as np
from numpy.typing import NDArray

from portico.geometry import Floats
from portico.interface import Action, Frame, Observation, StageBrief
from portico.policies.detectors import Detector, labels_of, suited
from portico.policies.exit_seeker import ExitSeeker
from portico.policies.explore import Place, best_frontier, unvisited
from portico.policies.facades import Facades
from portico.policies.fronts import Fronts
from portico.policies.goal_words import goal_of
from portico.policies.local_map import Costs, FrontierCluster
from portico.policies.pilot import Pilot, Target, depth_frame
from portico.policies.place_words import SIGN_WORDS
from portico.policies.priors import affinity, is_outdoors
from portico.policies.sightings import Candidate, Sightings, in_plain_view, nearest_of
from portico.policies.signboards import Signboards
from portico.policies.surroundings import Surroundings, roof_votes
from portico.policies.value_map import ValueMap

#: NavVerse counts a STOP within 1.0 m beyond the body's radius [NV 6.5]; so much of it is left for what was measured wrong.
_REACH_M, _SPARE_M, _INSIDE_M = 1.0, 0.45, 0.1
#: Where the map says that the body comes no closer, it tries a little harder before it stops; from farther off it does not stop.
_CREEPS, _HOPELESS_M, _MISSING_MOST_M = 5, 1.9, 1.0
_NEAR_WEIGHT = 6.0
_SURE_FRAMES, _CHECK_M, _CHECKS, _LEGIBLE_M = 2, 9.0, 6, 25.0
_PROMISE_M = 8.0
_OTHER_FLOOR_M, _STEP_M, _RELAXED_BEFORE_LEAVING, _FEW_SURFACES = 25.0, 0.3, 3, 3
_STREET_M, _OFF_STREET_M, _INTO_HOUSES_M, _OUT_OF_DOORS_M = 9.0, 8.0, 30.0, 40.0
_LOOK_EVERY_M = 7.0
#: Trees and awnings hang overhead as well, but leave the view up open in more directions than this.
_UNDER_TREES = 0.4
_AHEAD_WEIGHT = 2.0


class SemanticSeeker:
    """Any instance of a category will do.

    Args:
        detector: finds the category and names what else there is; None explores for ever and declares nothing.
        stage: what is asked.
    """

    looks_around = False
    reach_m = inf
    begins_with_a_turn = True

    def __init__(self, detector: Detector | None, stage: StageBrief) -> None:
        self._category = goal_of(stage)
        self._detector = suited(detector, self._category)
        self._place = self._category in SIGN_WORDS
        self._outdoors = is_outdoors(self._category)
        self.sightings = Sightings(place=self._place)
        self._signboards = Signboards(self._category)
        self._surroundings, self._exit = Surroundings(), ExitSeeker()
        self._values: ValueMap | None = None
        self._inside: bool | None = None
        self._turns: int | None = None
        self._looked_at: tuple[float, float] | None = None
        self._checked: dict[tuple[int, int], int] = {}
        self._missed: dict[tuple[int, int], int] = {}
        self._walls: Facades | None = None
        self._fronts: Fronts | None = None
        self._reachable_m = inf
        self._crept = 0

    def notice(self, pilot: Pilot, observation: Observation) -> None:
        """Look for the category, and at what tells where it may be."""
        self._surroundings.update(pilot)
        self._exit.notice(pilot, observation)
        self._judge_roof(pilot)
        if observation.collided and self._crept > 0:
            self._crept = _CREEPS
        if self._detector is None:
            return
        frame = depth_frame(observation)
        T = pilot.base @ frame.camera.T_base_camera()
        mask = self._detector.detect(frame, self._category) if self._category else None
        if mask is not None:
            self.sightings.see(frame, mask, T)
        labels = labels_of(self._detector, frame)
        if labels is None:
            return
        if mask is not None and labels.complete:
            self._verify(pilot, frame, mask, T)
        if self._place:
            self._fronts = self._fronts or Fronts(pilot.pose.x, pilot.pose.y)
            if labels.complete:
                self._fronts.look(pilot, frame, T)
            self._signboards.see(frame, labels, T)
        if self._values is None:
            self._values = ValueMap(lambda seen: affinity(self._category, seen), pilot.pose.x, pilot.pose.y)
        if pilot.steps % 2 == 0:
            self._values.see(frame, labels, T)

    def done(self, pilot: Pilot) -> bool:
        """Beside a candidate that is sure; where the body cannot come near enough, as near as it can."""
        nearest = nearest_of(self._wanted(pilot), pilot.pose)
        if nearest is None or not self._is_sure(nearest[0]):
            return False
        return nearest[1] <= self._stop_m(pilot) or (self._at_best(nearest[1]) and (nearest[1] <= self._counts_m(pilot) or self._crept >= _CREEPS))

    def glance(self, pilot: Pilot) -> Action | None:
        """Face a candidate that is not sure, or look around where streets are long; None to go on."""
        nearest = nearest_of(self._wanted(pilot), pilot.pose)
        if nearest is not None and self._at_best(nearest[1]) and self._is_sure(nearest[0]) and self._crept < _CREEPS:
            self._crept += 1
            return pilot.creep(float(nearest[0].middle[0]), float(nearest[0].middle[1]))
        doubtful = self._doubtful(pilot)
        if doubtful is not None:
            x, y = float(doubtful.middle[0]), float(doubtful.middle[1])
            key = (round(x), round(y))
            self._checked[key] = self._checked.get(key, 0) + 1
            if self._checked[key] <= _CHECKS:
                return pilot.turn_to(x, y)
        if self._turns is None:
            # All the way round, so that it looks where it was put to look.
            self._turns = round(2.0 * pi / pilot.pace.most_turn_rad) if self.begins_with_a_turn else 0
        if self._turns > 0:
            self._turns -= 1
            return pilot.turn()
        here = (pilot.pose.x, pilot.pose.y)
        if self._looked_at is None:
            self._looked_at = here
        if (
            self._inside is False
            and not self._place
            and not self._wanted(pilot)
            and hypot(here[0] - self._looked_at[0], here[1] - self._looked_at[1]) > _LOOK_EVERY_M
        ):
            self._looked_at, self._turns = here, max(0, ceil(1.75 * pi / pilot.pace.most_turn_rad) - 1)
            return pilot.turn()
        return None

    def target(self, pilot: Pilot, weight: Costs, costs: Costs) -> Target | None:
        """A candidate, else the way out where the goal is outdoors, else a sign to read, else the frontier that promises most."""
        approach = self._approach(pilot, costs)
        if approach is not None:
            return approach
        if self._inside and self._outdoors:
            return self._exit.target(pilot, weight, costs)
        sign = self._signboards.target(pilot, costs) if self._place and not self._inside else None
        if sign is not None:
            return sign
        self._walls = self._fronts.learn(pilot) if self._fronts is not None else None
        front = self._fronts.target(pilot, costs) if self._fronts is not None and not self._inside else None
        if front is not None:
            return front
        frontier = best_frontier(pilot, costs, lambda c: self._charge(pilot, c))
        if frontier is not None and (self._outdoors is not False or pilot.relaxed >= _RELAXED_BEFORE_LEAVING or not _sky_above(pilot, frontier.position)):
            return frontier
        return unvisited(pilot, costs) if pilot.relaxed >= _RELAXED_BEFORE_LEAVING else None

    def _wanted(self, pilot: Pilot) -> Sequence[Candidate]:
        """The candidates that may be gone to: no front whose sign was read as something else more often."""
        return [c for c in self.sightings.candidates if not self._signboards.contradict(c)]

    def _counts_m(self, pilot: Pilot) -> float:
        """Up to where a stop counts [NV 6.5]."""
        return _REACH_M + pilot.brief.body.radius_m

    def _stop_m(self, pilot: Pilot) -> float:
        return self._counts_m(pilot) - _SPARE_M

    def _at_best(self, distance_m: float) -> bool:
        """Whether known ground leads hardly nearer to the candidate, and it is not far off."""
        return distance_m <= min(self._reachable_m + _INSIDE_M, _HOPELESS_M)

    def _judge_roof(self, pilot: Pilot) -> None:
        """Inside or outside, from what is overhead; what cannot be told stays as it was."""
        votes = roof_votes(pilot, 0.9)
        if len(votes) >= 4 and float(np.mean(votes > 0)) > 0.7 and self._surroundings.open_share(pilot) < _UNDER_TREES:
            self._inside = True
        elif self._surroundings.open_directions(pilot) > 0.9 and self._surroundings.open_share(pilot) > 0.5 and not (votes > 0).any():
            self._inside = False

    def _doubtful(self, pilot: Pilot) -> Candidate | None:
        """The nearest candidate that was seen too seldom and is near enough to be looked at again."""
        nearest = nearest_of(self._wanted(pilot), pilot.pose)
        return nearest[0] if nearest is not None and nearest[1] < _CHECK_M and nearest[0].frames < _SURE_FRAMES else None

    def _verify(self, pilot: Pilot, frame: Frame, mask: NDArray[np.bool_], T_map_camera: Floats) -> None:
        """Reject what lies in plain view from nearby, and is not taken for the goal again."""
        for candidate in self.sightings.candidates:
            if candidate.frames >= _SURE_FRAMES or not candidate.legible_from(pilot.pose.x, pilot.pose.y):
                continue
            if in_plain_view(candidate.middle, frame, T_map_camera) and not mask.any():
                key = (round(float(candidate.middle[0])), round(float(candidate.middle[1])))
                self._missed[key] = self._missed.get(key, 0) + 1
                if self._missed[key] >= _CHECKS:
                    self.sightings.reject(candidate)

    def _is_sure(self, candidate: Candidate) -> bool:
        """Seen twice, or once from near enough and never missed since; or nothing more can be learned from here."""
        key = (round(float(candidate.middle[0])), round(float(candidate.middle[1])))
        told = candidate.nearest_m < _LEGIBLE_M and key not in self._missed
        return candidate.frames >= _SURE_FRAMES or told or self._checked.get(key, 0) > _CHECKS

    def _approach(self, pilot: Pilot, costs: Costs) -> Target | None:
        """Reachable ground beside the candidates, by path cost plus what is missing in closeness; towards the nearest one where none is known."""
        best, best_price = None, inf
        wanted = self._wanted(pilot)
        self._reachable_m = inf
        for candidate in wanted:
            target = self._beside(pilot, costs, candidate)
            if target is None:
                continue
            assert target.offsets_m is not None
            k, i, j = target.surfaces.T
            price = float((costs[k, i, j] + target.offsets_m).min())
            if price < best_price:
                best, best_price = target, price
                self._reachable_m = self._stop_m(pilot) - _INSIDE_M + float(target.offsets_m.min()) / _NEAR_WEIGHT
        return best or self._towards(pilot, costs, wanted)

    def _beside(self, pilot: Pilot, costs: Costs, candidate: Candidate) -> Target | None:
        x, y, z = (float(v) for v in candidate.middle)
        reach = self._stop_m(pilot) + 1.5 + max(candidate.half_m, 1.0) * 1.5
        near = pilot.map.disc(x, y, z - 1.2, min(reach, 8.0), 2.4 if not candidate.front else 4.0)
        near = near[np.isfinite(costs[near[:, 0], near[:, 1], near[:, 2]])]
        if len(near) == 0:
            return None
        places = pilot.map.positions(near)
        missing = candidate.distance_m(places) - self._stop_m(pilot) + _INSIDE_M
        close = (missing < _MISSING_MOST_M) & ~pilot.tabu(places)
        if not close.any():
            return None
        offsets = _NEAR_WEIGHT * np.maximum(missing[close], 0.0)
        surfaces = near[close]
        k, i, j = surfaces.T
        best = int(np.argmin(costs[k, i, j] + offsets))
        p = places[close][best]
        return Target(surfaces, (float(p[0]), float(p[1]), float(p[2])), "candidate", offsets_m=offsets, look_at=(x, y))

    def _towards(self, pilot: Pilot, costs: Costs, wanted: Sequence[Candidate]) -> Target | None:
        """Seen across ground that is not mapped yet: the frontier nearest to it."""
        if not wanted:
            return None
        pose = pilot.pose
        goal = min(wanted, key=lambda c: hypot(c.middle[0] - pose.x, c.middle[1] - pose.y)).middle
        return best_frontier(pilot, costs, lambda c: _AHEAD_WEIGHT * hypot(c.position[0] - goal[0], c.position[1] - goal[1]))

    def _charge(self, pilot: Pilot, cluster: FrontierCluster) -> float:
        """Metres: what was seen around a frontier draws or repels; so do floors, doors and, for places, the lack of buildings."""
        x, y, z = cluster.position
        charge = -_PROMISE_M * self._values.at(x, y) if self._values is not None else 0.0
        charge += _OTHER_FLOOR_M if abs(z - pilot.floor_z) > _STEP_M and self._inside is not False else 0.0
        if self._outdoors is False and _sky_above(pilot, cluster.position):
            charge += _OUT_OF_DOORS_M
        elif self._outdoors and self._inside is False and _ceiling_above(pilot, cluster.position):
            charge += _INTO_HOUSES_M
        elif self._outdoors is None and self._inside and _sky_above(pilot, cluster.position):
            charge += 0.3 * _OUT_OF_DOORS_M
        if self._walls is not None and not self._inside:
            charge += min(max(float(self._walls.gap_m[self._walls.cell(x, y)]) - _STREET_M, 0.0), _OFF_STREET_M)
        return charge


def _overhead(pilot: Pilot, position: Place) -> tuple[int, int]:
    """How many of the surfaces around a place have a ceiling, and how many the sky."""
    x, y, z = position
    around = pilot.map.disc(x, y, z, 1.0, 0.6)
    votes = pilot.map.grid.roof[around[:, 0], around[:, 1], around[:, 2]]
    return int((votes > 0).sum()), int((votes < 0).sum())


def _ceiling_above(pilot: Pilot, position: Place) -> bool:
    ceiling, sky = _overhead(pilot, position)
    return ceiling > max(sky, _FEW_SURFACES)


def _sky_above(pilot: Pilot, position: Place) -> bool:
    ceiling, sky = _overhead(pilot, position)
    return sky > max(ceiling, _FEW_SURFACES)
