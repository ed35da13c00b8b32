"""Lines in the middle of what a mask marks: a raster of roads becomes ways that can be followed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from portico.geometry import Floats

#: Ends shorter than this times the mask's width are frayed edges, not ways.
_SPUR = 1.5


def centre_lines(mask: NDArray[np.bool_]) -> list[tuple[Floats, float]]:
    """Polylines (N, 2), column and row with pixel centres at half integers, and the width in pixels of what each is the middle of."""
    from scipy.ndimage import distance_transform_edt

    padded = np.pad(mask, 1)
    depth = distance_transform_edt(padded)
    thin = thinned(padded.astype(np.uint8))
    lines = []
    for path, ends in _paths(thin):
        width = 2.0 * float(np.median([depth[r, c] for r, c in path]))
        if ends and len(path) < _SPUR * width:
            continue
        lines.append((np.array([(c - 0.5, r - 0.5) for r, c in path], dtype=np.float64), width))
    return lines


@njit(cache=True)
def thinned(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What is left of a mask (a border of zeros around it) when its edges are worn down to lines, by Zhang and Suen's rules (1984)."""
    image = image.copy()
    doomed = np.zeros_like(image)
    changed = True
    while changed:
        changed = False
        for phase in range(2):
            for r in range(1, image.shape[0] - 1):
                for c in range(1, image.shape[1] - 1):
                    if image[r, c] == 0:
                        continue
                    n, ne, e, se = image[r - 1, c], image[r - 1, c + 1], image[r, c + 1], image[r + 1, c + 1]
                    s, sw, w, nw = image[r + 1, c], image[r + 1, c - 1], image[r, c - 1], image[r - 1, c - 1]
                    count = n + ne + e + se + s + sw + w + nw
                    rises = (
                        (n == 0 and ne == 1)
                        + (ne == 0 and e == 1)
                        + (e == 0 and se == 1)
                        + (se == 0 and s == 1)
                        + (s == 0 and sw == 1)
                        + (sw == 0 and w == 1)
                        + (w == 0 and nw == 1)
                        + (nw == 0 and n == 1)
                    )
                    edge = (n * e * s == 0 and e * s * w == 0) if phase == 0 else (n * e * w == 0 and n * s * w == 0)
                    doomed[r, c] = 2 <= count <= 6 and rises == 1 and edge
            for r in range(image.shape[0]):
                for c in range(image.shape[1]):
                    if doomed[r, c]:
                        image[r, c] = doomed[r, c] = 0
                        changed = True
    return image


def _paths(thin: NDArray[np.uint8]) -> list[tuple[list[tuple[int, int]], bool]]:
    """Chains of pixels between junctions and ends, and whether one of theirs is a loose end; junction pixels that touch are one place."""
    from scipy.ndimage import label

    around = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    pixels = {(int(r), int(c)) for r, c in np.argwhere(thin)}
    neighbours = {p: [(p[0] + a, p[1] + b) for a, b in around if (p[0] + a, p[1] + b) in pixels] for p in pixels}
    forks = np.zeros(thin.shape, np.uint8)
    for p, near in neighbours.items():
        forks[p] = len(near) > 2
    blobs, count = label(forks, np.ones((3, 3)))
    middles = {k: tuple(np.argwhere(blobs == k).mean(axis=0).round().astype(int).tolist()) for k in range(1, count + 1)}
    found, used = [], set()
    starts = sorted(p for p in pixels if not forks[p] and (len(neighbours[p]) <= 1 or any(forks[q] for q in neighbours[p])))
    for start in [*starts, *sorted(p for p in pixels if not forks[p])]:
        if start in used:
            continue
        path, here = [start], start
        used.add(start)
        while True:
            ahead = [q for q in neighbours[here] if not forks[q] and q not in used]
            if not ahead:
                break
            here = ahead[0]
            used.add(here)
            path.append(here)
        loose = False
        for end, at_front in ((path[0], True), (path[-1], False)):
            touching = [q for q in neighbours[end] if forks[q]]
            if not touching:
                loose = True
            elif at_front:
                path.insert(0, middles[int(blobs[touching[0]])])
            elif len(touching) > 1 or middles[int(blobs[touching[0]])] != path[0] or len(path) > 3:
                path.append(middles[int(blobs[touching[-1]])])
        found.append((path, loose))
    return found
