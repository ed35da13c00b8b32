"""From parts to objects: where each has its centre, how large it is, where it stands, and whether a body can come to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.stats import trim_mean

from portico.build.lifting.fusion import Fused
from portico.build.lifting.islands import VOXEL_M
from portico.geometry import Floats
from portico.space import Space
from portico.world import Building, Floor, Room, Semantics

#: How near a goal state must lie to the centre, in the plane: where an object goal of NavArena is reached.
GOAL_M = 1.0
#: Smaller things than so many voxels are not told from noise; neither are those that a single view shows, since each has one vote.
LEAST_VOXELS, LEAST_AGREEING = 12, 1.1
_LEAST_SHARE = 0.6
#: A thing so much smaller than the largest of its kind is what shimmered at the edge of one.
_LEAST_OF_LARGEST = 1 / 15
TOO_SMALL = f"smaller than {LEAST_VOXELS} voxels of {VOXEL_M:g} m, or than a fifteenth of the largest of its kind"
#: The outermost share of matter on each side is left out of a box.
_TRIM = 0.01
#: Of this share on each side of a thing a part may be matter of its neighbours.
_FRINGE = 0.1
#: A centre this far from matter in the plane is still within it: something may stand there and hide it.
_HOLE_M = 0.1
#: Half of the thickest hollow thing that is seen from two sides only, and how many directions are told apart.
_HOLLOW_M, _SECTORS = 0.35, 16
_BELOW_M = 0.5


@dataclass(frozen=True)
class Candidate:
    """A thing that was lifted, kept as an object or not.

    Attributes:
        category: its name. center: (3,), metres, within its own matter as seen from above. size: along its own axes. yaw_rad: of these.
        building, floor, room: ids, None where it lies in none.
        confidence: 0 to 1, the share of votes on its matter that agree. agreeing: how many views' worth they are, on average.
        gaussians: (G,) int64, its matter. dropped: why it is no object, "" where it is one.
    """

    category: str
    center: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw_rad: float
    building: str | None
    floor: str | None
    room: str | None
    confidence: float
    agreeing: float
    gaussians: NDArray[np.int64]
    dropped: str


@dataclass(frozen=True)
class Judge:
    """What decides whether a thing becomes an object.

    Attributes:
        semantics: buildings, floors and rooms. space: of the body that has to come near. views: how many there were.
    """

    semantics: Semantics
    space: Space
    views: int

    def candidate(self, category: str, matter: NDArray[np.int64], voxels: int, largest: int, fused: Fused, means: NDArray[np.float32]) -> Candidate:
        """The thing made of Gaussians ``matter`` (G,) in so many voxels, the largest of its kind in ``largest``; ``means`` (N, 3) are all."""
        points = means[matter].astype(np.float64)
        center = center_of(points)
        size, yaw_rad = box_of(points)
        building, floor, room = home_of(self.semantics, center)
        share, agreeing = float(fused.share[matter].mean()), float(fused.votes[matter].mean())
        dropped = self._fault(voxels, largest, share, agreeing, center, floor)
        names = (building.id if building else None, floor.id if floor else None, room.id if room else None)
        x, y, z = (float(value) for value in center)
        return Candidate(category, (x, y, z), size, yaw_rad, *names, round(share, 4), round(agreeing, 3), matter, dropped)

    def _fault(self, voxels: int, largest: int, share: float, agreeing: float, center: Floats, floor: Floor | None) -> str:
        if voxels < max(LEAST_VOXELS, _LEAST_OF_LARGEST * largest):
            return TOO_SMALL
        if agreeing < min(LEAST_AGREEING, 0.5 * self.views) or share < _LEAST_SHARE:
            return "too few views agree"
        if not self.reachable(center, floor):
            return self.unreachable
        return ""

    @property
    def unreachable(self) -> str:
        """What to say of things that the body cannot come near."""
        return f"no place within {GOAL_M:g} m of the centre that {self.space.embodiment.name} reaches"

    def reachable(self, center: Floats, floor: Floor | None) -> bool:
        """Whether the body finds a free place on the main component of this floor within a metre of the centre, in the plane."""
        nodes = self.space.nodes_xyz
        low, high = (floor.z_m, floor.z_m + floor.height_m) if floor is not None else (center[2] - 3.0, center[2] + _BELOW_M)
        near = (np.hypot(nodes[:, 0] - center[0], nodes[:, 1] - center[1]) <= GOAL_M) & (self.space.node_component == 0)
        return bool((near & (nodes[:, 2] >= low - _BELOW_M) & (nodes[:, 2] < high - _BELOW_M)).any())


def center_of(points: Floats) -> Floats:
    """(3,) the mean of the voxels that points (P, 3) fill, without the fringe; where no matter lies above or below that, the nearest in the plane."""
    _, home = np.unique(np.floor(points / VOXEL_M).astype(np.int64), axis=0, return_inverse=True)
    count = np.bincount(home.ravel())
    cells = np.stack([np.bincount(home.ravel(), points[:, d]) / count for d in range(3)], axis=1)
    center: Floats = trim_mean(cells, _FRINGE, axis=0)
    gap = np.hypot(*(cells[:, :2] - center[:2]).T)
    if gap.min() <= _HOLE_M or _between(cells[gap <= _HOLLOW_M, :2] - center[:2]):
        return center
    near = cells[gap <= gap.min() + VOXEL_M]
    return np.asarray(near[np.argmin(np.abs(near[:, 2] - center[2]))])


def _between(offsets: Floats) -> bool:
    """Whether matter at offsets (M, 2) lies on opposite sides: what is between belongs to the thing, as the inside of a cupboard does."""
    sector = np.floor(np.arctan2(offsets[:, 1], offsets[:, 0]) / (2.0 * np.pi) * _SECTORS).astype(int) % _SECTORS
    taken = np.bincount(sector, minlength=_SECTORS) > 0
    return bool((taken & np.roll(taken, _SECTORS // 2)).any())


def box_of(points: Floats) -> tuple[tuple[float, float, float], float]:
    """Size along its own axes, and yaw, of the smallest upright box around points (P, 3), the outermost hundredth on each side left out."""
    low, high = np.quantile(points, [_TRIM, 1.0 - _TRIM], axis=0)
    kept = points[((points >= low) & (points <= high)).all(axis=1)]
    kept = kept if len(kept) >= 3 else points
    rectangle = shapely.minimum_rotated_rectangle(shapely.multipoints(kept[:, :2]))
    height = float(kept[:, 2].max() - kept[:, 2].min())
    if rectangle.geom_type != "Polygon":
        x, y = (kept[:, :2].max(axis=0) - kept[:, :2].min(axis=0)).tolist()
        return (x, y, height), 0.0
    corners = np.array(rectangle.exterior.coords)[:3]
    first, second = corners[1] - corners[0], corners[2] - corners[1]
    yaw = float(np.arctan2(first[1], first[0]))
    # Of the four ways to turn a rectangle the one nearest to no turn.
    quarter = round(yaw / (0.5 * np.pi))
    size = (float(np.hypot(*first)), float(np.hypot(*second)))
    x, y = size if quarter % 2 == 0 else size[::-1]
    return (x, y, height), yaw - quarter * 0.5 * np.pi


def home_of(semantics: Semantics, center: Floats) -> tuple[Building | None, Floor | None, Room | None]:
    """The building, floor and room that a point (3,) lies in."""
    at = shapely.Point(center[:2])
    for building in semantics.buildings:
        if not shapely.Polygon(building.footprint).contains(at):
            continue
        below = [floor for floor in building.floors if center[2] >= floor.z_m - _BELOW_M]
        floor = max(below, key=lambda f: f.z_m, default=None)
        rooms = (r for r in semantics.rooms if floor is not None and (r.building, r.floor) == (building.id, floor.id))
        return building, floor, next((r for r in rooms if shapely.Polygon(r.polygon).contains(at)), None)
    return None, None, None


def counted(candidates: list[Candidate]) -> dict[str, int]:
    """How many candidates each filter removed, by its name."""
    return dict(sorted(Counter(c.dropped for c in candidates if c.dropped).items(), key=lambda entry: (-entry[1], entry[0])))
