"""How a body moves: embodiments and the kinematic robot.

Physics comes behind the same ``reset`` and ``execute``.
"""

from portico.robots.embodiment import EMBODIMENTS, Embodiment, embodiment
from portico.robots.kinematic import KinematicRobot, Motion, State, misplacement

__all__ = ["EMBODIMENTS", "Embodiment", "KinematicRobot", "Motion", "State", "embodiment", "misplacement"]
