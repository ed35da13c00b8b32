"""What a camera sees: a triangle rasteriser with one visibility buffer, maps and contact sheets for people."""

from portico.render.renderer import CHANNELS, Renderer

__all__ = ["CHANNELS", "Renderer"]
