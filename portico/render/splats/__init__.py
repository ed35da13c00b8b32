"""Gaussian splats as a camera sees them: tile by tile on the CPU, with gsplat where there is a GPU, and mixed with triangles."""

from portico.render.splats.gpu import Choice, GsplatRenderer, choose_renderer
from portico.render.splats.mixed import MixedRenderer
from portico.render.splats.renderer import SPLAT_CHANNELS, SplatChannel, SplatFrame, SplatRenderer, Weights

__all__ = ["SPLAT_CHANNELS", "Choice", "GsplatRenderer", "MixedRenderer", "SplatChannel", "SplatFrame", "SplatRenderer", "Weights", "choose_renderer"]
