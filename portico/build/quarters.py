"""What fills a quarter of the block: a plaza, a park, a parking court or a garden court, each with lots around it.

Everything here is a plan: patches of ground, lots for buildings, spots for things, and the lines people walk along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely
from numpy.typing import NDArray

from portico.build.ground import Patch
from portico.build.indoor.lot import Front
from portico.build.town_plan import Local, Quarter, Side
from portico.world import Surface

DEPTH_M = 16.0
_PATH_M = 3.0
_GAP_M = 3.0


@dataclass(frozen=True)
class LotPlan:
    """A building site: world rectangle, the side its entrance is on, and whether it stands free of its neighbours."""

    id: str
    quarter: str
    x0: float
    y0: float
    x1: float
    y1: float
    front: Front
    detached: bool

    @property
    def footprint(self) -> shapely.Polygon:
        return shapely.box(self.x0, self.y0, self.x1, self.y1)

    @property
    def front_m(self) -> float:
        """Length of the front."""
        return self.x1 - self.x0 if self.front in ("north", "south") else self.y1 - self.y0


@dataclass(frozen=True)
class Spot:
    """Where a group of things is wanted: its key in ``groups.GROUPS``, position and yaw."""

    group: str
    x: float
    y: float
    yaw_rad: float


@dataclass
class QuarterPlan:
    """What a quarter holds. ``walks`` are world polylines; ``stalls`` parking bays (x, y, yaw); ``groves`` where trees may stand."""

    quarter: Quarter
    patches: list[Patch] = field(default_factory=list)
    lots: list[LotPlan] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    walks: list[list[tuple[float, float]]] = field(default_factory=list)
    stalls: list[tuple[float, float, float]] = field(default_factory=list)
    groves: list[tuple[shapely.Geometry, int]] = field(default_factory=list)
    ponds: list[shapely.Polygon] = field(default_factory=list)
    hedges: list[shapely.Polygon] = field(default_factory=list)

    def lot(self, u0: float, v0: float, u1: float, v1: float, side: Side, *, detached: bool) -> None:
        """Add a building site in quarter coordinates."""
        x0, y0, x1, y1 = self.quarter.rect(u0, v0, u1, v1).bounds
        self.lots.append(LotPlan(f"{self.quarter.name}-{len(self.lots)}", self.quarter.name, x0, y0, x1, y1, self.quarter.facing(side), detached))

    def spot(self, group: str, u: float, v: float, look: Local) -> None:
        """Ask for a group whose front looks along ``look``."""
        self.spots.append(Spot(group, *self.quarter.point(u, v), self.quarter.yaw(*look)))

    def walk(self, points: Sequence[Local]) -> None:
        """Add a line people walk along."""
        self.walks.append([self.quarter.point(u, v) for u, v in points])

    def grass(self, area: shapely.Geometry, name: str, *, open_to_people: bool = False) -> None:
        """Add a lawn: planted ground is prohibited unless an annotation opens it."""
        region = f"{self.quarter.name}-{name}"
        cover = "lawn" if open_to_people else "grass"
        self.patches.append(Patch(region, "vegetated", area, cover, Surface.VEGETATED, access="allowed" if open_to_people else None))

    def pave(self, area: shapely.Geometry, name: str, cover: str) -> None:
        """Add an open area."""
        self.patches.append(Patch(f"{self.quarter.name}-{name}", "open_area", area, cover, Surface.OPEN_AREA))


def _row(
    start: float, end: float, rng: np.random.Generator, *, passage_m: float = _GAP_M, wanted_m: float = 19.0
) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Lots side by side between two stations, and the passage between the last two (beside the lot when there is only one)."""
    count = max(1, round((end - start) / (wanted_m + _GAP_M)))
    gaps = [*[_GAP_M] * (count - 2), passage_m]
    free = end - start - sum(gaps)
    shares = rng.uniform(0.85, 1.15, count)
    widths = np.round(free * shares / shares.sum(), 1)
    lots, at, passage = [], start, (end - passage_m, end)
    for i, width in enumerate(widths):
        lots.append((round(at, 2), round(at + float(width), 2)))
        at += float(width)
        if i < len(gaps):
            passage = (round(at, 2), round(at + gaps[i], 2))
            at += gaps[i]
    return lots, passage


