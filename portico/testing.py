"""Public conformance checkers: what a plug-in must hold to, checked in a second or two and explained when it does not.

from portico.testing import check_policy
check_policy(MyPolicy)
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.lifting import Labeller, labeller_findings
from portico.errors import UserError
from portico.geometry import Pose, wrap_angle
from portico.interface import (
    Action,
    ActionSpace,
    Body,
    Brief,
    Camera,
    Frame,
    Move,
    Need,
    Observation,
    Observer,
    Policy,
    PolicyFailure,
    PolicySpec,
    StageBrief,
    StageKind,
    Stop,
)
from portico.policies.conformance import spec_findings
from portico.policies.detectors import Detector
from portico.policies.detectors.conformance import detector_findings
from portico.policies.wires.actions import breach_of

#: Rooms that hold answers. A policy that imports one of them is privileged, whatever its spec says.
FORBIDDEN_ROOMS = ("world", "space", "render", "build", "robots", "tasks", "sim", "episodes", "suites", "evaluate")
_STEPS = 12
_ROOM_M = (8.0, 6.0, 2.8)


class NotConformant(AssertionError):
    """A plug-in that breaks its contract. ``findings`` lists every breach, one sentence each."""

    def __init__(self, name: str, findings: list[str]) -> None:
        self.findings = findings
        super().__init__("\n".join([f"{name} breaks the contract in {len(findings)} way(s):", *(f"  - {f}" for f in findings)]))


def check_policy(factory: Callable[[], Policy], *, steps: int = _STEPS) -> None:
    """Check a policy against ``portico.interface.Policy`` in a synthetic room, without a simulator.

    Its spec is well formed; it acts in every stage it claims, with pose and route released or withheld; it returns
    nothing but actions with finite numbers; equal seeds and observations give equal actions, from a fresh instance and
    after ``reset``, unless its spec says that it samples; a frame to ``observe`` is taken; it changes nothing it is shown;
    a channel it needs and does not get is answered with a ``UserError``; ``close`` may be called twice; and, unless
    privileged, its modules import no room that holds answers. Policies behind a wire are checked in the same way.

    Args:
        factory: makes the policy, e.g. its class. steps: how many observations each stage lasts.

    Raises:
        NotConformant: listing every breach.
    """
    try:
        policy = factory()
    except Exception as error:
        raise NotConformant(_name_of(factory), [f"the factory raised {type(error).__name__}: {error}"]) from error
    findings = spec_findings(policy)
    if not findings:
        findings += _behaviour_findings(factory, policy, steps)
        findings += _missing_channel_findings(factory, policy.spec)
        findings += _import_findings(policy, policy.spec.needs)
    if findings:
        raise NotConformant(_name_of(factory), findings)


def check_labeller(factory: Callable[[], Labeller]) -> None:
    """Check a labeller against ``portico.build.lifting.Labeller`` with made-up frames.

    Its categories have names and ids from 1 on; it labels frames of any size with ids that it names, in whole numbers of the frame's
    size, always in the same way; and it changes nothing it is shown.

    Args:
        factory: makes the labeller, e.g. its class.

    Raises:
        NotConformant: listing every breach.
    """
    if findings := labeller_findings(factory):
        raise NotConformant(_name_of(factory), findings)


def check_detector(factory: Callable[[], Detector]) -> None:
    """Check a detector against ``portico.policies.detectors.Detector`` with made-up frames.

    It asks for what policies may have; it answers frames of any size with masks of that size, for categories it knows and ones that nobody
    knows; equal episodes give equal answers, from a fresh instance and after ``reset``; one that names all it sees names what it finds; it
    changes nothing it is shown; a channel it needs and does not get is answered with a ``UserError``; its modules import no room that
    holds answers.

    Args:
        factory: makes the detector, e.g. its class.

    Raises:
        NotConformant: listing every breach.
    """
    findings = detector_findings(factory)
    if not findings:
        findings = _import_findings(factory(), frozenset())
    if findings:
        raise NotConformant(_name_of(factory), findings)


def _name_of(factory: Callable[[], object]) -> str:
    return getattr(factory, "__qualname__", repr(factory))


def _behaviour_findings(factory: Callable[[], Policy], policy: Policy, steps: int) -> list[str]:
    findings = []
    for kind in sorted(policy.spec.stages):
        for released in (True, False):
            room = _Room(policy.spec, kind, released)
            try:
                first = _actions(policy, room, steps)
                again = _actions(policy, room, steps)
                fresh = _actions(factory(), room, steps)
            except _Breach as breach:
                findings.append(f"in stage {kind!r}, pose and route {'released' if released else 'withheld'}: {breach}")
                continue
            if not policy.spec.seedable:
                continue
            if first != again:
                findings.append(f"in stage {kind!r} it acts differently after reset: something of the last episode is kept")
            if first != fresh:
                findings.append(f"in stage {kind!r} two instances with the same seed and observations act differently")
    if isinstance(policy, Observer):
        findings += _observing_findings(policy)
    try:
        policy.close()
        policy.close()
    except Exception as error:
        findings.append(f"close() raised {type(error).__name__} when called twice: {error}")
    return findings


def _observing_findings(policy: Policy) -> list[str]:
    """A frame that needs no decision is taken without a word and left as it is."""
    assert isinstance(policy, Observer)
    room = _Room(policy.spec, sorted(policy.spec.stages)[0], released=True)
    try:
        policy.reset(room.brief())
        observation = room.observation(0)
        before = _fingerprint(observation)
        policy.observe(observation)
    except PolicyFailure as failure:
        return [] if failure.kind == "unsupported" else [f"observe() failed: {failure}"]
    except Exception as error:
        return [f"observe() raised {type(error).__name__}: {error}"]
    return [] if _fingerprint(observation) == before else ["observe() changed the arrays of its observation"]


def _missing_channel_findings(factory: Callable[[], Policy], spec: PolicySpec) -> list[str]:
    findings = []
    for channel in sorted(spec.needs & {"rgb", "depth", "semantic"}):
        room = _Room(spec, sorted(spec.stages)[0], released=True, without=channel)
        policy = factory()
        try:
            policy.reset(room.brief())
            policy.act(room.observation(0))
        except UserError:
            continue
        except Exception as error:
            findings.append(f"without {channel} it raises {type(error).__name__} ({error}); raise a portico.errors.UserError that says what is missing")
        finally:
            policy.close()
    return findings


class _Breach(Exception):
    """What a policy did wrong, in words."""


def _actions(policy: Policy, room: _Room, steps: int) -> list[Action]:
    """The actions of one short episode; the robot is carried along without contact."""
    room.restart()
    _guard("reset", policy.reset, room.brief())
    actions: list[Action] = []
    for step in range(steps):
        observation = room.observation(step)
        before = _fingerprint(observation)
        action = _guard("act", policy.act, observation)
        if _fingerprint(observation) != before:
            raise _Breach("act() changed the arrays of its observation")
        if wrong := breach_of(action):
            raise _Breach(f"act() returned what cannot be carried out: {wrong}")
        actions.append(action)
        if isinstance(action, Stop):
            break
        room.carry(action)
    return actions


def _guard(call: str, method: Callable[[Any], Any], argument: object) -> Any:
    try:
        return method(argument)
    except Exception as error:
        raise _Breach(f"{call}() raised {type(error).__name__}: {error}") from error


def _fingerprint(observation: Observation) -> tuple[bytes, ...]:
    arrays: list[NDArray[Any]] = [a for f in observation.frames.values() for a in (f.rgb, f.depth, f.semantic) if a is not None]
    arrays += [a for a in (observation.stage.route, observation.stage.goal_image) if a is not None]
    return tuple(a.tobytes() for a in arrays)


@dataclass
class _Room:
    """An empty box-shaped room seen from inside, with a red patch on one wall that the detector's category names."""

    spec: PolicySpec
    kind: StageKind
    released: bool
    without: str = ""

    def restart(self) -> None:
        self.pose = Pose(2.0, 2.0, 0.0, 0.3)

    def brief(self) -> Brief:
        self.restart()
        categories = {1: "wall", 2: "painting"} if "semantic" in self.spec.needs else {}
        body = Body("checker", 0.3, 0.8, 0.2, 1.0, 1.0)
        return Brief("check", self.kind, (self.kind,), self._stage(), body, self._cameras(), ActionSpace(), "rgbd", 200, 7, categories)

    def observation(self, step: int) -> Observation:
        start = Pose(2.0, 2.0, 0.0, 0.3)
        return Observation(
            step=step,
            number=step,
            time_s=0.5 * step,
            frames={camera.name: self._frame(camera) for camera in self._cameras()},
            stage=self._stage(),
            odometry=self.pose.relative_to(start),
            pose=self.pose if self.released else None,
        )

    def carry(self, action: Action) -> None:
        """Move inside the room; anything but a discrete move leaves the robot where it is."""
        if not isinstance(action, Move):
            return
        amount = ActionSpace().amount_of(action)
        turn = {"turn_left": amount, "turn_right": -amount}.get(action.name, 0.0)
        step = {"forward": amount, "backward": -amount}.get(action.name, 0.0)
        p = self.pose
        x, y = p.x + step * cos(p.yaw_rad), p.y + step * sin(p.yaw_rad)
        if not (0.4 < x < _ROOM_M[0] - 0.4 and 0.4 < y < _ROOM_M[1] - 0.4):
            x, y = p.x, p.y
        self.pose = Pose(x, y, 0.0, wrap_angle(p.yaw_rad + turn))

    def _stage(self) -> StageBrief:
        category = "painting" if self.kind in ("object", "ovon", "place") else ""
        goal = (6.0, 4.0, 0.0) if self.kind in ("point", "outdoor") else None
        route = np.array([[2.0, 2.0, 0.0], [6.0, 2.0, 0.0], [6.0, 4.0, 0.0]]) if self.kind == "outdoor" and self.released else None
        picture = None
        if self.kind == "image" and "rgb" in self.spec.needs:
            picture = _rgb(_box_interior(Pose(6.0, 4.0, 0.0, 0.0), self._cameras()[0])[1])
        return StageBrief(self.kind, 0, 1, f"carry out the stage {self.kind}", category, goal, route, picture)

    def _cameras(self) -> tuple[Camera, ...]:
        return self.spec.cameras or (Camera("front", *(self.spec.image_size or (64, 48)), z=0.6),)

    def _frame(self, camera: Camera) -> Frame:
        depth, semantic = _box_interior(self.pose, camera)
        channels: dict[str, Any] = {"rgb": _rgb(semantic), "depth": depth, "semantic": semantic}
        granted = {name: array for name, array in channels.items() if name in self.spec.needs and name != self.without}
        return replace(Frame(camera), **granted)


