"""Names, plug-ins and options of detectors: ``semantic``, ``text?every=2``, or several at once, ``semantic+text``.

A name is looked up in ``DETECTORS`` (built in) and in the entry points of the group ``portico.detectors``, which give a class or factory.
``package.module:Class`` names one that is registered nowhere. Options are separated by ``&``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from portico.errors import UnknownName, UserError
from portico.policies.detectors.contract import Detector
from portico.policies.detectors.semantic import SemanticDetector
from portico.policies.detectors.several import SeveralDetectors
from portico.policies.detectors.text import TextDetector
from portico.policies.names import parse_name

ENTRY_POINT_GROUP = "portico.detectors"
LIST_COMMAND = "portico list detectors"
NO_DETECTOR = ("", "none")

DETECTORS: dict[str, Callable[..., Detector]] = {"semantic": SemanticDetector, "text": TextDetector}


def detector_names() -> list[str]:
    """Every name that ``create_detector`` knows, sorted; plug-ins are listed without being imported."""
    return sorted({*DETECTORS, *_plugins()})


def describe_detectors() -> dict[str, str]:
    """Name -> one line, for every detector; plug-ins are named by where they come from, without being imported."""
    lines = {name: (inspect.getdoc(factory) or "").split("\n")[0] for name, factory in DETECTORS.items()}
    return dict(sorted((lines | {name: f"plug-in {point.value}" for name, point in _plugins().items()}).items()))


def create_detector(detector: str | Detector | None) -> Detector | None:
    """A detector from an option: a name, several joined by ``+``, ``none``, or one that is made already.

    Raises:
        UnknownName: no such detector or option; lists the closest.
        UserError: one that cannot be imported or is no detector.
    """
    if not isinstance(detector, str):
        return detector
    if detector in NO_DETECTOR:
        return None
    made = [_create(name) for name in detector.split("+")]
    return made[0] if len(made) == 1 else SeveralDetectors(made)


def _create(name: str) -> Detector:
    plain, options = parse_name(name.replace("&", ","))
    factory = _find(plain)
    known = [key for key, p in inspect.signature(factory).parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for key in options:
        if key not in known:
            raise UnknownName(f"option of the detector {plain!r}", key, known) if known else UserError(f"the detector {plain!r} takes no options", where=key)
    made = factory(**options)
    if not isinstance(made, Detector):
        raise UserError(f"{plain!r} is not a detector", why="it lacks needs, reset or detect", next_step="see portico.policies.detectors.Detector")
    return made


def _find(name: str) -> Callable[..., Detector]:
    if name in DETECTORS:
        return DETECTORS[name]
    plugins = _plugins()
    path = plugins[name].value if name in plugins else name
    if ":" not in path:
        raise UnknownName("detector", name, [*detector_names(), "none", "package.module:Class"], list_command=LIST_COMMAND)
    module, _, attribute = path.partition(":")
    try:
        found: Callable[..., Detector] = getattr(import_module(module), attribute)
    except Exception as error:
        raise UserError(
            f"cannot make the detector {name!r}", where=path, why=f"{type(error).__name__}: {error}", next_step=f"choose one of {', '.join(detector_names())}"
        ) from error
    return found


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
