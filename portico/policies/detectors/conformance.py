"""What a detector must hold to, as findings in words; ``portico.testing.check_detector`` raises them."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from portico.errors import UserError
from portico.interface import ActionSpace, Body, Brief, Camera, Frame, Need, StageBrief
from portico.policies.detectors.contract import Detector, Labels, Namer, wanted_image_size

_CAMERAS = (Camera("check", 64, 48), Camera("check", 200, 160), Camera("check", 40, 60))
_CATEGORIES = {1: "wall", 2: "cafe"}
_ASKED = ("cafe", "wall", "no such thing")
_CHANNELS: tuple[Need, ...] = ("rgb", "depth", "semantic")


def detector_findings(factory: Callable[[], Detector]) -> list[str]:
    """Every breach of the contract that a few made-up frames bring to light; empty for a detector that keeps it."""
    try:
        detector = factory()
    except Exception as error:
        return [f"the factory raised {type(error).__name__}: {error}"]
    if not isinstance(detector, Detector):
        return [f"it lacks {', '.join(part for part in ('needs', 'reset', 'detect') if not hasattr(detector, part))}"]
    findings = _spec_findings(detector)
    if findings:
        return findings
    try:
        first, again, fresh = _answers(detector), _answers(detector), _answers(factory())
    except _Breach as breach:
        return [str(breach)]
    findings += [] if first == again else ["after reset it answers the same frames in another way"]
    findings += [] if first == fresh else ["two instances answer the same frames in two ways"]
    return findings + _missing_findings(factory, detector.needs)


class _Breach(Exception):
    """What a detector did wrong, in words."""


def _spec_findings(detector: Detector) -> list[str]:
    findings = []
    unknown = sorted(set(detector.needs) - set(get_args(Need)))
    findings += [f"needs holds unknown names: {', '.join(unknown)}"] if unknown else []
    size = wanted_image_size(detector)
    if size is not None and not (len(size) == 2 and all(isinstance(n, int) and n > 0 for n in size)):
        findings.append(f"image_size is {size!r}, not (width, height) in whole pixels")
    return findings


def _answers(detector: Detector) -> list[bytes]:
    """What it says of all frames and categories in one episode."""
    detector.reset(_brief())
    answers = []
    for n, camera in enumerate(_CAMERAS):
        frame = _frame(camera, detector.needs, n)
        before = _pixels(frame)
        try:
            masks = {category: detector.detect(frame, category) for category in _ASKED}
            labels = detector.labels(frame) if isinstance(detector, Namer) else None
        except Exception as error:
            raise _Breach(f"detect() or labels() raised {type(error).__name__}: {error}") from error
        if _pixels(frame) != before:
            raise _Breach("it changed the images of its frame")
        for category, mask in masks.items():
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (camera.height, camera.width):
                raise _Breach(f"detect() of {category!r} is no mask of the frame's size")
        if masks["no such thing"].any():
            raise _Breach("it finds a category that nobody knows")
        if labels is not None:
            _check_labels(labels, masks, camera)
        answers += [mask.tobytes() for mask in masks.values()]
    return answers


def _check_labels(labels: Labels, masks: dict[str, NDArray[np.bool_]], camera: Camera) -> None:
    if labels.ids.shape != (camera.height, camera.width) or labels.ids.dtype.kind not in "iu":
        raise _Breach("labels() gives no whole numbers of the frame's size")
    if set(np.unique(labels.ids).tolist()) - {0, *labels.names}:
        raise _Breach("labels() gives ids without a name")
    for category, mask in masks.items():
        numbers = [number for number, name in labels.names.items() if name == category]
        if (np.isin(labels.ids, numbers) & ~mask).any():
            raise _Breach(f"labels() names pixels {category!r} that detect() does not find")


def _missing_findings(factory: Callable[[], Detector], needs: frozenset[Need]) -> list[str]:
    findings = []
    for channel in sorted(set(_CHANNELS) & needs):
        detector = factory()
        detector.reset(_brief())
        try:
            detector.detect(_frame(_CAMERAS[0], needs - {channel}, 0), "cafe")
        except UserError:
            continue
        except Exception as error:
            findings.append(f"without {channel} it raises {type(error).__name__} ({error}); raise a portico.errors.UserError that says what is missing")
    return findings


def _brief() -> Brief:
    stage = StageBrief("place", 0, 1, "Go to a cafe.", "cafe")
    return Brief("check", "place", ("place",), stage, Body("checker", 0.3, 0.8, 0.2, 1.0, 1.0), _CAMERAS[:1], ActionSpace(), "rgbd", 100, 7, _CATEGORIES)


def _frame(camera: Camera, channels: frozenset[Need], n: int) -> Frame:
    """A wall of stripes with a patch of the second category."""
    row, column = np.mgrid[0 : camera.height, 0 : camera.width]
    rgb = np.stack([(column + n) % 16 * 15, column % 7 * 30, np.full_like(column, 90)], axis=2).astype(np.uint8)
    semantic = np.where((row < camera.height // 3) & (column > camera.width // 2), 2, 1).astype(np.int32)
    made = {"rgb": rgb, "depth": (1.0 + 4.0 * column / camera.width).astype(np.float32), "semantic": semantic}
    return Frame(camera, **{channel: made[channel] for channel in _CHANNELS if channel in channels})


def _pixels(frame: Frame) -> list[bytes]:
    return [image.tobytes() for image in (frame.rgb, frame.depth, frame.semantic) if image is not None]
