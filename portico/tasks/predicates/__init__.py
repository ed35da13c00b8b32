"""When a stage is done: one predicate per kind of stage, judged on the states of that stage and on nothing else.

A predicate has a momentary part (``holds``) and, for boundary crossings and loops, a gate that its history must have
opened: a state ``before`` the border, then one ``beyond`` it. A declaration is the stage machine's business.
"""

from portico.tasks.predicates.choice import DEFAULT_RADIUS_M, accepted, predicate, success_radius_m
from portico.tasks.predicates.crossings import Entrance, Exit
from portico.tasks.predicates.ground import PLANE_MARGIN_M, REACH_M, BodySize, Ground, Predicate, SamePlane, opened, satisfied
from portico.tasks.predicates.reach import FindOnFloor, ReachInstance, ReachLocation, ReachPoint, footprint_distance_m

__all__ = [
    "DEFAULT_RADIUS_M",
    "PLANE_MARGIN_M",
    "REACH_M",
    "BodySize",
    "Entrance",
    "Exit",
    "FindOnFloor",
    "Ground",
    "Predicate",
    "ReachInstance",
    "ReachLocation",
    "ReachPoint",
    "SamePlane",
    "accepted",
    "footprint_distance_m",
    "opened",
    "predicate",
    "satisfied",
    "success_radius_m",
]
