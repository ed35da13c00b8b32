"""Detectors: the contract, the registry, and reading what is written on signs."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from portico.errors import UnknownName, UserError
from portico.interface import Brief, Camera, Frame
from portico.policies.detectors import Labels, SemanticDetector, create_detector, describe_detectors, detector_names, labels_of, suited
from portico.policies.detectors.prefilter import sign_like
from portico.policies.detectors.text import Reading, TextDetector
from portico.policies.place_words import SIGN_WORDS, WISHES, category_of_noun, place_on_sign, place_wished_for
from portico.testing import NotConformant, check_detector

CAMERA = Camera("front", 640, 480)
needs_ocr = pytest.mark.skipif(find_spec("rapidocr") is None, reason="the extra ocr is not installed")
NAMES = [pytest.param(name, marks=needs_ocr) if "text" in name else name for name in [*detector_names(), "semantic+text"]]


@pytest.mark.parametrize("name", NAMES)
def test_registered_detectors_conform(name: str):
    check_detector(lambda: create_detector(name))  # type: ignore[arg-type, return-value]


class _Base(SemanticDetector):
    pass


class _WrongSize(_Base):
    def detect(self, frame: Frame, category: str):
        return super().detect(frame, category)[:-1]


class _Believer(_Base):
    def detect(self, frame: Frame, category: str):
        return np.ones((frame.camera.height, frame.camera.width), np.bool_)


class _Counter(_Base):
    calls = 0

    def detect(self, frame: Frame, category: str):
        _Counter.calls += 1
        return super().detect(frame, category) & (_Counter.calls % 2 == 0)


class _Painter(_Base):
    def detect(self, frame: Frame, category: str):
        if frame.semantic is not None:
            frame.semantic[0, 0] = 9
        return super().detect(frame, category)


class _Nameless(_Base):
    def labels(self, frame: Frame) -> Labels:
        return Labels(super().labels(frame).ids, {})


@pytest.mark.parametrize(
    ("detector", "words"),
    [(_WrongSize, "no mask"), (_Believer, "nobody knows"), (_Counter, "way"), (_Painter, "changed the images"), (_Nameless, "without a name")],
)
def test_breaches_are_named(detector: type[SemanticDetector], words: str):
    with pytest.raises(NotConformant, match=words):
        check_detector(detector)


def test_names_options_and_several_at_once():
    assert set(describe_detectors()) == set(detector_names()) >= {"semantic", "text"}
    assert create_detector("none") is None
    both = create_detector("semantic+text?every=2")
    assert both is not None
    assert both.needs == {"semantic", "rgb"}
    assert both.image_size == (640, 480)  # type: ignore[attr-defined]
    with pytest.raises(UnknownName, match="every"):
        create_detector("text?evry=2")
    with pytest.raises(UserError, match="whole number"):
        create_detector("text?every=often")
    with pytest.raises(UserError, match="no options"):
        create_detector("semantic?x=1")


def _picture(text: str, *, letters_px: int = 30, at: tuple[int, int] = (250, 60)) -> np.ndarray:
    """A wall with a dark board that says something."""
    picture = Image.new("RGB", (640, 480), (170, 150, 130))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size=letters_px)
    left, top, right, bottom = draw.textbbox(at, text, font=font)
    draw.rectangle((left - 8, top - 8, right + 8, bottom + 8), fill=(40, 25, 20))
    draw.text(at, text, fill=(250, 230, 190), font=font)
    return np.asarray(picture)


@needs_ocr
@pytest.mark.parametrize(("text", "category"), [("CAFE LUMEN", "cafe"), ("UNION BANK", "bank"), ("THE FOX BAR", "bar"), ("POST OFFICE", "post office")])
def test_a_sign_is_read_and_found_where_it_is(text: str, category: str):
    detector = TextDetector()
    detector.reset(None)  # type: ignore[arg-type]
    mask = detector.detect(Frame(CAMERA, rgb=_picture(text)), category)
    rows, cols = np.nonzero(mask)
    assert 55 < rows.mean() < 100
    assert cols.min() > 220
    assert mask.sum() > 1500
    assert not detector.detect(Frame(CAMERA, rgb=_picture(text)), "school").any()


def _reader(read: list[int]):
    def reader(rgb: np.ndarray) -> list[Reading]:
        read.append(rgb.shape[0] * rgb.shape[1])
        return [Reading("IRIS FLORIST", 0.9, np.array([[20.0, 16.0], [80.0, 16.0], [80.0, 40.0], [20.0, 40.0]])), Reading("XYZZY", 0.9, np.zeros((4, 2)))]

    return reader


def test_signs_are_read_for_those_alone_who_look_for_places():
    text, both = create_detector("text"), create_detector("semantic+text")
    assert suited(text, "cafe") is text
    assert suited(text, "mug") is None
    assert suited(text, "") is text
    for_a_cafe = suited(both, "cafe")
    assert for_a_cafe is not None
    assert for_a_cafe.needs == {"semantic", "rgb"}
    for_a_mug = suited(both, "mug")
    assert for_a_mug is not None
    assert for_a_mug.needs == {"semantic"}
    assert suited(None, "cafe") is None


def test_reading_is_rare_and_only_where_something_is_like_a_sign():
    read: list[int] = []
    detector = TextDetector(every=4, reader=_reader(read))
    brief: Brief = None  # type: ignore[assignment]
    detector.reset(brief)
    for _ in range(10):
        assert not detector.detect(Frame(CAMERA, rgb=np.full((480, 640, 3), 120, np.uint8)), "florist").any()
    assert read == []
    frames = [Frame(CAMERA, rgb=_picture("IRIS FLORIST")) for _ in range(88)]
    seen = [bool(detector.detect(frame, "florist").any()) for frame in frames]
    assert all(seen[:8])
    assert 8 + 18 <= sum(seen) == len(read) <= 8 + 24
    assert max(read) < 0.3 * 640 * 480
    labels = labels_of(detector, frames[-1])
    assert labels is not None
    assert set(labels.names.values()) <= {"sign", "florist"}
    assert [labels_of(detector, frame).complete for frame in (Frame(CAMERA, rgb=_picture("IRIS FLORIST")) for _ in range(8))].count(True) == 2  # type: ignore[union-attr]


def test_the_same_frame_is_read_once():
    read: list[int] = []
    detector = TextDetector(reader=_reader(read))
    detector.reset(None)  # type: ignore[arg-type]
    frame = Frame(CAMERA, rgb=_picture("IRIS FLORIST"))
    first, again = detector.detect(frame, "florist"), detector.detect(frame, "florist")
    assert len(read) == 1
    assert np.array_equal(first, again)
    assert first.any()


def test_what_is_below_the_horizon_is_no_sign():
    assert sign_like(_picture("CAFE LUMEN"), CAMERA)
    assert sign_like(_picture("CAFE LUMEN", at=(250, 380)), CAMERA) == []
    assert sign_like(_picture("CAFE LUMEN", at=(250, 380)), Camera("front", 640, 480, pitch_rad=-0.6))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("CAFE ARIA", "cafe"),
        ("CAFEARIA", "cafe"),
        ("FRESH MARKET", "supermarket"),
        ("SUPERMARK", None),
        ("SUPERMARKFT", "supermarket"),
        ("BARBER SHOP", "barber"),
        ("BAR 21", "bar"),
        ("THEFOXBAR", "bar"),
        ("BARCELONA STREET WORKS", None),
        ("POSTOFFICE", "post office"),
        ("ATLAS OFFICES", "office"),
        ("LINDEN APARTMENT", "apartments"),
        ("STOP", None),
        ("", None),
    ],
)
def test_signs_speak_of_categories(text: str, category: str | None):
    assert place_on_sign(text) == category


@given(st.sampled_from([(c, w) for c, words in SIGN_WORDS.items() for w in words if len(w) > 5]), st.integers(0, 20), st.sampled_from("QXZ"))
def test_one_misread_letter_does_not_matter(word: tuple[str, str], at: int, letter: str):
    category, text = word
    plain = text.replace(" ", "")
    k = at % len(plain)
    assert place_on_sign(plain[:k] + letter + plain[k + 1 :]) in (category, *(c for c, words in SIGN_WORDS.items() if any(w in plain for w in words)))


def test_every_trade_of_the_generator_is_read_from_its_own_names():
    signs, houses = pytest.importorskip("portico.build.signs").TRADES, pytest.importorskip("portico.build.storefronts").HOUSES
    for category, trade in {**signs, **houses}.items():
        for name in trade.names:
            assert place_on_sign(name) == category, name


def test_wishes_are_understood():
    intentions = pytest.importorskip("portico.episodes.navverse.intentions").INTENTIONS
    assert set(intentions) == set(WISHES)
    right = [place_wished_for(text) == category for category, texts in intentions.items() for text in texts]
    assert np.mean(right) > 0.9
    assert place_wished_for("What a day.") is None


def test_nouns_are_brought_to_categories():
    assert category_of_noun("a coffee shop") == "cafe"
    assert category_of_noun("the SUV") == "suv"
    assert category_of_noun("electronics store") == "electronics"
