"""Frames per second at 640 x 480 with rgb, depth and instance: Portico, MuJoCo's renderer, and OpenGL on Mesa.

    python benchmarks/rendering.py [--rounds 10]

Every contestant runs in a process of its own, one after the other, on the same triangles and poses, and hands over arrays in
memory. MuJoCo gets one mesh geom per colour (fewer, larger meshes suit it best), shadows and reflections off, and needs one
pass each for colour, depth and segmentation. OpenGL gets one static vertex buffer and writes all three in one pass; its
figure includes reading the images back. Both need system libraries (EGL or OSMesa); without them they are skipped and the reason is shown.
Portico needs neither, and it alone looks up textures and casts shadows here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from portico.build.primitives import box
from portico.build.scene import Scene
from portico.geometry import Pose
from portico.interface import Camera
from portico.render import Renderer
from portico.seeding import generator
from portico.world import Provenance, Surface, World, load, save

CAMERA = Camera(width=640, height=480, hfov_rad=float(np.deg2rad(60.0)), z=0.0)
SMALL = CAMERA.resized(160, 120)
FAR_M = 1500.0
Frames = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def field(boxes: int = 25_000, cells: int = 300, side_m: float = 1000.0) -> World:
    """Boxes like a city's, each an instance, on rolling terrain: 12 boxes + 2 cells^2 triangles, 480,000 by default."""
    rng, scene = generator("benchmark", "rendering", "field"), Scene()
    x, y = np.meshgrid(*(np.linspace(-side_m / 2, side_m / 2, cells + 1),) * 2, indexing="ij")
    first = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    faces = np.concatenate([np.stack([first, first + cells + 1, first + cells + 2], 1), np.stack([first, first + cells + 2, first + 1], 1)])
    ground = scene.material("ground", (0.35, 0.40, 0.30))
    vertices = np.stack([x, y, terrain(x, y)], -1).reshape(-1, 3)
    scene.add_mesh(vertices, faces, surface=Surface.OPEN_AREA, material=ground, instance=scene.instance("ground"))
    colors = [scene.material(f"color {k}", tuple(rng.uniform(0.25, 0.85, 3))) for k in range(12)]
    columns = int(np.ceil(np.sqrt(boxes)))
    lot_m = side_m / columns
    for k in range(boxes):
        cx, cy = (np.array(divmod(k, columns)) + rng.uniform(0.3, 0.7, 2)) * lot_m - side_m / 2
        height = rng.uniform(1, 4) if rng.random() < 0.8 else rng.uniform(6, 25)
        mesh = box([cx, cy, terrain(cx, cy) - 0.5 + height / 2], [*rng.uniform(0.25, 0.45, 2) * lot_m, height], rng.uniform(0, np.pi))
        scene.add_mesh(*mesh, surface=Surface.WALL, material=colors[k % 12], instance=scene.instance("building"))
    return scene.world("field", "outdoor", Provenance(source="benchmark", licence="CC0-1.0"))


