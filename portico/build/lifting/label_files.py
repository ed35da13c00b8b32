"""Posed label images as files: ``cameras.json``, ``categories.json``, ``labels/NAME.png`` and perhaps ``instances/NAME.png``; both ways.

``cameras.json`` holds ``{"views": [...]}``, each view with ``name``, ``width``, ``height``, ``fx``, ``fy``, ``cx``, ``cy`` in pixels (the upper left
corner of the image is 0, 0, so that the middle is half the width) and ``T_world_camera``, four rows of four: camera axes x right, y down,
z forward, metres. ``categories.json`` names every label but 0, which means unknown: ``{"1": "chair"}``. Images have one channel of 8 or 16 bits.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from math import atan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from portico.build.faults import first_fault
from portico.build.lifting.views import LabelView, check_view
from portico.errors import ImportFailed, UnknownName
from portico.interface import Camera
from portico.world.staged import staged
from portico.world.whole_file import whole_file

CAMERAS, CATEGORIES = "cameras.json", "categories.json"
_LABELS, _INSTANCES = "labels", "instances"
#: Intrinsics this near to those of a centred camera with square pixels are those.
_OFF_PX = 1e-3


class _Entry(BaseModel):
    name: str = Field(pattern=r"^[^/\\]+$")
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    fx: float = Field(gt=0, allow_inf_nan=False)
    fy: float = Field(gt=0, allow_inf_nan=False)
    cx: float = Field(allow_inf_nan=False)
    cy: float = Field(allow_inf_nan=False)
    T_world_camera: list[list[float]]


class _Cameras(BaseModel):
    views: list[_Entry]


@dataclass(frozen=True)
class LabelFolder:
    """A folder of label views. Iterating reads one image after the other.

    Attributes:
        folder: where it lies. categories: id -> name.
    """

    folder: Path
    categories: Mapping[int, str]
    entries: tuple[_Entry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[LabelView]:
        """The views, in order.

        Raises:
            ImportFailed: an image is damaged, has several channels or another size, or holds a label without a name.
        """
        for entry in self.entries:
            labels = _read_image(self.folder / _LABELS / f"{entry.name}.png", entry)
            self._check_labels(labels, self.folder / _LABELS / f"{entry.name}.png")
            file = self.folder / _INSTANCES / f"{entry.name}.png"
            yield _view(entry, labels, _read_image(file, entry) if file.exists() else None, str(file.parent.parent / entry.name))

    def _check_labels(self, labels: NDArray[np.integer[Any]], file: Path) -> None:
        ids, pixels = np.unique(labels, return_counts=True)
        for number, count in zip(ids.tolist(), pixels.tolist(), strict=True):
            if number != 0 and number not in self.categories:
                raise ImportFailed(
                    f"{CATEGORIES} does not name the label {number}",
                    where=str(file),
                    why=f"{count:,} of {labels.size:,} pixels have it; named are {', '.join(str(n) for n in sorted(self.categories)[:12])}",
                    next_step=f"add {number} to {CATEGORIES}, or set those pixels to 0",
                )


def read_label_views(folder: Path | str, *, vocabulary: Collection[str] = ()) -> LabelFolder:
    """A folder of label views, its cameras and names checked; the images are read when it is iterated.

    Args:
        vocabulary: category names that are allowed; any when empty.

    Raises:
        ImportFailed: a file is missing or breaks the format, or a pose is not finite or not rigid; names file and view.
        UnknownName: a category that the vocabulary does not hold; lists the closest ones.
    """
    folder = Path(folder)
    cameras = _parsed(folder / CAMERAS, TypeAdapter(_Cameras))
    if not cameras.views:
        raise ImportFailed("there are no views", where=str(folder / CAMERAS), next_step="list at least one")
    categories = _parsed(folder / CATEGORIES, TypeAdapter(dict[int, str]))
    check_vocabulary(categories, vocabulary, where=str(folder / CATEGORIES))
    names = [entry.name for entry in cameras.views]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ImportFailed(f"two views are called {twice!r}", where=str(folder / CAMERAS), next_step="give every view a name of its own")
    for entry in cameras.views:
        _check_entry(entry, folder)
    return LabelFolder(folder, categories, tuple(cameras.views))


def check_vocabulary(categories: Mapping[int, str], vocabulary: Collection[str], *, where: str) -> None:
    """Refuse categories that a vocabulary, when there is one, does not hold.

    Raises:
        UnknownName: lists the closest names.
    """
    for name in categories.values():
        if vocabulary and name not in vocabulary:
            raise UnknownName("category", name, vocabulary, where=where)


def _check_entry(entry: _Entry, folder: Path) -> None:
    """Everything that can be told without reading the image."""
    where = f"{folder / CAMERAS}: view {entry.name!r}"
    if [len(row) for row in entry.T_world_camera] != [4, 4, 4, 4]:
        raise ImportFailed("a pose is no 4 x 4 matrix", where=where, next_step="write T_world_camera as four rows of four numbers")
    blank = np.zeros((entry.height, entry.width), np.uint8)
    check_view(LabelView(np.array(entry.T_world_camera), Camera(width=entry.width, height=entry.height), blank, name=where))
    file = folder / _LABELS / f"{entry.name}.png"
    if not file.exists():
        others = sorted(path.stem for path in file.parent.glob("*.png")) if file.parent.is_dir() else []
        close = difflib.get_close_matches(entry.name, others, n=1)
        hint = f"there is {close[0]}.png: name the view so" if close else f"write it, or leave the view out of {CAMERAS}"
        raise ImportFailed("the label image of a view is missing", where=str(file), why=f"{len(others)} images lie in {_LABELS}/", next_step=hint)


def _parsed(path: Path, model: TypeAdapter[Any]) -> Any:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = error.strerror or str(error)
        raise ImportFailed(
            f"{path.name} cannot be opened", where=str(path), why=why, next_step=f"give a folder of {CAMERAS}, {CATEGORIES} and {_LABELS}/"
        ) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ImportFailed(f"{path.name} is cut short or damaged", where=str(path), why=str(error), next_step="write it again") from error
    try:
        return model.validate_python(raw)
    except ValidationError as error:
        field, why = first_fault(error)
        raise ImportFailed(f"{path.name} breaks its format", where=f"{path}: {field}", why=why, next_step=f"mend {field or 'it'}") from error


def _read_image(path: Path, entry: _Entry) -> NDArray[np.int32]:
    try:
        image = Image.open(path)
        image.load()
    except (OSError, UnidentifiedImageError, SyntaxError) as error:
        raise ImportFailed("an image cannot be read", where=str(path), why=str(error), next_step="write it again as PNG") from error
    pixels = np.asarray(image)
    if pixels.ndim != 2 or pixels.dtype.kind not in "iub":
        raise ImportFailed(
            "a label image has more than one channel", where=str(path), why=f"its mode is {image.mode}", next_step="save ids as 8- or 16-bit greyscale PNG"
        )
    if pixels.shape != (entry.height, entry.width):
        raise ImportFailed(
            "a label image does not fit its camera",
            where=str(path),
            why=f"the image has {pixels.shape[1]} x {pixels.shape[0]} pixels, {CAMERAS} says {entry.width} x {entry.height}",
            next_step=f"write the image at that size, or the intrinsics of its own size into {CAMERAS}",
        )
    return pixels.astype(np.int32)


def _view(entry: _Entry, labels: NDArray[np.int32], instances: NDArray[np.int32] | None, name: str) -> LabelView:
    """A view of a centred camera with square pixels: images of others are laid into a larger one of those, unknown around them."""
    T = np.array(entry.T_world_camera)
    offset = max(abs(entry.fx - entry.fy), abs(entry.cx - 0.5 * entry.width), abs(entry.cy - 0.5 * entry.height))
    if offset <= _OFF_PX:
        return LabelView(T, _camera(entry.width, entry.height, entry.fx), labels, instances, name)
    focal = max(entry.fx, entry.fy)
    half = [max(c, size - c) / f * focal for c, size, f in ((entry.cx, entry.width, entry.fx), (entry.cy, entry.height, entry.fy))]
    width, height = (2 * int(np.ceil(h)) for h in half)
    column = np.floor((np.arange(width) + 0.5 - 0.5 * width) / focal * entry.fx + entry.cx).astype(int)
    row = np.floor((np.arange(height) + 0.5 - 0.5 * height) / focal * entry.fy + entry.cy).astype(int)
    laid = [_laid(image, row, column) if image is not None else None for image in (labels, instances)]
    assert laid[0] is not None
    return LabelView(T, _camera(width, height, focal), laid[0], laid[1], name)


def _laid(image: NDArray[np.int32], row: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[np.int32]:
    """The pixels of an image at rows and columns, 0 beyond it."""
    height, width = image.shape
    inside = ((row >= 0) & (row < height))[:, None] & ((column >= 0) & (column < width))[None, :]
    return np.where(inside, image[np.clip(row, 0, height - 1)[:, None], np.clip(column, 0, width - 1)[None, :]], 0).astype(np.int32)


def _camera(width: int, height: int, focal_px: float) -> Camera:
    return Camera("labels", width, height, 2.0 * atan(0.5 * width / focal_px))


def write_label_views(
    views: Iterable[LabelView],
    categories: Mapping[int, str],
    folder: Path | str,
    *,
    overwrite: bool = False,
    tell: Callable[[int, int], None] | None = None,
    wanted: int = 0,
) -> int:
    """Write views as such a folder, all or nothing; returns how many. ``tell`` is told (views done, ``wanted``) after each.

    Raises:
        StorageError: files are there and ``overwrite`` is off, or the disk refuses.
    """
    entries = []
    with staged(Path(folder), overwrite=overwrite) as place:
        for n, view in enumerate(views):
            camera, name = view.camera, f"{n:04d}"
            focal = camera.focal_px
            lens = {"fx": focal, "fy": focal, "cx": 0.5 * camera.width, "cy": 0.5 * camera.height}
            pose = np.asarray(view.T_world_camera, np.float64).tolist()
            entries.append({"name": name, "width": camera.width, "height": camera.height, **lens, "T_world_camera": pose})
            _write_image(view.labels, place / _LABELS / f"{name}.png")
            if view.instances is not None:
                _write_image(view.instances, place / _INSTANCES / f"{name}.png")
            if tell is not None:
                tell(n + 1, wanted)
        _write_json({"views": entries}, place / CAMERAS)
        _write_json({str(number): categories[number] for number in sorted(categories)}, place / CATEGORIES)
    return len(entries)


def _write_image(image: NDArray[np.integer[Any]], path: Path) -> None:
    buffer = BytesIO()
    Image.fromarray(np.asarray(image).astype(np.uint8 if image.max(initial=0) < 256 else np.uint16)).save(buffer, "png")
    with whole_file(path) as file:
        file.write(buffer.getvalue())


def _write_json(value: Any, path: Path) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
