"""Robots on the training course: what they do under a network, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from terrain import STARTS_M, Course

from portico.robots.physics.legs.kinematics import FOOT_RADIUS_M
from portico.robots.physics.legs.learned import ACTIONS, OBSERVED, Network, Reflexes
from portico.robots.physics.legs.walker import Posture, Walker, standing_joints
from portico.seeding import generator

Floats = NDArray[np.float64]
SUBSTEPS, PERIOD_S = 4, 0.02
EPISODE_S = 20.0


@dataclass
class Batch:
    """Steps of N robots over T periods, all float32: (T, N, ...); ends: 1 where a robot fell, 2 where its time was over."""

    observed: NDArray[np.float32]
    actions: NDArray[np.float32]
    noise: NDArray[np.float32]
    rewards: NDArray[np.float32]
    ends: NDArray[np.uint8]
    final: NDArray[np.float32]
    last: NDArray[np.float32]
    falls_by_lane: NDArray[np.int64]
    seconds_by_lane: NDArray[np.float64]


class Robot:
    """One robot on the course; starts anew in another lane when it falls or its time is over."""

    def __init__(self, course: Course, model: mujoco.MjModel, rng: np.random.Generator) -> None:
        self._course, self._model, self._rng = course, model, rng
        self.data = mujoco.MjData(model)
        self.reflexes = Reflexes(Walker(model))
        self.command, self.lane = np.zeros(3), 0
        self._standing = standing_joints()
        self.start()

    def start(self) -> None:
        """Stand somewhere, heading along the lane, and forget the past."""
        rng, data = self._rng, self.data
        # Harder lanes and stairs come more often: weights are shares of what training is for.
        weight = np.array([(0.3 + lane.level) * {"stairs": 4.0, "curbs": 2.0}.get(lane.kind, 1.0) for lane in self._course.lanes])
        self.lane = int(rng.choice(len(weight), p=weight / weight.sum()))
        lane = self._course.lanes[self.lane]
        self._ahead = rng.choice([-1.0, 1.0])
        x = rng.choice(STARTS_M[1:] if self._ahead < 0 else STARTS_M[:-1]) + rng.uniform(-0.3, 0.3)
        y, yaw = lane.y_m + rng.uniform(-0.4, 0.4), (0.0 if self._ahead > 0 else np.pi) + rng.uniform(-0.4, 0.4)
        mujoco.mj_resetData(self._model, data)
        ground = self._course.heights(np.array([[x, y]]))[0]
        data.qpos[:3] = x, y, ground + Posture().height_m + FOOT_RADIUS_M
        data.qpos[3:7] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
        data.qpos[7:] = self._standing
        data.ctrl[:] = self._standing
        mujoco.mj_forward(self._model, data)
        self.reflexes.reset(data)
        self._time_s, self._speed, self._until_s, self._kick_s = 0.0, rng.uniform(0.3, 1.0), 0.0, rng.uniform(2.0, 6.0)

    def steer(self) -> None:
        """Draw the command: along the lane at a changing speed, back to its middle, sometimes sideways, turning or standing."""
        rng = self._rng
        if self._time_s >= self._until_s:
            self._until_s = self._time_s + rng.uniform(2.0, 6.0)
            self._speed = rng.uniform(0.25, 0.9) if rng.random() < 0.85 else rng.choice([0.0, -0.3])
            self._aside = rng.uniform(-0.2, 0.2) if rng.random() < 0.2 else 0.0
            self._turn = rng.uniform(-1.0, 1.0) if rng.random() < 0.1 else 0.0
        w, x, y, z = self.data.qpos[3:7]
        yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)) - (0.0 if self._ahead > 0 else np.pi)
        yaw -= 2.0 * np.pi * np.round(yaw / (2.0 * np.pi))
        off = (self.data.qpos[1] - self._course.lanes[self.lane].y_m) * self._ahead
        back = np.clip(-1.5 * yaw - 0.6 * off, -1.0, 1.0)
        self.command[:] = self._speed, self._aside, self._turn or (back if self._speed or self._aside else 0.0)

    def step(self, action: NDArray[np.float32]) -> tuple[float, int]:
        """Move for one period; reward, and how it ended (0, 1 fell, 2 time over)."""
        data, rng = self.data, self._rng
        change = float(np.square(action - self.reflexes.last).mean())
        self.reflexes.act(data, self.command, self._course.heights, action)
        if self._time_s >= self._kick_s:
            data.qvel[:2] += rng.normal(0.0, 0.25, 2)
            self._kick_s = self._time_s + rng.uniform(2.0, 6.0)
        mujoco.mj_step(self._model, data, SUBSTEPS)
        self._time_s += PERIOD_S
        w, x, y, z = data.qpos[3:7]
        upright = 1.0 - 2.0 * (x * x + y * y)
        if upright < 0.7 or not np.isfinite(data.qpos[2]):
            return -10.0, 1
        c, s = np.cos(yaw := np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))), np.sin(yaw)
        followed = self.reflexes.walker.memory.command
        error = np.square([c * data.qvel[0] + s * data.qvel[1] - followed[0], c * data.qvel[1] - s * data.qvel[0] - followed[1]]).sum()
        spin = float(data.qvel[5] - followed[2]) ** 2
        reward = 0.5 * np.exp(-error / 0.05) + 0.25 * np.exp(-spin / 0.1) - 0.02 * float(np.square(data.qvel[3:5]).sum())
        reward -= 0.03 * float(np.square(action).mean()) + 0.02 * change
        over = self._time_s >= EPISODE_S or not 0.3 < data.qpos[0] < 13.7 or abs(data.qpos[1] - self._course.lanes[self.lane].y_m) > 1.3
        return float(reward), 2 if over else 0


class Crowd:
    """Many robots in one process.

    Args:
        seed, worker, count: of the robots' generators; robots are the same for the same three.
    """

    def __init__(self, seed: int, worker: int, count: int) -> None:
        self.course = Course(seed)
        models = self.course.models
        self.robots = [Robot(self.course, models[n % len(models)], generator("locomotion", seed, worker, n)) for n in range(count)]
        self._rng = generator("locomotion", seed, worker, "noise")
        self._observed = np.zeros((count, OBSERVED), np.float32)

    def collect(self, network: Network, deviation: NDArray[np.float32], periods: int) -> Batch:
        """Let all robots walk for that many periods, with normal noise of this deviation (ACTIONS,) on their actions."""
        count, lanes = len(self.robots), len(self.course.lanes)
        shape = (periods, count)
        batch = Batch(
            np.zeros((*shape, OBSERVED), np.float32),
            np.zeros((*shape, ACTIONS), np.float32),
            np.zeros((*shape, ACTIONS), np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.uint8),
            np.zeros((*shape, OBSERVED), np.float32),
            self._observed,
            np.zeros(lanes, np.int64),
            np.zeros(lanes),
        )
        for t in range(periods):
            self._observe()
            batch.observed[t] = self._observed
            batch.noise[t] = self._rng.standard_normal((count, ACTIONS))
            batch.actions[t] = network(self._observed) + deviation * batch.noise[t]
            for n, robot in enumerate(self.robots):
                batch.rewards[t, n], batch.ends[t, n] = robot.step(batch.actions[t, n])
                batch.seconds_by_lane[robot.lane] += PERIOD_S
                if batch.ends[t, n]:
                    batch.falls_by_lane[robot.lane] += batch.ends[t, n] == 1
                    robot.reflexes.observe(robot.data, robot.command, self.course.heights, batch.final[t, n])
                    robot.start()
        self._observe()
        return batch

    def _observe(self) -> None:
        for n, robot in enumerate(self.robots):
            robot.steer()
            robot.reflexes.observe(robot.data, robot.command, self.course.heights, self._observed[n])
