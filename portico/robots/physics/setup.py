"""Puts a physical robot together: its model, what drives it, and the world around it."""

from __future__ import annotations

from pathlib import Path

from portico.interface import ActionSpace
from portico.robots.catalogue import robot_path
from portico.robots.physics.controller import Controller
from portico.robots.physics.drive import DifferentialDrive
from portico.robots.physics.legs import LearnedWalker, Walker
from portico.robots.physics.legs.fit import check_legs
from portico.robots.physics.machine import Machine, load_machine
from portico.robots.physics.nearby import Matter, Nearby
from portico.robots.physics.network import NetworkController
from portico.robots.physics.robot import PhysicsRobot
from portico.robots.robot_file import Differential, Gait, Network
from portico.space import Space
from portico.world import World


def physics_robot(world: World, name: str, space: Space, actions: ActionSpace | None = None, *, friction: float = 1.0) -> PhysicsRobot:
    """A robot under physics in a world.

    Args:
        name: of an embodiment with a physical model, or the path of a robot file.
        space: of the world for the same embodiment.
        friction: factor on what surfaces grip.

    Raises:
        UnknownName: no embodiment has that name.
        UserError: it has no physical model, or its file or model is broken.
    """
    machine = load_machine(Path(robot_path(name)))
    return PhysicsRobot(machine, controller_of(machine), Nearby(Matter.of(world)), space, actions, friction=friction)


def controller_of(machine: Machine) -> Controller:
    """What the robot file says that drives the machine.

    Raises:
        UserError: the model lacks what the controller needs.
    """
    spec = machine.file.controller
    match spec:
        case Differential():
            return DifferentialDrive(spec, machine.model)
        case Gait():
            check_legs(machine.model, machine.qpos, spec.feet, str(machine.folder / machine.file.model))
            return LearnedWalker(machine.model) if spec.kind == "learned" else Walker(machine.model)
        case Network():
            return NetworkController(spec, machine.folder, machine.model, machine.base_qpos, machine.base_qvel)
