"""Where a capture's up, floor and metre are: no format says so reliably, hence what is found is reasoned, and asked for when in doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portico.build.splats.planes import Ground, Surfaces, best_ground, surfaces
from portico.errors import ImportFailed
from portico.world.gaussians import Gaussians

AXES = {"x": (1.0, 0.0, 0.0), "-x": (-1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0), "z": (0.0, 0.0, 1.0), "-z": (0.0, 0.0, -1.0)}
#: What captures come in: metric scans, COLMAP with the INRIA code, and viewers or game engines. Nobody exports x or -z up.
_USUAL = ("z", "-y", "y")
#: A second axis that scores this share of the best one makes the choice a guess.
_ALIKE = 0.8
_SNAP_DEG = 1.0
_LOWEST_CEILING_M = 1.5
_PLAUSIBLE_M = (1.0, 500.0)
_FACTORS = (0.001, 0.01, 100.0, 1000.0)


@dataclass(frozen=True)
class Alignment:
    """How a capture is put into the world.

    Attributes:
        T_world_capture: (4, 4) float64, a similarity for ``turned``: z up, metres, floor at z = 0.
        up: the axis of the capture nearest to up.
        has_floor: whether a floor was found; without one the lowest Gaussians were put at z = 0.
        reasons: one sentence each about what was given, found or assumed, for the user to read.
    """

    T_world_capture: NDArray[np.float64]
    up: str
    has_floor: bool
    reasons: tuple[str, ...]


def alignment(gaussians: Gaussians, *, up: str = "auto", scale: float = 1.0, floor: float | str = "auto", stated: str = "") -> Alignment:
    """Find or apply a capture's up axis, floor and scale.

    Args:
        gaussians: in the axes and unit of the capture.
        up: ``x``, ``-x``, ``y``, ``-y``, ``z``, ``-z``: taken as it is; ``auto``: the ground is looked for along z, -y and y, and a ground
            that leans is levelled; where none stands out, the stated axis is taken.
        scale: metres per unit of the capture.
        floor: ``auto``: the ground goes to z = 0; ``keep``: the origin stays; a number: this height along up, in metres, goes to z = 0.
        stated: the axis that the format declares as up (``Capture.up``), if any.

    Raises:
        ImportFailed: when up cannot be told and is not stated, the names or numbers mean nothing, or the scale is wrong beyond doubt.
    """
    if up not in (*AXES, "auto"):
        raise ImportFailed(f"{up!r} is no up axis", where="--up", next_step=f"choose one of {', '.join((*AXES, 'auto'))}")
    if not (np.isfinite(scale) and scale > 0.0):
        raise ImportFailed(f"a scale of {scale!r} metres per unit means nothing", where="--scale", next_step="give a number above 0")
    if isinstance(floor, str) and floor not in ("auto", "keep"):
        raise ImportFailed(f"{floor!r} is no floor height", where="--floor", next_step="give auto, keep or a height in metres")
    found = surfaces(gaussians)
    reasons = [*_scale_reasons(gaussians, scale)]
    ground: Ground | None
    if up == "auto":
        up, ground = _usual_up(found, scale, stated, reasons)
        normal = _levelled(ground, up, reasons)
    else:
        reasons.append(f"up is {up}, as given")
        normal, ground = np.array(AXES[up]), best_ground(found, np.array(AXES[up]))
        lean = ground.lean_deg if ground else 0.0
        if lean > _SNAP_DEG:
            reasons.append(f"the floor leans by {lean:.1f} degrees against {up}; --up auto would level it")
    T = np.eye(4)
    T[:3, :3] = scale * _rotation_to_z(normal)
    T[2, 3] = -_floor_height(found, ground, normal, scale, floor, reasons)
    return Alignment(T, up, ground is not None, tuple(reasons))


def _usual_up(found: Surfaces, scale: float, stated: str, reasons: list[str]) -> tuple[str, Ground | None]:
    """The usual axis with the most convincing ground below the rest of the capture."""
    grounds = {axis: ground for axis in _USUAL if (ground := best_ground(found, np.array(AXES[axis]))) is not None}
    _drop_walls(grounds, scale, reasons)
    ranked = sorted(grounds, key=lambda axis: -grounds[axis].score)
    alike = [axis for axis in ranked if grounds[axis].score >= _ALIKE * grounds[ranked[0]].score]
    if len(alike) == 1:
        ground = grounds[alike[0]]
        reasons.append(f"up is {alike[0]}: a floor of {ground.area:.3g} square units lies across it, {ground.above:.0%} of the capture above")
        return alike[0], ground
    if stated:
        reasons.append(f"up is {stated}, as the format states: no floor stands out")
        return stated, grounds.get(stated)
    if alike:
        named = ", ".join(f"{axis} ({grounds[axis].cover:.0%} of the ground plan)" for axis in alike)
        raise ImportFailed(
            f"up cannot be told: {' and '.join(alike)} score alike",
            why=f"a floor could lie across {named}",
            next_step=f"say which, for example --up {alike[0]}; `portico world look` draws the file",
        )
    raise ImportFailed(
        "up cannot be told: no floor was found",
        why=f"no wide plane across {', '.join(_USUAL)} has nearly everything on one side",
        next_step="say which axis is up, for example --up z (scans), --up -y (COLMAP) or --up y (viewers); `portico world look` draws the file",
    )


def _drop_walls(grounds: dict[str, Ground], scale: float, reasons: list[str]) -> None:
    """Planes on both sides of the capture that are too close for a floor and its ceiling are walls."""
    if not {"y", "-y"} <= grounds.keys():
        return
    apart_m = abs(float((grounds["y"].centre - grounds["-y"].centre)[1])) * scale
    if apart_m < _LOWEST_CEILING_M:
        del grounds["y"], grounds["-y"]
        reasons.append(f"the planes across y and -y are {apart_m:.2g} m apart: walls, too close for a floor and a ceiling")


def _levelled(ground: Ground | None, up: str, reasons: list[str]) -> NDArray[np.float64]:
    """The axis itself where the floor is level to a degree or there is none, the floor's normal otherwise."""
    axis = np.array(AXES[up])
    if ground is None or ground.lean_deg <= _SNAP_DEG:
        return axis
    reasons.append(f"the floor leans by {ground.lean_deg:.1f} degrees against {up} and was levelled")
    return ground.normal


