"""The plan of a generated town as seen from the air: streets that meet in junctions, a river with a canal, and the blocks between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from portico.geometry import Floats
from portico.seeding import generator
from portico.world.semantics import Way

_NAMES = [
    "Mill Street",
    "Station Road",
    "High Street",
    "Park Avenue",
    "Church Lane",
    "Harbour Road",
    "King Street",
    "Orchard Way",
    "Bridge Street",
    "Market Street",
    "Oak Lane",
    "Quarry Road",
    "Linden Avenue",
    "River Walk",
    "Castle Street",
    "Garden Row",
    "Meadow Lane",
    "Foundry Road",
    "Abbey Street",
    "Tower Road",
    "Canal Street",
    "Hill Road",
    "Vine Street",
    "Chapel Row",
]
_JITTER, _DROPPED = 0.16, 0.16


@dataclass(frozen=True)
class Street:
    """A street: its corners (N, 2), junctions among them, and its width."""

    name: str
    line: Floats
    width_m: float

    def area(self, more_m: float = 0.0) -> shapely.Polygon:
        """What it covers, ``more_m`` wider on either side."""
        return shapely.LineString(self.line).buffer(0.5 * self.width_m + more_m, cap_style="flat", join_style="round")


@dataclass(frozen=True)
class Plan:
    """Streets, waters with their widths, and blocks of land; metres around the middle, ``half_m`` to every side."""

    half_m: float
    streets: tuple[Street, ...]
    waters: tuple[Street, ...]
    blocks: tuple[shapely.Polygon, ...]

    def ways(self) -> list[Way]:
        """Lines to follow; streets and waters hold the points at which they cross."""
        lines = [*(("road", "street", s) for s in self.streets), *(("waterway", "river" if k == 0 else "canal", s) for k, s in enumerate(self.waters))]
        cut = [shapely.LineString(s.line) for _, _, s in lines]
        found = []
        for n, (kind, category, street) in enumerate(lines):
            crossings = [p for m, other in enumerate(cut) if m != n and lines[m][0] != kind for p in _points(cut[n].intersection(other))]
            line = with_points(street.line, crossings)
            found.append(Way(id=f"way-{n:03d}", kind=kind, category=category, name=street.name, line=rounded(line), width_m=round(street.width_m, 2)))
        return found


def plan_town(seed: int, size_m: float, spacing_m: float = 170.0) -> Plan:
    """The plan of a square town of ``size_m``."""
    half = 0.5 * size_m
    rng = generator("aerial town", seed, "streets")
    waters = _waters(seed, half)
    streets = _streets(rng, half, max(3, round(size_m / spacing_m)))
    taken = shapely.union_all([*(s.area(3.0) for s in streets), *(w.area(6.0) for w in waters)])
    land = shapely.box(-half, -half, half, half).difference(taken)
    blocks = [b for b in getattr(land, "geoms", [land]) if b.area > 900.0]
    blocks.sort(key=lambda b: (round(b.centroid.x, 3), round(b.centroid.y, 3)))
    return Plan(half, tuple(streets), tuple(waters), tuple(blocks))


def _streets(rng: np.random.Generator, half: float, count: int) -> list[Street]:
    """A bent grid: every row and column is a street; some of its stretches were never built."""
    at = np.linspace(-half, half, count + 2)
    step = at[1] - at[0]
    nodes = np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1)
    nodes[1:-1, 1:-1] += rng.uniform(-_JITTER, _JITTER, (count, count, 2)) * step
    nodes[1:-1, [0, -1], 0] = nodes[1:-1, [1, -2], 0]
    nodes[[0, -1], 1:-1, 1] = nodes[[1, -2], 1:-1, 1]
    names = list(rng.permutation(_NAMES))
    streets: list[Street] = []
    for k in range(2 * count):
        line = nodes[1 + k // 2, :, :] if k % 2 == 0 else nodes[:, 1 + k // 2, :]
        width = 13.0 if k // 2 == count // 2 else float(rng.choice([7.0, 8.0, 9.0]))
        kept = rng.random(len(line) - 1) >= (_DROPPED if width < 10.0 else 0.0)
        name, first = names[k % len(names)], None
        for n, there in enumerate([*kept, False]):
            if there and first is None:
                first = n
            elif not there and first is not None:
                streets.append(Street(name, line[first : n + 1], width))
                first = None
    return streets


def _waters(seed: int, half: float) -> list[Street]:
    """A river from west to east, and a canal that runs into it from the north."""
    rng = generator("aerial town", seed, "waters")
    x = np.arange(-half, half + 1.0, 20.0)
    phase, amplitude, base = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.12) * half, rng.uniform(-0.45, -0.1) * half
    river = np.stack([x, base + amplitude * np.sin(2.0 * np.pi * x / (1.3 * half) + phase)], axis=1)
    mouth = river[int(len(river) * rng.uniform(0.35, 0.65))]
    y = np.linspace(mouth[1], half, max(3, round((half - mouth[1]) / 40.0)))
    lean = rng.uniform(-0.15, 0.15) * half
    canal = np.stack([mouth[0] + lean * ((y - mouth[1]) / (half - mouth[1])) ** 1.5, y], axis=1)
    return [Street("the river", river, float(rng.uniform(18.0, 26.0))), Street("the canal", canal, float(rng.uniform(10.0, 13.0)))]


def with_points(line: Floats, points: list[tuple[float, float]]) -> Floats:
    """A polyline (N, 2) with further points of it among its corners, in order."""
    shape = shapely.LineString(line)
    corners = [(shape.project(shapely.Point(p)), tuple(p)) for p in line.tolist()]
    more = [(shape.project(shapely.Point(p)), p) for p in points]
    kept = sorted(corners + [(s, p) for s, p in more if all(abs(s - t) > 0.5 for t, _ in corners)])
    return np.array([p for _, p in kept])


def rounded(points: Floats) -> list[tuple[float, float]]:
    """Points in centimetres."""
    return [(round(float(x), 2), round(float(y), 2)) for x, y in points]


def _points(shape: shapely.Geometry) -> list[tuple[float, float]]:
    return [(p.x, p.y) for p in getattr(shape, "geoms", [shape]) if isinstance(p, shapely.Point) and not p.is_empty]
