"""What a camera sees of a splat capture, on any machine: no GPU, no display."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera, Frame
from portico.render.splats.bins import Indices, bin_by_tile, in_depth_order
from portico.render.splats.blend import Backdrop, Images, blend
from portico.render.splats.prepared import NEAR_M, Singles, prepare, splat_view
from portico.render.splats.project import splats_in_view
from portico.render.splats.weights import accumulate, strongest
from portico.world.gaussians import Gaussians

SplatChannel = Literal["rgb", "depth", "instance", "alpha"]
SPLAT_CHANNELS: tuple[SplatChannel, ...] = ("rgb", "depth", "instance", "alpha")
_NOTHING = np.empty((0, 0), np.float32)


@dataclass(frozen=True)
class SplatFrame(Frame):
    """A frame with one image more.

    Attributes:
        alpha: (H, W) float32, 0 to 1, how much of a pixel the Gaussians hide.
    """

    alpha: Singles | None = None


class Scenery(Protocol):
    """Something opaque among the Gaussians; a ``Frame`` of the same camera is one.

    Attributes:
        depth: (H, W) float32, metric z-depth, inf where there is nothing. rgb: (H, W, 3) uint8, sky included.
        instance: (H, W) int32. What is not needed for the channels asked for may be None.
    """

    @property
    def depth(self) -> NDArray[np.float32] | None: ...
    @property
    def rgb(self) -> NDArray[np.uint8] | None: ...
    @property
    def instance(self) -> NDArray[np.int32] | None: ...


class Weights(NamedTuple):
    """What counts at each pixel, by falling weight.

    Attributes:
        gaussian: (H, W, K) int32, their indices; -1 where fewer than K count. weight: (H, W, K) float32; 0 there.
    """

    gaussian: Indices
    weight: Singles


class _Layout(NamedTuple):
    """Splats in depth order, their Gaussians, and the members of every tile."""

    splats: Singles
    gaussian: Indices
    members: Indices
    start: NDArray[np.int64]


class SplatRenderer:
    """Renders Gaussians as Kerbl et al. (2023) do: projected to ellipses, blended front to back in the order of their depth.

    Frames are the same to the bit from run to run and for any number of threads; Gaussians at the same depth are blended in
    the order of their index. Colours are taken as sRGB, as captures hold them.

    Args:
        gaussians: what to look at. Preparing takes a moment; keep the renderer for as long as they are looked at.
        background: red, green and blue, 0 to 1, seen through what the Gaussians leave open.
        near_m: Gaussians with centres nearer than this (z-depth) are not drawn.

    Raises:
        ValueError: ``near_m`` is not above 0.
    """

    def __init__(self, gaussians: Gaussians, *, background: tuple[float, float, float] = (0.0, 0.0, 0.0), near_m: float = NEAR_M) -> None:
        if not near_m > 0.0:
            raise ValueError(f"near_m must be above 0, not {near_m}")
        self.gaussians = gaussians
        self._prepared = prepare(gaussians)
        self._instance = np.ascontiguousarray(gaussians.instance, np.int32)
        self._background = np.array(background, np.float32)
        self._near_m = near_m

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[SplatChannel], behind: Scenery | None = None) -> SplatFrame:
        """One frame of a camera at ``T_world_camera`` (4, 4), camera axes x right, y down, z forward.

        Channels: rgb (H, W, 3) uint8 sRGB. depth (H, W) float32, the z-depth of the Gaussian with which half of the pixel is
        hidden, inf where they hide less: a mean would hang between near and far along every outline. instance (H, W) int32, the label of the one Gaussian that counts
        most, 0 where they hide less than half. alpha (H, W) float32, how much they hide.

        With ``behind``, opaque things stand among the Gaussians: they hide those whose centres lie deeper than they do at
        that pixel, and are seen through those in front. Their depth counts where the Gaussians in front hide less than half,
        their label stands where that weight is the largest, and alpha counts only what is in front of them.

        Raises:
            UnknownName: a channel that does not exist.
            ValueError: the pose is not finite, or ``behind`` lacks what the channels need or has another size.
        """
        for channel in channels:
            if channel not in SPLAT_CHANNELS:
                raise UnknownName("channel", channel, SPLAT_CHANNELS)
        size = (camera.height, camera.width)
        backdrop = self._backdrop(behind, channels, size)
        wanted = {c: (camera.height if c in channels else 0, camera.width) for c in SPLAT_CHANNELS}
        images = Images(
            np.empty((*wanted["rgb"], 3), np.uint8),
            np.empty(wanted["depth"], np.float32),
            np.empty(wanted["instance"], np.int32),
            np.empty(wanted["alpha"], np.float32),
        )
        layout = self._lay_out(T_world_camera, camera)
        blend(*layout, self._instance, backdrop, images, size, get_num_threads())
        return SplatFrame(
            camera,
            rgb=images.rgb if "rgb" in channels else None,
            depth=images.depth if "depth" in channels else None,
            instance=images.instance if "instance" in channels else None,
            alpha=images.alpha if "alpha" in channels else None,
        )

    def weights(self, T_world_camera: Floats, camera: Camera, top: int = 4) -> Weights:
        """The ``top`` Gaussians that count most at every pixel, and how much: a Gaussian's share in the pixel's colour, 0 to 1.

        Raises:
            ValueError: the pose is not finite, or ``top`` is less than 1.
        """
        if top < 1:
            raise ValueError(f"top must be at least 1, not {top}")
        shape = (camera.height, camera.width, top)
        found = Weights(np.full(shape, -1, np.int32), np.zeros(shape, np.float32))
        strongest(*self._lay_out(T_world_camera, camera), _NOTHING, *found, get_num_threads())
        return found

    def accumulate(self, T_world_camera: Floats, camera: Camera, label_image: NDArray[np.integer], classes: int, into: Singles | None = None) -> Singles:
        """(N, classes) float32: each Gaussian's weights, summed over the pixels of each label.

        Args:
            label_image: (H, W) of the camera; labels from 0 to ``classes`` - 1 count, others do not.
            into: sums of earlier views, (N, classes) float32 in C order, which these are added to and which is returned.

        Raises:
            ValueError: the pose is not finite, or an array has another shape.
        """
        labels = np.ascontiguousarray(label_image, np.int32)
        if labels.shape != (camera.height, camera.width):
            raise ValueError(f"label_image is {labels.shape}, the camera's images are {(camera.height, camera.width)}")
        total = np.zeros((len(self.gaussians), classes), np.float32) if into is None else into
        if total.shape != (len(self.gaussians), classes) or total.dtype != np.float32:
            raise ValueError(f"into is {total.dtype} {total.shape}, not float32 {(len(self.gaussians), classes)}")
        accumulate(*self._lay_out(T_world_camera, camera), labels, total, get_num_threads())
        return total

    def _lay_out(self, T_world_camera: Floats, camera: Camera) -> _Layout:
        threads = get_num_threads()
        found = splats_in_view(self._prepared, splat_view(T_world_camera, camera, self._near_m), threads)
        splats, gaussian = in_depth_order(*found, threads)
        return _Layout(splats, gaussian, *bin_by_tile(splats, camera.width, camera.height, threads))

    def _backdrop(self, behind: Scenery | None, channels: Collection[SplatChannel], size: tuple[int, int]) -> Backdrop:
        depth, rgb, instance = np.empty((0, 0), np.float32), np.empty((0, 0, 3), np.uint8), np.empty((0, 0), np.int32)
        if behind is not None:
            depth = np.ascontiguousarray(_fitting("depth", behind.depth, size), np.float32)
            rgb = np.ascontiguousarray(_fitting("rgb", behind.rgb, size), np.uint8) if "rgb" in channels else rgb
            instance = np.ascontiguousarray(_fitting("instance", behind.instance, size), np.int32) if "instance" in channels else instance
        return Backdrop(depth, rgb, instance, self._background)


def _fitting(name: str, image: NDArray[Any] | None, size: tuple[int, int]) -> NDArray[Any]:
    if image is None or image.shape[:2] != size:
        raise ValueError(f"behind.{name} is {'missing' if image is None else image.shape[:2]}; the camera and the channels need one of {size}")
    return image
