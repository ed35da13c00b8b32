"""Embodiments: sizes, speeds, climb and cameras of the robots that episodes are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portico.interface import Body, Camera


@dataclass(frozen=True)
class Embodiment:
    """A robot body as space and motion see it: an upright cylinder that rides over what it can climb.

    Attributes:
        radius_m, height_m: of the collision cylinder. climb_m: highest step up or down. slope_rad: steepest ramp.
        max_speed_mps, max_lateral_mps, max_turn_radps: limits of the velocity action.
        cameras: mounted on the base, z above the supporting surface.
        source: where the figures come from.
        pivot_m: height above the ground of the point that the body leans about under physics.
    """

    name: str
    radius_m: float
    height_m: float
    climb_m: float
    slope_rad: float
    max_speed_mps: float
    max_lateral_mps: float
    max_turn_radps: float
    cameras: tuple[Camera, ...]
    source: str
    pivot_m: float = 0.0

    def body(self) -> Body:
        """What a policy may know of it."""
        return Body(self.name, self.radius_m, self.height_m, self.climb_m, self.max_speed_mps, self.max_turn_radps, self.pivot_m)


def _front(height_m: float, forward_m: float, hfov_deg: float = 90.0, pitch_deg: float = 0.0) -> tuple[Camera, ...]:
    return (Camera("front", 640, 480, float(np.deg2rad(hfov_deg)), forward_m, 0.0, height_m, 0.0, float(np.deg2rad(pitch_deg))),)


_SLOPE = float(np.deg2rad(30.0))

EMBODIMENTS: dict[str, Embodiment] = {
    e.name: e
    for e in (
        Embodiment(
            "spot",
            0.35,
            0.85,
            0.30,
            _SLOPE,
            1.5,
            0.5,
            1.5,
            _front(0.70, 0.35),
            "Boston Dynamics Spot data sheet: 1.10 x 0.50 m, 1.6 m/s, stairs to 0.22 m, obstacles to 0.30 m, slope 30 deg",
            0.52,
        ),
        Embodiment(
            "turtlebot",
            0.22,
            0.45,
            0.03,
            float(np.deg2rad(8.0)),
            0.26,
            0.0,
            1.82,
            _front(0.40, 0.05),
            "ROBOTIS TurtleBot3 Waffle manual: 0.281 x 0.306 m, 0.26 m/s, 1.82 rad/s",
        ),
        Embodiment("go2w", 0.30, 0.65, 0.25, _SLOPE, 2.5, 0.5, 2.0, _front(0.50, 0.30), "Unitree Go2-W data sheet: 0.70 x 0.43 x 0.50 m, 2.5 m/s"),
        Embodiment(
            "m20", 0.36, 0.75, 0.30, _SLOPE, 2.0, 0.5, 1.5, _front(0.60, 0.40), "Deep Robotics M20 data sheet: 0.82 x 0.43 x 0.57 m, 2 m/s, stairs to 0.25 m"
        ),
        Embodiment(
            "flyer",
            0.5,
            0.5,
            0.0,
            0.0,
            10.0,
            0.0,
            float(np.deg2rad(15.0)),
            (Camera("nadir", 448, 448, float(np.deg2rad(90.0)), 0.0, 0.0, 0.0, 0.0, float(np.deg2rad(90.0))),),
            "SatNav: a camera at a fixed height that looks straight down, 448 x 448 pixels, 90 deg; steps of 10 m and turns of 15 deg, a second each",
        ),
        Embodiment("a2w", 0.36, 0.80, 0.30, _SLOPE, 2.0, 0.5, 1.5, _front(0.65, 0.40), "Unitree A2-W data sheet: 0.82 x 0.44 x 0.57 m"),
    )
}