def _rgb(semantic: NDArray[np.int32]) -> NDArray[np.uint8]:
    """(H, W, 3) picture of the room: grey walls, a red patch."""
    return np.where(semantic[..., None] == 2, np.array([200, 30, 30]), np.array([180, 180, 170])).astype(np.uint8)


def _box_interior(pose: Pose, camera: Camera) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Depth and semantic images of the room's inside; category 2 is a patch on the wall at the largest x."""
    v, u = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
    f = camera.focal_px
    rays = np.stack([(u - 0.5 * camera.width) / f, (v - 0.5 * camera.height) / f, np.ones_like(u)], axis=2)
    T = pose.matrix() @ camera.T_base_camera()
    rays = rays @ T[:3, :3].T
    origin, far = T[:3, 3], np.where(rays > 0.0, np.array(_ROOM_M), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(rays == 0.0, np.inf, (far - origin) / rays)
    depth = t.min(axis=2)
    hit = origin + depth[..., None] * rays
    patch = (np.abs(hit[..., 0] - _ROOM_M[0]) < 1e-6) & (np.abs(hit[..., 1] - 3.0) < 0.8) & (np.abs(hit[..., 2] - 1.2) < 0.5)
    return depth.astype(np.float32), np.where(patch, 2, 1).astype(np.int32)


def _import_findings(plugin: object, needs: frozenset[Need]) -> list[str]:
    """Imports of forbidden rooms anywhere in a plug-in's module and in modules of its package that it imports."""
    if needs & {"map", "oracle"}:
        return []
    module = inspect.getmodule(type(plugin))
    if module is None or not module.__name__:
        return []
    forbidden = tuple(f"portico.{room}" for room in FORBIDDEN_ROOMS)
    findings, queue, seen = [], [module.__name__], set()
    package = ".".join(module.__name__.split(".")[:2]) if module.__name__.startswith("portico.") else module.__name__.split(".")[0]
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        for imported in sorted(set(_imports(name))):
            if imported.startswith(forbidden) and (imported + ".").startswith(tuple(f + "." for f in forbidden)):
                findings.append(f"{name} imports {imported}, which holds answers; live on observations, or declare the need 'oracle'")
            elif imported.startswith(package) and not imported.startswith("portico.policies.privileged"):
                queue.append(imported)
    return findings


def _imports(module_name: str) -> Iterator[str]:
    """Absolute names that a module imports, read from its source."""
    spec = sys.modules[module_name].__spec__ if module_name in sys.modules else importlib.util.find_spec(module_name)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return
    for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
