"""Legs: kinematics, the model-based walker and the learned one."""

from portico.robots.physics.legs.walker import Walker, standing_joints

__all__ = ["Walker", "standing_joints"]
