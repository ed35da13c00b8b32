"""Two-dimensional maps as ROS' map_server keeps them: read, made into worlds, taken from worlds, written.

A map is an image and a YAML file that says how large a pixel is, where the lower left corner lies and which grey means what.
"""

from portico.build.rosmap.importer import ImportedMap, import_rosmap, map_world
from portico.build.rosmap.occupancy import grid_around, grid_of, occupancy_of
from portico.build.rosmap.occupancy_map import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMap
from portico.build.rosmap.read import read_rosmap
from portico.build.rosmap.write import write_rosmap

__all__ = [
    "FREE",
    "OCCUPIED",
    "UNKNOWN",
    "ImportedMap",
    "MapGrid",
    "OccupancyMap",
    "grid_around",
    "grid_of",
    "import_rosmap",
    "map_world",
    "occupancy_of",
    "read_rosmap",
    "write_rosmap",
]
