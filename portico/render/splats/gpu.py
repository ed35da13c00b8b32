"""Which machine's strengths to use: gsplat on CUDA where both are there, else the CPU."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera
from portico.render.splats.prepared import NEAR_M
from portico.render.splats.renderer import SplatChannel, SplatFrame, SplatRenderer
from portico.world.gaussians import Gaussians


class Choice(NamedTuple):
    """A renderer, and in one line why it is this one."""

    renderer: SplatRenderer | GsplatRenderer
    reason: str


def choose_renderer(gaussians: Gaussians, *, background: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Choice:
    """The fastest renderer that this machine can run; the CPU's always can."""
    obstacle = why_no_gpu()
    if obstacle:
        return Choice(SplatRenderer(gaussians, background=background), f"CPU renderer: {obstacle}")
    return Choice(GsplatRenderer(gaussians, background=background), "gsplat on CUDA: both are installed and a GPU is there")


def why_no_gpu() -> str:
    """What keeps gsplat from running here, in a few words; empty when nothing does."""
    for package in ("torch", "gsplat"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    try:
        cuda = importlib.import_module("torch").cuda.is_available()
        importlib.import_module("gsplat")
    except Exception as failure:  # native libraries fail to load in any way they like
        return f"gsplat does not load ({type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else 'no message'})"
    return "" if cuda else "torch finds no CUDA device"


class GsplatRenderer:
    """Renders rgb, depth and alpha with gsplat on CUDA.

    Untested: written against gsplat 1.x's ``rasterization`` and never run, for want of a GPU. It knows neither labels nor
    scenery; ``SplatRenderer`` does.
    """

    CHANNELS: tuple[SplatChannel, ...] = ("rgb", "depth", "alpha")

    def __init__(self, gaussians: Gaussians, *, background: tuple[float, float, float] = (0.0, 0.0, 0.0), near_m: float = NEAR_M) -> None:
        self.gaussians = gaussians
        self._torch: Any = importlib.import_module("torch")
        self._gsplat: Any = importlib.import_module("gsplat")
        fields = {"means": gaussians.means, "quats": gaussians.rotations_wxyz, "scales": gaussians.scales_m, "opacities": gaussians.opacity}
        self._tensors = {name: self._on_gpu(array) for name, array in {**fields, "colors": gaussians.sh}.items()}
        self._background = self._on_gpu(np.array(background))
        self._near_m = near_m

    def render(self, T_world_camera: Floats, camera: Camera, channels: Collection[SplatChannel]) -> SplatFrame:
        """One frame, as ``SplatRenderer.render`` gives it.

        Raises:
            UnknownName: a channel that this renderer does not have.
        """
        for channel in channels:
            if channel not in self.CHANNELS:
                raise UnknownName("channel of the gsplat renderer", channel, self.CHANNELS)
        with self._torch.no_grad():
            image, alpha, _ = self._gsplat.rasterization(
                **self._tensors,
                viewmats=self._on_gpu(np.linalg.inv(np.asarray(T_world_camera, np.float64)))[None],
                Ks=self._on_gpu(camera.intrinsics())[None],
                width=camera.width,
                height=camera.height,
                near_plane=self._near_m,
                sh_degree=self.gaussians.degree,
                render_mode="RGB+ED",
            )
        image, hidden = image[0].cpu().numpy(), alpha[0, :, :, 0].cpu().numpy()
        colors = image[:, :, :3] + (1.0 - hidden[:, :, None]) * self._background.cpu().numpy()
        return SplatFrame(
            camera,
            rgb=(255.0 * np.clip(colors, 0.0, 1.0) + 0.5).astype(np.uint8) if "rgb" in channels else None,
            depth=np.where(hidden >= 0.5, image[:, :, 3], np.inf).astype(np.float32) if "depth" in channels else None,
            alpha=hidden.astype(np.float32) if "alpha" in channels else None,
        )

    def _on_gpu(self, array: Any) -> Any:
        return self._torch.as_tensor(np.ascontiguousarray(array, np.float32), device="cuda")
