"""What is wrong with a foreign file, as its schema found it, in words that name the field."""

from __future__ import annotations

from pydantic import ValidationError


def first_fault(error: ValidationError) -> tuple[str, str]:
    """The first field that breaks its schema, written as ``labels[3].position``, and why."""
    first = error.errors()[0]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    return field, first["msg"]
