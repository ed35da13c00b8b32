"""Pictures are kept within a bound, drawn once however many ask, and not at all when nobody waits."""

import asyncio
import io
import threading

import pytest
from PIL import Image

from portico.errors import WorldError
from portico.web.pictures import Painter, PictureCache, encoded


def plain(color: str) -> Image.Image:
    return Image.new("RGB", (16, 12), color)


async def never() -> bool:
    return False


async def always() -> bool:
    return True


def test_the_cache_keeps_what_was_asked_for_last_within_its_bound():
    cache = PictureCache(limit=100)
    for key in "abc":
        cache.put(key, b"x" * 40)
    assert (cache.get("a"), cache.size) == (None, 80)
    cache.get("b")
    cache.put("d", b"x" * 40)
    assert (cache.get("c"), cache.get("b")) == (None, b"x" * 40)
    cache.put("b", b"x" * 10)
    assert cache.size == 50
    cache.put("huge", b"x" * 101)
    assert (cache.get("huge"), cache.size) == (None, 0)


def test_many_who_ask_for_one_picture_get_one_drawing():
    painter, drawn, gate = Painter("test", PictureCache()), [], threading.Event()

    def draw() -> Image.Image:
        gate.wait(10)
        drawn.append(1)
        return plain("red")

    async def ask() -> list[bytes | None]:
        asking = [asyncio.create_task(painter.picture("one", draw, never)) for _ in range(5)]
        await asyncio.sleep(0.05)
        gate.set()
        return list(await asyncio.gather(*asking))

    found = asyncio.run(ask())
    assert found == [encoded(plain("red"))] * 5
    assert drawn == [1]
    assert asyncio.run(painter.picture("one", lambda: plain("blue"), never)) == found[0]
    painter.close()


def test_what_nobody_waits_for_is_not_drawn_and_the_latest_wish_comes_first():
    painter, order, gate, began = Painter("test", PictureCache()), [], threading.Event(), threading.Event()

    def block() -> Image.Image:
        began.set()
        gate.wait(10)
        return plain("black")

    def draw(name: str):
        def drawn() -> Image.Image:
            order.append(name)
            return plain("white")

        return drawn

    async def ask() -> None:
        first = asyncio.create_task(painter.picture("block", block, never))
        while not began.is_set():
            await asyncio.sleep(0.01)
        assert await painter.picture("gone", draw("gone"), always) is None
        early = asyncio.create_task(painter.picture("early", draw("early"), never))
        await asyncio.sleep(0.02)
        late = asyncio.create_task(painter.picture("late", draw("late"), never))
        await asyncio.sleep(0.02)
        gate.set()
        await asyncio.gather(first, early, late)

    asyncio.run(ask())
    assert order == ["late", "early"]
    painter.close()


def test_what_cannot_be_drawn_is_told_to_who_asked_and_tried_again_later():
    painter = Painter("test", PictureCache())

    def fail() -> Image.Image:
        raise WorldError("no world")

    with pytest.raises(WorldError, match="no world"):
        asyncio.run(painter.picture("one", fail, never))
    data = asyncio.run(painter.picture("one", lambda: plain("green"), never))
    assert Image.open(io.BytesIO(data or b"")).size == (16, 12)
    painter.close()


def test_a_painter_lets_another_go_first():
    cache = PictureCache()
    first, gate = Painter("frames", cache), threading.Event()
    second, order = Painter("maps", cache, after=first), []

    def slow() -> Image.Image:
        gate.wait(10)
        order.append("frame")
        return plain("red")

    def quick() -> Image.Image:
        order.append("map")
        return plain("blue")

    async def ask() -> None:
        frame = asyncio.create_task(first.picture("frame", slow, never))
        await asyncio.sleep(0.05)
        ground = asyncio.create_task(second.picture("map", quick, never))
        await asyncio.sleep(0.1)
        gate.set()
        await asyncio.gather(frame, ground)

    asyncio.run(ask())
    assert order == ["frame", "map"]
    first.close()
    second.close()
