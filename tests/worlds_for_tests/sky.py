"""Small aerial worlds made by hand: a painted chequer or a town of two roads, anywhere on earth."""

import numpy as np

from portico.build.aerial.raster_file import write_raster
from portico.world import Appearance, Building, GeographicOrigin, LocalFrame, Manifest, ObjectInstance, Provenance, Region, Semantics, Way, World, no_geometry
from portico.world.raster import GeoGrid


def strips(pixels):
    """(H, W, 4) or (H, W, 3) as the writer takes it."""
    if pixels.shape[2] == 3:
        pixels = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
    return [np.ascontiguousarray(pixels[row : row + 512]).copy() for row in range(0, len(pixels), 512)]


def sky(pixels, crs="EPSG:3857", transform=(0.3, 0.0, 890000.0, 0.0, -0.3, 5950000.0), semantics=None, name="sky"):
    """A world of some pixels."""
    height, width = pixels.shape[:2]
    raster = write_raster(strips(pixels), width, height, crs, transform)
    lon, lat = GeoGrid(crs, transform, width, height).to_degrees([[0.5 * width, 0.5 * height]])[0].tolist()
    manifest = Manifest(
        id=name, kind="aerial", provenance=Provenance(source="test", licence="CC0-1.0"), origin=GeographicOrigin(latitude_deg=lat, longitude_deg=lon)
    )
    return World(manifest, no_geometry(), Appearance((), raster=raster), semantics or Semantics())


def coordinates(width, height):
    """A picture whose red is the column and whose green is the row, over eight."""
    rows, columns = np.mgrid[:height, :width]
    return np.dstack([columns // 8 % 256, rows // 8 % 256, np.full((height, width), 60)]).astype(np.uint8)


def crossroads(half_m=300.0, gsd_m=0.5, longitude_deg=8.0):
    """600 m of grass around 47 north and a longitude, in its own metres: two grey roads, a blue pond, a red hall, two things."""
    from portico.build.aerial.generated import local_crs

    n = round(2 * half_m / gsd_m)
    x = -half_m + (np.arange(n) + 0.5) * gsd_m
    east, north = np.meshgrid(x, -x)
    pixels = np.zeros((n, n, 3), np.uint8)
    pixels[:] = (90, 120, 60)
    pixels[(np.abs(north) < 5.0) | (np.abs(east) < 5.0)] = (90, 90, 92)
    pixels[(east + 110.0) ** 2 + (north - 110.0) ** 2 < 40.0**2] = (40, 80, 110)
    pixels[(np.abs(east - 110.0) < 30.0) & (np.abs(north - 110.0) < 20.0)] = (180, 60, 50)
    crs, transform = local_crs(LocalFrame(47.0, longitude_deg), gsd_m, -half_m, half_m)
    angles = np.linspace(0, 2 * np.pi, 25)[:-1]
    pond = [(round(-110 + 40 * float(np.cos(a)), 2), round(110 + 40 * float(np.sin(a)), 2)) for a in angles]
    semantics = Semantics(
        buildings=[Building(id="hall", name="red hall", category="hall", footprint=[(80, 90), (140, 90), (140, 130), (80, 130)])],
        regions=[Region(id="pond-000", type="water", access="prohibited", polygon=pond)],
        objects=[
            ObjectInstance(id="tank", category="tank", name="white tank", center=(-60.0, -120.0, 0.0), size=(10.0, 10.0, 1.0)),
            ObjectInstance(id="court", category="court", name="blue court", center=(90.0, -100.0, 0.0), size=(20.0, 10.0, 1.0)),
        ],
        ways=[
            Way(id="w-e", kind="road", name="High Street", line=[(-300, 0), (0, 0), (300, 0)], width_m=10.0),
            Way(id="s-n", kind="road", name="Mill Street", line=[(0, -300), (0, 0), (0, 300)], width_m=10.0),
        ],
    )
    return sky(pixels, crs, transform, semantics, "crossroads")