def _courtyard(
    plan: QuarterPlan, rng: np.random.Generator, passage_m: float
) -> tuple[tuple[float, float, float, float], tuple[float, float], tuple[float, float]]:
    """Lots along both streets: the yard behind them in quarter coordinates, and the passages into it through either row."""
    w, h = plan.quarter.width_m, plan.quarter.depth_m
    along_u, gate_u = _row(0.0, w, rng, passage_m=passage_m)
    along_v, gate_v = _row(DEPTH_M + _GAP_M, h, rng)
    for i, (a, b) in enumerate(along_u):
        plan.lot(a, 0.0, b, DEPTH_M, "v-", detached=i == 1)
    for i, (a, b) in enumerate(along_v):
        plan.lot(0.0, a, DEPTH_M, b, "u-", detached=i == 0)
    return (DEPTH_M + 1.5, DEPTH_M + 1.5, w, h), gate_u, gate_v


def garden(plan: QuarterPlan, rng: np.random.Generator) -> None:
    """Buildings along both streets around a garden of four lawns; one of the lawns is open to people."""
    q, (w, h) = plan.quarter, (plan.quarter.width_m, plan.quarter.depth_m)
    (u0, v0, u1, v1), gate_u, gate_v = _courtyard(plan, rng, _PATH_M)
    mu, mv = max((gate_u[0] + gate_u[1]) / 2, u0 + 3.0), (gate_v[0] + gate_v[1]) / 2
    half = _PATH_M / 2
    quarters = [(u0, v0, mu - half, mv - half), (mu + half, v0, u1, mv - half), (mu + half, mv + half, u1, v1), (u0, mv + half, mu - half, v1)]
    opened = int(rng.integers(0, 4))
    for i, (a, b, c, d) in enumerate(quarters):
        if c - a > 1.5 and d - b > 1.5:
            plan.grass(q.rect(a, b, c, d), f"lawn-{i}", open_to_people=i == opened)
            inner = q.rect(a, b, c, d).buffer(-1.2)
            plan.groves.append((inner, round(inner.area / (90.0 if i == opened else 50.0))))
    plan.pave(shapely.Point(*q.point(mu, mv)).buffer(5.6, quad_segs=6), "round", "gravel")
    plan.spot("round bed", mu, mv, (0.0, -1.0))
    for a in np.arange(4) * np.pi / 2 + np.pi / 4:
        plan.spot("garden bench", mu + 4.75 * np.cos(a), mv + 4.75 * np.sin(a), (-np.cos(a), -np.sin(a)))
    ring = [(mu + 2.9 * np.cos(a), mv + 2.9 * np.sin(a)) for a in np.arange(0, 16) * np.pi / 8]
    plan.walk([*ring, ring[0]])
    plan.walk([((gate_u[0] + gate_u[1]) / 2, -1.4), ((gate_u[0] + gate_u[1]) / 2, v0 - 1.0), (mu, v0 - 1.0), (mu, mv - 2.9)])
    plan.walk([(mu, mv + 2.9), (mu, h + 1.5)])
    plan.walk([(-1.4, mv), (mu - 2.9, mv)])
    plan.walk([(mu + 2.9, mv), (w + 1.5, mv)])


