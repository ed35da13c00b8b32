"""Legs: kinematics, the model-based walker and the learned one."""

from portico.robots.physics.legs.learned import LearnedWalker, load_network
from portico.robots.physics.legs.walker import Walker, standing_joints

__all__ = ["LearnedWalker", "Walker", "load_network", "standing_joints"]
