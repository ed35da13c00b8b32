"""``outline-follower``: the fair baseline of satellite maps. It reads the numbers in its instruction, looks straight down, and follows what it sees.

Along a way it keeps to the stretch of ground that looks like what was below it; beside an outline it keeps what looks like the thing at its
side at a distance; between landmarks it counts metres. It knows its pose relative to the start, as SatNav gives it, and nothing else.
"""

from __future__ import annotations

from math import hypot, radians

import numpy as np
from numpy.typing import NDArray

from portico.errors import UserError
from portico.geometry import Floats, Pose, wrap_angle
from portico.interface import Action, Brief, Camera, Move, Observation, PolicySpec, Stop
from portico.policies.flight_words import Step, Words, understood

#: Lengths that the words leave open, and how far beside an outline it tries to fly.
_OPEN_M, _BESIDE_M = 180.0, 6.0
#: sRGB values within about this much look alike.
_ALIKE = 26.0
#: Headings that are weighed, and what a turn costs beside looking alike.
_LOOKS_RAD, _REACH_M = np.deg2rad(np.arange(-75.0, 76.0, 7.5)), np.arange(6.0, 40.0, 3.0)
_TURNS_RAD = np.deg2rad(np.arange(-90.0, 91.0, 15.0))
#: Across the way towards the thing: what should be ground below, and what should be the thing beside.
_ACROSS_M = np.concatenate([np.arange(-4.0, _BESIDE_M - 2.0), np.arange(_BESIDE_M + 3.0, _BESIDE_M + 9.0)])
_BESIDE = _ACROSS_M > _BESIDE_M
_PER_RAD = 0.12
_TURN_SLACK_RAD = radians(7.6)
#: Back at the start: within this, once this far was flown.
_BACK_M, _AWAY_M = 9.0, 45.0
#: Who has not come back after this much has lost what it followed.
_LOST_M = 900.0
_MOST_TURNS = 14


