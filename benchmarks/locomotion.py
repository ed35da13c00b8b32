"""How well Spot walks under physics: the model-based walker and the learned one, side by side.

``python benchmarks/locomotion.py`` measures errors of the velocity, successes on uneven and slippery ground, pushes withstood, and simulated
seconds per second beside MuJoCo stepping the bare robot. ``--trials 100`` takes longer and says more; ``--only stairs-up,speed`` takes less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

import portico.robots.physics as physics
from portico.robots.physics.controller import CONTROL_PERIOD_S, Controller
from portico.robots.physics.legs import LearnedWalker, Walker, standing_joints
from portico.robots.robot_file import LEARNED_WEIGHTS
from portico.seeding import generator

Floats = NDArray[np.float64]
Shape = Callable[[Floats, Floats], Floats]

SEED = 11
CELL_M = 0.05
SPOT = Path(physics.__file__).parent / "models" / "spot.xml"
MAKERS: dict[str, Callable[[mujoco.MjModel], Controller]] = {"model-based": Walker, "learned": LearnedWalker}
COMMANDS = {
    "0.3 m/s": (0.3, 0.0, 0.0),
    "0.5 m/s": (0.5, 0.0, 0.0),
    "1.0 m/s": (1.0, 0.0, 0.0),
    "0.2 m/s sideways": (0.0, 0.2, 0.0),
    "0.5 rad/s": (0.0, 0.0, 0.5),
    "1.0 rad/s": (0.0, 0.0, 1.0),
}


class Arena:
    """A Spot on a height field, x from -1.5 m to 8.5 m."""

    def __init__(self, shape: Shape, friction: float = 0.8) -> None:
        self.x, self.y = -1.5 + CELL_M * np.arange(201), -2.5 + CELL_M * np.arange(101)
        self.height = np.ascontiguousarray(shape(*np.meshgrid(self.x, self.y)) * 1.0)
        spec = mujoco.MjSpec.from_file(str(SPOT))
        ramp = np.linspace(0.0, 1.0, self.height.size).tolist()
        spec.add_hfield(name="ground", nrow=101, ncol=201, size=[5.0, 2.5, 10.0, 1.0], userdata=ramp)
        kind = mujoco.mjtGeom.mjGEOM_HFIELD
        spec.worldbody.add_geom(name="ground", type=kind, hfieldname="ground", pos=[3.5, 0, -5], contype=1, conaffinity=2)
        self.model = spec.compile()
        self.model.hfield_data[:] = ((self.height + 5.0) / 10.0).ravel()
        for leg in ("fl", "fr", "hl", "hr"):
            self.model.geom(f"{leg}_foot").friction[0] = friction
        self.data = mujoco.MjData(self.model)

    def heights(self, points: Floats) -> Floats:
        """Bilinear heights at points (N, 2)."""
        out = np.empty(len(points))
        _interpolate(self.height, points, out)
        return out

    def place(self, x: float, y: float, yaw: float) -> None:
        """Stand there at rest."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:3] = x, y, self.heights(np.array([[x, y]]))[0] + 0.51
        self.data.qpos[3:7] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
        self.data.qpos[7:] = standing_joints()
        self.data.ctrl[:] = self.data.qpos[7:]
        mujoco.mj_forward(self.model, self.data)

    def pose(self) -> tuple[float, float, float, float]:
        """x, y, yaw and the cosine of the tilt."""
        w, i, j, k = self.data.qpos[3:7]
        return self.data.qpos[0], self.data.qpos[1], np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k)), 1 - 2 * (i * i + j * j)


@njit(cache=True)
def _interpolate(height, points, out):  # type: ignore[no-untyped-def]
    for n in range(points.shape[0]):
        u, v = min(max((points[n, 0] + 1.5) / CELL_M, 0.0), 199.999), min(max((points[n, 1] + 2.5) / CELL_M, 0.0), 99.999)
        i, j = int(u), int(v)
        u, v = u - i, v - j
        out[n] = (1 - v) * ((1 - u) * height[j, i] + u * height[j, i + 1]) + v * ((1 - u) * height[j + 1, i] + u * height[j + 1, i + 1])


def flat(x: Floats, y: Floats) -> Floats:
    """Level ground."""
    return 0.0 * x


