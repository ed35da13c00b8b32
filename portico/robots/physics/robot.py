"""The robot under physics, behind the same ``reset`` and ``execute`` as the kinematic one.

Physics steps at 200 Hz, tracker and controller at 50 Hz, states are recorded at 10 Hz [NV 6]. Between two actions time stands still.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from math import hypot
from typing import Any

import mujoco
import numpy as np

from portico.errors import EpisodeError
from portico.geometry import Floats, Pose, leaning, wrap_angle
from portico.interface import STREAM, Action, ActionSpace, Move, Stop, Velocity, Waypoints
from portico.robots.kinematic import misplacement
from portico.robots.motion import Motion, State, check_action
from portico.robots.physics.controller import Controller
from portico.robots.physics.friction import friction_table
from portico.robots.physics.ground import HOLE, LocalGround, Reach
from portico.robots.physics.machine import TIMESTEP_S, Machine
from portico.robots.physics.nearby import Nearby
from portico.robots.physics.tracker import MAX_FORWARD_MPS, MAX_LATERAL_MPS, MAX_TURN_RADPS, Limits, Tracker
from portico.space import Space

#: Projected gravity more than 45 degrees from the body's z axis [NV 6.6].
FALL_RAD = float(np.deg2rad(45.0))
CONTROL_S, RECORD_S = 0.02, 0.1
_SUBSTEPS = round(CONTROL_S / TIMESTEP_S)
#: Time to come to rest after being put down.
_SETTLE_S = 0.6
#: A path is given up when it brings the body no further than this for as long as this.
_STUCK_M, _STUCK_S = 0.05, 2.5
#: Most time for the last turn and the last centimetres of a path.
_DOCKING_S = 2.0
#: For this long after it touched something a body moves no faster than this (m/s, m/s, rad/s): to press on at full speed tips it over.
_GENTLE_S, _GENTLE = 0.3, np.array([0.25, 0.15, 0.6])
#: Deeper inside something than this is no contact but a wrong start.
_OVERLAP_M = 0.03
#: What MuJoCo warns of when a simulation has become unstable.
_RAN_AWAY = [
    int(w) for w in (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC, mujoco.mjtWarning.mjWARN_BADCTRL)
]
# MuJoCo would write its warnings into a file in the folder one works in; what they say is read from its counters.
mujoco.set_mju_user_warning(logging.getLogger(__name__).info)
#: Steps that the survey of the ground takes for ground; what a leg cannot climb is still there to bump into.
_STEP_M = 0.35


class PhysicsRobot:
    """A machine in a world.

    Args:
        machine: the robot's model. controller: what drives it.
        nearby: what the world is made of.
        space: for the checks of a start and to describe misfits; built for the same embodiment.
        friction: factor on what surfaces grip; below 1 for wet ground.
    """

    def __init__(
        self, machine: Machine, controller: Controller, nearby: Nearby, space: Space, actions: ActionSpace | None = None, *, friction: float = 1.0
    ) -> None:
        self.machine, self.space = machine, space
        accepts = actions or ActionSpace()
        self.actions = replace(accepts, accepts=accepts.accepts | {STREAM}) if "waypoints" in accepts.accepts else accepts
        body = machine.embodiment
        self.embodiment = body
        self._controller = controller
        self._data: Any = mujoco.MjData(machine.model)
        self._ground = LocalGround(nearby, Reach(_STEP_M, body.height_m))
        self._bounds = nearby.matter.bounds
        self._friction = friction_table(friction)
        self._limits = Limits(min(body.max_speed_mps, MAX_FORWARD_MPS), min(body.max_lateral_mps, MAX_LATERAL_MPS), min(body.max_turn_radps, MAX_TURN_RADPS))
        self._tracker: Tracker | None = None
        self._level_m = 0.0
        self.start = self.pose = Pose(0.0, 0.0)
        self.tilt = (0.0, 0.0)

    def reset(self, pose: Pose) -> Pose:
        """Put the robot down at a pose and let it come to rest; returns where it then stands.

        Where the ground is too slippery to stand on it falls, which is for the first action to report.

        Raises:
            EpisodeError: no floor there, the body overlaps geometry, or its simulation is unstable.
        """
        misfit = misplacement(self.space, pose.position)
        if misfit is not None:
            raise _unfit(pose, *misfit)
        node = int(self.space.locate(pose.position[None])[0])
        foot = np.array([pose.x, pose.y, float(self.space.nodes_xyz[node, 2])])
        model, data, start = self.machine.model, self._data, self.machine.base_qpos
        mujoco.mj_resetData(model, data)
        self._ground.clear()
        self._follow(foot)
        data.qpos[:] = self.machine.qpos
        data.qpos[start : start + 3] = foot
        data.qpos[start + 2] += self.machine.file.standing_height_m + self._highest_under(foot)
        data.qpos[start + 3 : start + 7] = (np.cos(0.5 * pose.yaw_rad), 0.0, 0.0, np.sin(0.5 * pose.yaw_rad))
        self._rest_on_ground()
        if self._deepest_m() > _OVERLAP_M:
            raise _unfit(pose, "inside an obstacle", f"{self.embodiment.name} overlaps something solid by {100 * self._deepest_m():.0f} cm")
        self._tracker, self.pose = None, pose
        self._controller.reset(data)
        self._touched_s = np.inf
        for _ in range(round(_SETTLE_S / CONTROL_S)):
            self._tick(np.zeros(3))
        self._read_pose()
        self.start = self.pose
        return self.pose

    def base_matrix(self) -> Floats:
        """T_world_base, (4, 4), leaning as the body does."""
        return leaning(self.pose, *self.tilt, self.embodiment.pivot_m)

    @property
    def fallen(self) -> bool:
        """Tilted by more than 45 degrees [NV 6.6], or below everything there is."""
        upright = float(self._data.xmat[self.machine.base].reshape(3, 3)[2, 2])
        return upright < np.cos(FALL_RAD) or self.pose.z < float(self._bounds[0, 2]) - 1.0

    def execute(self, action: Action) -> Motion:
        """Carry out an action from the current state.

        Raises:
            PolicyFailure: a number in it is not finite, or out of all proportion.
            EpisodeError: the simulation of the body is unstable.
        """
        check_action(action)
        states: list[State] = []
        for state in self._states(action):
            states.append(state)
            if self.fallen:
                break
        return Motion(tuple(states), fallen=self.fallen)

    def _states(self, action: Action) -> Iterator[State]:
        match action:
            case Stop():
                self._tracker = None
                yield State(self.pose, 0.0, False, False, *self.tilt)
            case Velocity():
                self._tracker = None
                yield from self._driven(action)
            case Move():
                yield from self._tracked(self._primitive(action), None, keep_heading=True)
            case Waypoints():
                origin = {"base": self.pose, "odometry": self.start, "world": Pose(0.0, 0.0)}[action.frame]
                yield from self._tracked([origin.compose(p) for p in action.poses], action.duration_s)

    def _primitive(self, action: Move) -> list[Pose]:
        """A discrete move as the waypoint it stands for [NV 6.2]."""
        step = turn = self.actions.amount_of(action)
        local = {"forward": Pose(step, 0.0), "backward": Pose(-step, 0.0), "turn_left": Pose(0.0, 0.0, 0.0, turn), "turn_right": Pose(0.0, 0.0, 0.0, -turn)}
        return [self.pose.compose(local[action.name])]

    def _driven(self, action: Velocity) -> Iterator[State]:
        asked = (action.vx_mps, action.vy_mps, action.wz_radps)
        velocity = self._limits.clipped(*asked)
        clipped = bool((velocity != asked).any())
        moved = bool(velocity[:2].any())
        yield from self._recorded(repeat(velocity, max(1, round(action.duration_s / CONTROL_S))), moved, clipped)

    def _tracked(self, path: list[Pose], duration_s: float | None, *, keep_heading: bool = False) -> Iterator[State]:
        if not path:
            yield State(self.pose, 0.0, False, False, *self.tilt)
            return
        path, clipped = self._within(path)
        tracker = Tracker(path, self.pose, self._limits, keep_heading)
        yield from self._recorded(self._commands(tracker, duration_s), tracker.length_m > 0.0, clipped)

    def _commands(self, tracker: Tracker, duration_s: float | None) -> Iterator[Floats]:
        """Until the path is done, given up, or the time is over."""
        best, waited, docking, elapsed = -1.0, 0.0, 0.0, 0.0
        while not tracker.arrived(self.pose) and (duration_s is None or elapsed < duration_s - 1e-9):
            yield tracker.command(self.pose)
            elapsed += CONTROL_S
            if tracker.progress_m > best + _STUCK_M:
                best, waited = tracker.progress_m, 0.0
            waited += CONTROL_S
            docking = docking + CONTROL_S if tracker.near_end(self.pose) else 0.0
            if waited > _STUCK_S + tracker.turning_time_s or docking > _DOCKING_S + tracker.turning_time_s:
                return

    def _recorded(self, commands: Iterator[Floats], moved: bool, clipped: bool) -> Iterator[State]:
        """Drive, and note a state every 0.1 s and at the end; a contact counts for the state that follows it."""
        elapsed, since, touched = 0.0, 0, False
        every = round(RECORD_S / CONTROL_S)
        for command in commands:
            touched = self._tick(command) or touched
            self._read_pose()
            elapsed, since = elapsed + CONTROL_S, since + 1
            if since == every or self.fallen:
                yield State(self.pose, round(elapsed, 9), touched, moved, *self.tilt, clipped, self._surface())
                since, touched = 0, False
        if since or elapsed == 0.0:
            yield State(self.pose, round(elapsed, 9), touched, moved and elapsed > 0.0, *self.tilt, clipped, self._surface())

    def _tick(self, command: Floats) -> bool:
        """One period of control; whether the body touched an obstacle in it."""
        model, data = self.machine.model, self._data
        self._grip()
        if self._touched_s < _GENTLE_S:
            command = np.clip(command, -_GENTLE, _GENTLE)
        self._controller.control(data, command, self._ground.heights)
        mujoco.mj_step(model, data, _SUBSTEPS)
        self._check_sane()
        base = data.qpos[self.machine.base_qpos : self.machine.base_qpos + 3]
        self._follow(np.array([base[0], base[1], base[2] - self.machine.file.standing_height_m]))
        touching = self._touches()
        self._touched_s = 0.0 if touching else self._touched_s + CONTROL_S
        return touching

    def _check_sane(self) -> None:
        """Refuse to go on where MuJoCo met numbers that are not finite: it puts the body back to where its model begins, and goes on."""
        if not self._data.warning.number[_RAN_AWAY].any():
            return
        asked = bool(self._data.warning[mujoco.mjtWarning.mjWARN_BADCTRL].number)
        raise EpisodeError(
            "the robot's physics ran away",
            where=f"{self.machine.file.name}, near ({self.pose.x:.2f}, {self.pose.y:.2f}, {self.pose.z:.2f})",
            why="its controller asks for what is no finite number" if asked else "its state is no longer made of finite numbers",
            next_step="check network, scales and gains of the robot file, and the masses and inertias of its model",
        )

    def _surface(self) -> int:
        return self._ground.roughest(self.pose.position, self.embodiment.radius_m + 0.1)

    def _grip(self) -> None:
        """Feet and tyres grip as the surface under each lets them."""
        gripping = self.machine.gripping
        self.machine.model.geom_friction[gripping, 0] = self._friction[self._ground.surface_at(self._data.geom_xpos[gripping])]

    def _touches(self) -> bool:
        """Whether any contact is with a column that is no ground [NV 6.5]."""
        data = self._data
        if data.ncon == 0:
            return False
        return bool(self._ground.is_solid(data.contact.pos).any())

    def _follow(self, foot: Floats) -> None:
        if self._ground.follow(foot):
            self._level_m = float(np.round(foot[2]))
            self.machine.place_ground(self._data, self._ground.middle, self._ground.height, self._level_m)

    def _read_pose(self) -> None:
        """The foot point below the base's origin, its heading, and how the body leans."""
        x, y, z = self._data.qpos[self.machine.base_qpos : self.machine.base_qpos + 3]
        R = self._data.xmat[self.machine.base].reshape(3, 3)
        yaw = float(np.arctan2(R[1, 0], R[0, 0]))
        self.pose = Pose(float(x), float(y), float(z) - self.machine.file.standing_height_m, wrap_angle(yaw))
        pitch = float(np.arctan2(-R[2, 0], hypot(R[0, 0], R[1, 0])))
        self.tilt = (float(np.arctan2(R[2, 1], R[2, 2])), pitch)

    def _within(self, path: list[Pose]) -> tuple[list[Pose], bool]:
        """Waypoints moved onto the world's bounds where they lie beyond, and whether any did."""
        low, high = self._bounds[0, :2], self._bounds[1, :2]
        kept = [Pose(float(np.clip(p.x, low[0], high[0])), float(np.clip(p.y, low[1], high[1])), p.z, p.yaw_rad) for p in path]
        return kept, kept != path

    def _rest_on_ground(self) -> None:
        """Raise the body until nothing of it is in the ground, an obstacle aside: a foot that starts below a height field is pushed out sideways."""
        data = self._data
        for _ in range(5):
            mujoco.mj_forward(self.machine.model, data)
            standing = data.contact.dist[~self._ground.is_solid(data.contact.pos)] if data.ncon else np.zeros(0)
            if not len(standing) or standing.min() >= 0.0:
                return
            data.qpos[self.machine.base_qpos + 2] += 0.001 - float(standing.min())

    def _highest_under(self, foot: Floats) -> float:
        """How far the ground near the feet rises above the foot point, metres: nothing is put down inside a step."""
        reach = 0.6 * self.embodiment.radius_m
        around = foot[:2] + reach * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.7, 0.7], [-0.7, 0.7], [0.7, -0.7], [-0.7, -0.7]])
        rises = self._ground.heights(around)[self._ground.kind_at(around) != HOLE] - foot[2]
        low = rises[rises <= self.embodiment.climb_m]
        return max(0.0, float(low.max())) if len(low) else 0.0

    def _deepest_m(self) -> float:
        """Deepest overlap with an obstacle now, metres; 0 without any."""
        data = self._data
        if data.ncon == 0:
            return 0.0
        return max(0.0, -float(np.where(self._ground.is_solid(data.contact.pos), data.contact.dist, 0.0).min()))


def _unfit(pose: Pose, what: str, why: str) -> EpisodeError:
    return EpisodeError(f"the start is {what}", where=f"({pose.x:.2f}, {pose.y:.2f}, {pose.z:.2f})", why=why, next_step="move the start to free ground")
