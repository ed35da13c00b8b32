"""Reads what is written on signs: a real detector, from pictures alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from portico.errors import PolicyRefused, UserError
from portico.interface import Brief, Camera, Frame, Need
from portico.policies.detectors.contract import Labels
from portico.policies.detectors.prefilter import sign_like
from portico.policies.place_words import SIGN_WORDS, place_on_sign

#: What is read with less confidence is taken for scratches; so are texts with fewer letters.
_LEAST_SCORE, _LEAST_LETTERS = 0.6, 3
#: Frames that may be read one after the other, as when looking around, before only every so many are.
_AT_ONCE = 8
#: Parts smaller than this hold no line of text.
_LEAST_PX = 16
_SIGN = "sign"
_INSTALL = 'pip install "portico-nav[ocr]"'


class Reading(NamedTuple):
    """A line of text in a picture: what it says, how sure that is (0 to 1), and its corners (4, 2) in pixels, column and row."""

    text: str
    score: float
    corners: NDArray[np.float64]


#: Reads a picture (H, W, 3) uint8.
Reader = Callable[[NDArray[np.uint8]], Sequence[Reading]]


class TextDetector:
    """Reads signs by OCR and maps what they say to categories of places; needs the extra ``ocr``.

    Only the part above the horizon is looked at, only where its edges are as dense as lettering, and after a few frames at once only every
    so many: in the frames between it names nothing. What it reads and does not know is a ``sign``.

    Args:
        every: of how many frames one is read.
        reader: who reads; RapidOCR's small models on one thread when left out.
    """

    needs: frozenset[Need] = frozenset({"rgb"})
    image_size = (640, 480)

    def __init__(self, every: int | str = 4, reader: Reader | None = None) -> None:
        try:
            self._every = int(every)
        except ValueError as error:
            raise UserError("cannot read the option 'every' of the text detector", where=f"every={every}", next_step="write a whole number") from error
        self._reader = reader
        self._saved = float(_AT_ONCE)
        self._frame: Frame | None = None
        self._labels = Labels(np.zeros((0, 0), np.int32), {})

    def reset(self, brief: Brief) -> None:
        """Forget the last frame; the reader is loaded once.

        Raises:
            UserError: the reader is not installed.
        """
        self._saved, self._frame = float(_AT_ONCE), None
        if self._reader is None:
            self._reader = _rapidocr()

    def suited(self, category: str) -> TextDetector | None:
        """Signs name places; reading them costs much and says nothing of where a mug is."""
        return self if category in SIGN_WORDS else None

    def detect(self, frame: Frame, category: str) -> NDArray[np.bool_]:
        """Where a sign of the category is.

        Raises:
            PolicyRefused: the frame has no picture.
        """
        labels = self.labels(frame)
        wanted = [number for number, name in labels.names.items() if name == category]
        mask: NDArray[np.bool_] = np.isin(labels.ids, wanted)
        return mask

    def labels(self, frame: Frame) -> Labels:
        """Signs by the category of place that they speak of.

        Raises:
            PolicyRefused: the frame has no picture.
        """
        if frame is not self._frame:
            if frame.rgb is None:
                raise PolicyRefused("the text detector needs pictures", why="the frame has no rgb channel", next_step="ask for rgb on this track")
            self._labels, self._frame = self._read(frame.rgb, frame.camera), frame
        return self._labels

    def _read(self, rgb: NDArray[np.uint8], camera: Camera) -> Labels:
        ids, names = np.zeros(rgb.shape[:2], np.int32), {1: _SIGN}
        self._saved = min(self._saved + 1.0 / self._every, float(_AT_ONCE))
        if self._saved < 1.0:
            return Labels(ids, names, complete=False)
        boxes = sign_like(rgb, camera)
        self._saved -= 1.0 if boxes else 0.0
        for box in boxes:
            for reading in self._read_part(rgb[box.rows, box.cols], box.scale):
                if reading.score < _LEAST_SCORE or sum(c.isalpha() and c.isascii() for c in reading.text) < _LEAST_LETTERS:
                    continue
                name = place_on_sign(reading.text) or _SIGN
                number = next((n for n, known in names.items() if known == name), len(names) + 1)
                names[number] = name
                ids[_inside(reading.corners / box.scale + np.array([box.cols.start, box.rows.start]), ids.shape)] = number
        return Labels(ids, names)

    def _read_part(self, rgb: NDArray[np.uint8], scale: float) -> Sequence[Reading]:
        """What a part of a picture says; corners are those in the part, scaled."""
        assert self._reader is not None
        part = Image.fromarray(np.ascontiguousarray(rgb))
        size = round(scale * part.width), round(scale * part.height)
        if min(size) < _LEAST_PX:
            return []
        return self._reader(np.asarray(part.resize(size, Image.Resampling.BICUBIC)))


def _inside(corners: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """(H, W) pixels of a quadrilateral."""
    canvas = Image.new("1", (shape[1], shape[0]))
    ImageDraw.Draw(canvas).polygon([(float(x), float(y)) for x, y in corners], fill=1)
    mask: NDArray[np.bool_] = np.array(canvas, dtype=np.bool_)
    return mask


def _rapidocr() -> Reader:
    """RapidOCR with the models that its wheel carries; pictures are read in their own size, on one thread, so that results do not depend on the machine."""
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise UserError("the text detector needs RapidOCR", why=str(error), next_step=_INSTALL) from error
    engine: Any = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.use_preprocess_img": False,
            "Global.log_level": "error",
            "Det.limit_side_len": 32,
            "Det.limit_type": "min",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )

    def read(rgb: NDArray[np.uint8]) -> list[Reading]:
        found = engine(rgb[..., ::-1])
        if not found.txts:
            return []
        return [Reading(text, float(score), np.asarray(box, np.float64)) for text, score, box in zip(found.txts, found.scores, found.boxes, strict=True)]

    return read
