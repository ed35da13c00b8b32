"""Where a body can go: layered walkable surfaces, clearance, swept motion, geodesics and sampling, for one embodiment."""

from portico.space.body import BodySize
from portico.space.build import build_space
from portico.space.cache import cached_space
from portico.space.geodesics import DistanceField, GeodesicPath
from portico.space.space import Space, Sweep

__all__ = ["BodySize", "DistanceField", "GeodesicPath", "Space", "Sweep", "build_space", "cached_space"]
