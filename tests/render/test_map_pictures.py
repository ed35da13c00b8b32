import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from render_scenes import BLUE, GREEN, RED, add_box, add_ground, camera_pose, clutter, finish

from portico.build.primitives import prism, skirt
from portico.build.scene import Scene
from portico.interface import Camera
from portico.render import MapFrame, Renderer, annotate_map, contact_sheet, overview
from portico.world import Building, Floor, Place, Room, Surface, World

FOOTPRINT = [(0.0, 0.0), (8.0, 0.0), (8.0, 6.0), (0.0, 6.0)]


def _house(enterable: bool = True) -> World:
    """A house of two floors with a red floor below, a green one above, a table on each, walls 0.3 m thick and a roof."""
    scene = Scene()
    add_ground(scene, 12.0)
    outside, inside = shapely.box(0, 0, 8, 6), shapely.box(0.3, 0.3, 7.7, 5.7)
    walls = scene.instance("wall")
    plaster = scene.material("plaster", (0.8, 0.8, 0.75))
    scene.add_mesh(*skirt(outside, 0.0, 6.0), surface=Surface.WALL, material=plaster, instance=walls)
    scene.add_mesh(*skirt(inside, 0.0, 6.0, outward=False), surface=Surface.WALL, material=plaster, instance=walls, indoor=True)
    for level, color in enumerate((RED, GREEN)):
        z = 3.0 * level
        floor = scene.material(f"floor {level}", color)
        scene.add_mesh(
            *prism(inside, z - 0.2 if level else -0.1, z + 0.01), surface=Surface.FLOOR, material=floor, instance=scene.instance("floor"), indoor=True
        )
        add_box(scene, [2.0, 3.0, z + 0.4], [1, 1, 0.8], BLUE, "table", indoor=True, surface=Surface.FURNITURE)
    scene.add_mesh(*prism(outside, 6.0, 6.3), surface=Surface.ROOF, material=scene.material("roof", (0.3, 0.3, 0.3)), instance=scene.instance("roof"))
    floors = [Floor(id=f"f{k}", level=k, z_m=3.0 * k, height_m=3.0) for k in (0, 1)]
    scene.buildings.append(Building(id="b", name="Town Hall", footprint=FOOTPRINT, floors=floors, enterable=enterable))
    scene.rooms.append(Room(id="r", building="b", floor="f0", category="lobby", polygon=FOOTPRINT))
    scene.places.append(Place(id="p", category="cafe", name="Cafe", center=(4.0, -4.0, 0.0)))
    return finish(scene, "composite")


def _at(image: np.ndarray, frame: MapFrame, x: float, y: float) -> np.ndarray:
    column, row = np.floor(frame.to_pixels([[x, y]])[0]).astype(int)
    return image[row, column].astype(int)


@given(x=st.floats(-100, 100), y=st.floats(-100, 100), scale=st.floats(0.5, 50))
def test_map_frame_goes_there_and_back(x: float, y: float, scale: float) -> None:
    frame = MapFrame(-3.0, 7.0, scale, 640, 480)
    np.testing.assert_allclose(frame.to_world(frame.to_pixels([[x, y]])), [[x, y]], atol=1e-9)


def test_map_has_north_up_and_east_right() -> None:
    frame = MapFrame(-10.0, 10.0, 4.0, 80, 80)
    np.testing.assert_allclose(frame.to_pixels([[-10, 10], [10, -10], [0, 0]]), [[0, 0], [80, 80], [40, 40]])
    assert frame.bounds == (-10.0, -10.0, 10.0, 10.0)


@pytest.mark.parametrize(("level", "channel"), [(0, 0), (1, 1)])
def test_a_house_is_laid_open_at_the_floor_asked_for(level: int, channel: int) -> None:
    image, frame = overview(_house(), size_px=400, level=level)
    assert _at(image, frame, 6.0, 3.0).argmax() == channel
    assert _at(image, frame, 2.0, 3.0).argmax() == 2
    assert frame.level == level


def test_walls_show_dark_where_they_are_cut() -> None:
    image, frame = overview(_house(), size_px=800)
    for x, y in ((0.15, 3.0), (7.85, 3.0), (4.0, 0.15), (4.0, 5.85)):
        assert _at(image, frame, x, y).max() < 80
    assert _at(image, frame, 6.0, 3.0)[0] > 80


def test_a_building_whose_inside_is_not_modelled_keeps_its_roof() -> None:
    image, frame = overview(_house(enterable=False), size_px=400)
    color = _at(image, frame, 6.0, 3.0)
    assert color.max() - color.min() < 30
    assert frame.level is None


def test_bounds_and_size_are_kept() -> None:
    image, frame = overview(clutter(0), size_px=300, bounds=(-10.0, -5.0, 10.0, 5.0))
    assert image.shape == (150, 300, 3)
    assert frame.bounds == pytest.approx((-10.0, -5.0, 10.0, 5.0))


def test_labels_change_a_copy() -> None:
    world = _house()
    image, frame = overview(world, size_px=500)
    before = image.copy()
    labelled = annotate_map(image, frame, world)
    np.testing.assert_array_equal(image, before)
    assert labelled.shape == image.shape
    changed = np.any(labelled != image, axis=2)
    column, row = frame.to_pixels([[4.0, -4.0]])[0].astype(int)
    assert changed[row - 8 : row + 8, column - 20 : column + 20].any()
    assert changed[-30:, :60].any()
    assert changed[:60, -60:].any()


def test_contact_sheet_has_a_cell_for_every_pose() -> None:
    renderer = Renderer(clutter(0))
    camera = Camera(width=96, height=72, z=1.0)
    poses = [(camera_pose(camera, yaw_rad=k), f"view {k} with a caption too long for its cell") for k in range(5)]
    sheet = contact_sheet(renderer, poses, camera, columns=3)
    assert sheet.shape[1] == 3 * (96 + 8) + 8
    assert sheet.shape[0] > 2 * 72
    np.testing.assert_array_equal(sheet[8:80, 8:104], renderer.photograph(poses[0][0], camera))