def court(plan: QuarterPlan, rng: np.random.Generator) -> None:
    """Buildings along both streets around a parking court that people and cars share."""
    q, (w, h) = plan.quarter, (plan.quarter.width_m, plan.quarter.depth_m)
    (u0, v0, u1, v1), gate_u, gate_v = _courtyard(plan, rng, 6.0)
    plan.patches.append(Patch(f"{q.name}-drive", "shared_road", q.rect(gate_u[0], 0.0, gate_u[1], v0), "cobble", Surface.SHARED_ROAD))
    plan.patches.append(Patch(f"{q.name}-court", "shared_road", q.rect(u0, v0, u1, v1), "asphalt-light", Surface.SHARED_ROAD))
    mv, aisle = (gate_v[0] + gate_v[1]) / 2, (gate_u[0] + gate_u[1]) / 2
    beds = [(u1 - 1.6, v0 + 4.0, u1, mv - 2.5), (u1 - 1.6, mv + 2.5, u1, v1 - 6.0)]
    beds += [(u0, v1 - 1.6, u1 - 6.0, v1)] if mv + 2.5 < v1 - 1.6 else []
    for i, (a, b, c, d) in enumerate(beds):
        if max(c - a, d - b) > 3.0 and min(c - a, d - b) > 1.0:
            plan.grass(q.rect(a, b, c, d), f"bed-{i}")
            plan.hedges.append(q.rect(a + 0.4, b + 0.4, c - 0.4, d - 0.4))
    for u in np.arange(u0 + 3.0, u1 - 8.0, 2.8):
        plan.stalls.append((*q.point(float(u), v1 - 4.8), q.yaw(0.0, 1.0) - np.pi / 2))
    for v in np.arange(v0 + 6.0, v1 - 9.0, 2.8):
        if abs(v - mv) > 3.2:
            plan.stalls.append((*q.point(u1 - 4.4, float(v)), q.yaw(1.0, 0.0) - np.pi / 2))
    for u in np.arange(u0 + 7.0, u1 - 11.0, 2.8):
        if abs(u - aisle) > 4.8:
            plan.stalls.append((*q.point(float(u), v0 + 2.8), q.yaw(0.0, -1.0) - np.pi / 2))
    for low, high in ((v0 + 5.5, mv - 2.0), (mv + 2.0, v1 - 7.6)):
        for a, b in ((u0 + 7.0, aisle - 4.0), (aisle + 4.0, u1 - 13.5)):
            if high - low > 14.0 and b - a > 6.0:
                _island(plan, a, b, (low + high) / 2)
    plan.spot("recycling corner", u0 + 2.6, v1 - 12.0 if v1 - 12.0 - mv > 4.0 else v0 + 3.0, (1.0, 0.0))
    plan.spot("charging station", u1 - 7.4, mv - 2.2, (0.0, 1.0))
    plan.spot("bike parking", u0 + 0.9, v0 + 7.0, (1.0, 0.0))
    plan.spot("delivery", u0 + 1.6, mv - 5.0, (1.0, 0.0))
    plan.spot("parcel lockers", u0 + 0.6, mv + 5.5, (1.0, 0.0))
    plan.walk([(aisle, -1.4), (aisle, mv)])
    plan.walk([(-1.4, mv), (w + 1.5, mv)])
    plan.walk([(u1 - 3.0, v1 - 3.0), (u1 - 3.0, h + 1.5)])


def _island(plan: QuarterPlan, a: float, b: float, v: float) -> None:
    """A planted strip with trees between two rows of parking bays."""
    q = plan.quarter
    plan.grass(q.rect(a, v - 1.1, b, v + 1.1), f"island-{len(plan.groves)}")
    plan.groves.append((q.rect(a + 0.3, v - 0.9, b - 0.3, v + 0.9), max(2, round((b - a) / 5.0))))
    for u in np.arange(a + 1.6, b - 1.3, 2.8):
        for side in (-1.0, 1.0):
            plan.stalls.append((*q.point(float(u), v + side * 3.8), q.yaw(0.0, side) - np.pi / 2))


