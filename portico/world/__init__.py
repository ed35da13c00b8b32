"""What exists: the World bundle (manifest, geometry, appearance, semantics) and its directory on disk.

Nothing here knows of robots, tasks or files of other tools.
"""

from portico.world.bundle import check_free, content_hash, load, save
from portico.world.gaussians import Gaussians
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
)

__all__ = [
    "DEFAULT_ACCESS",
    "WALKABLE",
    "Appearance",
    "Building",
    "Floor",
    "Gaussians",
    "GeographicOrigin",
    "Geometry",
    "InstanceLabel",
    "Light",
    "Manifest",
    "Material",
    "ObjectInstance",
    "Place",
    "Portal",
    "Provenance",
    "Region",
    "Room",
    "RouteGraph",
    "Semantics",
    "Surface",
    "World",
    "check_free",
    "content_hash",
    "load",
    "save",
]
