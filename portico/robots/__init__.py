"""How a body moves: embodiments, the kinematic robot, and robots under physics behind the same ``reset`` and ``execute``."""

from portico.robots.catalogue import check_robot, embodiment, has_model, make_robot, physical, robot_files, robot_path
from portico.robots.embodiment import EMBODIMENTS, Embodiment
from portico.robots.flyer import Flyer
from portico.robots.kinematic import KinematicRobot, misplacement
from portico.robots.motion import LONGEST_S, Motion, Robot, State

__all__ = [
    "EMBODIMENTS",
    "LONGEST_S",
    "Embodiment",
    "Flyer",
    "KinematicRobot",
    "Motion",
    "Robot",
    "State",
    "check_robot",
    "embodiment",
    "has_model",
    "make_robot",
    "misplacement",
    "physical",
    "robot_files",
    "robot_path",
]
