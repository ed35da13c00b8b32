"""A toy world of upright boxes with a ray caster and disc kinematics, small enough to test policies without a simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, sin

import numpy as np
from numba import njit

from portico.geometry import Pose, wrap_angle
from portico.interface import Action, ActionSpace, Body, Brief, Camera, Frame, Move, Observation, Policy, StageBrief, StageKind, Stop, Waypoints

BODY = Body("toy", radius_m=0.3, height_m=0.8, climb_m=0.25, max_speed_mps=1.0, max_turn_radps=1.0)
CAMERA = Camera("front", 160, 120, float(np.deg2rad(90.0)), 0.2, 0.0, 0.65)


@njit(cache=True)
def _cast(boxes, labels, origin, rays):
    rows, cols = rays.shape[:2]
    depth = np.full((rows, cols), np.inf, np.float32)
    label = np.zeros((rows, cols), np.int32)
    for v in range(rows):
        for u in range(cols):
            best = np.inf
            for n in range(len(boxes)):
                low, high = 0.01, best
                hit = True
                for a in range(3):
                    d, o = rays[v, u, a], origin[a]
                    if abs(d) < 1e-12:
                        if o < boxes[n, a] or o > boxes[n, a + 3]:
                            hit = False
                            break
                        continue
                    t0, t1 = (boxes[n, a] - o) / d, (boxes[n, a + 3] - o) / d
                    if t0 > t1:
                        t0, t1 = t1, t0
                    low, high = max(low, t0), min(high, t1)
                    if low > high:
                        hit = False
                        break
                if hit and low < best:
                    best = low
                    label[v, u] = labels[n]
            depth[v, u] = best
    return depth, label


@dataclass
class ToyWorld:
    """Boxes (x0, y0, z0, x1, y1, z1) with a semantic id each."""

    boxes: list[tuple[float, ...]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)

    def add(self, x0: float, y0: float, z0: float, x1: float, y1: float, z1: float, label: int = 1) -> None:
        self.boxes.append((x0, y0, z0, x1, y1, z1))
        self.labels.append(label)

    def wall(self, x0: float, y0: float, x1: float, y1: float, *, height: float = 3.0, gaps: list[tuple[float, float]] = [], lintel: float = 2.1) -> None:  # noqa: B006
        """An axis-aligned wall of 0.2 m, with door gaps given as intervals along it."""
        along_x = abs(x1 - x0) > abs(y1 - y0)
        a, b = (x0, x1) if along_x else (y0, y1)
        cuts = [a, *(edge for gap in gaps for edge in gap), b]
        for p, q in zip(cuts[::2], cuts[1::2], strict=True):
            self._slab(along_x, p, q, x0, y0, 0.0, height)
        for p, q in gaps:
            self._slab(along_x, p, q, x0, y0, lintel, height)

    def _slab(self, along_x: bool, p: float, q: float, x: float, y: float, z0: float, z1: float) -> None:
        if along_x:
            self.add(p, y - 0.1, z0, q, y + 0.1, z1)
        else:
            self.add(x - 0.1, p, z0, x + 0.1, q, z1)

    def frame(self, pose: Pose, camera: Camera = CAMERA) -> Frame:
        v, u = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
        f = camera.focal_px
        directions = np.stack([(u - 0.5 * camera.width) / f, (v - 0.5 * camera.height) / f, np.ones_like(u)], axis=2)
        T = pose.matrix() @ camera.T_base_camera()
        depth, label = _cast(np.array(self.boxes), np.array(self.labels), T[:3, 3], np.ascontiguousarray(directions @ T[:3, :3].T))
        return Frame(camera, depth=depth, semantic=label)

    def ground(self, x: float, y: float, z: float, body: Body = BODY) -> float | None:
        tops = [b[5] for b in self.boxes if b[0] <= x <= b[3] and b[1] <= y <= b[4] and z - body.climb_m - 1e-6 <= b[5] <= z + body.climb_m + 1e-6]
        return max(tops) if tops else None

    def blocked(self, x: float, y: float, z: float, body: Body = BODY) -> bool:
        b = np.array(self.boxes)
        gap = np.hypot(np.maximum(np.maximum(b[:, 0] - x, x - b[:, 3]), 0.0), np.maximum(np.maximum(b[:, 1] - y, y - b[:, 4]), 0.0))
        # What rises from the feet no steeper than a staircase is no obstacle.
        return bool(((gap < body.radius_m) & (b[:, 5] > z + body.climb_m + 0.8 * gap + 1e-6) & (b[:, 2] < z + body.height_m)).any())

    def advance(self, pose: Pose, distance: float, body: Body = BODY) -> tuple[Pose, bool]:
        x, y, z = pose.x, pose.y, pose.z
        for _ in range(10):
            nx, ny = x + 0.1 * distance * cos(pose.yaw_rad), y + 0.1 * distance * sin(pose.yaw_rad)
            nz = self.ground(nx, ny, z, body)
            if nz is None or self.blocked(nx, ny, nz, body):
                return Pose(x, y, z, pose.yaw_rad), True
            x, y, z = nx, ny, nz
        return Pose(x, y, z, pose.yaw_rad), False


@dataclass
class ToyRun:
    """What a policy did: poses, actions, where it stopped (None: it never did)."""

    poses: list[Pose]
    actions: list[Action]
    stopped: bool


MOVES = frozenset({"stop", "move"})
WAYPOINTS = frozenset({"stop", "move", "waypoints"})


def brief_for(stage: StageBrief, *, categories: dict[int, str] | None = None, max_actions: int = 400, accepts: frozenset[str] = WAYPOINTS) -> Brief:
    return Brief("toy", stage.kind, (stage.kind,), stage, BODY, (CAMERA,), ActionSpace(accepts=accepts), "rgbd", max_actions, 0, categories or {})


def execute(world: ToyWorld, pose: Pose, action: Action) -> tuple[Pose, bool]:
    """Where an action leads, and whether it touched something."""
    if isinstance(action, Waypoints):
        (there,) = action.poses
        pose = Pose(pose.x, pose.y, pose.z, wrap_angle(pose.yaw_rad + there.yaw_rad))
        return world.advance(pose, float(np.hypot(there.x, there.y))) if there.x or there.y else (pose, False)
    assert isinstance(action, Move)
    if action.name == "forward":
        return world.advance(pose, 0.25)
    turn = np.deg2rad(15.0) * (1 if action.name == "turn_left" else -1)
    return Pose(pose.x, pose.y, pose.z, wrap_angle(pose.yaw_rad + turn)), False


def stage_of(kind: StageKind, **fields: object) -> StageBrief:
    return StageBrief(kind, 0, 1, **{"instruction": kind, **fields})  # type: ignore[arg-type]


def run(
    world: ToyWorld,
    policy: Policy,
    start: Pose,
    stage: StageBrief,
    *,
    world_frame: bool = False,
    max_actions: int = 400,
    categories: dict[int, str] | None = None,
    accepts: frozenset[str] = WAYPOINTS,
    ends: Callable[[Pose], bool] = lambda pose: False,
    stop_ends: bool = True,
) -> ToyRun:
    """Run until STOP, unless that changes nothing, the budget or ``ends(pose)``."""
    policy.reset(brief_for(stage, categories=categories, max_actions=max_actions, accepts=accepts))
    pose, collided = start, False
    poses, actions = [start], []
    for step in range(max_actions):
        frame = world.frame(pose)
        observation = Observation(
            step,
            0.2 * step,
            {"front": frame if categories else Frame(frame.camera, depth=frame.depth)},
            stage,
            odometry=pose.relative_to(start),
            pose=pose if world_frame else None,
            collided=collided,
        )
        action = policy.act(observation)
        actions.append(action)
        if isinstance(action, Stop) and stop_ends:
            return ToyRun(poses, actions, True)
        pose, collided = (pose, False) if isinstance(action, Stop) else execute(world, pose, action)
        poses.append(pose)
        if ends(pose):
            break
    return ToyRun(poses, actions, False)


def house() -> ToyWorld:
    """Two rooms (x 0..8, y 0..5) with a door between them at x = 4 and a front door in the wall y = 0; a street in front.

    The front door is in the second room, at x 5.5..6.7. Across the street, at y = -14, stands another building.
    """
    world = ToyWorld()
    world.add(-30.0, -30.0, -0.5, 40.0, 30.0, 0.0)
    world.wall(0.0, 0.0, 8.0, 0.0, height=6.0, gaps=[(5.5, 6.7)])
    world.wall(0.0, 5.0, 8.0, 5.0, height=6.0)
    world.wall(0.0, 0.0, 0.0, 5.0, height=6.0)
    world.wall(8.0, 0.0, 8.0, 5.0, height=6.0)
    world.wall(4.0, 0.0, 4.0, 5.0, height=2.8, gaps=[(3.2, 4.3)])
    world.add(0.0, 0.0, 2.8, 8.0, 5.0, 3.0)
    world.add(-30.0, -16.0, 0.0, 40.0, -14.0, 12.0)
    return world


def two_storeys() -> ToyWorld:
    """A room above a hall (x 0..11.2, y 0..6), joined by dog-leg stairs at x 6..11.2, y 0..2.6; the front door is at x = 0.

    Upstairs is 3.2 m above; the flights have 8 risers each to a half landing, with a wall between them.
    """
    world = ToyWorld()
    riser, tread, landing, lane, spine = 3.2 / 18, 0.29, 1.36, 1.24, 0.12
    start, turn, end, width = 7.5, 7.5 + 8 * tread, 7.5 + 8 * tread + landing, 2 * lane + spine
    world.add(-30.0, -30.0, -0.5, 40.0, 30.0, 0.0)
    world.wall(0.0, 0.0, 0.0, 6.0, height=6.2, gaps=[(3.5, 5.0)], lintel=2.2)
    world.wall(end, 0.0, end, 6.0, height=6.2)
    world.wall(0.0, 0.0, end, 0.0, height=6.2)
    world.wall(0.0, 6.0, end, 6.0, height=6.2)
    world.add(0.0, 0.0, 2.9, start, 6.0, 3.2)
    world.add(start, width, 2.9, end, 6.0, 3.2)
    world.add(0.0, 0.0, 6.1, end, 6.0, 6.2)
    world.add(6.0, width, 0.0, end, width + 0.1, 6.1)
    world.add(start, lane, 0.0, turn, lane + spine, 4.2)
    world.add(start, 0.0, 2.9, start + 0.1, lane, 4.2)
    for i in range(1, 9):
        world.add(start + (i - 1) * tread, 0.0, 0.0, start + i * tread, lane, i * riser)
        z = (9 + i) * riser
        world.add(turn - i * tread, lane + spine, z - 0.26, turn - (i - 1) * tread, width, z)
    world.add(turn, 0.0, 9 * riser - 0.26, end, width, 9 * riser)
    world.add(-30.0, -30.0, 0.0, -20.0, 30.0, 12.0)
    return world