def _rotation_to_z(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, 3): the shortest rotation that takes a unit vector to +z; half a turn about x where it points down.

    Formula: I + [v] + [v]^2 / (1 + c) with v = n x z and c = n . z (Rodrigues).
    """
    cosine = float(normal[2])
    if cosine < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    vx, vy = float(normal[1]), -float(normal[0])
    skew = np.array([[0.0, 0.0, vy], [0.0, 0.0, -vx], [-vy, vx, 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine), np.float64)


def _floor_height(found: Surfaces, ground: Ground | None, normal: NDArray[np.float64], scale: float, floor: float | str, reasons: list[str]) -> float:
    """Height along up, in metres before the shift, that becomes z = 0."""
    if isinstance(floor, str) and floor == "keep":
        reasons.append("the origin keeps its height, as asked")
        return 0.0
    if not isinstance(floor, str):
        reasons.append(f"the height {floor:g} m goes to z = 0, as given")
        return float(floor)
    if ground is not None:
        height = float(ground.centre @ normal) * scale
        reasons.append(f"the floor lay at {height:.3g} m along up and goes to z = 0")
        return height
    height = float(np.percentile(found.centres @ normal, 1.0)) * scale
    reasons.append(f"no floor was found along up: the lowest hundredth of the capture, at {height:.3g} m, goes to z = 0")
    return height


def _scale_reasons(gaussians: Gaussians, scale: float) -> list[str]:
    """What the extent says about the scale.

    Raises:
        ImportFailed: when no capture is so small or so large.
    """
    low, high = np.percentile(gaussians.means.astype(np.float64), [1.0, 99.0], axis=0)
    extent_m = float((high - low).max()) * scale
    least, most = _PLAUSIBLE_M
    if extent_m <= 0.0 or least <= extent_m <= most:
        return [f"the capture is {extent_m:.3g} m across at {scale:g} m per unit"]
    fitting = [factor for factor in _FACTORS if least <= extent_m * factor <= most]
    factor = min(fitting, key=lambda each: abs(np.log10(each)), default=0.0)
    advice = f"--scale {scale * factor:g} would make it {extent_m * factor:.3g} m" if factor else "measure a known length and give --scale"
    # Beyond a hundredfold no object and no city would explain it.
    if extent_m < least / 100.0 or extent_m > most * 100.0:
        raise ImportFailed(f"the capture would be {extent_m:.3g} m across", where="--scale", why=f"at {scale:g} m per unit", next_step=advice)
    return [f"the capture is {extent_m:.3g} m across at {scale:g} m per unit, which is unusual for a place: {advice}"]
