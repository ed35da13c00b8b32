"""Policies that know the answer: upper bounds, calibration and verification. Refused unless asked for, always stamped.

The only room of ``policies`` with a door to the simulator.
"""

from portico.policies.privileged.oracle import OracleTrajectory, Privileged
from portico.policies.privileged.oracle_goal import OracleGoal
from portico.policies.privileged.reference_follower import ReferenceFollower

__all__ = ["OracleGoal", "OracleTrajectory", "Privileged", "ReferenceFollower"]