def stairs(rng: np.random.Generator, sign: float) -> Shape:
    """Ten steps of 0.165 to 0.18 m, treads of 0.29 m."""
    rise, begin = sign * rng.choice([0.165, 0.17, 0.175, 0.18]), rng.uniform(1.0, 1.3)
    return lambda x, y: rise * np.clip(np.floor((x - begin) / 0.29) + 1, 0, 10)


def curb(rng: np.random.Generator, sign: float) -> Shape:
    """A curb of 0.2 m that the robot meets at an angle."""
    begin, slant = rng.uniform(1.2, 1.8), rng.uniform(-0.4, 0.4)
    return lambda x, y: sign * 0.2 * (x > begin + slant * y)


def slope(rng: np.random.Generator, degrees: float) -> Shape:
    """A ramp of 4 m."""
    grade = np.tan(np.deg2rad(degrees))
    return lambda x, y: grade * np.clip(x - 1.0, 0.0, 4.0)


def rough(rng: np.random.Generator) -> Shape:
    """Every vertex up to 4 cm up or down."""
    noise_seed = int(rng.integers(2**31))
    return lambda x, y: np.random.default_rng(noise_seed).uniform(-0.04, 0.04, x.shape) * (x > 0.8)


#: Ground, and the friction of the feet.
CASES: dict[str, tuple[Callable[[np.random.Generator], Shape], float]] = {
    "stairs-up": (partial(stairs, sign=1.0), 0.8),
    "stairs-down": (partial(stairs, sign=-1.0), 0.8),
    "curb-up": (partial(curb, sign=1.0), 0.8),
    "curb-down": (partial(curb, sign=-1.0), 0.8),
    "slope-10-up": (partial(slope, degrees=10.0), 0.8),
    "slope-10-down": (partial(slope, degrees=-10.0), 0.8),
    "slope-20-up": (partial(slope, degrees=20.0), 0.8),
    "slope-20-down": (partial(slope, degrees=-20.0), 0.8),
    "rough": (rough, 0.8),
    **{f"flat-friction-{mu}": (lambda rng: flat, mu) for mu in (0.3, 0.5, 0.8, 1.0)},
    **{f"slope-10-friction-{mu}": (partial(slope, degrees=10.0), mu) for mu in (0.3, 0.5, 0.8, 1.0)},
}


def cross(name: str, make: Callable[[mujoco.MjModel], Controller], trial: int) -> tuple[bool, bool]:
    """Walk from the start over what lies on the way to x = 5.5 m at 0.4 to 0.7 m/s; whether it got there, and whether it fell."""
    rng = generator(SEED, name, trial)
    shape, friction = CASES[name]
    arena = Arena(shape(rng), friction)
    arena.place(rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3))
    speed = rng.uniform(0.4, 0.7)
    controller = make(arena.model)
    controller.reset(arena.data)
    for _ in range(round(40.0 / CONTROL_PERIOD_S)):
        x, y, yaw, upright = arena.pose()
        if upright < 0.7 or x > 5.5:
            break
        back = float(np.clip(-1.5 * yaw - 0.5 * y, -0.8, 0.8))
        controller.control(arena.data, np.array([speed, 0.0, back]), arena.heights)
        mujoco.mj_step(arena.model, arena.data, 4)
    return x > 5.5, upright < 0.7


def course(rng: np.random.Generator) -> Shape:
    """A corridor of 1.8 m between walls: a curb, five steps up and five down."""
    rise = rng.choice([0.165, 0.17, 0.175, 0.18])

    def shape(x: Floats, y: Floats) -> Floats:
        steps = np.clip(np.floor((x - 3.2) / 0.29) + 1, 0, 5) - np.clip(np.floor((x - 5.6) / 0.29) + 1, 0, 5)
        return 0.2 * ((x > 1.0) & (x < 2.0)) + rise * steps + 1.2 * (np.abs(y) > 0.9)

    return shape


