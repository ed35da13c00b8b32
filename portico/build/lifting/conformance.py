"""What a labeller must hold to, as findings in words; ``portico.testing.check_labeller`` raises them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from portico.build.lifting.labellers import LabelImage, Labeller
from portico.geometry import camera_transform
from portico.interface import Camera, Channel, Frame

_CAMERAS = (Camera("check", 64, 48), Camera("check", 40, 60))


def labeller_findings(factory: Callable[[], Labeller]) -> list[str]:
    """Every breach of the contract that two made-up frames bring to light; empty for a labeller that keeps it."""
    try:
        labeller = factory()
    except Exception as error:
        return [f"the factory raised {type(error).__name__}: {error}"]
    if not isinstance(labeller, Labeller):
        missing = [part for part in ("needs", "categories", "privileged", "label") if not hasattr(labeller, part)]
        return [f"it lacks {', '.join(missing)}"]
    findings = _spec_findings(labeller)
    for n, camera in enumerate(_CAMERAS):
        findings += [] if findings else _label_findings(factory, labeller, _frame(camera, labeller.needs), n)
    return findings


def _spec_findings(labeller: Labeller) -> list[str]:
    findings = []
    unknown = sorted(set(labeller.needs) - set(get_args(Channel)))
    findings += [f"needs holds unknown channels: {', '.join(unknown)}"] if unknown else []
    named = dict(labeller.categories)
    if not named:
        findings.append("categories is empty: it names nothing")
    if not all(isinstance(number, int | np.integer) and number >= 1 for number in named):
        findings.append("categories holds ids below 1; 0 means unknown")
    if not all(isinstance(name, str) and name.strip() for name in named.values()):
        findings.append("categories holds names that are empty or no text")
    return findings


def _label_findings(factory: Callable[[], Labeller], labeller: Labeller, frame: Frame, n: int) -> list[str]:
    T = camera_transform(1.0 + n, 2.0, 1.2, 0.3, 0.1)
    before = _arrays(frame)
    try:
        first, again, fresh = labeller.label(T, frame), labeller.label(T, frame), factory().label(T, frame)
    except Exception as error:
        return [f"label() raised {type(error).__name__}: {error}"]
    findings = [] if _arrays(frame) == before else ["label() changed the images of its frame"]
    if not isinstance(first, LabelImage):
        return [*findings, f"label() returned a {type(first).__name__}, not a LabelImage"]
    size = (frame.camera.height, frame.camera.width)
    images: list[tuple[str, NDArray[np.integer] | None]] = [("labels", first.labels), ("instances", first.instances)]
    for kind, image in images:
        if image is not None and (image.shape != size or image.dtype.kind not in "iu"):
            findings.append(f"{kind} are {image.dtype} {image.shape}, not whole numbers {size}")
    strange = sorted(set(np.unique(first.labels).tolist()) - {0, *labeller.categories})
    findings += [f"labels hold ids without a name: {strange[:5]}"] if strange else []
    findings += [] if np.array_equal(first.labels, again.labels) else ["the same frame is labelled in two ways"]
    findings += [] if np.array_equal(first.labels, fresh.labels) else ["two instances label the same frame in two ways"]
    return findings


def _frame(camera: Camera, needs: frozenset[Channel]) -> Frame:
    """A wall of stripes, one metre away on the left and five on the right."""
    column = np.broadcast_to(np.arange(camera.width), (camera.height, camera.width))
    depth = (1.0 + 4.0 * column / camera.width).astype(np.float32)
    rgb = np.stack([column % 16 * 16, column % 7 * 30, np.full_like(column, 90)], axis=2).astype(np.uint8)
    flat = np.ones((camera.height, camera.width), np.int32)
    made = {"rgb": rgb, "depth": depth, "semantic": flat, "instance": flat, "normal": np.zeros((*flat.shape, 3), np.float32)}
    return Frame(camera, **{channel: made[channel] for channel in needs})  # type: ignore[arg-type]


def _arrays(frame: Frame) -> list[bytes]:
    images = [getattr(frame, field.name) for field in fields(frame) if field.name != "camera"]
    return [image.tobytes() for image in images if image is not None]
