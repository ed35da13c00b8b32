"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from portico.errors import StorageError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name once everything is written, and not at all when something fails.

    Raises:
        StorageError: the folder or the disk refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, staging = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise StorageError("cannot write there", where=str(path), why=str(error), next_step="choose a folder you may write to") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(staging, 0o644)
        os.replace(staging, path)
    except OSError as error:
        raise StorageError("the file could not be written", where=str(path), why=str(error), next_step="free some space or choose another place") from error
    finally:
        Path(staging).unlink(missing_ok=True)
