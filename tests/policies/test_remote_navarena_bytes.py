"""NavArena's messages, byte for byte: the vectors of the protocol's description, what must be refused, what must survive."""

import contextlib
import zlib

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from portico.policies.wires.navarena import decoded, encoded, pack, picture_map, unpack

ACTION = (
    "84a474797065a6616374696f6ea77061796c6f616483a178cb3fe0000000000000a179cb0000000000000000a3796177cb3fb999999999999a"
    "a37365712aa974696d657374616d70cb41d954fc40000000"
)
OBSERVATION = "84a474797065ab6f62736572766174696f6ea77061796c6f616480a373657101a974696d657374616d70cb0000000000000000"
ARRAY = "84ab5f5f6e6461727261795f5fc3a464617461c4100000803f000000400000404000008040a56474797065a33c6634a57368617065920202"
RAW = "85a95f5f696d6167655f5fc3a464617461c406000102030405a6666f726d6174a3726177a5736861706593010203a56474797065a37c7531"


def message(**changes):
    whole = {"type": "observation", "payload": {}, "seq": 1, "timestamp": 0.0}
    return msgpack.packb({k: v for k, v in (whole | changes).items() if v is not None}, use_bin_type=True)


def test_messages_are_written_as_the_description_has_them():
    action = pack("action", {"x": 0.5, "y": 0.0, "yaw": 0.1}, 42, 1700000000.0)
    assert (len(action), action.hex()) == (81, ACTION)
    observation = pack("observation", {}, 1, 0.0)
    assert (len(observation), observation.hex()) == (51, OBSERVATION)


def test_arrays_and_raw_pictures_are_written_as_the_description_has_them():
    array = msgpack.packb(encoded(np.array([[1, 2], [3, 4]], np.float32)))
    assert (len(array), array.hex()) == (56, ARRAY)
    raw = msgpack.packb(picture_map(np.arange(6, dtype=np.uint8).reshape(1, 2, 3), "raw"))
    assert (len(raw), raw.hex()) == (56, RAW)


def test_the_described_bytes_are_read():
    found = unpack(bytes.fromhex(ACTION))
    assert (found.type, found.payload, found.seq, found.timestamp) == ("action", {"x": 0.5, "y": 0.0, "yaw": 0.1}, 42, 1700000000.0)
    np.testing.assert_array_equal(decoded(msgpack.unpackb(bytes.fromhex(ARRAY))), np.array([[1, 2], [3, 4]], np.float32))
    np.testing.assert_array_equal(decoded(msgpack.unpackb(bytes.fromhex(RAW))), np.arange(6, dtype=np.uint8).reshape(1, 2, 3))


@pytest.mark.parametrize(
    "data",
    [
        b"not-msgpack",
        b"",
        b"\xc1",
        msgpack.packb([1, 2]),
        message(payload=None, seq=None, timestamp=None),
        message(type="unknown"),
        message(payload=[]),
        message(seq="1"),
        msgpack.packb({"type": "observation", "payload": {1: 2}, "seq": 1, "timestamp": 0.0}),
        message(payload={"a": {"__ndarray__": True, "data": b"", "dtype": "O", "shape": [0]}}),
        message(payload={"a": {"__ndarray__": True, "data": b"12345678", "dtype": "<c8", "shape": [1]}}),
        message(payload={"a": {"__image__": True, "data": b"12345", "format": "raw", "shape": [1, 2, 3], "dtype": "|u1"}}),
        message(payload={"a": {"__image__": True, "data": b"123456", "format": "raw"}}),
        message(payload={"a": {"__image__": True, "data": b"123456", "format": "webp", "shape": [1, 2, 3]}}),
        message(payload={"a": {"__image__": True, "data": b"123456", "format": "png", "shape": [1, 2, 3]}}),
    ],
)
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match=r"."):
        unpack(data)


@pytest.mark.parametrize("dtype", ["|b1", "|u1", "<i8", "<f2", ">f4"])
def test_numbers_of_every_allowed_type_are_read(dtype):
    array = np.array([[0, 1, 1]], np.dtype(dtype))
    found = unpack(message(payload={"a": encoded(array)})).payload["a"]
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, array)
    found[0, 0] = 1  # a copy of its own, to write into


def test_true_passes_as_a_number():
    assert unpack(message(seq=True)).seq is True


def test_key_order_means_nothing():
    data = msgpack.packb({"timestamp": 0.0, "seq": 3, "payload": {"x": 1}, "type": "action"})
    assert unpack(data).payload == {"x": 1}


@pytest.mark.parametrize(("shape", "image_format"), [((32, 32, 3), "png"), ((4, 5, 4), "png"), ((6, 7, 1), "png"), ((6, 7, 3), "raw")])
def test_pictures_survive_without_loss(shape, image_format):
    picture = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    found = unpack(pack("observation", {"rgb": {"face": picture}}, 1, 0.0, image_format)).payload["rgb"]["face"]
    np.testing.assert_array_equal(found, picture)


def test_a_jpeg_keeps_shape_and_type_and_needs_three_channels():
    picture = np.zeros((64, 48, 3), np.uint8)
    found = unpack(pack("observation", {"rgb": picture}, 1, 0.0, "jpeg")).payload["rgb"]
    assert (found.shape, found.dtype) == ((64, 48, 3), np.uint8)
    with pytest.raises(ValueError, match="three channels"):
        pack("observation", {"rgb": np.zeros((4, 5, 4), np.uint8)}, 1, 0.0, "jpeg")


@pytest.mark.parametrize("image_format", ["png", "jpeg"])
def test_a_picture_damaged_anywhere_is_read_or_refused(image_format):
    random = np.random.default_rng(11)
    tagged = encoded(random.integers(0, 256, (12, 16, 3), np.uint8), image_format)
    whole = tagged["data"]
    broken = [whole[:40], b""]
    for _ in range(300):
        data = bytearray(whole)
        for at in random.integers(0, len(data), 4):
            data[at] = random.integers(0, 256)
        broken.append(bytes(data))
    for data in broken:
        with contextlib.suppress(ValueError):
            assert decoded({**tagged, "data": data}).dtype == np.uint8


def test_a_png_with_a_part_of_no_known_kind_is_refused():
    """The decoder has an error of Python's own grammar for it."""
    tagged = encoded(np.random.default_rng(1).integers(0, 256, (12, 16, 3), np.uint8))
    start = tagged["data"].index(b"IDAT")
    half = b"IDAT" + tagged["data"][start + 4 : start + 204]
    data = tagged["data"][: start - 4] + (200).to_bytes(4, "big") + half + zlib.crc32(half).to_bytes(4, "big") + (9).to_bytes(4, "big") + b"eh\xa2\x11"
    with pytest.raises(ValueError, match="a broken png picture"):
        decoded({**tagged, "data": data + bytes(20)})


def test_depth_and_other_arrays_are_not_taken_for_pictures():
    depth = np.random.default_rng(3).random((64, 64, 3), np.float32)
    np.testing.assert_array_equal(decoded(encoded(depth)), depth)
    assert decoded(encoded(np.float32(1.5))) == 1.5
    assert encoded(np.arange(6, dtype=np.int16).reshape(2, 3).T)["data"].hex() == "000003000100040002000500"
    assert encoded(Image.new("RGB", (2, 1)), "raw")["shape"] == [1, 2, 3]


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.text(max_size=8), st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text() | st.binary(), st.lists)
    )
)
def test_plain_payloads_come_back_as_they_were(payload):
    assert repr(unpack(pack("observation", payload, 5, 1.0)).payload) == repr(payload)


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(data):
    with contextlib.suppress(ValueError):
        unpack(data)
