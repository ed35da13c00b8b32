"""The robot file: a YAML beside an MJCF or URDF that says how the body stands, grips, is driven and sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, FiniteFloat, Tag, ValidationError

from portico.errors import UserError
from portico.interface import Camera
from portico.robots.embodiment import EMBODIMENTS, Embodiment

Numbers = FiniteFloat | list[FiniteFloat]
Positive = Annotated[FiniteFloat, Field(gt=0)]
#: Gains below zero would push a joint away from where it should be.
Gain = Annotated[FiniteFloat, Field(ge=0)]


def _each_once(joints: list[str]) -> list[str]:
    """Refuse a joint that is named twice: it would have to be in two places."""
    twice = sorted({joint for joint in joints if joints.count(joint) > 1})
    if twice:
        raise ValueError(f"it names {', '.join(twice)} more than once")
    return joints


JointNames = Annotated[list[str], Field(min_length=1), AfterValidator(_each_once)]
#: Of the trained walker that ships with Portico.
LEARNED_WEIGHTS = Path(__file__).parent / "physics" / "models" / "spot_walk.npz"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CameraFile(_Section):
    """A camera on the base: metres above the ground the robot stands on, degrees."""

    name: str = "front"
    width: Annotated[int, Field(gt=0)] = 640
    height: Annotated[int, Field(gt=0)] = 480
    hfov_deg: Annotated[FiniteFloat, Field(gt=0, lt=180)] = 90.0
    x_m: FiniteFloat = 0.0
    y_m: FiniteFloat = 0.0
    z_m: FiniteFloat = 0.5
    yaw_deg: FiniteFloat = 0.0
    pitch_deg: FiniteFloat = 0.0

    def camera(self) -> Camera:
        """As policies see it."""
        yaw, pitch, hfov = (float(np.deg2rad(v)) for v in (self.yaw_deg, self.pitch_deg, self.hfov_deg))
        return Camera(self.name, self.width, self.height, hfov, self.x_m, self.y_m, self.z_m, yaw, pitch)


class BodyFile(_Section):
    """Sizes and limits, see ``Embodiment``."""

    radius_m: Positive
    height_m: Positive
    climb_m: Annotated[FiniteFloat, Field(ge=0)]
    slope_deg: Annotated[FiniteFloat, Field(ge=0, lt=90)] = 20.0
    max_speed_mps: Positive
    max_lateral_mps: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    max_turn_radps: Positive
    cameras: Annotated[list[CameraFile], Field(min_length=1)] = [CameraFile()]
    source: str = ""

    def embodiment(self, name: str) -> Embodiment:
        """As space and motion see it."""
        return Embodiment(
            name,
            self.radius_m,
            self.height_m,
            self.climb_m,
            float(np.deg2rad(self.slope_deg)),
            self.max_speed_mps,
            self.max_lateral_mps,
            self.max_turn_radps,
            tuple(camera.camera() for camera in self.cameras),
            self.source,
        )


class Actuator(_Section):
    """What drives a joint. ``limit``: N m, or N for sliding joints."""

    kind: Literal["position", "velocity", "motor"]
    kp: Gain = 0.0
    kv: Gain = 0.0
    limit: Positive | None = None


class Joints(_Section):
    """Replaces what the model says of its sliding and turning joints: N m s/rad, N m, kg m²."""

    damping: Annotated[FiniteFloat, Field(ge=0)] | None = None
    frictionloss: Annotated[FiniteFloat, Field(ge=0)] | None = None
    armature: Annotated[FiniteFloat, Field(ge=0)] | None = None


class Differential(_Section):
    """Two driven wheels, or two rows of them, turned by velocity actuators or torques."""

    kind: Literal["differential"]
    left: JointNames
    right: JointNames
    wheel_radius_m: Positive
    track_m: Positive
    slip: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    hold: dict[str, FiniteFloat] = {}


class Gait(_Section):
    """Our own controllers for four legs like Spot's: ``walker`` plans footholds, ``learned`` is a trained network that corrects it.

    Attributes:
        feet: geoms of the feet, front left, front right, hind left, hind right, as are the joints and actuators of the model.
    """

    kind: Literal["walker", "learned"]
    feet: tuple[str, str, str, str] = ("fl_foot", "fr_foot", "hl_foot", "hr_foot")


class Term(_Section):
    """One piece of a network's input: the quantity, minus ``offset``, times ``scale``, cut to ``clip`` on both sides.

    Attributes:
        joints: for joint_position and joint_velocity; the network's own when left out.
        values: for ``constant``.
    """

    name: Literal["linear_velocity", "angular_velocity", "gravity", "command", "joint_position", "joint_velocity", "last_action", "constant"]
    scale: Numbers = 1.0
    offset: Numbers = 0.0
    clip: Positive | None = None
    joints: list[str] = []
    values: list[FiniteFloat] = []


class Trim(_Section):
    """Adds to the command what the body has been missing: for networks that drift or ignore slow commands. Triples are (vx, vy, wz).

    Attributes:
        gain: per second, of the error of the velocity, smoothed over ``smooth_s``. most: what is added at most.
    """

    gain: tuple[Positive, Positive, Positive]
    most: tuple[Positive, Positive, Positive]
    smooth_s: Positive = 0.3


class Network(_Section):
    """A velocity policy in ONNX: what goes in, in which order, and what its output does to the joints.

    Targets are ``default + action_scale * output``, held by ``kp`` and ``kd`` (N m/rad, N m s/rad; the model's own when left out).

    Attributes:
        file: relative to the robot file. joints: in the order of the output.
        hold: joint -> angle, for joints that the network does not move.
        slew: the command changes by at most this much per decision, (vx, vy, wz).
    """

    kind: Literal["onnx"]
    file: str
    joints: JointNames
    observation: Annotated[list[Term], Field(min_length=1)]
    default: Numbers
    action_scale: Numbers
    action_clip: Positive | None = None
    kp: Gain | list[Gain] | None = None
    kd: Gain | list[Gain] | None = None
    hold: dict[str, FiniteFloat] = {}
    slew: tuple[Positive, Positive, Positive] | None = None
    trim: Trim | None = None


def _built_in_or_sizes(value: object) -> str:
    return "built-in" if isinstance(value, str) else "sizes"


class RobotFile(_Section):
    """A robot under physics.

    Attributes:
        model: MJCF or URDF, relative to this file. base: the body that carries the rest.
        body: name of a built-in embodiment, or sizes.
        standing_height_m: of the base's origin above the ground when standing. stance: joint angles then, radians.
        gripping: geoms or bodies whose contact is feet or tyres on the ground: the surface decides their friction.
        actuators: joint -> what drives it, in place of what the model has. joints: replaces their damping, friction and rotor inertia.
    """

    name: str
    model: str
    base: str = "base"
    body: Annotated[Annotated[str, Tag("built-in")] | Annotated[BodyFile, Tag("sizes")], Discriminator(_built_in_or_sizes)]
    standing_height_m: Annotated[FiniteFloat, Field(ge=0)]
    stance: dict[str, FiniteFloat] = {}
    gripping: Annotated[list[str], Field(min_length=1)]
    actuators: dict[str, Actuator] = {}
    joints: Joints = Joints()
    controller: Annotated[Differential | Gait | Network, Field(discriminator="kind")]

    def embodiment(self) -> Embodiment:
        """Its sizes as space sees them."""
        return EMBODIMENTS[self.body] if isinstance(self.body, str) else self.body.embodiment(self.name)


def read_robot(path: Path) -> RobotFile:
    """A robot file.

    Raises:
        UserError: no such file, not YAML, or a key or value that the schema does not know, named with its place.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("the robot file cannot be read", where=str(path), why=str(error), next_step="give the path of a robot's YAML file") from error
    except yaml.YAMLError as error:
        raise UserError("the robot file is not YAML", where=str(path), why=str(error), next_step="mend the line named above") from error
    if not isinstance(raw, dict):
        raise UserError("the robot file holds no mapping", where=str(path), next_step="start from the example in docs/physics.md")
    try:
        file = RobotFile.model_validate(raw)
    except ValidationError as error:
        key, why = _told(error.errors())
        raise UserError("the robot file breaks its schema", where=f"{path}: {key}", why=why, next_step="see docs/physics.md for every key") from error
    if isinstance(file.body, str) and file.body not in EMBODIMENTS:
        raise UserError(
            "the robot file names an unknown body", where=f"{path}: body", why=f"{file.body!r}; known: {', '.join(EMBODIMENTS)}", next_step="or give sizes"
        )
    return file


#: What pydantic calls the choices of a union; no keys of the file.
_CHOICES = {"built-in", "sizes", "differential", "walker", "learned", "onnx", "float", "list[float]", "constrained-float", "list[constrained-float]"}


def _told(problems: Sequence[Any]) -> tuple[str, str]:
    """Which key of the file breaks the schema first, and how."""
    first = _key(problems[0])
    # Of the choices that a value may be meant for, the one that it fits best breaks furthest inside.
    problem = max((p for p in problems if _key(p).startswith(first)), key=lambda p: len(p["loc"]))
    if problem["type"] == "union_tag_not_found":
        return first, "it has no `kind`: differential, walker, learned or onnx"
    return _key(problem), str(problem["msg"]).removeprefix("Value error, ")


def _key(problem: Any) -> str:
    return ".".join(str(part) for part in problem["loc"] if part not in _CHOICES) or "(top level)"
