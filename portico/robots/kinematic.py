"""The kinematic robot: a body that goes where it is told until it touches something [I2 E.2].

It follows the supporting surface over curbs, ramps and stairs that its embodiment climbs, keeps floors apart, and
never passes through geometry. Contact stops it; sliding along the contact is an option, off by default because
published numbers differ by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import atan2, ceil, cos, hypot, sin

import numpy as np

from portico.errors import EpisodeError
from portico.geometry import Floats, Pose, wrap_angle
from portico.interface import Action, ActionSpace, Move, Stop, Velocity, Waypoints
from portico.robots.embodiment import Embodiment
from portico.robots.motion import Motion, State, check_action
from portico.space import Space

#: Longest stretch between two recorded states, so that trajectories show the way taken and not only its ends.
_RECORD_EVERY_M = 0.25
_VELOCITY_DT_S = 0.1
_LINEAR_TOLERANCE_M = 0.03
_ANGULAR_TOLERANCE_RAD = float(np.deg2rad(1.0))


class KinematicRobot:
    """A disc of the embodiment's radius on the layered surfaces of a Space.

    Args:
        space: where it may go; built for the same embodiment.
        actions: amounts of the discrete moves.
        slide: after contact, spend what is left of the motion along the obstacle.
    """

    def __init__(self, space: Space, embodiment: Embodiment, actions: ActionSpace | None = None, *, slide: bool = False) -> None:
        self.space, self.embodiment, self.slide = space, embodiment, slide
        self.actions = actions or ActionSpace()
        self.start = self.pose = Pose(0.0, 0.0)
        self.tilt = (0.0, 0.0)

    def reset(self, pose: Pose) -> Pose:
        """Stand at a pose; returns it with z on the supporting surface.

        Raises:
            EpisodeError: no floor there, or the body overlaps geometry.
        """
        misfit = misplacement(self.space, pose.position)
        if misfit is not None:
            what, why = misfit
            raise EpisodeError(f"the start is {what}", where=f"({pose.x:.2f}, {pose.y:.2f}, {pose.z:.2f})", why=why, next_step="move the start to free ground")
        node = int(self.space.locate(pose.position[None])[0])
        self.pose = self.start = Pose(pose.x, pose.y, float(self.space.nodes_xyz[node, 2]), wrap_angle(pose.yaw_rad))
        return self.pose

    def base_matrix(self) -> Floats:
        """T_world_base, (4, 4)."""
        return self.pose.matrix()

    def execute(self, action: Action) -> Motion:
        """Carry out an action from the current pose.

        Raises:
            PolicyFailure: a number in it is not finite, or out of all proportion.
        """
        check_action(action)
        states: list[State] = []
        clock = 0.0
        due = action.duration_s if isinstance(action, Waypoints) else None
        for state in self._states(action):
            if due is not None and states and clock + state.elapsed_s > due + 1e-9:
                break
            clock += state.elapsed_s
            states.append(replace(state, elapsed_s=clock))
            self.pose = state.pose
        # What leads nowhere is an action all the same: a record has a state for each.
        return Motion(tuple(states) or (State(self.pose, 0.0, False, False),))

    def _states(self, action: Action) -> Iterator[State]:
        """States one after the other, each with its own duration; ``self.pose`` follows between them."""
        match action:
            case Stop():
                yield State(self.pose, 0.0, False, False)
            case Move(name="turn_left"):
                yield self._turned(self.actions.amount_of(action))
            case Move(name="turn_right"):
                yield self._turned(-self.actions.amount_of(action))
            case Move(name=name):
                step_m = self.actions.amount_of(action)
                yield self._advanced(step_m if name == "forward" else -step_m, 0.0)
            case Velocity():
                yield from self._driven(action)
            case Waypoints():
                yield from self._tracked(action)

    def _turned(self, angle_rad: float) -> State:
        pose = Pose(self.pose.x, self.pose.y, self.pose.z, wrap_angle(self.pose.yaw_rad + angle_rad))
        return State(pose, abs(angle_rad) / self.embodiment.max_turn_radps, False, False)

    def _advanced(self, forward_m: float, left_m: float) -> State:
        """Straight motion in the base frame, cut short at contact."""
        p = self.pose
        dx = cos(p.yaw_rad) * forward_m - sin(p.yaw_rad) * left_m
        dy = sin(p.yaw_rad) * forward_m + cos(p.yaw_rad) * left_m
        reached, fraction, end = self.space.sweep_one(p.position, np.array([p.x + dx, p.y + dy, p.z]))
        if not reached and self.slide:
            end = self._slid(end, (1.0 - fraction) * np.array([dx, dy]))
        pose = Pose(float(end[0]), float(end[1]), float(end[2]), p.yaw_rad)
        return State(pose, hypot(forward_m, left_m) / self.embodiment.max_speed_mps, not reached, True)

    def _slid(self, contact: np.ndarray, remaining: np.ndarray) -> np.ndarray:
        """Where the rest of a motion leads along the obstacle; its direction is read off the clearance around the contact."""
        h = self.space.cell_m
        around = contact + h * np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
        c = self.space.clearance(around)
        normal = np.array([c[0] - c[1], c[2] - c[3]])
        size = float(np.linalg.norm(normal))
        if size == 0.0:
            return contact
        along = remaining - normal / size * float(remaining @ normal / size)
        _, _, end = self.space.sweep_one(contact, np.array([contact[0] + along[0], contact[1] + along[1], contact[2]]))
        return end

    def _driven(self, action: Velocity) -> Iterator[State]:
        body = self.embodiment
        vx = float(np.clip(action.vx_mps, -body.max_speed_mps, body.max_speed_mps))
        vy = float(np.clip(action.vy_mps, -body.max_lateral_mps, body.max_lateral_mps))
        wz = float(np.clip(action.wz_radps, -body.max_turn_radps, body.max_turn_radps))
        clipped = (vx, vy, wz) != (action.vx_mps, action.vy_mps, action.wz_radps)
        steps = max(1, ceil(action.duration_s / _VELOCITY_DT_S - 1e-9))
        dt = action.duration_s / steps
        for _ in range(steps):
            moved = self._advanced(vx * dt, vy * dt) if vx or vy else None
            base = moved.pose if moved else self.pose
            collided = moved.collided if moved else False
            yield State(Pose(base.x, base.y, base.z, wrap_angle(base.yaw_rad + wz * dt)), dt, collided, moved is not None, clipped=clipped)
            if collided and not self.slide:
                return

    def _tracked(self, action: Waypoints) -> Iterator[State]:
        origin = {"base": self.pose, "odometry": self.start, "world": Pose(0.0, 0.0)}[action.frame]
        for local in action.poses:
            target = origin.compose(local)
            dx, dy = target.x - self.pose.x, target.y - self.pose.y
            distance = hypot(dx, dy)
            if distance > _LINEAR_TOLERANCE_M:
                yield from self._faced(atan2(dy, dx))
                parts = max(1, ceil(distance / _RECORD_EVERY_M - 1e-9))
                for _ in range(parts):
                    state = self._advanced(distance / parts, 0.0)
                    yield state
                    if state.collided and not self.slide:
                        return
            yield from self._faced(target.yaw_rad)

    def _faced(self, yaw_rad: float) -> Iterator[State]:
        turn = wrap_angle(yaw_rad - self.pose.yaw_rad)
        if abs(turn) > _ANGULAR_TOLERANCE_RAD:
            yield self._turned(turn)


def misplacement(space: Space, point: Floats) -> tuple[str, str] | None:
    """Why the body cannot stand at a point (3,), as (what, why); None when it can."""
    body = space.embodiment
    if int(space.locate(point[None])[0]) < 0:
        angles = np.arange(16) * np.pi / 8
        ring = point + np.stack([np.cos(angles), np.sin(angles), np.zeros(16)], axis=1) * 2.0 * body.radius_m
        if (space.locate(ring) < 0).all():
            return "on no floor", f"no walkable surface within {2.0 * body.radius_m:.1f} m at that height"
        return "inside an obstacle", "something solid fills that place"
    if not bool(space.is_free(point[None])[0]):
        return "inside an obstacle", f"clearance {float(space.clearance(point[None])[0]):.2f} m, {body.name} needs {body.radius_m:.2f} m"
    return None
