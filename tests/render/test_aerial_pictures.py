import numpy as np
import pytest

pytest.importorskip("rasterio")

from sky import coordinates, crossroads, sky

from portico.errors import UnknownName, WorldError
from portico.geometry import Pose
from portico.interface import Camera
from portico.render import overview, renderer_of
from portico.render.aerial import AerialRenderer
from portico.robots import embodiment
from portico.world import GeoPose, RasterTiles, load, save
from portico.world.geodesy import yaw_of

CAMERA = embodiment("flyer").cameras[0]


def look(world, lon, lat, heading, camera=CAMERA, height=50.0):
    pose = GeoPose(lon, lat, height, yaw_of(heading))
    return AerialRenderer(world).render(pose.matrix() @ camera.T_base_camera(), camera, ("rgb", "depth"))


def slow_sample(pixels, affine, width, height):
    """The kernel's twin: one bilinear look-up a pixel, black outside."""
    rows, columns = pixels.shape[:2]
    out = np.zeros((height, width, 3))
    for v in range(height):
        for u in range(width):
            x, y = affine @ [u + 0.5, v + 0.5, 1.0] - 0.5
            c, r = int(np.floor(x)), int(np.floor(y))
            if not (-1 <= c < columns and -1 <= r < rows):
                continue
            for dr, wy in ((0, 1 - (y - r)), (1, y - r)):
                for dc, wx in ((0, 1 - (x - c)), (1, x - c)):
                    out[v, u] += wx * wy * pixels[np.clip(r + dr, 0, rows - 1), np.clip(c + dc, 0, columns - 1), :3]
    return out


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.9, -2.6])
def test_pixels_are_those_of_a_slow_twin(angle):
    pixels = np.random.default_rng(3).integers(0, 256, (300, 600, 3)).astype(np.uint8)
    world = sky(pixels)
    c, s = np.cos(angle), np.sin(angle)
    affine = np.array([[0.9 * c, -0.9 * s, 250.0], [0.9 * s, 0.9 * c, 130.0]])
    found = AerialRenderer(world).sample(affine, 60, 50)
    assert np.abs(found - slow_sample(pixels, affine, 60, 50)).max() <= 2.0


@pytest.mark.parametrize(("heading", "top", "left"), [(0.0, "north", "west"), (90.0, "east", "north"), (180.0, "south", "east"), (270.0, "west", "south")])
def test_pictures_are_heading_up(heading, top, left):
    half = 300.0
    where = {"north": (0, 30), "south": (0, -30), "east": (30, 0), "west": (-30, 0)}
    world = crossroads()
    n = 1200
    x = -half + (np.arange(n) + 0.5) * 0.5
    east, north = np.meshgrid(x, -x)
    pixels = np.full((n, n, 3), 80, np.uint8)
    for color, name in (((255, 0, 0), top), ((0, 255, 0), left)):
        e, v = where[name]
        pixels[(np.abs(east - e) < 6) & (np.abs(north - v) < 6)] = color
    info = world.raster.info
    marked = sky(pixels, info.crs, info.transform)
    rgb = look(marked, 8.0, 47.0, heading).rgb
    # 30 m are 0.6 of the half picture's 50 m.
    assert rgb[224 - 134, 224].tolist() == [255, 0, 0]
    assert rgb[224, 224 - 134].tolist() == [0, 255, 0]


def test_the_footprint_is_a_hundred_metres_wide_anywhere_and_in_any_system():
    spots = {
        "EPSG:3857": (0.3, 0, 890000.0, 0, -0.3, 5950000.0),
        "EPSG:32632": (0.3, 0, 500000.0, 0, -0.3, 5200000.0),
        "EPSG:4326": (3e-6, 0, 8.0, 0, -3e-6, 60.0),
    }
    for crs, transform in spots.items():
        world = sky(coordinates(1600, 1600), crs, transform)
        lon, lat = world.raster.grid.to_degrees([[800.0, 800.0]])[0].tolist()
        rgb = look(world, lon, lat, 0.0).rgb.astype(float)
        _, slopes = world.raster.grid.around(lon, lat)
        across = 8.0 * (rgb[224, 440, 0] - rgb[224, 8, 0]) * CAMERA.width / 432.0
        down = 8.0 * (rgb[440, 224, 1] - rgb[8, 224, 1]) * CAMERA.height / 432.0
        assert across == pytest.approx(100.0 * abs(slopes[0, 0]), abs=14.0), crs
        assert down == pytest.approx(100.0 * abs(slopes[1, 1]), abs=14.0), crs


