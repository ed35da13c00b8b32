import numpy as np
import pytest
from render_scenes import GREY, add_box, add_ground, camera_pose, finish

from portico.build.primitives import QUAD_UV, quad
from portico.build.scene import Scene
from portico.interface import Camera
from portico.render import Renderer
from portico.render.textures import pack, to_linear, to_srgb
from portico.world import Light, Surface, World

CAMERA = Camera(width=160, height=160, z=0.0)


def _letter_f() -> np.ndarray:
    """A black F on white: stem on the left, bars at the top and in the middle."""
    image = np.full((64, 64, 3), 255, np.uint8)
    image[8:56, 12:22] = 0
    image[8:18, 12:50] = 0
    image[28:36, 12:40] = 0
    return image


def _sign(texture: np.ndarray, repeats: float = 1.0) -> World:
    """A 2 m square sign ahead of the camera, facing it, its texture upright."""
    scene = Scene(light=Light(sun=0.0, sky=1.0))
    scene.textures["t"] = texture
    corners = [[1.5, 1, -1], [1.5, -1, -1], [1.5, -1, 1], [1.5, 1, 1]]
    material = scene.material("sign", (1.0, 1.0, 1.0), texture="t")
    scene.add_mesh(*quad(*corners), surface=Surface.SIGN, material=material, instance=scene.instance("sign"), uv=QUAD_UV * repeats)
    return finish(scene)


def test_a_sign_reads_the_right_way_round() -> None:
    frame = Renderer(_sign(_letter_f())).render(camera_pose(CAMERA), CAMERA, {"rgb", "instance"})
    rows, columns = np.nonzero(frame.instance)
    sign = frame.rgb[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, 0] < 90
    side = len(sign)
    expected = _letter_f()[(np.arange(side) * 64) // side][:, (np.arange(side) * 64) // side, 0] == 0
    assert sign.shape == expected.shape
    assert np.mean(sign == expected) > 0.97


def test_fine_textures_fade_to_their_mean_light_in_the_distance() -> None:
    checker = np.where((np.indices((64, 64)).sum(axis=0) % 2)[..., None], 255, 0).astype(np.uint8).repeat(3, axis=2)
    frame = Renderer(_sign(checker, repeats=30.0)).render(camera_pose(CAMERA), CAMERA, {"rgb", "instance"})
    flat = Renderer(_sign(np.full((4, 4, 3), 188, np.uint8))).render(camera_pose(CAMERA), CAMERA, {"rgb"})
    seen = frame.instance > 0
    assert np.abs(frame.rgb[seen].astype(int) - flat.rgb[seen].astype(int)).max() <= 3


def test_mip_levels_halve_down_to_one_texel_and_keep_the_light() -> None:
    texture = np.random.default_rng(0).integers(0, 256, (20, 33, 3)).astype(np.uint8)
    atlas = pack([texture], [False])
    sizes = atlas.levels[0, :, 1:].tolist()
    assert sizes[0] == [33, 20]
    assert sizes[5] == [1, 1]
    offset = atlas.levels[0, 5, 0]
    mean = to_linear(texture / 255.0).mean(axis=(0, 1))
    texel = atlas.texels[offset] >> np.array([0, 8, 16]) & 255
    np.testing.assert_allclose(to_linear(texel / 255.0), mean, atol=0.03)


def test_srgb_and_linear_light_are_inverse() -> None:
    values = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(to_linear(to_srgb(values)), values, atol=1e-9)
    assert to_linear(np.array(0.5)) == pytest.approx(0.21404, abs=1e-5)


def _brightness(world: World, camera: Camera = CAMERA, **pose: float) -> float:
    """Of the pixel in the middle of the picture, 0..255."""
    rgb = Renderer(world).render(camera_pose(camera, **pose), camera, {"rgb"}).rgb
    return float(rgb[camera.height // 2, camera.width // 2].mean())


def _slab(indoor: bool = False, emission: float = 0.0, light: Light | None = None) -> World:
    scene = Scene(light=light or Light())
    corners = [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]
    material = scene.material("m", GREY, emission=emission)
    scene.add_mesh(*quad(*corners), surface=Surface.FLOOR, material=material, instance=scene.instance("slab"), indoor=indoor)
    return finish(scene)


DOWN = Camera(width=32, height=32, z=2.0, pitch_rad=float(np.pi / 2))
UP = Camera(width=32, height=32, z=-2.0, pitch_rad=float(-np.pi / 2))


def test_the_sunny_side_is_brighter_than_the_underside() -> None:
    assert _brightness(_slab(), DOWN) > _brightness(_slab(), UP) + 20


def test_indoor_surfaces_see_lamps_and_no_sun() -> None:
    bright, dark = Light(sun=5.0, sky=5.0, indoor=0.3), Light(sun=0.0, sky=0.0, indoor=0.3)
    assert _brightness(_slab(indoor=True, light=bright), DOWN) == _brightness(_slab(indoor=True, light=dark), DOWN)
    assert _brightness(_slab(indoor=True, light=Light(indoor=0.6)), DOWN) > _brightness(_slab(indoor=True, light=Light(indoor=0.3)), DOWN)


def test_what_emits_light_shows_in_the_dark() -> None:
    night = Light(sun=0.0, sky=0.0, indoor=0.0)
    assert _brightness(_slab(light=night), DOWN) == 0.0
    assert _brightness(_slab(emission=1.0, light=night), DOWN) > 150.0


def test_walls_of_a_room_differ_so_that_its_corners_can_be_read() -> None:
    scene = Scene()
    add_box(scene, [0, 0, 1.5], [6, 6, 3], GREY, "room", indoor=True)
    camera = Camera(width=32, height=32, z=1.5)
    shades = {round(_brightness(finish(scene), camera, yaw_rad=k * np.pi / 2)) for k in range(4)}
    assert len(shades) >= 3


def test_a_box_casts_its_shadow_away_from_the_sun() -> None:
    scene = Scene(light=Light(sun_direction=(1.0, 0.0, 1.0)))
    add_ground(scene, 20.0)
    add_box(scene, [0, 0, 1], [1, 1, 2], GREY, "post")
    west, east = _brightness(finish(scene), DOWN, x=-1.5), _brightness(finish(scene), DOWN, x=1.5)
    assert west < east - 30


def test_ground_does_not_shade_itself() -> None:
    scene = Scene(light=Light(sun_direction=(1.0, 0.2, 0.3)))
    add_ground(scene, 200.0)
    camera = Camera(width=160, height=120, z=1.5, pitch_rad=0.5)
    frame = Renderer(finish(scene)).render(camera_pose(camera), camera, {"rgb", "instance"})
    ground = frame.rgb[frame.instance > 0]
    assert int(ground.max()) - int(ground.min()) <= 1