def patrol(make: Callable[[mujoco.MjModel], Controller], trial: int) -> tuple[bool, float]:
    """Walk the course to and fro for 100 s at up to 0.72 m/s; whether the robot fell, and the metres it walked."""
    rng = generator(SEED, "patrol", trial)
    arena = Arena(course(rng), rng.choice([0.5, 0.8, 1.0]))
    arena.place(rng.uniform(-0.3, 0.3), rng.uniform(-0.2, 0.2), rng.uniform(-0.3, 0.3))
    controller, outwards, walked, last = make(arena.model), True, 0.0, np.zeros(2)
    controller.reset(arena.data)
    for k in range(round(100.0 / CONTROL_PERIOD_S)):
        x, y, yaw, upright = arena.pose()
        if upright < 0.7:
            return True, walked
        outwards = x < 7.8 if outwards else x < 0.0
        aim = -0.8 * float(np.clip(y, -0.5, 0.5)) if outwards else np.pi + 0.8 * float(np.clip(y, -0.5, 0.5))
        off = float((aim - yaw + np.pi) % (2.0 * np.pi) - np.pi)
        ahead = 0.72 * np.cos(off) ** 2 if abs(off) < 1.0 else 0.0
        controller.control(arena.data, np.array([ahead, 0.0, np.clip(1.6 * off, -1.5, 1.5)]), arena.heights)
        mujoco.mj_step(arena.model, arena.data, 4)
        if k % 25 == 0:
            walked += float(np.hypot(x - last[0], y - last[1])) if k else 0.0
            last = np.array([x, y])
    return False, walked


def turn(make: Callable[[mujoco.MjModel], Controller], sign: float, trial: int) -> bool:
    """Turn by 35 to 160 degrees in the middle of stairs, some on the spot and some walking, then stand; whether the robot fell."""
    rng = generator(SEED, "turn", trial)
    arena = Arena(stairs(rng, sign))
    arena.place(0.0, rng.uniform(-0.3, 0.3), 0.0)
    controller = make(arena.model)
    controller.reset(arena.data)
    at, by, speed = rng.uniform(2.0, 3.0), (0.6, 1.5, 2.8)[trial % 3], float(rng.choice([0.0, 0.5]))
    side, turning, standing = float(rng.choice([-1.0, 1.0])), 0, 0
    for _ in range(1400):
        x, y, yaw, upright = arena.pose()
        if upright < 0.7:
            return True
        turning += x > at or turning > 0
        standing += abs(yaw) > by or turning > 400 or standing > 0
        command = (0.6, 0.0, float(np.clip(-1.5 * yaw - 0.5 * y, -0.8, 0.8)))
        if turning:
            command = (0.0, 0.0, 0.0) if standing else (speed, 0.0, 1.5 * side)
        controller.control(arena.data, np.array(command), arena.heights)
        mujoco.mj_step(arena.model, arena.data, 4)
        if standing > 150:
            break
    return False


def track(make: Callable[[mujoco.MjModel], Controller], command: tuple[float, float, float]) -> float:
    """Share by which the mean velocity over 6 s misses the command, the first 1.5 s left out."""
    arena = Arena(flat)
    arena.place(0.0, 0.0, 0.0)
    controller, rows = make(arena.model), []
    controller.reset(arena.data)
    for _ in range(375):
        controller.control(arena.data, np.array(command), arena.heights)
        mujoco.mj_step(arena.model, arena.data, 4)
        rows.append(arena.pose()[:3])
    track = np.array(rows)[75:]
    yaw, step = np.unwrap(track[:, 2]), np.diff(track[:, :2], axis=0)
    c, s = np.cos(yaw[:-1]), np.sin(yaw[:-1])
    moved = np.array([(c * step[:, 0] + s * step[:, 1]).sum(), (c * step[:, 1] - s * step[:, 0]).sum(), yaw[-1] - yaw[0]])
    velocity = moved / (len(step) * CONTROL_PERIOD_S)
    return float(np.linalg.norm(velocity - command) / np.linalg.norm(command))


def push(make: Callable[[mujoco.MjModel], Controller], impulse_ns: float, trial: int) -> bool:
    """Whether a robot that walks at 0.5 m/s withstands a push of 0.1 s from any side."""
    rng = generator(SEED, "push", trial)
    arena = Arena(flat)
    arena.place(0.0, 0.0, 0.0)
    controller = make(arena.model)
    controller.reset(arena.data)
    side, begin = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(1.5, 2.2)
    for k in range(250):
        now = k * CONTROL_PERIOD_S
        arena.data.xfrc_applied[1, :2] = np.array([np.cos(side), np.sin(side)]) * impulse_ns / 0.1 * (begin <= now < begin + 0.1)
        controller.control(arena.data, np.array([0.5, 0.0, 0.0]), arena.heights)
        mujoco.mj_step(arena.model, arena.data, 4)
        if arena.pose()[3] < 0.7:
            return False
    return True


