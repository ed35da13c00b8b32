"""Frames and maps, drawn when somebody looks at them, kept while there is room.

Two painters work side by side, one for frames and one for maps, so that a slow map never holds up the scrubbing. What nobody waits for any
more is not drawn.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from queue import PriorityQueue

from numba.np.ufunc.parallel import threading_layer
from PIL import Image

from portico.errors import EpisodeError, UserError, WorldError
from portico.geometry import Floats, Pose, leaning
from portico.interface import Camera
from portico.web.scene import Track

#: Bytes of finished pictures that are kept.
CACHE_BYTES = 192 * 2**20
_FRAME_PX = 640
_QUALITY = 86
#: How often it is checked whether anybody still waits.
_CHECK_S = 0.2
#: The longest that maps hold back for frames.
_YIELDS_S = 5.0
_ONE_AT_A_TIME = threading.Lock()

Draw = Callable[[], Image.Image]


class PictureCache:
    """The pictures that were asked for last, encoded, as many as fit.

    Args:
        limit: bytes.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.size = limit, 0
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> bytes | None:
        """A picture that is kept."""
        with self._lock:
            found = self._pictures.get(key)
            if found is not None:
                self._pictures.move_to_end(key)
            return found

    def put(self, key: Hashable, picture: bytes) -> None:
        """Keep a picture; the ones that nobody asked for the longest go."""
        with self._lock:
            self.size += len(picture) - len(self._pictures.pop(key, b""))
            self._pictures[key] = picture
            while self.size > self.limit:
                self.size -= len(self._pictures.popitem(last=False)[1])


@dataclass
class _Order:
    """A picture that was asked for, and how many wait for it."""

    key: Hashable
    draw: Draw
    waiting: int = 0
    done: Future[bytes] = field(default_factory=Future)


class Painter:
    """A thread that draws; what was asked for last comes first, since earlier wishes are often out of date.

    Args:
        after: a painter who goes first: while it has something to draw, this one waits a little before it begins.
    """

    def __init__(self, name: str, cache: PictureCache, after: Painter | None = None) -> None:
        self.cache, self._after = cache, after
        self._idle = threading.Event()
        self._idle.set()
        self._queue: PriorityQueue[tuple[int, _Order | None]] = PriorityQueue()
        self._orders: dict[Hashable, _Order] = {}
        self._lock = threading.Lock()
        self._serial = itertools.count()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def picture(self, key: Hashable, draw: Draw, gone: Callable[[], Awaitable[bool]]) -> bytes | None:
        """The encoded picture of that key, None when whoever asked is ``gone``.

        Raises:
            UserError: it cannot be drawn.
        """
        kept = self.cache.get(key)
        if kept is not None:
            return kept
        with self._lock:
            order = self._orders.get(key)
            if order is None:
                order = self._orders[key] = _Order(key, draw)
                self._queue.put((-next(self._serial), order))
                self._idle.clear()
            order.waiting += 1
        done = asyncio.wrap_future(order.done)
        try:
            while not done.done():
                await asyncio.wait({done}, timeout=_CHECK_S)
                if not done.done() and await gone():
                    return None
            return done.result()
        finally:
            with self._lock:
                order.waiting -= 1

    def prepare(self, draw: Draw) -> None:
        """Draw something that nobody waits for, once there is nothing else to do, for what it leaves in memory."""
        self._queue.put((1, _Order(object(), draw, waiting=1)))

    def close(self) -> None:
        """Stop after the picture that is being drawn."""
        self._queue.put((-(2**62), None))

    def _work(self) -> None:
        while True:
            _, order = self._queue.get()
            if order is None:
                return
            if self._after is not None:
                self._after.wait_idle(_YIELDS_S)
            with self._lock:
                wanted = order.waiting > 0
                if not wanted:
                    self._forget(order)
            if wanted:
                self._carry_out(order)

    def _carry_out(self, order: _Order) -> None:
        try:
            with _kernels():
                picture = order.draw()
            data = encoded(picture)
            if order.key in self._orders:
                self.cache.put(order.key, data)
            order.done.set_result(data)
        except BaseException as error:
            order.done.set_exception(error)
        with self._lock:
            self._forget(order)

    def _forget(self, order: _Order) -> None:
        self._orders.pop(order.key, None)
        if not self._orders:
            self._idle.set()

    def wait_idle(self, most_s: float) -> None:
        """Return when nothing is left to draw, or after some time."""
        self._idle.wait(most_s)


def _kernels() -> AbstractContextManager[object]:
    """Hold this while kernels run: of numba's ways to share work among threads, one ends the process when two threads use it at once."""
    try:
        safe = threading_layer() in ("omp", "tbb")  # type: ignore[no-untyped-call]
    except ValueError:
        safe = False
    return nullcontext() if safe else _ONE_AT_A_TIME


def encoded(picture: Image.Image) -> bytes:
    """A picture as JPEG."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def draw_frame(track: Track, state: int, camera: str = "", *, fine: bool) -> Image.Image:
    """What the robot saw in a recorded state, drawn again, leaning as the body did.

    Args:
        camera: by which of its cameras; the first where it has none of that name.
        fine: anti-aliased, several times slower.

    Raises:
        WorldError: the world is not there, or cannot be drawn on this machine. EpisodeError: no such state was recorded.
    """
    trajectory = track.trajectory
    if trajectory is None or not 0 <= state < len(trajectory):
        raise EpisodeError("there is no such state", where=f"{track.item.row.slug}: {state}", why=f"{track.states} were recorded")
    if track.site.world is None:
        raise WorldError("the frame cannot be drawn", where=track.item.row.key.world, why=track.site.note)
    x, y, z = trajectory.position[state].tolist()
    roll, pitch = trajectory.tilt_rad[state].tolist()
    return _seen(track, leaning(Pose(x, y, z, float(trajectory.yaw_rad[state])), roll, pitch, track.body.pivot_m), track.camera(camera), fine=fine)


def draw_goal(track: Track, stage: int) -> Image.Image:
    """The picture that an image stage gives to find, drawn again from its goal pose through the first camera.

    Raises:
        WorldError: the world is not there, or cannot be drawn on this machine. EpisodeError: the stage gives no picture.
    """
    stages = track.episode.stages if track.episode is not None else []
    spec = stages[stage] if 0 <= stage < len(stages) else None
    if spec is None or spec.kind != "image" or spec.goal is None or spec.goal_yaw_rad is None:
        raise EpisodeError("this stage gives no picture to find", where=f"{track.item.row.slug}: stage {stage}")
    if track.site.world is None:
        raise WorldError("the picture cannot be drawn", where=track.item.row.key.world, why=track.site.note)
    return _seen(track, Pose(*spec.goal, spec.goal_yaw_rad).matrix(), track.camera(), fine=True)


def _seen(track: Track, T_world_base: Floats, camera: Camera, *, fine: bool) -> Image.Image:
    """What a camera sees from a pose of the base, (4, 4)."""
    renderer = track.site.renderer
    if camera.width > _FRAME_PX:
        camera = camera.resized(_FRAME_PX, round(_FRAME_PX * camera.height / camera.width))
    T_world_camera = T_world_base @ camera.T_base_camera()
    if fine:
        return Image.fromarray(renderer.photograph(T_world_camera, camera))
    rgb = renderer.render(T_world_camera, camera, ["rgb"]).rgb
    if rgb is None:
        raise UserError("this world has no colours to draw", where=track.item.row.key.world)
    return Image.fromarray(rgb)
