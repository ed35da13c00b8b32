"""GeoTIFFs and vectors in: every system and type of number, and broken ones named by file and field."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("rasterio")

import rasterio
from sky import coordinates

from portico.build.aerial.importer import import_aerial
from portico.build.aerial.masks import centre_lines
from portico.errors import ImportFailed
from portico.world import load, save
from portico.world.raster import GeoGrid

HERE = (0.3, 0.0, 500000.0, 0.0, -0.3, 5200000.0)


@pytest.fixture
def tif(tmp_path):
    def write(pixels, name="map.tif", crs="EPSG:32632", transform=HERE, **more):
        pixels = np.asarray(pixels)
        pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        height, width, count = pixels.shape
        profile = {"driver": "GTiff", "width": width, "height": height, "count": count, "dtype": pixels.dtype.name, "crs": crs, **more}
        if transform:
            profile["transform"] = rasterio.Affine(*transform)
        with rasterio.open(tmp_path / name, "w", **profile) as file:
            file.write(pixels.transpose(2, 0, 1))
        return tmp_path / name

    return write


def pixels_of(world):
    with rasterio.open(world.raster.path) as file:
        return file.read().transpose(1, 2, 0)


def test_colours_come_in_as_they_are(tif, tmp_path):
    picture = coordinates(700, 600)
    imported = import_aerial(tif(picture))
    world = save(imported.world, tmp_path / "w")
    np.testing.assert_array_equal(pixels_of(world)[:, :, :3], picture)
    assert (pixels_of(world)[:, :, 3] == 255).all()
    assert world.manifest.kind == "aerial"
    assert load(tmp_path / "w").manifest.content_hash == world.manifest.content_hash
    # 210 x 180 m, less what the camera sees to either side.
    across, along = map(int, re.search(r"can go over (\d+) x (\d+) m", " ".join(imported.lines)).groups())
    assert (across, along) == (pytest.approx(69, abs=1), pytest.approx(39, abs=1))


@pytest.mark.parametrize("dtype", ["uint16", "int16", "float32", "uint32"])
def test_other_numbers_are_stretched_alike_everywhere(tif, dtype):
    ramp = np.tile(np.linspace(100, 9000, 640), (600, 1)).astype(dtype)
    imported = import_aerial(tif(ramp))
    grey = pixels_of(imported.world)
    assert (grey[:, :, 0] == grey[:, :, 2]).all()
    assert (np.ptp(grey[:, :, 0], axis=0) == 0).all()
    assert (np.diff(grey[0, :, 0].astype(int)) >= 0).all()
    assert grey[0, 0, 0] == 0
    assert grey[0, -1, 0] == 255
    assert any(dtype in line for line in imported.lines)


def test_one_band_two_four_and_five(tif):
    rgb = coordinates(600, 600)
    assert (pixels_of(import_aerial(tif(rgb[:, :, 0])).world)[:, :, 1] == rgb[:, :, 0]).all()
    alpha = np.full((600, 600, 1), 255, np.uint8)
    alpha[200:300, 200:300] = 0
    for bands in (np.concatenate([rgb, alpha], axis=2), np.concatenate([rgb[:, :, :1], alpha], axis=2)):
        imported = import_aerial(tif(bands, alpha="YES"))
        found = pixels_of(imported.world)
        assert (found[200:300, 200:300] == 0).all()
        assert (found[:100, :100, 3] == 255).all()
        assert imported.world.raster.info.empty == pytest.approx(1 / 36, abs=1e-6)
        assert any("no data" in line for line in imported.lines)
    five = import_aerial(tif(np.dstack([rgb, rgb[:, :, :2]]), photometric="MINISBLACK"))
    assert any("first three" in line for line in five.lines)
    np.testing.assert_array_equal(pixels_of(five.world)[:, :, :3], rgb)


def test_nodata_and_nan_are_holes(tif):
    values = np.tile(np.linspace(1, 5, 600, dtype=np.float32), (600, 1))
    values[100:200, 100:200] = np.nan
    values[300:400, 300:400] = -1.0
    found = pixels_of(import_aerial(tif(values, nodata=-1.0)).world)
    assert (found[100:200, 100:200, 3] == 0).all()
    assert (found[300:400, 300:400, 3] == 0).all()
    assert (found[:, :50, 3] == 255).all()


@pytest.mark.parametrize(("crs", "transform"), [("EPSG:4326", (3e-6, 0, 8.0, 0, -3e-6, 47.0)), ("EPSG:3857", (0.3, 0, 890000.0, 0, -0.3, 5950000.0))])
def test_pixels_lie_where_the_file_says(tif, crs, transform):
    world = import_aerial(tif(coordinates(600, 600), crs=crs, transform=transform)).world
    grid = GeoGrid(crs, transform, 600, 600)
    np.testing.assert_allclose(world.raster.grid.to_degrees([[10.0, 20.0]]), grid.to_degrees([[10.0, 20.0]]))
    origin = world.manifest.origin
    np.testing.assert_allclose(grid.to_pixels([[origin.longitude_deg, origin.latitude_deg]])[0], [300.0, 300.0], atol=1e-2)


@pytest.mark.parametrize(
    ("more", "words", "field"),
    [
        ({"crs": None}, "coordinate reference system", "crs"),
        ({"transform": None}, "geotransform", "transform"),
        ({"crs": "EPSG:4326", "transform": (3e-6, 0, 36.1, 0, -3e-6, -115.2)}, "swapped", "transform"),
        ({"crs": "EPSG:4326", "transform": (3e-6, 0, 8.0, 0, -3e-6, 500.0)}, "nowhere on earth", "transform"),
        ({"transform": (0.3, 0, 5e9, 0, -0.3, 5200000.0)}, "nowhere on earth", "transform"),
        ({"crs": "EPSG:4326", "transform": (3e-6, 0, 8.0, 0, -3e-6, 89.9)}, "too near a pole", "transform"),
        ({"crs": "EPSG:4978"}, "does not lead to longitude", "crs"),
        ({"crs": 'LOCAL_CS["site",UNIT["metre",1]]'}, "does not lead to longitude", "crs"),
    ],
)
@pytest.mark.filterwarnings("error", "ignore::rasterio.errors.NotGeoreferencedWarning:rasterio")
def test_files_that_lie_nowhere_are_named_with_the_field(tif, more, words, field):
    with pytest.raises(ImportFailed, match=words) as error:
        import_aerial(tif(coordinates(600, 600), **more))
    assert error.value.where.endswith(f"map.tif: {field}")
    assert error.value.next_step


def test_pictures_without_any_data_are_refused(tif):
    clear = np.dstack([coordinates(600, 600), np.zeros((600, 600), np.uint8)])
    for path in (tif(clear, alpha="YES"), tif(np.full((600, 600), np.nan, np.float32)), tif(np.full((600, 600, 3), 9, np.uint8), nodata=9)):
        with pytest.raises(ImportFailed, match="holds no data") as error:
            import_aerial(path)
        assert error.value.where.endswith("map.tif: bands")


@pytest.mark.filterwarnings("error")
def test_values_of_any_size_are_a_picture_and_infinite_ones_are_holes(tif):
    ramp = np.tile(np.linspace(1.0, 9.0, 640), (600, 1))
    ramp[:50, :50] = np.inf
    wanted = pixels_of(import_aerial(tif(ramp.astype(np.float32))).world)
    assert (wanted[:50, :50] == 0).all()
    assert (np.diff(wanted[100, :, 0].astype(int)) >= 0).all()
    for factor in (1e200, 1e-200):
        found = pixels_of(import_aerial(tif(ramp * factor)).world)
        assert np.abs(found.astype(int) - wanted).max() <= 1


def test_pictures_without_contrast_or_of_complex_numbers_are_refused(tif):
    with pytest.raises(ImportFailed, match="no contrast"):
        import_aerial(tif(np.full((600, 600), 7, np.uint16)))
    with pytest.raises(ImportFailed, match="complex"):
        import_aerial(tif(np.ones((600, 600), np.complex64)))


def test_files_cut_short_and_other_files_are_no_geotiff(tif, tmp_path):
    whole = tif(coordinates(600, 600)).read_bytes()
    (tmp_path / "cut.tif").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tif").write_text("hello")
    for name in ("cut.tif", "text.tif"):
        with pytest.raises(ImportFailed, match="tif") as error:
            import_aerial(tmp_path / name)
        assert name in error.value.where
    with pytest.raises(ImportFailed, match="no such file"):
        import_aerial(tmp_path / "none.tif")


def test_the_same_file_is_the_same_world(tif):
    path = tif(coordinates(600, 600))
    assert import_aerial(path).world.raster.info.digest == import_aerial(path).world.raster.info.digest


def features(*items, crs=None):
    found = [{"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": points}} for kind, points, properties in items]
    return {"type": "FeatureCollection", "features": found} | ({"crs": {"type": "name", "properties": {"name": crs}}} if crs else {})


@pytest.fixture
def vectors(tmp_path):
    def write(data, name="roads.geojson"):
        (tmp_path / name).write_text(data if isinstance(data, str) else json.dumps(data))
        return [tmp_path / name]

    return write


def test_vectors_are_sorted_by_what_they_are(tif, vectors):
    grid = GeoGrid("EPSG:32632", HERE, 600, 600)
    at = lambda *points: grid.to_degrees(np.array(points, float)).tolist()  # noqa: E731
    square = [at((100, 100), (200, 100), (200, 200), (100, 200), (100, 100))]
    lake = [at((300, 300), (400, 300), (400, 400), (300, 400), (300, 300))]
    data = features(
        ("LineString", at((0, 50), (900, 50)), {"highway": "residential", "name": "Low Road", "lanes": "2"}),
        ("LineString", at((0, 80), (500, 80)), {"highway": "footway"}),
        ("LineString", at((0, 500), (590, 500)), {"waterway": "canal"}),
        ("Polygon", square, {"building": "yes", "name": "Depot"}),
        ("Polygon", lake, {"natural": "water"}),
        ("Polygon", [at((450, 100), (500, 100), (500, 150), (450, 150), (450, 100))], {"amenity": "parking"}),
        ("LineString", [["a", 1], [2, 3]], {"highway": "residential"}),
    )
    imported = import_aerial(tif(coordinates(600, 600)), vectors=vectors(data))
    s = imported.world.semantics
    assert [(w.kind, w.category, w.name, w.width_m) for w in s.ways] == [("road", "residential", "Low Road", 7.0), ("waterway", "canal", "", None)]
    assert max(x for x, _ in s.ways[0].line) == pytest.approx(90.0, abs=0.1)  # cut off at the raster's edge
    assert [(b.name, b.category) for b in s.buildings] == [("Depot", "building")]
    assert [r.type for r in s.regions] == ["water"]
    assert [o.category for o in s.objects] == ["car_park"]
    assert any("1 features without coordinates" in line for line in imported.lines)


def test_vectors_in_their_own_system_and_masks(tif, vectors):
    utm = features(("LineString", [[500010.0, 5199950.0], [500100.0, 5199950.0]], {"road_type": "5"}), crs="urn:ogc:def:crs:EPSG::32632")
    path = tif(coordinates(600, 600))
    way = import_aerial(path, vectors=vectors(utm)).world.semantics.ways[0]
    assert np.hypot(*(np.array(way.line[1]) - way.line[0])) == pytest.approx(90.0, abs=0.2)
    mask = np.zeros((600, 600), np.uint8)
    mask[295:305] = mask[:300, 195:205] = 255
    ways = import_aerial(path, vectors=[tif(mask, "mask.tif")]).world.semantics.ways
    assert len(ways) == 3
    assert {w.kind for w in ways} == {"road"}
    assert all(w.width_m == pytest.approx(3.0, abs=0.7) for w in ways)


@pytest.mark.parametrize(
    ("data", "words", "where"),
    [
        ('{"type": "FeatureCollection", "features": [', "complete GeoJSON", "roads.geojson"),
        ('{"type": "Feature"}', "FeatureCollection", "features"),
        (features(("LineString", [[80.0, 10.0], [80.1, 10.0]], {"highway": "x"})), "lies on the imagery", "features"),
        (features(("LineString", [[46.95, 9.0], [46.951, 9.001]], {"highway": "x"})), "lies on the imagery", "features"),
        (features(crs="EPSG:999999"), "unknown reference system", "crs"),
        (features(), "lies on the imagery", "features"),
    ],
)
def test_vectors_that_fit_nothing_are_named(tif, vectors, data, words, where):
    with pytest.raises(ImportFailed, match=words) as error:
        import_aerial(tif(coordinates(600, 600)), vectors=vectors(data))
    assert where in error.value.where
    assert "roads.geojson" in error.value.where


def test_swapped_vectors_are_recognised(tif, vectors):
    lon, lat = GeoGrid("EPSG:32632", HERE, 600, 600).to_degrees([[300.0, 300.0]])[0].tolist()
    with pytest.raises(ImportFailed) as error:
        import_aerial(tif(coordinates(600, 600)), vectors=vectors(features(("LineString", [[lat, lon], [lat, lon + 1e-4]], {"highway": "x"}))))
    assert "swapped" in error.value.why


def test_the_middle_of_a_cross_is_a_junction():
    mask = np.zeros((120, 160), bool)
    mask[55:65] = mask[:, 75:85] = True
    lines = centre_lines(mask)
    assert len(lines) == 4
    ends = np.array([end for line, _ in lines for end in (line[0], line[-1])])
    assert (np.hypot(*(ends - [80.0, 60.0]).T) < 3.0).sum() == 4


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_shared_broken_geotiffs_answer_as_their_manifest_expects(shared, tmp_path):
    for entry in json.loads((shared / "bad" / "manifest.json").read_text()):
        if not entry["file"].startswith("geotiff/"):
            continue
        path = shared / "bad" / entry["file"]
        if entry["expect"] == "error":
            with pytest.raises(ImportFailed) as error:
                import_aerial(path)
            said = str(error.value).lower()
        else:
            said = " ".join(import_aerial(path).lines).lower()
        assert all(word in said for word in entry["message_should_name"]), entry["file"]


def test_real_imagery_with_real_roads(shared):
    folder = shared / "data" / "imagery" / "spacenet_vegas"
    imported = import_aerial(folder / "road_mask_input.tif", vectors=[folder / "sample_road_raster_mask.tif"])
    assert imported.world.manifest.origin.longitude_deg == pytest.approx(-115.232, abs=1e-3)
    assert len(imported.world.semantics.ways) >= 8
