"""Names, a scale bar and a north arrow on a map picture."""

from __future__ import annotations

from math import floor, log10

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from portico.render import lettering
from portico.render.map_frame import MapFrame
from portico.world import World

_INK, _HALO, _PLACE, _ROOM = (30, 32, 38), (255, 255, 255), (150, 30, 60), (52, 66, 96)
_MARGIN_PX = 18
_Box = tuple[float, float, float, float]


def annotate_map(image: NDArray[np.uint8], frame: MapFrame, world: World) -> NDArray[np.uint8]:
    """A copy of the picture with building, place and room names, a scale bar and a north arrow.

    A name that finds no room is left out; buildings go before places, places before rooms. Rooms are named on the
    floor that the frame shows, where the name fits into the room.
    """
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    size = max(12, round(max(frame.width, frame.height) / 90))
    taken: list[_Box] = [_scale_bar(draw, frame, size), _north_arrow(draw, frame, size)]
    for building in world.semantics.buildings:
        if building.name:
            center = shapely.Polygon(building.footprint).representative_point()
            _label(draw, frame, (center.x, center.y), building.name, round(1.15 * size), _INK, taken)
    for place in world.semantics.places:
        spot = np.mean(place.frontage, axis=0) if place.frontage else np.array(place.center)
        _label(draw, frame, (float(spot[0]), float(spot[1])), place.name or place.category, size, _PLACE, taken)
    for polygon, category in _rooms(frame, world):
        inner = shapely.Polygon(polygon)
        text = category.replace("_", " ")
        left, _, right, _ = inner.bounds
        if _width(draw, text, size) < (right - left) * frame.px_per_m:
            center = inner.representative_point() if not inner.contains(inner.centroid) else inner.centroid
            _label(draw, frame, (center.x, center.y), text, round(0.85 * size), _ROOM, taken)
    return np.asarray(picture)


def _rooms(frame: MapFrame, world: World) -> list[tuple[list[tuple[float, float]], str]]:
    levels = {floor.id: floor.level for building in world.semantics.buildings for floor in building.floors}
    return [(room.polygon, room.category) for room in world.semantics.rooms if frame.level is not None and levels.get(room.floor) == frame.level]


def _width(draw: ImageDraw.ImageDraw, text: str, size: int) -> float:
    return draw.textlength(text, font=lettering.font(size))


def _label(
    draw: ImageDraw.ImageDraw, frame: MapFrame, point: tuple[float, float], text: str, size: int, color: tuple[int, int, int], taken: list[_Box]
) -> None:
    """Centre a name on a world point, or just above or below it; leave it out when all three are taken."""
    column, row = frame.to_pixels([point])[0].tolist()
    font = lettering.font(size)
    for shift in (0.0, -1.2 * size, 1.2 * size):
        at = (column, row + shift)
        box = draw.textbbox(at, text, font=font, anchor="mm", stroke_width=2)
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= frame.width and box[3] <= frame.height
        if inside and not any(_overlap(box, other) for other in taken):
            draw.text(at, text, font=font, fill=color, anchor="mm", stroke_width=2, stroke_fill=_HALO)
            taken.append(box)
            return


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _scale_bar(draw: ImageDraw.ImageDraw, frame: MapFrame, size: int) -> _Box:
    length_m = _round_length(0.16 * frame.width / frame.px_per_m)
    length_px = length_m * frame.px_per_m
    left, bottom = float(_MARGIN_PX), frame.height - float(_MARGIN_PX)
    thick = max(3.0, size / 4.0)
    half = left + 0.5 * length_px
    draw.rectangle((left - 2, bottom - thick - 2, left + length_px + 2, bottom + 2), fill=_HALO)
    draw.rectangle((left, bottom - thick, half, bottom), fill=_INK)
    draw.rectangle((half, bottom - thick, left + length_px, bottom), outline=_INK)
    font = lettering.font(size)
    text = f"{length_m:g} m"
    draw.text((half, bottom - thick - 6), text, font=font, fill=_INK, anchor="mb", stroke_width=2, stroke_fill=_HALO)
    return left, bottom - thick - 2.2 * size, left + length_px, bottom


def _round_length(most_m: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... (or 0.5, 0.2, ...) that is not more."""
    power = 10.0 ** floor(log10(most_m))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= most_m)


def _north_arrow(draw: ImageDraw.ImageDraw, frame: MapFrame, size: int) -> _Box:
    x, top, height = frame.width - _MARGIN_PX - size, float(_MARGIN_PX), 2.4 * size
    tip, left, right, notch = (x, top), (x - 0.7 * size, top + height), (x + 0.7 * size, top + height), (x, top + 0.75 * height)
    draw.polygon([tip, left, notch], fill=_INK, outline=_HALO)
    draw.polygon([tip, right, notch], fill=_HALO, outline=_INK)
    font = lettering.font(size)
    draw.text((x, top + height + 4), "N", font=font, fill=_INK, anchor="mt", stroke_width=2, stroke_fill=_HALO)
    return x - size, top, x + size, top + height + 1.5 * size
