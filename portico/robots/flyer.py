"""The flyer of satellite worlds: it turns on the spot and goes ahead at a fixed height, over everything, as long as its camera sees the map [SN].

Positions are longitude and latitude in degrees and height in metres. A forward move after which the camera's footprint, at whatever
heading, would reach beyond the raster, or whose end lies where the raster has no data, is rejected: the pose stays, the action counts, and
the observation says so (``collided``).
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, hypot, sin, tan

from portico.errors import EpisodeError
from portico.geometry import Floats, Pose, wrap_angle
from portico.interface import Action, ActionSpace, Camera, Move, Stop
from portico.robots.embodiment import Embodiment
from portico.robots.motion import Motion, State
from portico.world import SPHERE, Geodesy, GeoPose, RasterTiles, World

#: SatNav keeps a metre more from the border than its footprint needs [SN].
_SATNAV_MARGIN_M = 1.0
#: Tiles kept to look up where there is data.
_TILES = 16


class Flyer:
    """A camera over an aerial world; discrete moves only.

    Args:
        actions: amounts of the moves; 10 m and 15° in SatNav.
        geodesy: how it moves.

    Raises:
        WorldError: the world has no raster.
    """

    def __init__(self, world: World, embodiment: Embodiment, actions: ActionSpace | None = None, *, geodesy: Geodesy = SPHERE) -> None:
        self.embodiment, self.geodesy = embodiment, geodesy
        self.actions = replace(actions or ActionSpace(step_m=10.0), accepts=frozenset({"stop", "move"}))
        self._grid, self._tiles = world.raster.grid, RasterTiles(world.raster, _TILES)
        self._empty = world.raster.info.empty > 0.0
        self._world_id = world.id
        self.start: Pose = GeoPose(0.0, 0.0)
        self.pose: Pose = self.start
        self.tilt = (0.0, 0.0)

    def reset(self, pose: Pose) -> Pose:
        """Hover at a pose.

        Raises:
            EpisodeError: the camera would see beyond the raster there.
        """
        height_m = pose.z
        problem = self.misfit(pose.x, pose.y, height_m)
        if problem:
            raise EpisodeError(
                "the start is outside the imagery",
                where=f"longitude {pose.x:.6f}, latitude {pose.y:.6f}, height {height_m:g} m over world {self._world_id}",
                why=problem,
                next_step="check the order of longitude and latitude, move the start inwards, or fly lower",
            )
        self.pose = self.start = GeoPose(pose.x, pose.y, height_m, wrap_angle(pose.yaw_rad))
        return self.pose

    def base_matrix(self) -> Floats:
        """(4, 4): heading, and longitude, latitude and height where a matrix has metres."""
        return self.pose.matrix()

    def execute(self, action: Action) -> Motion:
        """Carry out a discrete move.

        Raises:
            EpisodeError: a waypoint or a velocity, which this body does not know.
        """
        pose, body = self.pose, self.embodiment
        match action:
            case Stop():
                return Motion((State(pose, 0.0, False, False),))
            case Move(name="turn_left" | "turn_right"):
                turn_rad = self.actions.amount_of(action) * (1.0 if action.name == "turn_left" else -1.0)
                self.pose = GeoPose(pose.x, pose.y, pose.z, wrap_angle(pose.yaw_rad + turn_rad))
                return Motion((State(self.pose, abs(turn_rad) / body.max_turn_radps, False, False),))
            case Move(name="forward"):
                return self._ahead(self.actions.amount_of(action))
            case _:
                raise EpisodeError(
                    "a flyer knows discrete moves only", where=repr(action), next_step="return Move('forward' | 'turn_left' | 'turn_right') or Stop()"
                )

    def misfit(self, lon_deg: float, lat_deg: float, height_m: float) -> str:
        """Why it cannot hover somewhere, "" when it can."""
        if height_m <= 0.0:
            return f"the height, {height_m:g} m, is not above the ground"
        reach = footprint_radius_m(self.embodiment.cameras[0], height_m) + (_SATNAV_MARGIN_M if self.geodesy.single else 0.0)
        if not self._grid.holds_disc(lon_deg, lat_deg, reach):
            if abs(lon_deg) <= 90.0 and self._grid.holds_disc(lat_deg, lon_deg, reach):
                return "longitude and latitude seem to be swapped"
            return f"the camera sees {reach:.1f} m far to its corners, and the raster ends before"
        if self._empty:
            column, row = self._grid.to_pixels([[lon_deg, lat_deg]])[0].astype(int).tolist()
            if self._tiles.pixel(min(column, self._grid.width - 1), min(row, self._grid.height - 1))[3] == 0:
                return "the raster has no data there"
        return ""

    def _ahead(self, step_m: float) -> Motion:
        pose = self.pose
        lon, lat = self.geodesy.moved(pose.x, pose.y, pose.yaw_rad, step_m)
        rejected = bool(self.misfit(lon, lat, pose.z))
        if not rejected:
            self.pose = GeoPose(lon, lat, pose.z, pose.yaw_rad)
        return Motion((State(self.pose, step_m / self.embodiment.max_speed_mps, rejected, True),))


def footprint_radius_m(camera: Camera, height_m: float) -> float:
    """How far from below itself a camera that looks straight down sees at most: to the corners of its picture."""
    return height_m * tan(0.5 * camera.hfov_rad) * hypot(1.0, camera.height / camera.width)


def agent_pose(relative: Pose) -> tuple[float, float, float, float]:
    """SatNav's relative pose: metres forward and to the right of the start, sine and cosine of the clockwise change of heading."""
    return relative.x, -relative.y, -sin(relative.yaw_rad), cos(relative.yaw_rad)
