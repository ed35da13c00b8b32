import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_scenes import GREY, RED, add_box, add_ground, camera_pose, clutter, finish
from slow_raycast import away_from_edges, raycast

from portico.build.primitives import quad
from portico.build.scene import Scene
from portico.geometry import rotation_z, transform
from portico.interface import Camera
from portico.render import Renderer
from portico.world import Geometry, Surface, World

CAMERA = Camera(width=64, height=48, z=1.2, pitch_rad=0.15)


def assert_agrees(world: World, T: np.ndarray, camera: Camera, most_differing: float = 0.02) -> None:
    """Depth to 1e-4 and instance exactly, but for pixels on the outline of things, where rounding decides."""
    frame = Renderer(world).render(T, camera, {"depth", "instance"})
    depth, face = raycast(world, T, camera)
    instance = np.where(face >= 0, world.geometry.instance[face], 0)
    inner = away_from_edges(instance)
    np.testing.assert_array_equal(frame.instance[inner], instance[inner])
    assert np.mean(frame.instance != instance) <= most_differing
    same = (frame.instance == instance) & away_from_edges(face)
    np.testing.assert_allclose(frame.depth[same], depth[same], rtol=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("yaw_rad", [0.0, 2.1, -1.3])
def test_agrees_with_ray_casting_on_cluttered_scenes(seed: int, yaw_rad: float) -> None:
    assert_agrees(clutter(seed), camera_pose(CAMERA, yaw_rad=yaw_rad), CAMERA)


@pytest.mark.parametrize("pitch_rad", [-0.9, 0.0, 0.6, 1.5])
def test_huge_ground_under_the_camera_is_cut_at_the_near_plane(pitch_rad: float) -> None:
    scene = Scene()
    add_ground(scene, 2000.0)
    camera = Camera(width=64, height=48, z=0.3, pitch_rad=pitch_rad)
    assert_agrees(finish(scene), camera_pose(camera, 0.3, 0.7, 0.4), camera)


def test_triangle_that_passes_through_the_camera_plane() -> None:
    scene = Scene()
    corners = [[-3.0, -1.0, 0.2], [5.0, -0.6, 0.2], [5.0, -0.6, 2.0], [-3.0, -1.0, 2.0]]
    scene.add_mesh(*quad(*corners), surface=Surface.WALL, material=scene.material("wall", GREY), instance=scene.instance("wall"))
    assert_agrees(finish(scene), camera_pose(CAMERA), CAMERA)


def test_corner_exactly_in_the_camera_plane_does_not_disturb_the_frame() -> None:
    scene = Scene()
    scene.add_mesh([[0, 0, 0], [2, 1, 0], [2, -1, 0]], [[0, 1, 2]], surface=Surface.FLOOR, material=scene.material("m", RED), instance=scene.instance("a"))
    camera = Camera(width=64, height=48, z=0.5)
    assert_agrees(finish(scene), camera_pose(camera), camera)


def test_neighbouring_triangles_leave_no_crack_and_fill_no_pixel_twice() -> None:
    """A wall of irregular triangles that covers the picture: every pixel at the wall's depth."""
    rng = np.random.default_rng(7)
    cells = 24
    y, z = np.meshgrid(np.linspace(-4, 4, cells), np.linspace(-4, 4, cells), indexing="ij")
    jitter = rng.uniform(-0.1, 0.1, (2, cells, cells))
    points = np.stack([np.full_like(y, 3.0), y + jitter[0], z + jitter[1]], axis=-1).reshape(-1, 3)
    corner = (np.arange(cells - 1)[:, None] * cells + np.arange(cells - 1)).ravel()
    faces = np.concatenate([np.stack([corner, corner + cells, corner + cells + 1], 1), np.stack([corner, corner + cells + 1, corner + 1], 1)])
    scene = Scene()
    scene.add_mesh(points, faces, surface=Surface.WALL, material=scene.material("wall", GREY), instance=scene.instance("wall"))
    camera = Camera(width=320, height=240, z=0.0)
    frame = Renderer(finish(scene)).render(camera_pose(camera), camera, {"depth"})
    np.testing.assert_allclose(frame.depth, 3.0, rtol=1e-6)


def test_what_is_hidden_behind_a_wall_is_skipped_and_changes_nothing() -> None:
    alone, crowded = Scene(), Scene()
    for scene in (alone, crowded):
        add_box(scene, [3, 0, 0], [0.2, 40, 40], RED, "wall")
    rng = np.random.default_rng(1)
    for _ in range(800):
        add_box(crowded, [rng.uniform(5, 40), rng.uniform(-20, 20), rng.uniform(-3, 3)], rng.uniform(0.1, 1.0, 3), GREY, "clutter")
    camera = Camera(width=160, height=120, z=0.0)
    frames = [Renderer(finish(scene)).render(camera_pose(camera), camera, {"depth", "rgb"}) for scene in (alone, crowded)]
    np.testing.assert_array_equal(frames[0].depth, frames[1].depth)
    np.testing.assert_array_equal(frames[0].rgb, frames[1].rgb)


def test_coplanar_surfaces_show_the_later_one_without_speckle() -> None:
    scene = Scene()
    add_ground(scene, 100.0)
    paint = scene.instance("paint")
    corners = [[2, -3, 0], [30, -3, 0], [30, 3, 0], [2, 3, 0]]
    scene.add_mesh(*quad(*corners), surface=Surface.CROSSWALK, material=scene.material("paint", RED), instance=paint)
    camera = Camera(width=160, height=120, z=0.5)
    frame = Renderer(finish(scene)).render(camera_pose(camera, yaw_rad=0.01), camera, {"instance", "depth"})
    expected_depth, _ = raycast(finish(scene), camera_pose(camera, yaw_rad=0.01), camera)
    column = frame.instance[:, 80]
    assert set(np.unique(column[np.isfinite(expected_depth[:, 80])])) == {1, paint}
    assert np.count_nonzero(np.diff((column == paint).astype(int))) == 2


def test_paint_five_millimetres_over_the_road_stays_whole_in_the_distance() -> None:
    scene = Scene()
    add_ground(scene, 300.0)
    paint = scene.instance("paint")
    corners = [[5, -20, 0.005], [150, -20, 0.005], [150, 20, 0.005], [5, 20, 0.005]]
    scene.add_mesh(*quad(*corners), surface=Surface.CROSSWALK, material=scene.material("paint", RED), instance=paint)
    camera = Camera(width=320, height=240, z=0.4)
    frame = Renderer(finish(scene)).render(camera_pose(camera), camera, {"instance"})
    runs = [np.count_nonzero(np.diff((row == paint).astype(int))) for row in frame.instance]
    assert max(runs) <= 2


@settings(max_examples=15)
@given(turn_rad=st.floats(-3.1, 3.1), x=st.floats(-50, 50), y=st.floats(-50, 50), seed=st.integers(0, 3))
def test_moving_world_and_camera_together_leaves_depth_as_it_was(turn_rad: float, x: float, y: float, seed: int) -> None:
    world = clutter(seed)
    move = transform(rotation_z(turn_rad), np.array([x, y, 0.0]))
    vertices = (world.geometry.vertices.astype(np.float64) @ move[:3, :3].T + move[:3, 3]).astype(np.float32)
    g = world.geometry
    moved = World(world.manifest, Geometry(vertices, g.faces, g.surface, g.instance, g.material, g.indoor, g.uv, g.collides), world.appearance, world.semantics)
    T = camera_pose(CAMERA, yaw_rad=0.3)
    before, after = (Renderer(w).render(pose, CAMERA, {"depth", "instance"}) for w, pose in ((world, T), (moved, move @ T)))
    same = away_from_edges(before.instance) & away_from_edges(after.instance)
    assert same.mean() > 0.5
    np.testing.assert_allclose(after.depth[same], before.depth[same], rtol=2e-3)
