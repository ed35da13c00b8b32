"""Where worlds come from: indoor, composite and aerial generators, importers of maps, meshes, captures and imagery.

``RECIPES`` are the generators that the command line and suite files call by name: ``RECIPES[name](seed, **params)``.
"""

from collections.abc import Callable

from portico.build.aerial.generated import build_aerial
from portico.build.captures.generated import build_capture
from portico.build.composite import build_composite
from portico.build.indoor import build_indoor
from portico.world import World

RECIPES: dict[str, Callable[..., World]] = {"aerial": build_aerial, "capture": build_capture, "composite": build_composite, "indoor": build_indoor}

__all__ = ["RECIPES", "build_aerial", "build_capture", "build_composite", "build_indoor"]
