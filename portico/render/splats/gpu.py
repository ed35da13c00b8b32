"""Which machine's strengths to use: gsplat on CUDA where both are there, else the CPU."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from portico.errors import UnknownName
from portico.geometry import Floats
from portico.interface import Camera
from portico.render.splats.prepared import NEAR_M
from portico.render.splats.renderer import SplatChannel, SplatFrame, SplatRenderer
from portico.seeding import generator
from portico.world.gaussians import Gaussians

#: Mean difference of colours, levels of 255, below which two renderers are alike.
_ALIKE_LEVELS = 1.0


class Choice(NamedTuple):
    """A renderer, and in one line why it is this one."""

    renderer: SplatRenderer | GsplatRenderer
    reason: str


def choose_renderer(gaussians: Gaussians, *, background: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Choice:
    """The fastest renderer that this machine can run; the CPU's always can."""
    obstacle = why_no_gpu() or why_not_alike()
    if obstacle:
        return Choice(SplatRenderer(gaussians, background=background), f"CPU renderer: {obstacle}")
    return Choice(GsplatRenderer(gaussians, background=background), "gsplat on CUDA: both are there and agree with the CPU renderer on a test picture")


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


@cache
def why_not_alike() -> str:
    """How the GPU's picture of a test scene differs from the CPU's, in a few words; empty when they agree. Tried once per process.

    Versions of gsplat differ in what they draw, and some drivers fail only when asked to draw: what serves episodes is tried first.
    """
    gaussians, camera, pose = _test_scene(), Camera("test", 64, 48), np.eye(4)
    try:
        theirs = GsplatRenderer(gaussians).render(pose, camera, ["rgb"])
    except Exception as failure:  # CUDA compilers, drivers and kernels fail in any way they like
        return f"gsplat does not draw ({type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else 'no message'})"
    ours = SplatRenderer(gaussians).render(pose, camera, ["rgb"])
    assert ours.rgb is not None
    assert theirs.rgb is not None
    off = np.abs(ours.rgb.astype(np.float64) - theirs.rgb)
    alike = off.mean() <= _ALIKE_LEVELS and np.percentile(off, 99.0) <= 5.0 * _ALIKE_LEVELS
    return "" if alike else f"gsplat's test picture is off by {off.mean():.1f} levels of 255 on average"


def _test_scene() -> Gaussians:
    """Two hundred Gaussians of all kinds before a camera at the origin that looks along z."""
    rng, count = generator("splat renderers", "test scene"), 200
    rotations = rng.normal(size=(count, 4))
    return Gaussians(
        rng.uniform([-2.0, -1.5, 2.0], [2.0, 1.5, 6.0], (count, 3)).astype(np.float32),
        (rotations / np.linalg.norm(rotations, axis=1, keepdims=True)).astype(np.float32),
        np.exp(rng.uniform(-4.0, -1.0, (count, 3))).astype(np.float32),
        rng.uniform(0.1, 1.0, count).astype(np.float32),
        rng.normal(0.0, 0.3, (count, 16, 3)).astype(np.float32),
        np.zeros(count, np.int32),
    )


class GsplatRenderer:
    """Renders rgb and alpha with gsplat on CUDA, gsplat 1.x's ``rasterization``.

    Its depth is a mean, and it knows neither labels nor scenery; ``SplatRenderer`` does. ``choose_renderer`` takes it only where its
    test picture is right.
    """

    CHANNELS: tuple[SplatChannel, ...] = ("rgb", "alpha")

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
                render_mode="RGB",
            )
        image, hidden = image[0].cpu().numpy(), alpha[0, :, :, 0].cpu().numpy()
        colors = image[:, :, :3] + (1.0 - hidden[:, :, None]) * self._background.cpu().numpy()
        return SplatFrame(
            camera,
            rgb=(255.0 * np.clip(colors, 0.0, 1.0) + 0.5).astype(np.uint8) if "rgb" in channels else None,
            alpha=hidden.astype(np.float32) if "alpha" in channels else None,
        )

    def _on_gpu(self, array: Any) -> Any:
        return self._torch.as_tensor(np.ascontiguousarray(array, np.float32), device="cuda")
