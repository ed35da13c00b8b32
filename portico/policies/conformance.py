"""Whether what a policy declares about itself is well formed, one sentence per breach; ``portico.testing.check_policy`` asks."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, pi
from typing import get_args

from portico.declarations import ActionKind, GoalForm, Privilege
from portico.interface import Camera, Need, Policy, PolicySpec, StageKind


def spec_findings(policy: object) -> list[str]:
    """What is wrong with a policy's parts and its spec."""
    if not isinstance(policy, Policy):
        missing = [part for part in ("spec", "reset", "act", "close") if not hasattr(policy, part)]
        return [f"it lacks {', '.join(missing)}"]
    spec = policy.spec
    if not isinstance(spec, PolicySpec):
        return [f"spec is a {type(spec).__name__}, not a PolicySpec"]
    return [*_names(spec), *_sizes(spec), *_amounts(spec)]


def _names(spec: PolicySpec) -> Iterator[str]:
    if not spec.name:
        yield "spec.name is empty"
    vocabularies = {
        "needs": (spec.needs, Need),
        "stages": (spec.stages, StageKind),
        "goals": (spec.goals, GoalForm),
        "privileges": (spec.privileges, Privilege),
    }
    for part, (names, known) in vocabularies.items():
        if unknown := sorted(set(names) - set(get_args(known))):
            yield f"spec.{part} holds unknown names: {', '.join(unknown)}"
    if not spec.stages:
        yield "spec.stages is empty: it attempts nothing"
    if not spec.goals:
        yield "spec.goals is empty: it cannot be told anything"


def _sizes(spec: PolicySpec) -> Iterator[str]:
    size = spec.image_size
    if size is not None and not (len(size) == 2 and all(isinstance(n, int) and n > 0 for n in size)):
        yield f"spec.image_size is {size!r}, not (width, height) in whole pixels"
    if size is not None and spec.cameras and not spec.keeps_cameras:
        yield "spec gives both cameras and an image_size: a camera has its own size"
    names = [camera.name for camera in spec.cameras]
    if len(set(names)) < len(names):
        yield f"two of spec.cameras have the same name: {', '.join(names)}"
    for camera in spec.cameras:
        if not _is_camera(camera):
            yield f"spec.cameras holds one without a size or field of view: {camera}"
    if not (spec.depth.per_metre > 0.0 and 0.0 <= spec.depth.min_m < spec.depth.max_m):
        yield f"spec.depth is no range: {spec.depth}"


def _is_camera(camera: Camera) -> bool:
    numbers = (camera.x, camera.y, camera.z, camera.yaw_rad, camera.pitch_rad)
    return camera.width > 0 and camera.height > 0 and 0.0 < camera.hfov_rad < pi and all(map(isfinite, numbers))


def _amounts(spec: PolicySpec) -> Iterator[str]:
    for emitted in spec.actions:
        if emitted.kind not in get_args(ActionKind):
            yield f"spec.actions holds the unknown kind {emitted.kind!r}"
        if any(amount is not None and not amount > 0.0 for amount in (emitted.step_m, emitted.turn_rad)):
            yield f"spec.actions holds an amount that is not above zero: {emitted}"
        if not 1 <= emitted.executed <= emitted.horizon:
            yield f"spec.actions carries out {emitted.executed} of {emitted.horizon} waypoints: {emitted}"
    kinds = {emitted.kind for emitted in spec.actions}
    if kinds and spec.stop.declares and "stop" not in kinds:
        yield "spec.stop says that it declares, and spec.actions holds no stop"
    rates = (spec.timing.decides_hz, spec.timing.expires_s)
    if any(rate is not None and not rate > 0.0 for rate in rates):
        yield f"spec.timing holds a number that is not above zero: {spec.timing}"
