"""Cells as few rectangles, and their outlines as long edges."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: Row and column steps to the neighbour on each side: larger x, larger y, smaller x, smaller y (row 0 has the largest y).
SIDES = ((0, 1), (-1, 0), (0, -1), (1, 0))


def rectangles(classes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """(R, 5): first row, first column, row after the last, column after the last, class.

    Every cell of a class above 0 of (H, W) lies in exactly one rectangle, of its class. Greedy: row by row, each grows to
    the right as far as it can and then downwards.
    """
    found = np.zeros((int((classes > 0).sum()), 5), np.int64)
    return found[: _grow(np.ascontiguousarray(classes), np.zeros(classes.shape, np.bool_), found)]


@njit(cache=True)
def _grow(classes, taken, found):  # type: ignore[no-untyped-def]
    height, width = classes.shape
    count = 0
    for row in range(height):
        for column in range(width):
            kind = classes[row, column]
            if kind == 0 or taken[row, column]:
                continue
            right = column + 1
            while right < width and classes[row, right] == kind and not taken[row, right]:
                right += 1
            below = row + 1
            while below < height:
                fits = True
                for k in range(column, right):
                    if classes[below, k] != kind or taken[below, k]:
                        fits = False
                        break
                if not fits:
                    break
                below += 1
            taken[row:below, column:right] = True
            found[count, 0], found[count, 1], found[count, 2], found[count, 3], found[count, 4] = row, column, below, right, kind
            count += 1
    return count


def edges(classes: NDArray[np.uint8], side: int) -> NDArray[np.int64]:
    """(E, 4): row and column of the first cell, row and column of the last, of every run of cells that show one side.

    A cell above class 0 shows a side where its neighbour there (``SIDES[side]``) is of class 0 or beyond (H, W). Runs are of one class.
    """
    down, right = SIDES[side]
    padded = np.pad(classes, 1)
    height, width = classes.shape
    beyond = padded[1 + down : 1 + down + height, 1 + right : 1 + right + width]
    shown = np.where(beyond == 0, classes, 0)
    along_columns = right != 0
    lines = shown.T if along_columns else shown
    starts = (lines > 0) & (np.pad(lines, ((0, 0), (1, 0)))[:, :-1] != lines)
    ends = (lines > 0) & (np.pad(lines, ((0, 0), (0, 1)))[:, 1:] != lines)
    first, last = np.argwhere(starts), np.argwhere(ends)
    return np.concatenate([first[:, ::-1], last[:, ::-1]] if along_columns else [first, last], axis=1)
