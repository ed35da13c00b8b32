"""What a camera that looks straight down sees of an aerial world: heading-up crops of its raster, and maps of it."""

from portico.render.aerial.overview import aerial_overview
from portico.render.aerial.renderer import AerialRenderer

__all__ = ["AerialRenderer", "aerial_overview"]
