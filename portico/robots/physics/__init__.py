"""Bodies with mass, legs or wheels, friction and momentum, in MuJoCo: the world's ground around them, models, controllers, the path tracker."""

from portico.robots.physics.robot import PhysicsRobot
from portico.robots.physics.setup import controller_of, physics_robot

__all__ = ["PhysicsRobot", "controller_of", "physics_robot"]
