"""From a robot file to a MuJoCo model that stands on our ground."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from portico.errors import UserError
from portico.geometry import Floats
from portico.robots.embodiment import Embodiment
from portico.robots.physics.controller import LEGS
from portico.robots.physics.ground import CELL_M, SIDE, SPAN_M
from portico.robots.robot_file import Actuator, Gait, Joints, RobotFile, read_robot

#: 200 Hz [NV 6.7].
TIMESTEP_S = 0.005
_GROUND = "portico_ground"
#: MuJoCo's own impedance of contacts.
_FIRM = (0.9, 0.95, 0.001, 0.5, 2.0)
#: Feet of a smaller radius are held as stiffly as the time step allows.
_SMALL_M = 0.03
#: The robot's geoms meet the ground and not each other.
_ROBOT_BIT, _GROUND_BIT = 2, 1


@dataclass(frozen=True)
class Machine:
    """A robot's model, its height field included, and where its parts are in it.

    Attributes:
        qpos: (nq,) configuration in the stance, base at the origin. base_qpos, base_qvel: first index of the free joint.
        base: body number. gripping: numbers of the geoms that are feet or tyres. ground: number of the ground among the bodies that are moved by hand.
    """

    file: RobotFile
    folder: Path
    embodiment: Embodiment
    model: Any
    qpos: Floats
    base: int
    base_qpos: int
    base_qvel: int
    gripping: NDArray[np.intp]
    ground: int

    def place_ground(self, data: Any, middle: Floats, height: Floats, level_m: float) -> None:
        """Write heights (SIDE, SIDE) around ``middle`` (2,) into the height field, whose own middle height is ``level_m``."""
        data.mocap_pos[self.ground] = (middle[0], middle[1], level_m - 0.5 * SPAN_M)
        self.model.hfield_data[:] = np.clip((height - level_m) / SPAN_M + 0.5, 0.0, 1.0).ravel()


def load_machine(path: Path) -> Machine:
    """Build the robot of a robot file.

    Raises:
        UserError: the file or its model cannot be read, or the model lacks what the file names: joints, bodies, geoms.
    """
    file = read_robot(path)
    spec = _read_spec(path.parent / file.model)
    _strip(spec)
    base = _named(spec.body(file.base), "body", file.base, [b.name for b in spec.bodies], path)
    if not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in base.joints):
        base.add_freejoint()
    joints = [joint.name for joint in spec.joints]
    for joint in file.actuators:
        _named(spec.joint(joint), "joint", joint, joints, path)
    # Controls are in the order of the joints, whatever the order in the file.
    for joint in sorted(file.actuators, key=joints.index):
        for old in [a for a in spec.actuators if a.target == joint]:
            spec.delete(old)
        _add_actuator(spec, joint, file.actuators[joint])
    if isinstance(file.controller, Gait):
        _feel_with(spec, file.controller.feet, path)
    for joint in spec.joints:
        if joint.type != mujoco.mjtJoint.mjJNT_FREE:
            _set_dynamics(joint, file.joints)
    _add_ground(spec)
    model = _compiled(spec, path.parent / file.model)
    return _assembled(file, path, model)


def _read_spec(model: Path) -> Any:
    if not model.is_file():
        raise UserError("the robot's model is missing", where=str(model), next_step="correct `model` in the robot file; it is relative to that file")
    try:
        return mujoco.MjSpec.from_file(str(model))
    except Exception as error:
        raise UserError("the robot's model cannot be read", where=str(model), why=str(error), next_step="open it in MuJoCo's viewer and mend it") from error


def _compiled(spec: Any, model: Path) -> Any:
    try:
        return spec.compile()
    except Exception as error:
        raise UserError(
            "MuJoCo cannot build the robot's model", where=str(model), why=str(error).strip(), next_step="mend the model, or add the file it names"
        ) from error


def _strip(spec: Any) -> None:
    """Leave out what only a viewer needs, and the model's own ground: cameras see through our renderer, the world brings the floor."""
    for geom in list(spec.geoms):
        unseen = geom.contype == 0 and geom.conaffinity == 0
        if unseen or geom.parent.name == "world":
            spec.delete(geom)
        else:
            geom.contype, geom.conaffinity = _ROBOT_BIT, _GROUND_BIT
            geom.material = ""
    used = {geom.meshname for geom in spec.geoms}
    for mesh in [m for m in spec.meshes if m.name not in used]:
        spec.delete(mesh)
    for decoration in [*spec.materials, *spec.textures, *spec.lights, *spec.cameras, *spec.keys]:
        spec.delete(decoration)