def plaza(plan: QuarterPlan, rng: np.random.Generator) -> None:
    """A paved square at the corner, buildings on its far side and beside it, a garden behind."""
    q, (w, h) = plan.quarter, (plan.quarter.width_m, plan.quarter.depth_m)
    p, back = round(w * 0.62, 1), round(max(20.0, h - DEPTH_M - 11.0), 1)
    plan.pave(q.rect(0.0, 0.0, p + _PATH_M, back), "plaza", "plaza")
    lots, _ = _row(0.0, p, rng, wanted_m=17.0)
    for i, (a, b) in enumerate(lots):
        plan.lot(a, back, b, back + DEPTH_M, "v-", detached=i == 0)
    plan.lot(p + _PATH_M, 0.0, w, DEPTH_M, "v-", detached=True)
    if back - DEPTH_M > 16.0:
        plan.lot(p + _PATH_M, DEPTH_M + _GAP_M, p + _PATH_M + 14.0, back, "u-", detached=False)
    low = back + _GAP_M if back - DEPTH_M > 16.0 else DEPTH_M + 1.5
    plan.grass(q.rect(p + _PATH_M, low, w, h), "garden")
    plan.groves.append((q.rect(p + _PATH_M, low, w, h).buffer(-1.2), 9))
    plan.grass(q.rect(0.0, back + DEPTH_M + 1.0, p, h), "back-garden")
    plan.groves.append((q.rect(0.0, back + DEPTH_M + 1.0, p, h).buffer(-1.2), 6))
    middle = (p * 0.5, back * 0.5)
    plan.spot(str(rng.choice(["fountain", "monument"])), *middle, (0.0, -1.0))
    for a in np.arange(0, 8) * np.pi / 4 + np.pi / 8:
        what = "square bench" if round(a / (np.pi / 4)) % 2 else "planter tree"
        plan.spot(what, middle[0] + 6.2 * np.cos(a), middle[1] + 6.2 * np.sin(a), (-np.cos(a), -np.sin(a)))
    for u in np.arange(7.0, p - 3.0, 9.0):
        plan.spot("planter tree", float(u), 1.2, (0.0, -1.0))
    for v in np.arange(8.0, back - 6.0, 9.0):
        plan.spot("planter tree", 1.2, float(v), (-1.0, 0.0))
    plan.spot("cafe terrace", max(10.0, p * 0.28), back - 7.4, (0.0, -1.0))
    plan.spot("kiosk", p - 2.5, back * 0.28, (-1.0, 0.0))
    plan.spot("food cart", p * 0.80, back - 8.0, (-1.0, 0.0))
    plan.spot("bike parking", p - 1.6, back * 0.58, (-1.0, 0.0))
    plan.spot("chess", 7.4, back * 0.52, (1.0, 0.0))
    plan.spot("information", 8.2, 8.2, (-0.7, -0.7))
    plan.spot("flowers", p * 0.72, 7.2, (0.0, -1.0))
    plan.walk([(-1.4, -1.4), (4.0, 4.0), (4.0, back - 3.0), (p + 1.5, back - 3.0), (p + 1.5, h + 1.5)])
    plan.walk([(4.0, 4.0), (p + 1.5, 4.0)])
    plan.walk([(p + 1.5, back - 3.0), (p + 1.5, -1.4)])
    plan.walk([(-1.4, back - 3.0), (4.0, back - 3.0)])


