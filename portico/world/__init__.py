"""What exists: the World bundle (manifest, geometry, appearance, semantics) and its directory on disk.

Nothing here knows of robots, tasks or files of other tools.
"""

from portico.world.bundle import check_free, content_hash, load, save
from portico.world.gaussians import Gaussians
from portico.world.geodesy import GEODESIES, SATNAV, SPHERE, Geodesy, GeodesyName, GeoPose, LocalFrame
from portico.world.raster import Raster, RasterInfo
from portico.world.raster_tiles import RasterTiles
from portico.world.semantics import (
    DEFAULT_ACCESS,
    Building,
    Floor,
    InstanceLabel,
    ObjectInstance,
    Place,
    Portal,
    Region,
    Room,
    RouteGraph,
    Semantics,
    Way,
)
from portico.world.world import (
    WALKABLE,
    Appearance,
    GeographicOrigin,
    Geometry,
    Light,
    Manifest,
    Material,
    Provenance,
    Surface,
    World,
    no_geometry,
)

__all__ = [
    "DEFAULT_ACCESS",
    "GEODESIES",
    "SATNAV",
    "SPHERE",
    "WALKABLE",
    "Appearance",
    "Building",
    "Floor",
    "Gaussians",
    "GeoPose",
    "Geodesy",
    "GeodesyName",
    "GeographicOrigin",
    "Geometry",
    "InstanceLabel",
    "Light",
    "LocalFrame",
    "Manifest",
    "Material",
    "ObjectInstance",
    "Place",
    "Portal",
    "Provenance",
    "Raster",
    "RasterInfo",
    "RasterTiles",
    "Region",
    "Room",
    "RouteGraph",
    "Semantics",
    "Surface",
    "Way",
    "World",
    "check_free",
    "content_hash",
    "load",
    "no_geometry",
    "save",
]
