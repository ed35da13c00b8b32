"""Where worlds come from: indoor and composite generators, importers of maps, meshes and captures.

``RECIPES`` are the generators that the command line and suite files call by name: ``RECIPES[name](seed, **params)``.
"""

from collections.abc import Callable

from portico.build.captures.generated import build_capture
from portico.build.composite import build_composite
from portico.build.indoor import build_indoor
from portico.world import World

RECIPES: dict[str, Callable[..., World]] = {"capture": build_capture, "composite": build_composite, "indoor": build_indoor}

__all__ = ["RECIPES", "build_capture", "build_composite", "build_indoor"]