def park(plan: QuarterPlan, rng: np.random.Generator) -> None:
    """Lawns and a pond with a walk around it at the corner, a promenade, and a row of buildings that looks onto it."""
    q, (w, h) = plan.quarter, (plan.quarter.width_m, plan.quarter.depth_m)
    edge = round(h - DEPTH_M - 4.0, 1)
    lots, _ = _row(0.0, w, rng)
    for i, (a, b) in enumerate(lots):
        plan.lot(a, edge + 4.0, b, h, "v-", detached=i in (0, 1))
    plan.grass(q.rect(0.0, 0.0, w, edge), "park")
    cu, cv = w * 0.56, edge * 0.50
    shore = _pond_outline(rng, min(8.5, w * 0.16), min(6.0, edge * 0.17))
    pond = q.polygon([(cu + u, cv + v) for u, v in shore])
    walk = shapely.Polygon([(cu + u, cv + v) for u, v in shore]).buffer(3.4, quad_segs=4).simplify(0.15)
    ring = walk.exterior
    inner = shapely.difference(walk.buffer(1.25), walk.buffer(-1.25))
    bay = shapely.box(2.5, edge - 12.5, 15.5, edge - 2.0)
    picnic = shapely.box(w - 15.0, 2.5, w - 3.5, 10.5)
    links = [
        ((-1.4, -1.4), ring),
        ((w * 0.5, -1.4), ring),
        ((w + 1.5, cv), ring),
        ((cu, edge + 2.0), ring),
        ((9.0, edge - 12.4), ring),
        ((w - 9.0, 10.4), ring),
    ]
    lines = []
    for start, target in links:
        end = target.interpolate(target.project(shapely.Point(start)))
        lines.append([start, (end.x, end.y)])
        plan.walk(lines[-1])
    plan.walk([(x, y) for x, y in np.asarray(ring.coords)[:, :2]])
    paths = shapely.union_all([inner, *[shapely.LineString(line).buffer(1.25, cap_style="flat") for line in lines], bay, picnic])
    paths = shapely.intersection(paths, shapely.box(0.0, 0.0, w, edge))
    plan.pave(_to_world(q, paths), "park-path", "gravel")
    plan.patches.append(Patch(f"{q.name}-pond", "water", pond, "water", Surface.WATER, (-0.3, 0.0, 0.0)))
    plan.ponds.append(pond)
    free = shapely.difference(shapely.box(0.8, 0.8, w - 0.8, edge - 0.8), shapely.union_all([paths.buffer(0.9), walk.buffer(1.2)]))
    plan.groves.append((_to_world(q, free), 26))
    for k in range(6):
        spot = ring.interpolate((k + 0.5) / 6.0, normalized=True)
        out = np.array([spot.x - cu, spot.y - cv])
        out /= np.linalg.norm(out)
        plan.spot("park bench" if k % 2 else "one park lamp", spot.x + out[0] * 1.75, spot.y + out[1] * 1.75, (-out[0], -out[1]))
    plan.spot("playground", 9.0, edge - 7.0, (0.0, -1.0))
    plan.spot("picnic", w - 9.2, 6.2, (0.0, 1.0))
    plan.spot("park kiosk", w - 5.0, edge + 0.2, (0.0, 1.0))
    plan.spot("promenade bench", w * 0.30, edge - 0.1, (0.0, 1.0))
    plan.spot("promenade bench", w * 0.72, edge - 0.1, (0.0, 1.0))
    plan.walk([(-1.4, edge + 2.0), (w + 1.5, edge + 2.0)])


def _pond_outline(rng: np.random.Generator, a: float, b: float) -> NDArray[np.float64]:
    angle = np.arange(28) * 2 * np.pi / 28
    phase = rng.uniform(0, 2 * np.pi, 2)
    radius = 1.0 + 0.10 * np.sin(2 * angle + phase[0]) + 0.07 * np.sin(3 * angle + phase[1])
    return np.round(np.column_stack([a * radius * np.cos(angle), b * radius * np.sin(angle)]), 3)


def _to_world(quarter: Quarter, area: shapely.Geometry) -> shapely.Geometry:
    return shapely.transform(area, lambda uv: np.column_stack([quarter.origin[0] + quarter.sx * uv[:, 0], quarter.origin[1] + quarter.sy * uv[:, 1]]))


KINDS: dict[str, Callable[[QuarterPlan, np.random.Generator], None]] = {"plaza": plaza, "park": park, "court": court, "garden": garden}
