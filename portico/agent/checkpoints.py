"""Checks without a model: a lack of progress, and arrival at an outdoor goal."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from math import hypot, pi

from portico.agent.contract import Verdict
from portico.geometry import Pose, wrap_angle
from portico.interface import Observation

#: A window of actions that moves less than this and turns at least that shows no progress [I2 F.4].
WINDOW, MOTION_M, ROTATION_RAD = 16, 0.5, pi / 2
#: OutdoorNav's tolerance and how much higher or lower still counts as the same plane [P].
ARRIVED_M, PLANE_M = 3.0, 1.0
OUTDOOR_CHECK = "outdoor_geometric_v1"


class ProgressCheckpoint:
    """Fires when 16 consecutive actions moved less than 0.5 m, from first to last, and turned a right angle or more in all."""

    def __init__(self) -> None:
        self._poses: deque[Pose] = deque(maxlen=WINDOW + 1)

    def clear(self) -> None:
        """Begin a new window."""
        self._poses.clear()

    def add(self, pose: Pose) -> bool:
        """Take the pose before the next action; whether the window that ends here fires. A window fires once."""
        self._poses.append(pose)
        if len(self._poses) <= WINDOW:
            return False
        poses = list(self._poses)
        moved = hypot(poses[-1].x - poses[0].x, poses[-1].y - poses[0].y)
        turned = sum(abs(wrap_angle(b.yaw_rad - a.yaw_rad)) for a, b in pairwise(poses))
        # Six turns of 15 degrees are a right angle, whatever their sum in binary says.
        fires = moved < MOTION_M and turned >= ROTATION_RAD - 1e-9
        if fires:
            self._poses.clear()
        return fires


def outdoor_verdict(observation: Observation) -> Verdict:
    """OutdoorNav, decided by pose and goal: within 3.0 m on the same plane. Confidence 1, or 0 where the pose or the goal is not given."""
    pose, goal = observation.pose, observation.stage.goal
    if pose is None or goal is None:
        return Verdict(False, 0.0, "no pose or no goal", False, 0.0, "no pose or no goal", OUTDOOR_CHECK)
    gap_m = hypot(pose.x - goal[0], pose.y - goal[1])
    arrived = gap_m <= ARRIVED_M and abs(pose.z - goal[2]) <= PLANE_M
    reason = f"{gap_m:.1f} m from the goal"
    return Verdict(arrived, 1.0, reason, arrived, 1.0, reason, OUTDOOR_CHECK, "" if arrived else "follow the route on to the goal")