def _add_actuator(spec: Any, joint: str, wanted: Actuator) -> None:
    actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    match wanted.kind:
        case "position":
            actuator.set_to_position(kp=wanted.kp, kv=wanted.kv)
        case "velocity":
            actuator.set_to_velocity(kv=wanted.kv)
        case "motor":
            actuator.set_to_motor()
    if wanted.limit is not None:
        actuator.forcelimited = True
        actuator.forcerange = [-wanted.limit, wanted.limit]


def _feel_with(spec: Any, feet: tuple[str, ...], path: Path) -> None:
    """Give every foot a sensor of touch, where the model has none."""
    for leg, foot in zip(LEGS, feet, strict=True):
        if spec.sensor(f"{leg}_touch") is not None:
            continue
        geom = _named(spec.geom(foot), "geom", foot, [g.name for g in spec.geoms], path)
        site = geom.parent.add_site(name=f"portico_{leg}", pos=geom.pos, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=1.25 * np.asarray(geom.size))
        spec.add_sensor(name=f"{leg}_touch", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site.name)


def _set_dynamics(joint: Any, wanted: Joints) -> None:
    if wanted.damping is not None:
        joint.damping = [wanted.damping, *[0.0] * (len(np.atleast_1d(joint.damping)) - 1)]
    if wanted.frictionloss is not None:
        joint.frictionloss = wanted.frictionloss
    if wanted.armature is not None:
        joint.armature = wanted.armature


def _add_ground(spec: Any) -> None:
    half = 0.5 * (SIDE - 1) * CELL_M
    spec.add_hfield(name=_GROUND, size=[half, half, SPAN_M, 1.0], nrow=SIDE, ncol=SIDE, userdata=np.zeros(SIDE * SIDE))
    # A body of its own: what is fixed to the world is boxed in for collision once and for all.
    body = spec.worldbody.add_body(name=_GROUND, mocap=True)
    geom = body.add_geom(name=_GROUND, type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=_GROUND)
    geom.contype, geom.conaffinity = _GROUND_BIT, _ROBOT_BIT
    spec.option.timestep, spec.option.integrator = TIMESTEP_S, mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _assembled(file: RobotFile, path: Path, model: Any) -> Machine:
    base = model.body(file.base).id
    free = int(model.body_jntadr[base])
    start = int(model.jnt_qposadr[free])
    qpos = model.qpos0.copy()
    qpos[start : start + 7] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    joints = [model.joint(j).name for j in range(model.njnt)]
    for joint, angle in file.stance.items():
        _named(joint in joints or None, "joint", joint, joints, path)
        qpos[model.joint(joint).qposadr[0]] = angle
    gripping = np.array(sorted({g for name in file.gripping for g in _geoms_of(model, name, path)}), np.intp)
    model.geom_priority[gripping] = 1
    # A foot whose centre sinks below a height field is pushed out sideways: neither soft feet nor small ones may sink that deep.
    model.geom_solimp[gripping] = _FIRM
    small = gripping[model.geom_size[gripping, 0] < _SMALL_M]
    model.geom_solref[small] = (2.0 * TIMESTEP_S, 1.0)
    model.geom_margin[:] = 0.0
    model.geom_condim[gripping] = np.maximum(model.geom_condim[gripping], 3)
    ground = int(model.body_mocapid[model.body(_GROUND).id])
    return Machine(file, path.parent, file.embodiment(), model, qpos, base, start, int(model.jnt_dofadr[free]), gripping, ground)


def _geoms_of(model: Any, name: str, path: Path) -> list[int]:
    """The geom of that name, or all geoms of the body of that name."""
    geoms = [model.geom(g).name for g in range(model.ngeom)]
    if name in geoms:
        return [geoms.index(name)]
    bodies = [model.body(b).name for b in range(model.nbody)]
    _named(name in bodies or None, "geom or body", name, [n for n in (*geoms, *bodies) if n], path)
    return np.flatnonzero(model.geom_bodyid == bodies.index(name)).tolist()


def _named(found: Any, what: str, name: str, known: list[str], path: Path) -> Any:
    if found is None:
        raise UserError(
            f"the robot's model has no {what} {name!r}",
            where=str(path),
            why=f"it has {', '.join(n for n in known if n)}",
            next_step="correct the robot file or the model",
        )
    return found
