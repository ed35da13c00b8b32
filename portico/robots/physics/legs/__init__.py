"""Legs: kinematics, the model-based walker and the learned one."""

import mujoco

from portico.robots.physics.controller import Controller
from portico.robots.physics.legs.learned import LearnedWalker, load_network
from portico.robots.physics.legs.walker import Walker, standing_joints

__all__ = ["LearnedWalker", "Walker", "default_controller", "load_network", "standing_joints"]


def default_controller(model: mujoco.MjModel) -> Controller:
    """What drives a Spot unless asked otherwise: the controller that fell less in ``benchmarks/locomotion.py``."""
    return Walker(model)
