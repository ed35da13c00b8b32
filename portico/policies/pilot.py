"""The part of a map-building policy that every stage shares: localise, map, steer, get unstuck."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import atan2, copysign, hypot, inf, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from portico.errors import PolicyRefused
from portico.geometry import Floats, Pose, leaning, wrap_angle
from portico.grids.planning import best_heading
from portico.interface import Action, Brief, Frame, Observation
from portico.policies.contacts import Contacts
from portico.policies.local_map import Costs, LocalMap, Sight, Surfaces, Window
from portico.policies.pace import pace_of

_STUCK_M, _ESCAPE_RAD, _ARRIVED_M = 0.5, 1.5, 0.25
_TURN_COST_M, _KEPT_BONUS_M = 0.03, 0.02
_LEAST_STEPS, _MOST_STEPS = 2, 4
_CLOSE_M, _BACK_MARGIN_M, _FAR_M = 0.6, 3.0, 1e4
_SLACK_STEP_M, _SLACK_MOST_M = 0.03, 0.06
_CONTACT_MEMORY, _SQUEEZED = 150, 3
_LOCAL_REACH_M = 2.5
_TABU_ACTIONS, _TABU_M = 150, 0.8
#: Poses of the trail, 0.2 m apart, that must be level for a floor: longer than a landing.
_FLAT_POSES = 9


@dataclass(frozen=True)
class Target:
    """Where to go.

    Attributes:
        surfaces: (N, 3) any of them will do. offsets_m: (N,) what ending there costs extra, or None.
        position: (x, y, z) for display, tabu and hysteresis. name: what it is.
        look_at: (x, y) to face on arrival, or None.
    """

    surfaces: Surfaces
    position: tuple[float, float, float]
    name: str
    offsets_m: Floats | None = None
    look_at: tuple[float, float] | None = None


class Pilot:
    """Keeps the map and the pose of one episode and turns targets into moves.

    Attributes:
        pace: how motion is cut into actions. pose: of the robot, in the frame of the map: world where pose is released, else odometry.
        map: what has been seen. sight: the columns of the last image. target: where it is going, or None.
        steps: number of observations since the map began. trail: poses at least 0.2 m apart.
        floor_z: height of the storey it is on; stairs and landings leave it as it is.
        relaxed: how often the standards were lowered because nothing was left to go to.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief, self.pace = brief, pace_of(brief.actions)
        self.pose = Pose(0.0, 0.0)
        self.base = self.pose.matrix()
        self.frame_name: Literal["odometry", "world"] | None = None
        self._begin()

    def _begin(self) -> None:
        self.map = LocalMap(self.brief.body)
        self.sight: Sight | None = None
        self.target: Target | None = None
        self.steps = 0
        self.trail: list[Pose] = []
        self.floor_z = 0.0
        self.relaxed = 0
        self._costs_to_go: Costs | None = None
        self._planned_grid: object = None
        self._planned_at = -self.pace.replan_every
        self._heading = nan
        self._recent: deque[tuple[Pose, bool]] = deque(maxlen=self.pace.idle)
        self._contacts = Contacts(_CONTACT_MEMORY)
        self._tabu: list[tuple[float, float, float, int]] = []
        self._walked = False
        self._turned_left = True
        self._escape = 0
        self._aimed_at = 0
        self._pursued: dict[tuple[int, int, int], tuple[float, float]] = {}

    def observe(self, observation: Observation) -> None:
        """Read pose, depth and contact.

        Raises:
            PolicyRefused: the observation holds neither pose nor odometry, or no depth.
        """
        pose = observation.pose if observation.pose is not None else observation.odometry
        if pose is None:
            raise PolicyRefused(
                "a map-building policy needs to know where it moves", why="neither odometry nor pose was given", next_step="run it on track rgbd"
            )
        name: Literal["odometry", "world"] = "world" if observation.pose is not None else "odometry"
        if name != self.frame_name:
            self.frame_name = name
            self._begin()
        self.pose = pose
        if observation.collided and self._walked:
            self._touched()
        self.base = leaning(pose, *observation.tilt_rad, self.map.body.pivot_m)
        self.sight = self.map.see(depth_frame(observation), pose, observation.tilt_rad)
        if self.steps == 0:
            self.floor_z = pose.z
        self.steps += 1
        self._recent.append((pose, self._walked))
        if not self.trail or hypot(self.trail[-1].x - pose.x, self.trail[-1].y - pose.y) > 0.2 or abs(self.trail[-1].z - pose.z) > 0.1:
            self.trail.append(pose)
            last = [q.z for q in self.trail[-_FLAT_POSES:]]
            if len(last) == _FLAT_POSES and max(last) - min(last) < 0.05:
                self.floor_z = pose.z
        self._watch_progress()

    @property
    def wants_target(self) -> bool:
        """Whether it is time to think again about where to go."""
        return self.target is None or self._planned_grid is not self.map.grid or self.steps - self._planned_at >= self.pace.replan_every

    def plan(self, reach_m: float = inf) -> tuple[Costs, Costs]:
        """Standing costs within reach, and path costs from the robot; inf elsewhere."""
        window = self.map.known() if reach_m == inf else self.map.window(self.pose, reach_m)
        weight: Costs = np.full(self.map.grid.height.shape, np.inf, np.float32)
        weight[:, window[0], window[1]] = self._weights(window)
        return weight, self.map.costs_from(weight, self.pose)

    def _weights(self, window: Window) -> Costs:
        weight = self.map.weights(self.pose, window)
        self._contacts.raise_costs(weight, window, self.map)
        return weight

    def pursue(self, target: Target | None, weight: Costs, costs: Costs) -> None:
        """Take a target, or none; ``costs`` are those from the robot, which say how far the way back must be computed."""
        if target is None or self.target is None or hypot(*(a - b for a, b in zip(target.position[:2], self.target.position[:2], strict=True))) > _TABU_M:
            self._aimed_at = self.steps
        self.target = target
        self._planned_at, self._planned_grid = self.steps, self.map.grid
        self._costs_to_go = None
        if target is not None:
            offsets = np.zeros(len(target.surfaces)) if target.offsets_m is None else target.offsets_m
            there = costs[target.surfaces[:, 0], target.surfaces[:, 1], target.surfaces[:, 2]] + offsets
            # A seeker may have raised the weights since, as along a route; then the way back is dearer than the way there.
            limit = _FAR_M if target.name == "route" else float(there.min()) + _BACK_MARGIN_M
            self._costs_to_go = self.map.costs_to(weight, target.surfaces, offsets, limit)
        if target is not None and target.name != "route":
            self._watch_pursuit(target)

    def relax(self) -> None:
        """Nothing is left to go to: reconsider what was given up, and squeeze closer to obstacles."""
        self.relaxed += 1
        self.map.forget_spent()
        self._tabu.clear()
        self._contacts.clear()
        self.map.smallest_frontier = 1
        self.map.slack_m = min(self.map.slack_m + _SLACK_STEP_M, _SLACK_MOST_M)

    def remaining_m(self) -> float:
        """Path cost from the robot to its target, inf when there is none or no way."""
        if self._costs_to_go is None or self._planned_grid is not self.map.grid:
            return inf
        i, j = self.map.cell(self.pose.x, self.pose.y)
        k = self.map.sheet(i, j, self.pose.z, self.map.climb_m)
        return float(self._costs_to_go[k, i, j]) if k >= 0 else inf

    def move(self) -> Action:
        """The next action towards the target; turns on the spot when there is none."""
        pace = self.pace
        if self._escape > 0:
            self._escape -= 1
            return self._do(pace.most_turn_rad, 0.0)
        if self.target is None or self._costs_to_go is None:
            return self._do(pace.most_turn_rad, 0.0)
        if self.target.look_at is not None and self.remaining_m() < _ARRIVED_M:
            return self.face(*self.target.look_at)
        turns, steps = self._steer(self._costs_to_go)
        if steps == 0:
            self.target = None
            return self._do(pace.most_turn_rad if self._turned_left else -pace.most_turn_rad, 0.0)
        self._heading = wrap_angle(self.pose.yaw_rad + turns * pace.turn_rad)
        return self._go(turns * pace.turn_rad, min(steps, pace.most_steps) * pace.step_m)

    def face(self, x: float, y: float) -> Action:
        """Turn towards a point; a step forward once it is ahead."""
        error = self.bearing_to(x, y)
        turns = round(error / self.pace.turn_rad)
        return self._do(0.0, self.pace.step_m) if turns == 0 else self._go(turns * self.pace.turn_rad, 0.0)

    def turn_to(self, x: float, y: float) -> Action:
        """Turn towards a point, or a little to and fro once it is ahead: neither is a lack of progress."""
        self._recent.clear()
        turns = round(self.bearing_to(x, y) / self.pace.turn_rad)
        if turns == 0:
            return self._do(-self.pace.turn_rad if self._turned_left else self.pace.turn_rad, 0.0)
        return self._go(turns * self.pace.turn_rad, 0.0)

    def creep(self, x: float, y: float) -> Action:
        """Face a point, then move towards it by less than the map resolves, where actions can be that small."""
        self._recent.clear()
        turns = round(self.bearing_to(x, y) / self.pace.turn_rad)
        return self._go(turns * self.pace.turn_rad, 0.0) if turns else self._do(0.0, self.map.cell_m if self.pace.waypoints else self.pace.step_m)

    def turn(self) -> Action:
        """One turn to look around, which is no lack of progress."""
        self._recent.clear()
        return self._do(self.pace.most_turn_rad, 0.0)

    def bearing_to(self, x: float, y: float) -> float:
        """Angle from the heading to a point, counter-clockwise."""
        return wrap_angle(atan2(y - self.pose.y, x - self.pose.x) - self.pose.yaw_rad)

    def give_up(self, position: tuple[float, float, float]) -> None:
        """Leave this place alone for a while."""
        self._tabu.append((*position, self.steps + _TABU_ACTIONS))
        self.target = None

    def is_tabu(self, position: tuple[float, float, float]) -> bool:
        """Whether going there failed lately."""
        self._tabu = [t for t in self._tabu if t[3] > self.steps]
        return any(hypot(t[0] - position[0], t[1] - position[1]) < _TABU_M and abs(t[2] - position[2]) < 1.0 for t in self._tabu)

    def tabu(self, places: Floats) -> NDArray[np.bool_]:
        """(N,) the same for places (N, 3)."""
        self._tabu = [t for t in self._tabu if t[3] > self.steps]
        found = np.zeros(len(places), np.bool_)
        for x, y, z, _ in self._tabu:
            found |= (np.hypot(places[:, 0] - x, places[:, 1] - y) < _TABU_M) & (np.abs(places[:, 2] - z) < 1.0)
        return found

    def _steer(self, costs_to_go: Costs) -> tuple[int, int]:
        window = self.map.window(self.pose, _LOCAL_REACH_M)
        p, pace, nearby = self.pose, self.pace, self.map.grid.window(*window)
        weight = self._weights(window)
        costs = costs_to_go[:, window[0], window[1]]
        least = 1 if self.remaining_m() < _CLOSE_M else _LEAST_STEPS
        where = np.array([p.x, p.y, p.z, p.yaw_rad])
        # fmt: off
        turns, steps, _ = best_heading(
            nearby, weight, costs, where, pace.turn_rad, pace.step_m, self.map.guess_climb_m,
            _TURN_COST_M, self._heading, _KEPT_BONUS_M, least, _MOST_STEPS, self._contacts.forbidden_headings(p, self.steps),
        )
        # fmt: on
        return int(turns), int(steps)

    def _touched(self) -> None:
        """Remember the contact; when the standards were lowered too far, raise them again."""
        self._contacts.add(self.pose, self.steps, self.map)
        if self._contacts.count(self.pose) >= _SQUEEZED:
            self.map.slack_m = 0.0
        self._planned_at = -self.pace.replan_every

    def _watch_pursuit(self, target: Target) -> None:
        """Give up a target that takes much longer than its path promised, however often others came in between."""
        x, y, z = target.position
        place = (round(x / _TABU_M), round(y / _TABU_M), round(z))
        spent, allowance = self._pursued.get(place, (0, self.pace.patience + self.pace.patience_per_m * min(self.remaining_m(), 40.0)))
        self._pursued[place] = (spent + self.pace.replan_every, allowance)
        if spent > allowance:
            del self._pursued[place]
            self.give_up(target.position)

    def _watch_progress(self) -> None:
        """Give up a target when steps lead nowhere, or when nothing but turning comes of it for long."""
        recent = self._recent
        if len(recent) < self.pace.stuck:
            return
        last = list(recent)[-self.pace.stuck :]
        pushing = sum(walked for _, walked in last) >= self.pace.pushes and _spread(last) < _STUCK_M
        idling = len(recent) == recent.maxlen and _spread(list(recent)) < _STUCK_M
        if not (pushing or idling):
            return
        # A target that was taken only now is not to blame for what happened before.
        if self.target is not None and self.steps - self._aimed_at >= self.pace.stuck:
            self.give_up(self.target.position)
        if pushing:
            self._escape = max(1, round(_ESCAPE_RAD / self.pace.most_turn_rad))
        recent.clear()

    def _go(self, turn_rad: float, distance_m: float) -> Action:
        """As much of a turn and a walk as one action may do."""
        if abs(turn_rad) > self.pace.most_turn_rad + 1e-6:
            return self._do(copysign(self.pace.most_turn_rad, turn_rad), 0.0)
        if turn_rad != 0.0 and not self.pace.waypoints:
            return self._do(turn_rad, 0.0)
        return self._do(turn_rad, distance_m)

    def _do(self, turn_rad: float, distance_m: float) -> Action:
        self._walked = distance_m > 0.0
        self._turned_left = turn_rad >= 0.0
        return self.pace.action(turn_rad, distance_m)


def _spread(recent: list[tuple[Pose, bool]]) -> float:
    """How far from the first of some poses the others are, at most."""
    first = recent[0][0]
    return max(hypot(p.x - first.x, p.y - first.y) for p, _ in recent)


def depth_frame(observation: Observation) -> Frame:
    """The frame to map from: the camera called front, else the first one with depth.

    Raises:
        PolicyRefused: no camera has depth.
    """
    frames = observation.frames
    for name in ("front", *frames):
        if name in frames and frames[name].depth is not None:
            return frames[name]
    raise PolicyRefused(
        "a map-building policy needs depth",
        where=f"cameras: {', '.join(frames) or 'none'}",
        why="no frame has a depth channel",
        next_step="run it on track rgbd",
    )
