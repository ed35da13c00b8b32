"""The Space: where one body can go in one world, as arrays of nodes and array queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from portico.errors import UserError
from portico.geometry import Floats
from portico.grids.paths import Lattice
from portico.space import geodesics, queries, sampling
from portico.space.body import BodySize
from portico.space.geodesics import DistanceField, GeodesicPath

_EVERYWHERE = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Sweep:
    """What became of straight motions.

    Attributes:
        reached: (M,) bool, no contact up to the end. fraction: (M,) float64, share covered without contact.
        end: (M, 3) float64, where the body stands then, on its surface.
    """

    reached: NDArray[np.bool_]
    fraction: Floats
    end: Floats


@dataclass(frozen=True)
class Space:
    """Layered walkable surfaces of a world, for one embodiment. Made by ``build_space``.

    Nodes are the cells of the surfaces, ordered by column and height. The body is a disc of ``embodiment.radius_m``
    that occupies heights from the climb to its full height above the surface; walkable ground within the climb is
    ridden over, anything else that reaches above the floor stops it. States and motions are exact for that disc and
    conservative beyond: never free where the mesh is in the way.

    Attributes:
        world_id: the world it was made of. cell_m: side of a cell.
        nodes_xyz: (N, 3) float64, centres of the walkable cells at surface height.
        node_surface: (N,) uint8, ``Surface`` class. node_clearance_m: (N,) float64, horizontal distance to the nearest
            obstacle, drop or step.
        node_component: (N,) int32, which nodes join by motions of the body, 0 for the largest set; -1 where it does not
            fit, or only by less than a hair (the motion between neighbouring cells must fit too).
    """

    world_id: str
    cell_m: float
    embodiment: BodySize
    nodes_xyz: Floats
    node_surface: NDArray[np.uint8]
    node_clearance_m: Floats
    node_component: NDArray[np.int32]
    roomy: NDArray[np.bool_] = field(repr=False)
    lattice: Lattice = field(repr=False)
    ground: queries.Ground = field(repr=False)

    def locate(self, points: ArrayLike) -> NDArray[np.int32]:
        """Node that carries each point (M, 3): of its column, the surface nearest in height from 0.5 m below to the climb above; -1 for none."""
        points = _rows(points, 3)
        out = np.empty(len(points), np.int32)
        queries.locate(*self.ground[:12], points, out)
        return out

    def is_free(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether the body, centred at each point (M, 3), is supported and touches nothing: (M,)."""
        points = _rows(points, 3)
        out = np.empty(len(points), np.bool_)
        queries.is_free(*self.ground[:12], points, out)
        return out

    def is_free_one(self, point: ArrayLike) -> bool:
        """``is_free`` of one point (3,), cheaper than an array of one row."""
        free: bool = queries.is_free_one(*self.ground[:12], np.asarray(point, np.float64))
        return free

    def clearance(self, points: ArrayLike) -> Floats:
        """Horizontal distance in metres from each point (M, 3) to what bounds the body: (M,); 0 where nothing carries the point."""
        points = _rows(points, 3)
        out = np.empty(len(points), np.float64)
        queries.clearance(*self.ground, points, out)
        return out

    def sweep(self, starts: ArrayLike, ends: ArrayLike) -> Sweep:
        """Straight motions of the body from starts (M, 3) towards ends (M, 2 or 3, height ignored).

        A motion follows its surface over steps within the climb, up and down stairs and ramps, and ends just before the
        first contact or drop. From a start that is not free nothing moves.
        """
        starts, ends = _rows(starts, 3), _rows(ends, 2)
        count = len(starts)
        result = Sweep(np.empty(count, np.bool_), np.empty(count), np.empty((count, 3)))
        queries.sweep(*self.ground[:13], starts, ends, result.reached, result.fraction, result.end)
        return result

    def sweep_one(self, start: ArrayLike, end: ArrayLike) -> tuple[bool, float, Floats]:
        """One motion, from start (3,) towards end (2+,): reached, fraction covered, end (3,). Cheaper than ``sweep`` of one row."""
        stop = np.empty(3)
        fraction: float = queries.sweep_one(*self.ground[:13], _EVERYWHERE, np.asarray(start, np.float64), np.asarray(end, np.float64), stop)
        return fraction >= 1.0, fraction, stop

    def path(self, start: ArrayLike, goal: ArrayLike, *, mask: NDArray[np.bool_] | None = None) -> GeodesicPath | None:
        """A shortest any-angle path between two points (3,) over nodes where the body fits; None where there is none.

        Args:
            mask: (N,) bool, nodes that may be used.
        """
        return geodesics.shortest_path(self, start, goal, mask)

    def distance_field(self, goals: ArrayLike, *, mask: NDArray[np.bool_] | None = None, limit_m: float = np.inf) -> DistanceField:
        """Any-angle distances from everywhere to the nearest of goals, (K, 3) points or (K,) integer node numbers.

        Goals where the body does not fit are left out. ``limit_m`` ends the search there; farther nodes stay inf.
        """
        return geodesics.distance_field(self, goals, mask, limit_m)

    def sample(self, candidates: NDArray[np.bool_], count: int, rng: np.random.Generator, *, lloyd_iterations: int = 10) -> Floats:
        """``count`` evenly spread node positions (count, 3) among candidates (N,): farthest-point sampling, then Lloyd's iterations [I2 C.2].

        Of more than 100,000 candidates so many are looked at, drawn at random.

        Raises:
            UserError: there are fewer candidates than asked for.
        """
        nodes = np.flatnonzero(candidates)
        if not 0 <= count <= len(nodes):
            raise UserError(
                f"cannot spread {count} points over {len(nodes)} cells",
                where=self.world_id,
                why="the region asked for is too small for this body",
                next_step="ask for fewer points or widen the region",
            )
        if count == 0:
            return np.zeros((0, 3))
        return self.nodes_xyz[nodes[sampling.spread(self.nodes_xyz[nodes], count, rng, lloyd_iterations)]]


def _rows(points: ArrayLike, least: int) -> Floats:
    """Points as contiguous rows of float64."""
    rows = np.ascontiguousarray(points, dtype=np.float64)
    rows = rows[None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] < least:
        raise ValueError(f"expected points of shape (N, {least}), got {np.shape(points)}")
    return rows
