"""Names with options as text: ``frontier?detector=semantic``."""

from __future__ import annotations

from portico.errors import UserError


def parse_name(name: str) -> tuple[str, dict[str, str]]:
    """Split ``name?key=value,key=value``.

    Raises:
        UserError: an option without ``=``, without a key, or given twice.
    """
    plain, _, tail = name.partition("?")
    options: dict[str, str] = {}
    for item in filter(None, tail.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or key in options:
            why = "given twice" if key in options else "an option reads key=value"
            raise UserError(f"cannot read the policy option {item!r}", where=name, why=why, next_step="write for example frontier?detector=semantic")
        options[key] = value
    return plain.strip(), options
