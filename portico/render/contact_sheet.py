"""Many views of a world on one sheet, each with its caption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from portico.geometry import Floats
from portico.interface import Camera
from portico.render import lettering

_PAPER, _INK = (247, 246, 242), (34, 36, 42)
_GAP_PX = 8


class Photographer(Protocol):
    """What takes the pictures; every renderer is one."""

    def photograph(self, T_world_camera: Floats, camera: Camera) -> NDArray[np.uint8]:
        """(H, W, 3) uint8."""


def contact_sheet(renderer: Photographer, poses_with_captions: Sequence[tuple[Floats, str]], camera: Camera, columns: int = 4) -> NDArray[np.uint8]:
    """(H, W, 3) uint8: one anti-aliased picture per (T_world_camera (4, 4), caption), row by row, caption below."""
    columns = max(1, min(columns, len(poses_with_captions)))
    rows = -(-len(poses_with_captions) // columns)
    font = lettering.font(max(11, camera.width // 26))
    strip = max(11, camera.width // 24) + 10
    cell_width, cell_height = camera.width + _GAP_PX, camera.height + strip + _GAP_PX
    sheet = Image.new("RGB", (columns * cell_width + _GAP_PX, rows * cell_height + _GAP_PX), _PAPER)
    draw = ImageDraw.Draw(sheet)
    for k, (T_world_camera, caption) in enumerate(poses_with_captions):
        left, top = _GAP_PX + (k % columns) * cell_width, _GAP_PX + (k // columns) * cell_height
        sheet.paste(Image.fromarray(renderer.photograph(T_world_camera, camera)), (left, top))
        draw.text((left + 2, top + camera.height + 4), _shortened(draw, caption, font, camera.width - 4), font=font, fill=_INK)
    return np.asarray(sheet)


def _shortened(draw: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    if draw.textlength(text, font=font) <= width:
        return text
    while text and draw.textlength(text + "…", font=font) > width:
        text = text[:-1]
    return text.rstrip() + "…"