def speed(make: Callable[[mujoco.MjModel], Controller] | None, seconds: float = 20.0) -> tuple[float, float]:
    """Simulated seconds per second of this process, and microseconds of one call of the controller; without one: standing."""
    arena = Arena(flat)
    arena.place(0.0, 0.0, 0.0)
    controller = make(arena.model) if make else None
    if controller:
        controller.reset(arena.data)
        controller.control(arena.data, np.array([0.2, 0.0, 0.3]), arena.heights)
    steps, controlling, began = round(seconds / CONTROL_PERIOD_S), 0.0, time.process_time()
    for _ in range(steps):
        if controller:
            before = time.process_time()
            controller.control(arena.data, np.array([0.2, 0.0, 0.3]), arena.heights)
            controlling += time.process_time() - before
        mujoco.mj_step(arena.model, arena.data, 4)
    return seconds / (time.process_time() - began), 1e6 * controlling / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--only", default="", help="names of rows, separated by commas: tracking, patrol, turn, push, speed or a kind of ground")
    parser.add_argument("--controllers", default=",".join(MAKERS))
    options = parser.parse_args()
    makers = {name: MAKERS[name] for name in options.controllers.split(",")}
    if "learned" in makers and not LEARNED_WEIGHTS.is_file():
        print(f"no trained weights at {LEARNED_WEIGHTS.name}: the learned walker is left out; train it with training/locomotion.py")
        del makers["learned"]
    chosen = set(filter(None, options.only.split(",")))
    print(f"{'':<28}" + "".join(f"{name:>22}" for name in makers), flush=True)
    if not chosen or "tracking" in chosen:
        for name, command in COMMANDS.items():
            print(f"{'error at ' + name:<28}" + "".join(f"{track(make, command):>22.1%}" for make in makers.values()), flush=True)
    for name in CASES:
        if not chosen or name in chosen:
            cells = []
            for make in makers.values():
                ends = [cross(name, make, trial) for trial in range(options.trials)]
                there, fallen = sum(e[0] for e in ends), sum(e[1] for e in ends)
                cells.append(f"{there}/{options.trials}, {fallen} fell")
            print(f"{name:<28}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    if not chosen or "patrol" in chosen:
        cells = []
        for make in makers.values():
            ends = [patrol(make, trial) for trial in range(options.trials)]
            cells.append(f"{sum(e[0] for e in ends)} falls in {sum(e[1] for e in ends):.0f} m")
        print(f"{'100 s of stairs and curbs':<28}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    for direction, sign in (("up", 1.0), ("down", -1.0)):
        if not chosen or "turn" in chosen:
            fell = [sum(turn(make, sign, trial) for trial in range(options.trials)) for make in makers.values()]
            print(f"{f'turning on stairs {direction}':<28}" + "".join(f"{f'{n}/{options.trials} fell':>22}" for n in fell), flush=True)
    if not chosen or "push" in chosen:
        for impulse in (15.0, 30.0, 45.0):
            stood = [sum(push(make, impulse, trial) for trial in range(options.trials)) for make in makers.values()]
            print(f"{f'pushed by {impulse:.0f} N s':<28}" + "".join(f"{f'{n}/{options.trials} stand':>22}" for n in stood), flush=True)
    if not chosen or "speed" in chosen:
        bare, _ = speed(None)
        rates = [speed(make) for make in makers.values()]
        print(f"{'MuJoCo alone, x real time':<28}" + "".join(f"{bare:>22.0f}" for _ in rates))
        print(f"{'x real time':<28}" + "".join(f"{rate:>22.0f}" for rate, _ in rates))
        print(f"{'ratio':<28}" + "".join(f"{rate / bare:>22.2f}" for rate, _ in rates))
        print(f"{'controller, us a call':<28}" + "".join(f"{micros:>22.0f}" for _, micros in rates), flush=True)


if __name__ == "__main__":
    main()