def test_a_raster_across_the_antimeridian_is_one_picture():
    world = sky(coordinates(1600, 1600), "EPSG:4326", (3e-6, 0, 179.9976, 0, -3e-6, -17.0))
    assert world.raster.grid.to_degrees([[1600.0, 0.0]])[0, 0] < 0.0
    rgb = look(world, -180.0 + 1e-7, -17.0024, 0.0).rgb
    assert (rgb[:, :, 2] == 60).all()
    np.testing.assert_allclose(world.raster.grid.to_pixels([[-180.0 + 1e-7, -17.0024]])[0], [800.0, 800.0], atol=0.1)


def test_rotated_rasters_are_honoured():
    c, s = 0.3 * np.cos(0.35), 0.3 * np.sin(0.35)
    world = sky(coordinates(1600, 1600), "EPSG:32632", (c, s, 500000.0, s, -c, 5200000.0))
    grid = world.raster.grid
    spot = np.array([[700.0, 900.0]])
    np.testing.assert_allclose(grid.to_pixels(grid.to_degrees(spot)), spot, atol=1e-5)
    lon, lat = grid.to_degrees(spot)[0].tolist()
    assert np.abs(look(world, lon, lat, 30.0).rgb[224, 224, :2].astype(int) - [700 // 8, 900 // 8]).max() <= 1


def test_what_is_nearer_is_larger_and_depth_is_the_height():
    world = crossroads()
    low, high = look(world, 8.0, 47.0, 0.0, height=25.0), look(world, 8.0, 47.0, 0.0, height=50.0)
    road = [90, 90, 92]
    assert (low.rgb[10] == road).all(axis=1).sum() == pytest.approx(2 * (high.rgb[10] == road).all(axis=1).sum(), abs=8)
    assert (high.depth == 50.0).all()
    with pytest.raises(UnknownName, match="semantic"):
        AerialRenderer(world).render(np.eye(4), CAMERA, ("semantic",))


def test_few_tiles_serve_a_long_flight_and_memory_is_bounded():
    world = sky(coordinates(3000, 1200))
    few, many = AerialRenderer(world, capacity=16), AerialRenderer(world)
    for column in range(500, 2500, 200):
        lon, lat = world.raster.grid.to_degrees([[float(column), 600.0]])[0].tolist()
        T = Pose(lon, lat, 50.0, 0.3).matrix() @ CAMERA.T_base_camera()
        np.testing.assert_array_equal(few.render(T, CAMERA, ("rgb",)).rgb, many.render(T, CAMERA, ("rgb",)).rgb)
    assert few.tiles.slots.nbytes == 16 * 256 * 256 * 4
    assert (few.tiles.pages[0] >= 0).sum() <= 16
    with pytest.raises(ValueError, match="at once"):
        RasterTiles(world.raster, 4).need(0, (0, 4), (0, 4))


def test_gdal_keeps_few_blocks_of_its_own_while_tiles_are_read(monkeypatch):
    """Its cache would hold every tile once more, up to a twentieth of the machine's memory."""
    from rasterio.env import getenv

    limits_mib, read = [], RasterTiles._read

    def noted(self, *where):
        limits_mib.append(getenv()["GDAL_CACHEMAX"])
        return read(self, *where)

    monkeypatch.setattr(RasterTiles, "_read", noted)
    tiles = RasterTiles(sky(coordinates(1200, 600)).raster)
    tiles.need(0, (0, 2), (0, 4))
    tiles.pixel(5, 5)
    assert len(limits_mib) == 15
    assert max(limits_mib) <= 64


def test_far_above_the_overviews_are_read():
    world = sky(coordinates(3000, 3000))
    renderer = AerialRenderer(world)
    lon, lat = world.raster.grid.to_degrees([[1500.0, 1500.0]])[0].tolist()
    camera = Camera("nadir", 64, 64, CAMERA.hfov_rad, pitch_rad=CAMERA.pitch_rad)
    renderer.render(Pose(lon, lat, 250.0, 0.0).matrix() @ camera.T_base_camera(), camera, ("rgb",))
    assert renderer.tiles.decoded <= 4
    assert (renderer.tiles.pages[0] < 0).all()


def test_worlds_come_back_from_disk_and_damage_is_named(tmp_path):
    world = save(crossroads(), tmp_path / "w")
    assert save(crossroads(), tmp_path / "again").manifest.content_hash == world.manifest.content_hash
    back = load(tmp_path / "w")
    assert back.semantics == world.semantics
    image, frame = overview(back, size_px=300)
    (column, row) = frame.to_pixels([[110.0, 110.0]])[0].astype(int)
    assert image[row, column].tolist() == [180, 60, 50]
    assert renderer_of(back).photograph(Pose(8.0, 47.0, 50.0).matrix() @ CAMERA.T_base_camera(), CAMERA).shape == (448, 448, 3)
    file = tmp_path / "w" / "imagery.tif"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(WorldError, match="truncated") as error:
        load(tmp_path / "w")
    assert "imagery.tif" in error.value.where
    file.unlink()
    with pytest.raises(WorldError, match="missing"):
        load(tmp_path / "w")
