"""Whether a model's legs are ones that the walker can move."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from portico.errors import UserError
from portico.robots.physics.legs.body import sense

#: A foot may stand this far from where the walker believes it.
_OFF_M = 0.02


def check_legs(model: mujoco.MjModel, qpos: NDArray[np.float64], feet: tuple[str, ...], where: str) -> None:
    """Refuse a robot whose joints, actuators or feet are not as ``Walker`` takes them to be.

    Args:
        qpos: (19,) a stance. feet: geoms of the feet, fl, fr, hl, hr. where: for the message.

    Raises:
        UserError: what differs, leg by leg.
    """
    driven = [int(model.actuator_trnid[n, 0]) for n in range(model.nu)]
    advice = "list joints and actuators from front left to hind right, abduction, hip, knee, or give the robot a controller of its own (kind: onnx)"
    if model.nq != 19 or driven != list(range(1, 13)):
        names = ", ".join(model.joint(n).name for n in driven)
        raise UserError("the walker drives a free base and twelve joints, in their order", where=where, why=f"actuators drive {names}", next_step=advice)
    if not (model.actuator_gainprm[:, 0] > 0.0).all() or not (model.actuator_biasprm[:, 1] < 0.0).all():
        names = ", ".join(model.actuator(n).name for n in range(12) if model.actuator_biasprm[n, 1] >= 0.0)
        raise UserError("the walker needs position actuators", where=where, why=f"not so: {names}", next_step="give them under `actuators` (kind: position)")
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    expected = np.empty((4, 3))
    sense(data.qpos, data.qvel, np.empty((3, 3)), expected, np.empty((4, 3, 3)), np.empty((3, 3)))
    rotation = data.xmat[model.jnt_bodyid[0]].reshape(3, 3)
    found = np.array([data.geom(foot).xpos for foot in feet]) - data.qpos[:3]
    off = np.linalg.norm(found @ rotation - expected, axis=1)
    if off.max() > _OFF_M:
        worst = int(off.argmax())
        why = f"{feet[worst]} stands {off[worst]:.2f} m from where Spot's foot would, joints alike"
        raise UserError("the walker moves legs as long as Spot's", where=where, why=why, next_step=advice)
