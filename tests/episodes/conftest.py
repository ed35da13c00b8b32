"""Lets these tests use the street corner of ``tests/report`` and the little town of ``tests/tasks``."""

import sys
from pathlib import Path

for folder in ("report", "tasks"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))
