"""Did it get there, how directly, and how near: success, path-weighted success, goal distances, prefixes of the mission."""

from __future__ import annotations

import numpy as np

from portico.evaluate.measures.evaluation import Evaluation, Unscored, Value
from portico.geometry import wrap_angle

#: Heading error at the end that still counts as looking the way of the goal image [NA].
POSE_TOLERANCE_RAD = float(np.deg2rad(30.0))


def success(e: Evaluation) -> Value:
    """Section 2 of the definitions: every stage's predicate, confirmed in order.
    Of point, image and object goals it is Distance SR under termination on_arrival and Stop SR under explicit_stop [NA].
    """
    return float(e.success)


def pose_success(e: Evaluation) -> Value:
    """Pose SR: success, and at the end the heading differs from the goal view's by at most 30 degrees; for image goals [NA]."""
    goal_yaw_rad = e.episode.stages[-1].goal_yaw_rad
    if goal_yaw_rad is None:
        return Unscored("no_goal_view")
    error_rad = abs(wrap_angle(float(e.trajectory.yaw_rad[-1]) - goal_yaw_rad))
    return float(e.success and error_rad <= POSE_TOLERANCE_RAD + 1e-9)


def full_success(e: Evaluation) -> Value:
    """FSR term: 1 if c = K [I2 D.3]."""
    return float(e.outcome.completed == len(e.episode.stages))


def completion(e: Evaluation) -> Value:
    """CSR term: c / K, the longest valid ordered prefix over the number of stages [I2 D.1]."""
    return e.outcome.completed / len(e.episode.stages)


def spl(e: Evaluation) -> Value:
    """S · L / max(L, P)."""
    efficiency = path_efficiency(e)
    return efficiency if isinstance(efficiency, Unscored) else float(e.success) * efficiency


def soft_success(e: Evaluation) -> Value:
    """max(0, 1 - d_T / d_0); S where d_0 = 0."""
    first, last = float(e.goal_distance_m[0]), float(e.goal_distance_m[-1])
    if not np.isfinite(first) or not np.isfinite(last):
        return Unscored("unreachable_goal")
    return float(e.success) if first == 0.0 else max(0.0, 1.0 - last / first)


def soft_spl(e: Evaluation) -> Value:
    """soft_success · L / max(L, P)."""
    soft, efficiency = soft_success(e), path_efficiency(e)
    if isinstance(soft, Unscored):
        return soft
    return efficiency if isinstance(efficiency, Unscored) else soft * efficiency


def path_efficiency(e: Evaluation) -> Value:
    """L / max(L, P). For L <= 0: 0 in SatNav [SN], else 1 if P < r else r / max(r, P), r the success radius [P]."""
    reference, executed = e.reference_length_m, e.path_length_m
    if isinstance(reference, Unscored):
        return reference
    if reference > 0.0:
        return reference / max(reference, executed)
    if e.protocol == "satnav":
        return 0.0
    radius = e.goal.tolerance_m
    return 1.0 if executed < radius or executed <= 0.0 else radius / executed


def oracle_success(e: Evaluation) -> Value:
    """Some state satisfied the predicate, declared or not; for missions stage by stage in order."""
    return float(e.oracle_outcome.success)


def navigation_error_m(e: Evaluation) -> Value:
    """d_T, the goal distance at the end; planar for point, image and NavArena's object goals."""
    return _finite(float(e.goal_distance_m[-1]))


def min_goal_distance_m(e: Evaluation) -> Value:
    """min over the states of d_t."""
    return _finite(float(e.goal_distance_m.min()))


def stop_distance_m(e: Evaluation) -> Value:
    """Goal distance where the last stage was declared complete."""
    stop = e.outcome.stages[-1].stop
    return Unscored("no_stop") if stop is None else _finite(float(e.goal_distance_m[stop]))


def path_length(e: Evaluation) -> Value:
    """P, the sum of distances between consecutive recorded base positions."""
    return e.path_length_m


def steps(e: Evaluation) -> Value:
    """Actions executed."""
    return float(e.trajectory.action[-1] - e.trajectory.action[0])


def duration_s(e: Evaluation) -> Value:
    """Simulated seconds."""
    return float(e.trajectory.time_s[-1] - e.trajectory.time_s[0])


def _finite(distance_m: float) -> Value:
    return distance_m if np.isfinite(distance_m) else Unscored("unreachable_goal")
