"""Pixels of a raster's pyramid, tile by tile: as many as asked for stay in memory, the one used longest ago makes room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.errors import WorldError
from portico.world.raster import TILE_PX, Raster, aerial_package, gdal

#: 192 MiB of decoded tiles.
CAPACITY = 768


class RasterTiles:
    """Decoded tiles of every level.

    Attributes:
        slots: (S, 256, 256, 4) uint8, the tiles that are in memory; their alpha is 0 where there is no data.
        pages: per level, (rows, columns) int32 of tiles: the slot that holds it, -1 for none.
        decoded: how many tiles were read from the file so far.

    Raises:
        WorldError: the file is missing or damaged.
    """

    def __init__(self, raster: Raster, capacity: int = CAPACITY) -> None:
        self.raster, self.capacity, self.decoded = raster, max(capacity, 4), 0
        self.slots: NDArray[np.uint8] = np.empty((self.capacity, TILE_PX, TILE_PX, 4), np.uint8)
        sizes = [(-(-raster.info.height // 2**k), -(-raster.info.width // 2**k)) for k in range(raster.info.levels)]
        self.pages = [np.full((-(-h // TILE_PX), -(-w // TILE_PX)), -1, np.int32) for h, w in sizes]
        self._used: OrderedDict[tuple[int, int, int], int] = OrderedDict()
        self._files: dict[int, Any] = {}

    def need(self, level: int, rows: tuple[int, int], columns: tuple[int, int]) -> NDArray[np.int32]:
        """The page table of a level, once the tiles in [first, last] rows and columns, as far as they exist, are in memory.

        Raises:
            ValueError: more tiles than there is room for.
        """
        pages = self.pages[level]
        wanted = [(level, r, c) for r in _within(rows, pages.shape[0]) for c in _within(columns, pages.shape[1])]
        if len(wanted) > self.capacity:
            raise ValueError(f"{len(wanted)} tiles at once, room for {self.capacity}")
        missing = []
        for key in wanted:
            if key in self._used:
                self._used.move_to_end(key)
            else:
                missing.append(key)
        if missing:
            with gdal():
                for key in missing:
                    self._load(key)
        return pages

    def pixel(self, column: int, row: int) -> NDArray[np.uint8]:
        """(4,) red, green, blue and alpha of a pixel of the full picture."""
        r, c = row // TILE_PX, column // TILE_PX
        slot = self.need(0, (r, r), (c, c))[r, c]
        found: NDArray[np.uint8] = self.slots[slot, row % TILE_PX, column % TILE_PX]
        return found

    def close(self) -> None:
        """Let go of the file."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _load(self, key: tuple[int, int, int]) -> None:
        level, r, c = key
        if len(self._used) < self.capacity:
            slot = len(self._used)
        else:
            (old_level, old_r, old_c), slot = self._used.popitem(last=False)
            self.pages[old_level][old_r, old_c] = -1
        tile = self._read(level, r, c)
        self.slots[slot] = 0
        self.slots[slot, : tile.shape[1], : tile.shape[2]] = tile.transpose(1, 2, 0)
        self._used[key] = slot
        self.pages[level][r, c] = slot
        self.decoded += 1

    def _read(self, level: int, r: int, c: int) -> NDArray[np.uint8]:
        rasterio = aerial_package("rasterio")
        path = self.raster.path
        try:
            if level not in self._files:
                options = {"overview_level": level - 1} if level else {}
                self._files[level] = rasterio.open(path, **options)
            file = self._files[level]
            window = ((r * TILE_PX, min((r + 1) * TILE_PX, file.height)), (c * TILE_PX, min((c + 1) * TILE_PX, file.width)))
            tile: NDArray[np.uint8] = file.read(window=window)
        except rasterio.errors.RasterioError as error:
            raise WorldError(
                "the imagery cannot be read", where=f"{path}: tile {r}, {c} of level {level}", why=str(error), next_step="import it again"
            ) from error
        return tile

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("tiles stay in the process that read them")


def _within(span: tuple[int, int], count: int) -> Iterator[int]:
    yield from range(max(0, span[0]), min(count - 1, span[1]) + 1)
