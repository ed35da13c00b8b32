"""Robots by name: the built-in embodiments, and robot files of one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from portico.errors import UnknownName, UserError
from portico.interface import ActionSpace
from portico.robots.embodiment import EMBODIMENTS, Embodiment
from portico.robots.flyer import Flyer
from portico.robots.kinematic import KinematicRobot
from portico.robots.motion import Robot
from portico.robots.robot_file import LEARNED_WEIGHTS, read_robot
from portico.space import Space
from portico.world import GEODESIES, GeodesyName, World

LIST_COMMAND = "portico list embodiments"


def embodiment(name: str) -> Embodiment:
    """The embodiment of that name, or of the robot file (.yaml) at that path.

    Raises:
        UnknownName: with the closest matches.
        UserError: the robot file cannot be read.
    """
    if _is_file(name):
        return read_robot(Path(name)).embodiment()
    if name not in EMBODIMENTS:
        raise UnknownName("embodiment", name, EMBODIMENTS, list_command=LIST_COMMAND)
    return EMBODIMENTS[name]


def physical() -> dict[str, Path]:
    """Robots that come with a physical model: name -> robot file."""
    folder = Path(str(resources.files("portico.robots"))) / "physics" / "models"
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def has_model(name: str) -> bool:
    """Whether a robot can move under physics: built-in ones with a model, and every robot file."""
    return _is_file(name) or name in physical()


def robot_path(name: str) -> Path:
    """Where the robot file of that name is, or the path itself.

    Raises:
        UnknownName: no embodiment has that name.
        UserError: the embodiment has sizes, but no physical model.
    """
    if _is_file(name):
        return Path(name)
    embodiment(name)
    if name not in physical():
        raise UserError(
            f"{name} has no physical model",
            why=f"physical models: {', '.join(physical())}",
            next_step="choose one of them, run it with --motion kinematic, or give a robot file of your own: --robot path/to/robot.yaml",
        )
    return physical()[name]


def robot_files(name: str, motion: Literal["kinematic", "physics"]) -> dict[str, str]:
    """What a robot moves by that may change while Portico does not: file name -> digest.

    The robot file, and what it names beside it (model, network, weights), though not what a model names in turn. Empty for built-in bodies
    that go where they are told.

    Raises:
        UnknownName, UserError: no such robot, or none with a physical model.
    """
    if motion != "physics" and not _is_file(name):
        return {}
    path = robot_path(name)
    beside = {text: path.parent / text for text in _texts(read_robot(path).model_dump(mode="json"))} if motion == "physics" else {}
    files = {path.name: path} | {text: file for text, file in sorted(beside.items()) if file.is_file()}
    if "learned" in beside:
        files[LEARNED_WEIGHTS.name] = LEARNED_WEIGHTS
    return {text: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for text, file in files.items()}


def _texts(value: Any) -> Iterator[str]:
    """Every text in nested mappings and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def check_robot(name: str, motion: Literal["kinematic", "physics"]) -> None:
    """Put a robot's model and controller together once, so that what does not fit is known before anything runs.

    Raises:
        UnknownName, UserError: no such robot, none with a physical model, or its file, model or network do not fit each other.
    """
    embodiment(name)
    if motion == "physics":
        from portico.robots.physics.machine import load_machine
        from portico.robots.physics.setup import controller_of

        controller_of(load_machine(robot_path(name)))


def make_robot(
    world: World,
    name: str,
    space: Space,
    actions: ActionSpace | None = None,
    *,
    motion: Literal["kinematic", "physics"] = "kinematic",
    friction: float = 1.0,
    slide: bool = False,
    geodesy: GeodesyName = "sphere",
) -> Robot:
    """A robot in a world.

    Args:
        name: of an embodiment, or the path of a robot file. space: of the world for the same embodiment.
        motion: ``kinematic`` goes where it is told until it touches something; ``physics`` has mass, grip and can fall.
        friction: under physics, factor on what surfaces grip. slide: see ``KinematicRobot``.
        geodesy: how a flyer moves, see ``portico.world.geodesy``.

    Raises:
        UnknownName, UserError: no such robot, or none with a physical model.
    """
    if world.appearance.raster is not None:
        return Flyer(world, embodiment(name), actions, geodesy=GEODESIES[geodesy])
    if motion == "kinematic":
        return KinematicRobot(space, embodiment(name), actions, slide=slide)
    # MuJoCo is loaded by those who use it.
    from portico.robots.physics import physics_robot

    return physics_robot(world, name, space, actions, friction=friction)


def _is_file(name: str) -> bool:
    return Path(name).suffix in {".yaml", ".yml"}
