"""Captures: Gaussians made from what is known, and worlds made from Gaussians."""

from portico.build.captures.from_mesh import gaussians_of

__all__ = ["gaussians_of"]