def terrain(x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
    return 3.0 * np.sin(np.asarray(x) / 90.0) * np.cos(np.asarray(y) / 70.0) + 0.4 * np.sin(np.asarray(x) / 13.0 + np.asarray(y) / 17.0)


def field_poses() -> list[np.ndarray]:
    """Twelve views outwards from a ring, by turns at street height and from 20 m up."""
    poses = []
    for k in range(12):
        bearing = k * np.pi / 6.0
        x, y = 200.0 * np.cos(bearing), 200.0 * np.sin(bearing)
        camera = Camera(pitch_rad=0.0 if k % 2 else 0.35, z=1.5 if k % 2 else 20.0)
        poses.append(Pose(x, y, float(terrain(x, y)), bearing + 0.3).matrix() @ camera.T_base_camera())
    return poses


def block_poses(world: World) -> list[np.ndarray]:
    """Eight views around the outdoor route nodes nearest the middle."""
    nodes = np.array(world.semantics.routes.nodes or [(0.0, 0.0, 0.0)])
    near = nodes[np.argsort(np.linalg.norm(nodes[:, :2], axis=1), kind="stable")[:4]]
    views = [(*near[k % len(near)], yaw) for k, yaw in enumerate(np.arange(8) * np.pi / 4.0)]
    return [Pose(*view).matrix() @ Camera(z=1.2).T_base_camera() for view in views]


def block() -> World | None:
    """The demo block, when its generator is installed."""
    try:
        from portico.build.composite import build_composite
    except ImportError:
        return None
    return build_composite(0)


def portico_frames(world: World) -> Frames:
    renderer = Renderer(world)

    def frame(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen = renderer.render(T, CAMERA, ("rgb", "depth", "instance"))
        return seen.rgb, seen.depth

    return frame


def mujoco_frames(world: World) -> Frames:
    import mujoco

    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = CAMERA.width, CAMERA.height
    spec.visual.global_.fovy = float(np.rad2deg(2.0 * np.arctan(np.tan(CAMERA.hfov_rad / 2) * CAMERA.height / CAMERA.width)))
    spec.stat.extent, spec.visual.map.znear, spec.visual.map.zfar = 1.0, 0.05, FAR_M
    for k, material in enumerate(world.appearance.materials):
        used, corners = np.unique(world.geometry.faces[world.geometry.material == k], return_inverse=True)
        if len(used) < 4:
            continue
        mesh = spec.add_mesh(name=f"mesh {k}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = world.geometry.vertices[used].ravel(), corners.ravel()
        color = [*np.clip(material.color, 0.0, 1.0), 1.0]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"mesh {k}", rgba=color, contype=0, conaffinity=0)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, CAMERA.height, CAMERA.width, max_geom=len(world.appearance.materials) + 100)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE

    def frame(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        forward = T[:3, 2]
        camera.distance, camera.lookat = 1.0, T[:3, 3] + forward
        camera.azimuth, camera.elevation = np.rad2deg(np.arctan2(forward[1], forward[0])), np.rad2deg(np.arcsin(forward[2]))
        renderer.update_scene(data, camera)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SKYBOX):
            renderer.scene.flags[flag] = False
        rgb = renderer.render()
        renderer.enable_depth_rendering()
        depth = renderer.render()
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        renderer.render()
        renderer.disable_segmentation_rendering()
        return rgb, np.where(depth >= 0.99 * FAR_M, np.inf, depth)

    return frame


_VERTEX = """#version 330
uniform mat4 clip; uniform mat4 view; in vec3 position; in vec3 color; in vec3 normal; in int instance;
flat out vec3 shade; flat out int label; out float depth;
void main() { vec4 p = view * vec4(position, 1.0); gl_Position = clip * p; depth = p.z; label = instance;
  shade = color * (0.45 + 0.75 * max(0.0, dot(normal, normalize(vec3(0.4, 0.3, 0.87))))); }"""
_FRAGMENT = """#version 330
flat in vec3 shade; flat in int label; in float depth;
layout(location = 0) out vec4 rgb; layout(location = 1) out int instance; layout(location = 2) out float z;
void main() { rgb = vec4(pow(shade, vec3(1.0 / 2.2)), 1.0); instance = label; z = depth; }"""


def opengl_frames(world: World) -> Frames:
    import moderngl

    context = moderngl.create_context(standalone=True, backend="egl")
    print(f"# {context.info['GL_RENDERER']}", file=sys.stderr)
    size = (CAMERA.width, CAMERA.height)
    targets = [context.texture(size, 4), context.texture(size, 1, dtype="i4"), context.texture(size, 1, dtype="f4")]
    framebuffer = context.framebuffer(targets, context.depth_renderbuffer(size))
    program = context.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
    triangles, geometry = world.geometry.triangles, world.geometry
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    colors = np.array([m.color for m in world.appearance.materials], np.float32)[geometry.material]
    corners = np.concatenate([triangles, np.repeat(colors[:, None], 3, 1), np.repeat(normals[:, None], 3, 1)], axis=2).astype("f4")
    labels = np.repeat(geometry.instance, 3).astype("i4")
    buffers = [(context.buffer(corners.tobytes()), "3f 3f 3f", "position", "color", "normal"), (context.buffer(labels.tobytes()), "1i", "instance")]
    scene = context.vertex_array(program, buffers)
    context.enable(moderngl.DEPTH_TEST)
    fx, fy, near = 2.0 * CAMERA.focal_px / CAMERA.width, 2.0 * CAMERA.focal_px / CAMERA.height, 0.05
    a, b = (FAR_M + near) / (FAR_M - near), -2.0 * FAR_M * near / (FAR_M - near)
    program["clip"].write(np.array([[fx, 0, 0, 0], [0, -fy, 0, 0], [0, 0, a, b], [0, 0, 1, 0]], "f4").T.tobytes())

    def frame(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        program["view"].write(np.linalg.inv(T).astype("f4").T.tobytes())
        framebuffer.use()
        framebuffer.clear()
        scene.render()
        images = [np.frombuffer(framebuffer.read(attachment=k, components=c, dtype=d), t) for k, (c, d, t) in enumerate(_READBACK)]
        depth = images[2].reshape(size[::-1])[::-1]
        return images[0].reshape(*size[::-1], 3)[::-1], np.where(depth == 0.0, np.inf, depth)

    return frame


_READBACK = ((3, "f1", np.uint8), (1, "i4", np.int32), (1, "f4", np.float32))
CONTESTANTS: dict[str, Callable[[World], Frames]] = {"portico": portico_frames, "mujoco": mujoco_frames, "opengl": opengl_frames}


def measure(contestant: str, folder: Path, rounds: int) -> dict[str, float]:
    """Frames per second over all poses; the depth images are kept for comparison."""
    poses = np.load(folder / "poses.npy")
    frame = CONTESTANTS[contestant](load(folder / "world"))
    np.save(folder / f"depth-{contestant}.npy", np.stack([frame(T)[1] for T in poses]))
    return {"fps": 1.0 / seconds_per_frame(frame, poses, rounds)}


def seconds_per_frame(frame: Callable[[np.ndarray], object], poses: Iterable[np.ndarray], rounds: int) -> float:
    """Mean over the poses of each one's best round, which leaves out what other programs took."""
    return float(np.mean([min(timeit.repeat(lambda T=T: frame(T), number=1, repeat=rounds)) for T in poses]))


def in_own_process(contestant: str, folder: Path, rounds: int, environment: dict[str, str]) -> tuple[float | None, str]:
    """Frames per second, or the reason why there are none."""
    command = [sys.executable, __file__, "--contestant", contestant, "--folder", str(folder), "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])["fps"], " ".join(line[2:] for line in done.stderr.splitlines() if line.startswith("# "))
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("Exception ignored")]
    return None, lines[-1][:160] if lines else f"exit {done.returncode}"


def compare(name: str, world: World, poses: list[np.ndarray], rounds: int) -> None:
    """One table: every contestant on one world."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        save(world, folder / "world")
        np.save(folder / "poses.npy", np.stack(poses))
        print(f"\n{name}: {len(world.geometry.faces):,} triangles, {len(poses)} poses, 640 x 480, rgb + depth + instance")
        own, _ = in_own_process("portico", folder, rounds, {})
        print(f"  {'portico':24s} {own or 0.0:8.1f} frames/s")
        for label, contestant, environment in (
            ("mujoco (EGL)", "mujoco", {"MUJOCO_GL": "egl"}),
            ("mujoco (OSMesa)", "mujoco", {"MUJOCO_GL": "osmesa"}),
            ("opengl (EGL)", "opengl", {}),
        ):
            fps, note = in_own_process(contestant, folder, rounds, environment)
            if fps is None or own is None:
                print(f"  {label:24s}  skipped: {note}")
                continue
            print(f"  {label:24s} {fps:8.1f} frames/s   portico is {own / fps:.1f} x   {agreement(folder, contestant)}   {note}")


def agreement(folder: Path, contestant: str) -> str:
    """How far the depth images match, to show that both drew the same thing."""
    ours, theirs = np.load(folder / "depth-portico.npy"), np.load(folder / f"depth-{contestant}.npy")
    with np.errstate(invalid="ignore"):
        close = (np.isinf(ours) & np.isinf(theirs)) | (np.abs(ours - theirs) < 0.01 * ours)
    return f"depth within 1 % at {100.0 * close.mean():.1f} % of pixels"


def own_figures(name: str, world: World, poses: list[np.ndarray], rounds: int) -> None:
    """What a policy's frames cost, milliseconds."""
    begin = time.perf_counter()
    renderer = Renderer(world)
    prepared_s = time.perf_counter() - begin
    print(f"\n{name}: prepared in {prepared_s:.2f} s; milliseconds per frame")
    for camera, channels in ((CAMERA, ("rgb", "depth", "instance")), (CAMERA, ("depth",)), (SMALL, ("depth", "semantic")), (SMALL, ("rgb",))):
        renderer.render(poses[0], camera, channels)
        seconds = seconds_per_frame(lambda T, camera=camera, channels=channels: renderer.render(T, camera, channels), poses, rounds)
        print(f"  {camera.width} x {camera.height} {' + '.join(channels):22s} {1e3 * seconds:7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="how often every pose is timed; its best counts")
    parser.add_argument("--contestant", choices=sorted(CONTESTANTS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        print(json.dumps(measure(options.contestant, options.folder, options.rounds)))
        return
    worlds = [("field", field(), field_poses())]
    town = block()
    if town is not None:
        worlds.insert(0, ("demo block", town, block_poses(town)))
    for name, world, poses in worlds:
        own_figures(name, world, poses, options.rounds)
        compare(name, world, poses, options.rounds)


if __name__ == "__main__":
    main()
