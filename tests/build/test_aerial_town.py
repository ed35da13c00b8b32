"""Generated towns from above: the same again, with something of every kind to follow and to name."""

import numpy as np
import pytest
import shapely

pytest.importorskip("rasterio")

from portico.build import RECIPES
from portico.build.aerial.blocks import USE_SHARES, Contents, fill
from portico.build.aerial.town import plan_town
from portico.errors import UserError
from portico.render import overview
from portico.world import content_hash


@pytest.fixture(scope="module")
def town():
    return RECIPES["aerial"](3, size_m=600.0, gsd_m=1.0)


def test_the_same_seed_is_the_same_town_and_another_is_not(town):
    assert content_hash(RECIPES["aerial"](3, size_m=600.0, gsd_m=1.0)) == content_hash(town)
    assert RECIPES["aerial"](4, size_m=600.0, gsd_m=1.0).raster.info.digest != town.raster.info.digest


def test_there_is_something_of_every_kind(town):
    s = town.semantics
    assert {w.kind for w in s.ways} == {"road", "waterway"}
    assert {w.category for w in s.ways} >= {"street", "river", "canal"}
    assert any("hall" in b.name for b in s.buildings)
    assert any(b.category == "house" for b in s.buildings)
    assert len({o.category for o in s.objects}) >= 2


def test_streets_and_the_river_share_the_points_at_which_they_cross(town):
    river = next(w for w in town.semantics.ways if w.category == "river")
    crossed = [w for w in town.semantics.ways if w.kind == "road" and shapely.LineString(w.line).crosses(shapely.LineString(river.line))]
    assert crossed
    for street in crossed:
        assert min(np.hypot(x - u, y - v) for x, y in street.line for u, v in river.line) < 0.05


def test_the_picture_shows_the_plan(town):
    image, frame = overview(town, size_px=600)

    def color(point):
        column, row = frame.to_pixels([point])[0].astype(int)
        return image[row, column].astype(int)

    river = next(w for w in town.semantics.ways if w.category == "river")
    red, green, blue = np.median([color(p) for p in river.line[2:-2]], axis=0)
    assert blue > green > red
    grey = np.median(
        [color(shapely.LineString(w.line).interpolate(s).coords[0]) for w in town.semantics.ways if w.kind == "road" for s in (20.0, 33.0)], axis=0
    )
    assert np.ptp(grey) < 25


def test_no_house_stands_on_a_street(town):
    plan = plan_town(3, 600.0)
    streets = shapely.union_all([s.area() for s in plan.streets])
    assert not any(shapely.Polygon(b.footprint).intersects(streets) for b in town.semantics.buildings)


@pytest.mark.parametrize("use", list(USE_SHARES))
@pytest.mark.parametrize(
    "block", [shapely.box(0, 0, 9, 200), shapely.box(0, 0, 16, 90), shapely.Polygon([(0, 0), (190, 0), (95, 14)])], ids=["strip", "narrow", "wedge"]
)
def test_blocks_too_narrow_for_their_use_are_filled_with_what_fits(use, block):
    contents = Contents()
    fill(block, use, contents, np.random.default_rng(0))
    assert contents.shapes
    assert all(block.buffer(0.01).contains(shapely.Polygon(b.footprint)) for b in contents.buildings)


@pytest.mark.parametrize("bad", [{"size_m": 100.0}, {"gsd_m": 9.0}])
def test_towns_that_cannot_be_flown_over_are_refused(bad):
    with pytest.raises(UserError, match="cannot be built"):
        RECIPES["aerial"](1, **bad)
