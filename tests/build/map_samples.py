"""Small maps for tests, drawn with characters: # occupied, . free, ? unknown."""

import numpy as np

from portico.build.rosmap import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMap

_MEANING = {"#": OCCUPIED, ".": FREE, "?": UNKNOWN}
_GREY = {"#": 0, ".": 254, "?": 205}

ROOM = """
####################
#..................#
#..................#
#..................#
#........##........#
#........##.......?#
#........#........?#
#..................#
#..................#
####################
"""


def rows(text):
    return text.split()


def drawn(text, resolution_m=0.25, x_m=-1.0, y_m=-2.0, yaw_rad=0.0):
    cells = np.array([[_MEANING[c] for c in row] for row in rows(text)], np.int8)
    return OccupancyMap(MapGrid(resolution_m, x_m, y_m, yaw_rad, cells.shape[1], cells.shape[0]), cells)


def greys(text):
    return np.array([[_GREY[c] for c in row] for row in rows(text)], np.uint8)


def write_map(folder, pixels, *, name="map", image=None, resolution=0.25, origin=(-1.0, -2.0, 0.0), **more):
    """A binary PGM and its YAML; ``more`` adds or replaces keys, None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.asarray(pixels, np.uint8)
    if image is None:
        image = f"{name}.pgm"
        (folder / image).write_bytes(b"P5\n# drawn\n%d %d\n255\n" % pixels.shape[::-1] + pixels.tobytes())
    keys = {
        "image": image,
        "resolution": resolution,
        "origin": origin if origin is None or isinstance(origin, str) else list(origin),
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
    } | more
    path = folder / f"{name}.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None))
    return path
