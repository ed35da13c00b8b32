import numba
import numpy as np
import pytest
from render_scenes import BLUE, GREEN, GREY, RED, add_box, add_ground, camera_pose, clutter, finish, red_ahead_green_left
from slow_raycast import pixel_rays

from portico.build.scene import Scene
from portico.errors import UnknownName
from portico.interface import Camera
from portico.render import CHANNELS, Renderer

CAMERA = Camera(width=81, height=61, z=1.0)


def _category(renderer: Renderer, semantic: int) -> str:
    return renderer.world.semantics.categories()[int(semantic)]


def test_yaw_zero_looks_east_and_left_is_north() -> None:
    renderer = Renderer(red_ahead_green_left())
    ahead = renderer.render(camera_pose(CAMERA), CAMERA, {"semantic", "rgb"})
    left = renderer.render(camera_pose(CAMERA, yaw_rad=np.pi / 2), CAMERA, {"semantic", "rgb"})
    assert _category(renderer, ahead.semantic[30, 40]) == "red wall"
    assert _category(renderer, left.semantic[30, 40]) == "green wall"
    assert ahead.rgb[30, 40].argmax() == 0
    assert left.rgb[30, 40].argmax() == 1


def test_what_lies_to_the_left_is_on_the_left_of_the_picture() -> None:
    scene = Scene()
    left = add_box(scene, [5, 1, 1], [1, 1, 1], GREEN, "left")
    right = add_box(scene, [5, -1, 1], [1, 1, 1], RED, "right")
    high = add_box(scene, [5, 0, 3], [1, 1, 1], BLUE, "high")
    frame = Renderer(finish(scene)).render(camera_pose(CAMERA), CAMERA, {"instance"})
    rows, columns = np.indices(frame.instance.shape)
    assert columns[frame.instance == left].mean() < 40 < columns[frame.instance == right].mean()
    assert rows[frame.instance == high].mean() < rows[frame.instance == left].mean()


def test_positive_pitch_looks_down() -> None:
    scene = Scene()
    add_ground(scene)
    renderer = Renderer(finish(scene))
    down, up = Camera(width=81, height=61, z=1.0, pitch_rad=0.5), Camera(width=81, height=61, z=1.0, pitch_rad=-0.5)
    assert renderer.render(camera_pose(down), down, {"depth"}).depth[30, 40] == pytest.approx(1.0 / np.sin(0.5), rel=1e-5)
    assert np.isinf(renderer.render(camera_pose(up), up, {"depth"}).depth[30, 40])


def test_depth_of_a_wall_across_the_axis_is_its_distance_everywhere() -> None:
    scene = Scene()
    add_box(scene, [7.25 + 0.5, 0, 0], [1, 200, 200], GREY, "wall")
    frame = Renderer(finish(scene)).render(camera_pose(CAMERA), CAMERA, {"depth"})
    np.testing.assert_allclose(frame.depth, 7.25, rtol=1e-6)
    assert frame.depth.dtype == np.float32


def test_sky_has_no_depth_no_label_and_a_gradient() -> None:
    scene = Scene()
    add_box(scene, [-5, 0, 0], [1, 1, 1], GREY, "behind")
    frame = Renderer(finish(scene)).render(camera_pose(CAMERA), CAMERA, set(CHANNELS))
    assert np.isinf(frame.depth).all()
    assert not frame.instance.any()
    assert not frame.semantic.any()
    assert not frame.normal.any()
    assert int(frame.rgb[0, 40, 0]) < int(frame.rgb[60, 40, 0])


def test_depth_and_intrinsics_give_back_the_points() -> None:
    world = clutter(2)
    T = camera_pose(CAMERA, 0.2, -0.3, 1.1)
    frame = Renderer(world).render(T, CAMERA, {"depth", "instance"})
    ground = frame.instance == 1
    points = T[:3, 3] + pixel_rays(T, CAMERA)[ground] * frame.depth[ground][:, None]
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-4)


def test_normals_are_unit_and_face_the_camera_on_either_side() -> None:
    scene = Scene()
    add_box(scene, [0, 0, 0], [20, 20, 20], GREY, "room")
    add_box(scene, [4, 0, 1], [1, 1, 1], RED, "box")
    T = camera_pose(CAMERA, yaw_rad=0.4)
    normal = Renderer(finish(scene)).render(T, CAMERA, {"normal"}).normal
    np.testing.assert_allclose(np.linalg.norm(normal, axis=2), 1.0, atol=1e-6)
    assert ((normal * pixel_rays(T, CAMERA)).sum(axis=2) < 0.0).all()


def test_only_the_channels_asked_for_are_made() -> None:
    frame = Renderer(clutter(0)).render(camera_pose(CAMERA), CAMERA, ["depth"])
    assert frame.depth is not None
    assert frame.rgb is frame.instance is frame.semantic is frame.normal is None


def test_an_unknown_channel_is_named() -> None:
    with pytest.raises(UnknownName, match="depht"):
        Renderer(clutter(0)).render(camera_pose(CAMERA), CAMERA, ["depht"])


def test_several_cameras_in_one_call() -> None:
    renderer = Renderer(clutter(1))
    cameras = [CAMERA, Camera(width=40, height=30, hfov_rad=1.2)]
    poses = [camera_pose(camera, yaw_rad=0.5) for camera in cameras]
    frames = renderer.render_many(poses, cameras, {"depth"})
    assert [frame.depth.shape for frame in frames] == [(61, 81), (30, 40)]
    np.testing.assert_array_equal(frames[1].depth, renderer.render(poses[1], cameras[1], {"depth"}).depth)


def test_frames_are_the_same_to_the_bit_from_run_to_run_and_for_any_number_of_threads() -> None:
    most = numba.config.NUMBA_NUM_THREADS
    camera = Camera(width=320, height=240, z=1.0)
    allowed = numba.get_num_threads()
    frames = []
    try:
        for threads in {1, min(2, most), most}:
            numba.set_num_threads(threads)
            for _ in range(2):
                renderer = Renderer(clutter(3, boxes=300))
                frames += [renderer.render(camera_pose(camera, yaw_rad=yaw), camera, set(CHANNELS)) for yaw in (0.0, 2.0)]
    finally:
        numba.set_num_threads(allowed)
    for first, later in zip(frames[:2] * (len(frames) // 2), frames, strict=True):
        for channel in CHANNELS:
            np.testing.assert_array_equal(getattr(first, channel), getattr(later, channel))


def test_a_frame_does_not_depend_on_the_frame_before() -> None:
    renderer = Renderer(clutter(4))
    T = camera_pose(CAMERA, yaw_rad=1.0)
    first = renderer.render(T, CAMERA, {"depth"})
    renderer.render(camera_pose(CAMERA, yaw_rad=-1.0), CAMERA, {"depth"})
    np.testing.assert_array_equal(first.depth, renderer.render(T, CAMERA, {"depth"}).depth)


def test_a_pose_that_is_not_finite_is_refused() -> None:
    T = camera_pose(CAMERA)
    T[0, 3] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        Renderer(clutter(0)).render(T, CAMERA, {"depth"})
