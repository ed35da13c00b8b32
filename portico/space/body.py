"""What space asks of an embodiment: an upright cylinder that rides over what it can climb."""

from __future__ import annotations

from typing import Protocol


class BodySize(Protocol):
    """Sizes of a body. ``portico.robots.Embodiment`` is one; space knows no robots."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def radius_m(self) -> float:
        """Radius of its disc."""

    @property
    def height_m(self) -> float:
        """Height it needs above the ground."""

    @property
    def climb_m(self) -> float:
        """Highest step up or down."""

    @property
    def slope_rad(self) -> float:
        """Steepest ramp."""
