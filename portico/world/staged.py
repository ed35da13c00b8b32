"""Several files that appear together once all are written, and not at all when something fails."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portico.errors import StorageError


@contextmanager
def staged(folder: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write into; at the end its files move to ``folder``, beside what else lies there.

    Raises:
        StorageError: a file of that name is there and ``overwrite`` is off, or the disk refuses.
    """
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder))
    except OSError as error:
        raise StorageError("cannot write there", where=str(folder), why=str(error), next_step="choose a folder you may write to") from error
    try:
        yield staging
        _move(staging, folder, overwrite)
    except OSError as error:
        raise StorageError("the files could not be written", where=str(folder), why=str(error), next_step="free some space or choose another place") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def _move(staging: Path, folder: Path, overwrite: bool) -> None:
    files = [file.relative_to(staging) for file in sorted(staging.rglob("*")) if file.is_file()]
    there = [file for file in files if (folder / file).exists()]
    if there and not overwrite:
        raise StorageError("there is already such a file", where=str(folder / there[0]), next_step="choose another --out, or add --overwrite")
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / file, folder / file)