class OutlineFollower:
    """Follows roads, waters and outlines by what they look like from above, and counts metres.

    Args:
        height_m: at which it flies, so that pixels are metres; 50 m in SatNav.
    """

    spec = PolicySpec("outline-follower", needs=frozenset({"rgb", "odometry"}), stages=frozenset({"boundary", "landmark", "route"}))

    def __init__(self, height_m: str | float = 50.0) -> None:
        try:
            self._height_m = float(height_m)
        except ValueError as error:
            raise UserError("the height is no number", where=f"height_m={height_m}", next_step="write outline-follower?height_m=50") from error

    def reset(self, brief: Brief) -> None:
        """Read the instruction."""
        self._kind, self._actions = brief.stage.kind, brief.actions
        self._words: Words = understood(brief.stage.instruction)
        self._steps: list[Step] = list(self._words.steps)
        self._leg_m = self._flown_m = 0.0
        self._last: Pose | None = None
        self._seed: Floats | None = None
        self._turning_to: float | None = None
        self._turns = self._blocked = 0

    def act(self, observation: Observation) -> Action:
        """The next move."""
        pose = observation.odometry or Pose(0.0, 0.0)
        if self._last is not None:
            moved = hypot(pose.x - self._last.x, pose.y - self._last.y)
            self._leg_m, self._flown_m = self._leg_m + moved, self._flown_m + moved
        self._last = pose
        if observation.collided:
            # The map ends here: a third time it is the end of the way too.
            self._blocked += 1
            return Stop() if self._blocked > 2 else Move("turn_left")
        if self._turning_to is not None:
            return self._turned(pose)
        frame = next(iter(observation.frames.values()), None)
        if frame is None or frame.rgb is None:
            raise UserError("the observation holds no picture", where="channel rgb", next_step="run it on a track that grants rgb, e.g. track: aerial")
        view = _View(frame.rgb, frame.camera, self._height_m)
        if self._kind == "boundary" and self._words.side:
            return self._beside(view, pose)
        return self._along(view, pose)

    def close(self) -> None:
        """Nothing to release."""

    def _along(self, view: _View, pose: Pose) -> Action:
        """Along a way, or straight on between landmarks, until the metres of this stretch are gone; then the next turn."""
        length = self._steps[0].distance_m or _OPEN_M
        if self._leg_m >= length - 0.5 * self._actions.step_m:
            self._steps.pop(0)
            if not self._steps:
                return Stop()
            self._leg_m, self._seed = 0.0, None
            turn = self._steps[0].turn_deg
            if turn:
                self._turning_to = wrap_angle(pose.yaw_rad + radians(turn))
                return self._turned(pose)
        if self._kind == "landmark":
            return self._forward()
        if self._seed is None:
            self._seed = view.color(np.array([0.0, 4.0, 8.0]), np.zeros(3))
        x, y = _REACH_M * np.cos(_LOOKS_RAD)[:, None], _REACH_M * np.sin(_LOOKS_RAD)[:, None]
        scores = view.alike(self._seed, x, y).mean(axis=1) - _PER_RAD * np.abs(_LOOKS_RAD)
        return self._towards(float(_LOOKS_RAD[int(np.argmax(scores))]))

    def _beside(self, view: _View, pose: Pose) -> Action:
        """With the thing at a side, until all around or the metres are gone; straight to it first where the words say so."""
        if self._flown_m < self._words.approach_m - 0.5 * self._actions.step_m:
            return self._forward()
        left = 1.0 if self._words.side == "left" else -1.0
        flown = self._flown_m - self._words.approach_m
        if self._words.around:
            if (flown > _AWAY_M and hypot(pose.x, pose.y) < _BACK_M) or flown > _LOST_M:
                return Stop()
        elif flown >= (self._steps[-1].distance_m or _OPEN_M) - 0.5 * self._actions.step_m:
            return Stop()
        if self._seed is None:
            self._seed = view.color(np.array([0.0, 4.0, 8.0, 4.0]), left * np.array([10.0, 11.0, 11.0, 15.0]))
        # Where a step in each direction ends, what would be at its side, and what below it.
        ahead, aside = np.cos(_TURNS_RAD)[:, None], np.sin(_TURNS_RAD)[:, None]
        x, y = self._actions.step_m * ahead, self._actions.step_m * aside
        alike = view.alike(self._seed, x - left * aside * _ACROSS_M, y + left * ahead * _ACROSS_M)
        scores = alike[:, _BESIDE].mean(axis=1) - alike[:, ~_BESIDE].mean(axis=1) - 0.5 * _PER_RAD * np.abs(_TURNS_RAD)
        return self._towards(float(_TURNS_RAD[int(np.argmax(scores))]))

    def _towards(self, angle: float) -> Action:
        if abs(angle) <= _TURN_SLACK_RAD or self._turns >= _MOST_TURNS:
            return self._forward()
        self._turns += 1
        return Move("turn_left" if angle > 0.0 else "turn_right")

    def _forward(self) -> Action:
        self._turns = 0
        return Move("forward")

    def _turned(self, pose: Pose) -> Action:
        assert self._turning_to is not None
        left = wrap_angle(self._turning_to - pose.yaw_rad)
        if abs(left) <= 0.5 * self._actions.turn_rad + 1e-6:
            self._turning_to = None
            return self._forward()
        return Move("turn_left" if left > 0.0 else "turn_right")


class _View:
    """A picture from straight above, in metres ahead and to the left of its middle."""

    def __init__(self, rgb: NDArray[np.uint8], camera: Camera, height_m: float) -> None:
        self._rgb, self._per_m = rgb, camera.focal_px / height_m
        self._middle = 0.5 * camera.width, 0.5 * camera.height

    def colors(self, ahead_m: Floats, left_m: Floats) -> Floats:
        """(..., 3) colours around points (...), each the mean of nine pixels about 0.7 m apart."""
        height, width = self._rgb.shape[:2]
        total = np.zeros((*np.broadcast_shapes(ahead_m.shape, left_m.shape), 3))
        for dx in (-3, 0, 3):
            for dy in (-3, 0, 3):
                column = np.clip(np.rint(self._middle[0] - left_m * self._per_m + dx).astype(int), 0, width - 1)
                row = np.clip(np.rint(self._middle[1] - ahead_m * self._per_m + dy).astype(int), 0, height - 1)
                total += self._rgb[row, column]
        return total / 9.0

    def color(self, ahead_m: Floats, left_m: Floats) -> Floats:
        """(3,) the middle one of the colours at some points."""
        middle: Floats = np.median(self.colors(ahead_m, left_m), axis=0)
        return middle

    def alike(self, seed: Floats, ahead_m: Floats, left_m: Floats) -> Floats:
        """(...) from 0 to 1, how much points (...) look like a colour."""
        squared = ((self.colors(ahead_m, left_m) - seed) ** 2).sum(axis=-1)
        alike: Floats = np.exp(-squared / (2.0 * _ALIKE**2))
        return alike
