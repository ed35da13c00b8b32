"""Where episodes may start and end in a world: the free cells of a space, sorted by what the annotations say of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import KDTree

from portico.errors import EpisodeError
from portico.geometry import Floats
from portico.robots import Embodiment
from portico.space import Space, build_space
from portico.tasks.annotations import Annotations
from portico.tasks.episode import StageSpec
from portico.tasks.predicates import Ground, ReachInstance, predicate
from portico.world import World

Mask = NDArray[np.bool_]

#: Candidate points keep this much clearance [I2 C.2]: traversable cells eroded by 0.4 m, indoor ones by a further 0.2 m.
OUTDOOR_CLEARANCE_M = 0.4
INDOOR_CLEARANCE_M = 0.6
#: Boundary points lie outdoors within this distance of a building [I2 C.2].
BOUNDARY_M = 15.0


@dataclass(frozen=True)
class Grounds:
    """Masks over the nodes of a space, (N,) bool each."""

    world: World
    space: Space
    body: Embodiment
    annotations: Annotations

    @staticmethod
    def of(world: World, body: Embodiment, space: Space | None = None) -> Grounds:
        """Survey a world for an embodiment.

        Raises:
            EpisodeError: the body fits nowhere.
        """
        grounds = Grounds(world, space or build_space(world, body), body, Annotations(world.semantics))
        if world.appearance.raster is None and not grounds.usable.any():
            fits = bool((np.asarray(grounds.space.node_component) >= 0).any())
            why = "no region of the world allows pedestrians, and nothing is indoors" if fits else f"{body.name} has radius {body.radius_m} m and fits nowhere"
            hint = "see the notes of `portico world info`" if fits else "try a smaller embodiment"
            raise EpisodeError("no place where the robot could start", where=world.id, why=why, next_step=hint)
        return grounds

    @cached_property
    def xyz(self) -> Floats:
        """(N, 3) node positions."""
        return np.asarray(self.space.nodes_xyz, dtype=np.float64)

    @cached_property
    def building(self) -> NDArray[np.int64]:
        """(N,) index of the building that holds each node, -1 outdoors."""
        return np.asarray(self.annotations.inside(self.xyz))

    @cached_property
    def floor(self) -> NDArray[np.int64]:
        """(N,) index of the floor that holds each node, -1 outdoors."""
        return np.asarray(self.annotations.floor(self.xyz))

    @cached_property
    def allowed(self) -> Mask:
        """Outdoor nodes where one may walk."""
        return np.asarray(self.annotations.allowed(self.xyz))

    @cached_property
    def usable(self) -> Mask:
        """Nodes of the one component that people would call the world: the largest over outdoor allowed and indoor ground."""
        component = np.asarray(self.space.node_component)
        candidates = (component >= 0) & (self.allowed | (self.building >= 0))
        if not candidates.any():
            return candidates
        weigh = candidates & self.allowed if (candidates & self.allowed).any() else candidates
        chosen: Mask = candidates & (component == np.bincount(component[weigh]).argmax())
        return chosen

    @cached_property
    def clearance(self) -> Floats:
        """(N,) metres to the nearest obstacle."""
        return np.asarray(self.space.node_clearance_m, dtype=np.float64)

    @cached_property
    def _roomy_indoors(self) -> Mask:
        mask: Mask = self.usable & (self.floor >= 0) & (self.clearance >= max(INDOOR_CLEARANCE_M, self.body.radius_m))
        return mask

    def floor_sizes(self) -> NDArray[np.int64]:
        """(F,) how many nodes of each floor in ``annotations.floors`` are roomy enough to start from."""
        return np.bincount(self.floor[self._roomy_indoors], minlength=len(self.annotations.floors))

    def indoor_starts(self, floor: int | None = None) -> Mask:
        """Nodes roomy enough to start from: of one floor (an index into ``annotations.floors``), of all without one."""
        mask: Mask = self._roomy_indoors if floor is None else self._roomy_indoors & (self.floor == floor)
        return mask

    @cached_property
    def outdoor_starts(self) -> Mask:
        """Allowed outdoor nodes roomy enough to start from."""
        mask: Mask = self.usable & self.allowed & (self.clearance >= max(OUTDOOR_CLEARANCE_M, self.body.radius_m))
        return mask

    def boundary(self, building: int) -> Mask:
        """Outdoor starts within 15 m of a building's footprint."""
        return self._near(self.outdoor_starts, np.array(self.annotations.buildings[building].footprint), BOUNDARY_M)

    def inside(self, building: int) -> Mask:
        """Usable nodes inside a building."""
        mask: Mask = self.usable & (self.building == building)
        return mask

    def enterable(self) -> list[int]:
        """Indices of the buildings that can be reached on foot."""
        reached: list[int] = np.unique(self.building[self.usable & (self.building >= 0)]).tolist()
        return reached

    def stops_for(self, stage: StageSpec) -> Mask:
        """Nodes at which a STOP ends a stage that looks for something with success, with a cell to spare; within the stage's building when it names one."""
        stops = np.zeros(len(self.usable), dtype=bool)
        stops[self.stop_nodes(stage)] = True
        return stops

    def stop_nodes(self, stage: StageSpec) -> NDArray[np.int64]:
        """The nodes of ``stops_for``, sorted."""
        target = predicate(stage, self.xyz[0], Ground(self.annotations, self.body))
        building = self.annotations.building_index(stage.building)
        if isinstance(target, ReachInstance):
            near = self.nodes_near(target.centers, target.radii_m + target.tolerance_m)
            picks = near[self.building[near] == building] if building >= 0 else near
        else:
            picks = np.flatnonzero(self.inside(building) if building >= 0 else self.usable)
        points = self.xyz[picks]
        found: NDArray[np.int64] = picks[target.holds(points) & (target.distance_m(points) <= target.tolerance_m - self.space.cell_m)]
        return found

    def nodes_near(self, centers: Floats, reaches_m: Floats) -> NDArray[np.int64]:
        """Usable nodes within a reach (M,) of any of some points (M, 3), seen from above, sorted."""
        if not len(centers):
            return np.zeros(0, dtype=np.int64)
        found = self._tree.query_ball_point(centers[:, :2], reaches_m)
        return np.unique(self._tree_nodes[np.concatenate([np.asarray(part, dtype=np.int64) for part in found])])

    @cached_property
    def _tree_nodes(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.usable)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.xyz[self._tree_nodes, :2])

    def _near(self, mask: Mask, polygon: Floats, distance_m: float) -> Mask:
        """Members of a mask within a distance of a polygon (M, 2)."""
        low, high = polygon.min(axis=0) - distance_m, polygon.max(axis=0) + distance_m
        x, y = self.xyz[:, 0], self.xyz[:, 1]
        picks = np.flatnonzero(mask & (x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]))
        shape = shapely.Polygon(polygon)
        shapely.prepare(shape)
        near = np.zeros(len(mask), dtype=bool)
        near[picks[shapely.dwithin(shape, shapely.points(self.xyz[picks, :2]), distance_m)]] = True
        return near
