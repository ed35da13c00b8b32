"""The agent's own eyes during a stage: a map from depth and pose-free odometry, and what it says about roof, sky, walls and heights.

The witness never reads a released pose: it works in the frame of the odometry, so that nothing changes for it at a release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot

from portico.geometry import Pose
from portico.interface import Brief, Observation
from portico.policies.enclosure import Enclosure, enclosure
from portico.policies.frontier import IMAGE_SIZE
from portico.policies.pilot import Pilot
from portico.policies.shrink import shrunk
from portico.policies.surroundings import Surroundings, roof_votes

_ROOF_M, _WINDOW_M = 1.0, 10.0
#: Fewer mapped surfaces than this around the robot say nothing about a roof.
_FEW = 10
_INSIDE_COVER, _INSIDE_OPEN = 0.8, 0.35
_OUTSIDE_COVER, _OUTSIDE_OPEN, _OUTSIDE_RAD = 0.05, 0.5, 0.9
#: No room shows so much of what rises above it through its doors and windows.
_WIDE_OPEN = 0.65
_FAR_BELOW_M, _FAR_BELOW_SHARE = -2.2, 0.05


@dataclass(frozen=True)
class Moment:
    """What one observation said.

    Attributes:
        action: number of actions executed before it. pose: in the frame of the odometry.
        cover: share of the mapped ground around the robot that has a ceiling, nan where too little is mapped.
        open_share, open_rad: how much of the view around rises without a ceiling.
    """

    action: int
    pose: Pose
    cover: float
    open_share: float
    open_rad: float

    @property
    def inside(self) -> bool:
        """Surely under a roof and between walls."""
        return self.cover >= _INSIDE_COVER and self.open_share <= _INSIDE_OPEN

    @property
    def outside(self) -> bool:
        """Under the sky, and no roof overhead that is known of: what was mapped only from afar says nothing about one."""
        return not self.cover > _OUTSIDE_COVER and self.open_view

    @property
    def open_view(self) -> bool:
        """Whether most of the view around rises without a ceiling, over enough of it."""
        return self.open_share > _OUTSIDE_OPEN and self.open_rad > _OUTSIDE_RAD

    @property
    def canopy(self) -> bool:
        """In the open under something that hangs over the ground: a tree, an awning. Covered places can be outdoors [I2 3.3].

        Over all of the ground, if the view around is wide open all the same.
        """
        return self.open_view and (_OUTSIDE_COVER < self.cover < _INSIDE_COVER or (self.cover >= _INSIDE_COVER and self.open_share > _WIDE_OPEN))


class Witness:
    """Sees one stage.

    Attributes:
        pilot: keeps map and trail. moments: one per observation.
        saw_below: ground far below was seen from this height, so this is no ground floor.
    """

    def __init__(self, brief: Brief) -> None:
        self.pilot = Pilot(brief)
        self.moments: list[Moment] = []
        self.saw_below = False
        self._surroundings = Surroundings()
        self._below_z = 0.0

    def notice(self, observation: Observation) -> None:
        """Enter an observation; odometry is what places it."""
        self.pilot.observe(replace(shrunk(observation, IMAGE_SIZE), pose=None))
        self._surroundings.update(self.pilot)
        votes = roof_votes(self.pilot, _ROOF_M)
        cover = float((votes > 0).mean()) if len(votes) >= _FEW else float("nan")
        pilot = self.pilot
        self.moments.append(
            Moment(observation.step, pilot.pose, cover, self._surroundings.open_share(pilot), self._surroundings.open_directions(pilot)),
        )
        self._look_down()

    @property
    def now(self) -> Moment:
        """The newest moment."""
        return self.moments[-1]

    def last_inside(self) -> Moment | None:
        """The last moment that was surely inside."""
        return next((m for m in reversed(self.moments) if m.inside), None)

    def door_z(self) -> float:
        """Height of the ground where it last was surely inside, where the stage began if it never was: a tree overhead is no door."""
        last = self.last_inside()
        return (last or self.moments[0]).pose.z

    def descended_m(self) -> float:
        """How much lower it is now than where the stage began; negative where it climbed."""
        return self.moments[0].pose.z - self.now.pose.z

    def straight_m(self, since: Pose) -> float:
        """Distance from a pose to where it is, from above."""
        return hypot(self.now.pose.x - since.x, self.now.pose.y - since.y)

    def enclosure(self, outside: tuple[float, float], z: float) -> Enclosure:
        """Which ground around the robot lies behind an opening in tall walls; ``outside`` is known to be outdoors."""
        return enclosure(self.pilot.map, self.pilot.map.window(self.pilot.pose, _WINDOW_M), z, outside)

    def open_ground_m2(self, radius_m: float = 6.0) -> float:
        """Area under the sky that was mapped around the robot at its height."""
        grid, p = self.pilot.map.grid, self.pilot.pose
        near = self.pilot.map.disc(p.x, p.y, p.z, radius_m, 1.0)
        return float((grid.roof[near[:, 0], near[:, 1], near[:, 2]] < 0).sum()) * grid.cell_m**2

    def _look_down(self) -> None:
        sight, z = self.pilot.sight, self.pilot.pose.z
        if sight is not None and self.pilot.steps % 4 == 0:
            if float((sight.lowest_m < _FAR_BELOW_M).mean()) > _FAR_BELOW_SHARE:
                self.saw_below, self._below_z = True, z
            elif abs(z - self._below_z) > 1.0:
                self.saw_below = False
