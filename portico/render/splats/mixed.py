"""Worlds of triangles with splat captures in them: one frame of both, the nearer hiding the other."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera, Channel, Frame
from portico.render.renderer import CHANNELS, Renderer
from portico.render.splats.renderer import SPLAT_CHANNELS, SplatRenderer


class MixedRenderer:
    """Renders a world and the Gaussians in it.

    Args:
        world: renders the triangles.
        splats: renders the Gaussians, in the world's frame and with the instances of its semantics.
    """

    def __init__(self, world: Renderer, splats: SplatRenderer) -> None:
        self.world = world.world
        self._solid, self._splats = world, splats
        semantics = self.world.semantics
        ids = {category: number for number, category in semantics.categories().items()}
        most = max((label.id for label in semantics.instances), default=0)
        self._semantic = np.zeros(max(most, int(splats.gaussians.instance.max(initial=0)), int(self.world.geometry.instance.max(initial=0))) + 1, np.int32)
        for label in semantics.instances:
            self._semantic[label.id] = ids[label.category]

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[Channel]) -> Frame:
        """One frame of a camera at ``T_world_camera`` (4, 4), as ``Renderer.render`` gives it and mixed as ``SplatRenderer.render`` says.

        semantic is that of the instance. normal is the triangles' where the Gaussians in front hide less than half, else 0:
        Gaussians have none.

        Raises:
            UnknownName: a channel that does not exist.
        """
        for channel in channels:
            if channel not in CHANNELS:
                raise UnknownName("channel", channel, CHANNELS)
        labels: set[Channel] = {"instance"} if {"semantic", "instance"} & set(channels) else set()
        solid = self._solid.render(T_world_camera, camera, {*channels, "depth", *labels} - {"semantic"})
        wanted = [c for c in SPLAT_CHANNELS if c in channels or c in labels or (c == "alpha" and "normal" in channels)]
        mixed = self._splats.render(T_world_camera, camera, wanted, behind=solid)
        normal = solid.normal
        if normal is not None and mixed.alpha is not None:
            normal[mixed.alpha >= 0.5] = 0.0
        instance = mixed.instance if "instance" in channels else None
        semantic = self._semantic[mixed.instance] if "semantic" in channels and mixed.instance is not None else None
        return Frame(camera, mixed.rgb, mixed.depth, instance, semantic, normal)
