"""What a camera sees: a triangle rasteriser with one visibility buffer, Gaussian splats, maps and contact sheets for people."""

from portico.render.annotate import annotate_map
from portico.render.captures import CaptureRenderer, renderer_of
from portico.render.contact_sheet import contact_sheet
from portico.render.map_frame import MapFrame
from portico.render.overview import overview
from portico.render.renderer import CHANNELS, Renderer, WorldRenderer

__all__ = ["CHANNELS", "CaptureRenderer", "MapFrame", "Renderer", "WorldRenderer", "annotate_map", "contact_sheet", "overview", "renderer_of"]
