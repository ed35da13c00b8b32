"""How fast satellite maps are flown over: camera crops, steps, what the evaluator adds, and loading many episodes.

    python benchmarks/aerial.py [--size 10240] [--frames 400] [--rounds 5]

Crops are 448 x 448 pixels, heading up, from 50 m over a raster of 0.3 m a pixel in web Mercator. Beside them stands what a user would write
with rasterio: read the window around the turned footprint, warp it onto the camera's grid. Both go along the same flights, in turn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rasterio
from rasterio.warp import Resampling, reproject

from portico.build.aerial.raster_file import write_raster
from portico.evaluate.episode import run_episode
from portico.evaluate.records import Key
from portico.evaluate.scoring import scored, scoring_context
from portico.geometry import Pose
from portico.interface import ActionSpace, Move, Stop
from portico.policies import create
from portico.render.aerial import AerialRenderer
from portico.robots import Flyer, embodiment
from portico.sim import Simulator
from portico.tasks import Budget, Episode, Reference, StageSpec, Start
from portico.world import SPHERE, Appearance, GeographicOrigin, Manifest, Provenance, Semantics, World, no_geometry
from portico.world.raster import GeoGrid

_TRANSFORM = (0.3, 0.0, 890_000.0, 0.0, -0.3, 5_950_000.0)
_CRS = "EPSG:3857"
_LOAD = """
import resource, sys, time
from pathlib import Path
from portico.episodes.satnav.reader import list_episodes
list_episodes(Path(sys.argv[1]))
before, began, used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter(), time.process_time()
found = list_episodes(Path(sys.argv[2]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(found), time.perf_counter() - began, time.process_time() - used, (peak - before) / 1024)
"""


def big_world(size: int) -> World:
    """A square raster with detail in it: soft shapes and grain, as imagery has."""
    rng = np.random.default_rng(0)
    soft = np.kron(rng.integers(40, 200, (64, size // 64 + 1)), np.ones((8, 64), np.int64))[:, :size]

    def strips():  # type: ignore[no-untyped-def]
        for row in range(0, size, 512):
            rows = min(512, size - row)
            strip = np.empty((rows, size, 4), np.uint8)
            grain = rng.integers(0, 12, (rows, size))
            for k in range(3):
                strip[:, :, k] = np.roll(soft, row + 37 * k, axis=1)[:rows] + grain
            strip[:, :, 3] = 255
            yield strip

    raster = write_raster(strips(), size, size, _CRS, _TRANSFORM)
    lon, lat = raster.grid.to_degrees([[0.5 * size, 0.5 * size]])[0].tolist()
    manifest = Manifest(
        id="bench", kind="aerial", provenance=Provenance(source="benchmark", licence="CC0-1.0"), origin=GeographicOrigin(latitude_deg=lat, longitude_deg=lon)
    )
    return World(manifest, no_geometry(), Appearance((), raster=raster), Semantics())


def flights(grid: GeoGrid, frames: int, seed: int) -> list[Pose]:
    """Poses of flights of 50 steps from random starts, a turn of 15 degrees every third step."""
    rng, poses = np.random.default_rng(seed), []
    while len(poses) < frames:
        lon, lat = grid.to_degrees([rng.uniform(0.2, 0.8, 2) * grid.width])[0].tolist()
        yaw = float(rng.uniform(-np.pi, np.pi))
        for step in range(50):
            poses.append(Pose(lon, lat, 50.0, yaw))
            if step % 3 == 2:
                yaw += float(rng.choice([-1.0, 1.0])) * np.deg2rad(15.0)
            else:
                lon, lat = SPHERE.moved(lon, lat, yaw, 10.0)
    return poses[:frames]


def with_portico(renderer: AerialRenderer, poses: list[Pose]) -> float:
    """Frames per second."""
    camera = embodiment("flyer").cameras[0]
    begin = time.perf_counter()
    for pose in poses:
        renderer.render(pose.matrix() @ camera.T_base_camera(), camera, ("rgb",))
    return len(poses) / (time.perf_counter() - begin)


def with_rasterio(path: Path, grid: GeoGrid, poses: list[Pose]) -> float:
    """Frames per second of a windowed read and a warp."""
    side, out = 448, np.empty((3, 448, 448), np.uint8)
    with rasterio.open(path) as file:
        crs = file.crs
        begin = time.perf_counter()
        for pose in poses:
            at, slopes = grid.around(pose.x, pose.y)
            metres = 50.0 * np.hypot(*slopes[0])  # half the footprint in source pixels
            reach = int(metres * 1.42) + 2
            column, row = int(at[0]) - reach, int(at[1]) - reach
            source = file.read([1, 2, 3], window=((row, row + 2 * reach), (column, column + 2 * reach)))
            src = file.transform @ rasterio.Affine.translation(column, row)
            heading = np.rad2deg(np.pi / 2 - pose.yaw_rad)
            dst = (
                file.transform
                @ rasterio.Affine.translation(*at)
                @ rasterio.Affine.rotation(heading)
                @ rasterio.Affine.scale(2.0 * metres / side)
                @ rasterio.Affine.translation(-side / 2, -side / 2)
            )
            reproject(source, out, src_transform=src, src_crs=crs, dst_transform=dst, dst_crs=crs, resampling=Resampling.bilinear)
        return len(poses) / (time.perf_counter() - begin)


def agreement(world: World, poses: list[Pose]) -> float:
    """Mean absolute difference of the two pictures of some poses: both must show the same."""
    grid, camera, renderer = world.raster.grid, embodiment("flyer").cameras[0], AerialRenderer(world)
    found = []
    for pose in poses:
        mine = renderer.render(pose.matrix() @ camera.T_base_camera(), camera, ("rgb",)).rgb
        out = np.empty((3, 448, 448), np.uint8)
        at, slopes = grid.around(pose.x, pose.y)
        metres = 50.0 * np.hypot(*slopes[0])
        reach = int(metres * 1.42) + 2
        column, row = int(at[0]) - reach, int(at[1]) - reach
        with rasterio.open(world.raster.path) as file:
            source = file.read([1, 2, 3], window=((row, row + 2 * reach), (column, column + 2 * reach)))
            turn = (
                rasterio.Affine.rotation(np.rad2deg(np.pi / 2 - pose.yaw_rad))
                @ rasterio.Affine.scale(2.0 * metres / 448)
                @ rasterio.Affine.translation(-224, -224)
            )
            dst = file.transform @ rasterio.Affine.translation(*at) @ turn
            src = file.transform @ rasterio.Affine.translation(column, row)
            reproject(source, out, src_transform=src, src_crs=file.crs, dst_transform=dst, dst_crs=file.crs, resampling=Resampling.bilinear)
        found.append(np.abs(mine.astype(int) - out.transpose(1, 2, 0)).mean())
    return float(np.mean(found))


def steps_per_second(world: World, count: int) -> tuple[float, float]:
    """Simulated steps per second with a picture each, and without any."""
    body, moves, rates = embodiment("flyer"), ActionSpace(step_m=10.0), []
    lon, lat = world.raster.grid.to_degrees([[0.5 * world.raster.info.width] * 2])[0].tolist()
    for needs in (frozenset({"rgb", "odometry"}), frozenset({"odometry"})):
        simulator = Simulator(world, body, track="aerial", needs=needs, robot=Flyer(world, body, moves))
        simulator.reset(_episode(world, lon, lat, 10 * count))
        begin = time.perf_counter()
        for step in range(count):
            simulator.step(Move("turn_left" if step % 5 == 4 else "forward"))
        rates.append(count / (time.perf_counter() - begin))
    return rates[0], rates[1]


def evaluator_ms(world: World, count: int) -> float:
    """Milliseconds that an episode of 50 moves costs besides its pictures and its policy: simulation, judgement, scores, record."""
    body, policy = embodiment("flyer"), _Fifty()
    simulator = Simulator(world, body, track="aerial", needs=frozenset({"odometry"}), robot=Flyer(world, body, ActionSpace(step_m=10.0)))
    lon, lat = world.raster.grid.to_degrees([[0.5 * world.raster.info.width] * 2])[0].tolist()
    episode = _episode(world, lon, lat, 500)
    context = scoring_context(simulator.annotations, body, simulator.space)
    times = []
    for n in range(count + 2):
        begin = time.perf_counter()
        rollout = run_episode(simulator, policy, episode, key="e", seed=n)
        json.dumps(scored(Key("s", "eval", world.id, "e"), "fifty", [], episode, rollout.trajectory, context))
        times.append(time.perf_counter() - begin)
    return 1000.0 * statistics.median(times[2:])


class _Fifty:
    """Fifty moves and a STOP."""

    spec = create("stop").spec

    def reset(self, brief: object) -> None:
        self._left = 50

    def act(self, observation: object) -> Move | Stop:
        self._left -= 1
        return Stop() if self._left < 0 else Move("forward" if self._left % 3 else "turn_left")

    def close(self) -> None:
        pass


def _episode(world: World, lon: float, lat: float, budget: int) -> Episode:
    path = [(*SPHERE.at_offset([lon, lat], [20.0 * k, 0.0]).tolist(), 50.0) for k in range(16)]
    return Episode(
        id="e",
        world=world.id,
        task="route",
        embodiment="flyer",
        start=Start(position=path[0], yaw_rad=0.0),
        stages=[StageSpec(kind="route", goal=path[-1])],
        reference=Reference(path=path, length_m=300.0, stage_ends=[15]),
        budget=Budget(max_actions=budget),
    )


def write_episodes(path: Path, count: int) -> None:
    """A SatNav file of that many episodes of 25 points each."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write('{"episodes": [')
        for n in range(count):
            way = np.round(np.column_stack([8.0 + np.cumsum(rng.random(25)) * 1e-4, 47.0 + np.cumsum(rng.random(25)) * 1e-4, np.full(25, 50.0)]), 9).tolist()
            text = "Follow the road for a while, turn left at the second junction and go on to the bridge. " * 2
            episode = {"episode_id": n, "trajectory_id": n // 3, "trajectory_type": "Road", "trajectory_subtype": "road", "scene_id": f"Town-{n % 59}"}
            episode |= {"start_position": way[0], "start_rotation": 54.75, "goals": [{"position": way[-1]}], "waypoints": way[::8], "reference_path": way}
            file.write((", " if n else "") + json.dumps(episode | {"instruction": {"instruction_text": text, "instruction_type": "natural"}, "aux_info": {}}))
        file.write("]}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed over satellite maps.")
    parser.add_argument("--size", type=int, default=10_240)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=100_000)
    options = parser.parse_args()
    world = big_world(options.size)
    info, grid = world.raster.info, world.raster.grid
    print(f"raster {info.width} x {info.height}, {info.size_bytes / 2**20:.0f} MiB; one thread each\n")
    renderer = AerialRenderer(world)
    print(f"both show the same to {agreement(world, flights(grid, 6, 99)):.2f} of 255 on average")
    with_portico(renderer, flights(grid, 5, 98))
    rates: dict[str, list[float]] = {"portico": [], "rasterio read + warp": []}
    for n in range(options.rounds):
        poses = flights(grid, options.frames, n)
        rates["portico"].append(with_portico(renderer, poses))
        rates["rasterio read + warp"].append(with_rasterio(world.raster.path, grid, poses))
    print(f"{'crops per second':<28}{'median':>10}{'worst':>10}")
    for name, found in rates.items():
        print(f"{name:<28}{statistics.median(found):>10.0f}{min(found):>10.0f}")
    ratio = statistics.median(a / b for a, b in zip(*rates.values(), strict=True))
    print(f"{'times as fast (goal 5)':<28}{ratio:>10.1f}\n")
    seen, blind = steps_per_second(world, 300)
    print(f"steps per second and core: {seen:,.0f} with a picture each, {blind:,.0f} without")
    print(f"evaluator, an episode of 50 moves: {evaluator_ms(world, 20):.1f} ms\n")
    with tempfile.TemporaryDirectory() as folder:
        small, big = Path(folder) / "small.json", Path(folder) / "big.json"
        write_episodes(small, 10)
        write_episodes(big, options.episodes)
        done = subprocess.run([sys.executable, "-c", _LOAD, str(small), str(big)], capture_output=True, text=True, check=True).stdout.split()
        print(
            f"{int(done[0]):,} episodes, {big.stat().st_size / 2**20:.0f} MiB: listed in {float(done[1]):.2f} s ({float(done[2]):.2f} s of one core; goal 2 s), {float(done[3]):.0f} MiB more memory"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
