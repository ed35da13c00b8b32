"""Who labels rendered views: the Labeller contract, the registry with its plug-ins, the truth of a mesh, and a noisy wrapper for tests.

Names take options after a question mark: ``noisy?of=truth,share=0.1,mesh=worlds/home``. Plug-ins are entry points of the group
``portico.labellers`` that give a class or factory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from portico.build.lifting.views import LabelView
from portico.errors import ImportFailed, UnknownName, UserError
from portico.geometry import Floats
from portico.interface import Camera, Channel, Frame
from portico.render import Renderer, renderer_of
from portico.seeding import generator
from portico.world import World, load

ENTRY_POINT_GROUP = "portico.labellers"
LIST_COMMAND = "portico list labellers"


class LabelImage(NamedTuple):
    """What a labeller says of a frame; see ``LabelView`` for the two images."""

    labels: NDArray[np.integer[Any]]
    instances: NDArray[np.integer[Any]] | None = None


@runtime_checkable
class Labeller(Protocol):
    """Says what every pixel of a frame shows; ``portico.testing.check_labeller`` checks one.

    Attributes:
        needs: channels of the capture it wants to see. categories: id from 1 on -> name.
        privileged: whether it knows what no picture shows; then the world's notes say so.
    """

    @property
    def needs(self) -> frozenset[Channel]: ...
    @property
    def categories(self) -> Mapping[int, str]: ...
    @property
    def privileged(self) -> bool: ...
    def label(self, T_world_camera: Floats, frame: Frame) -> LabelImage:
        """(H, W) category ids, 0 where unsure, and perhaps instances; the same for the same frame."""


class Truth:
    """What a mesh world that lies at the same place shows there (privileged).

    Args:
        mesh: the world, or its folder.
    """

    needs: frozenset[Channel] = frozenset()
    privileged = True

    def __init__(self, mesh: World | Path | str) -> None:
        world = mesh if isinstance(mesh, World) else load(mesh)
        if len(world.geometry.faces) == 0 or world.appearance.gaussians is not None:
            raise UserError("the truth must be a mesh world", where=world.id, next_step="give the world that the capture was made of: truth?mesh=FOLDER")
        self.categories: Mapping[int, str] = world.semantics.categories()
        self._renderer = Renderer(world)

    def label(self, T_world_camera: Floats, frame: Frame) -> LabelImage:
        """The mesh's semantic channel; instances are left to space."""
        semantic = self._renderer.render(T_world_camera, frame.camera, ["semantic"]).semantic
        assert semantic is not None
        return LabelImage(semantic)


class Noisy:
    """Another labeller with a share of its pixels wrong, half of them alone and half in round blobs, as segmentation errs.

    Args:
        of: name of the other, or it. share: of pixels, 0 to 1. seed: of what goes wrong. options: of the other.
    """

    def __init__(self, of: str | Labeller = "truth", share: float | str = 0.1, seed: int | str = 0, **options: Any) -> None:
        self._of = create_labeller(of, **options) if isinstance(of, str) else of
        self._share, self._seed = _number("share", share), int(_number("seed", seed))
        if not 0.0 <= self._share <= 1.0:
            raise UserError("the share of wrong pixels is not between 0 and 1", where=f"noisy?share={share}", next_step="write for example share=0.1")
        self.needs, self.categories, self.privileged = self._of.needs, self._of.categories, self._of.privileged

    def label(self, T_world_camera: Floats, frame: Frame) -> LabelImage:
        """The other's labels, some wrong; a pose is always wronged in the same way."""
        found = self._of.label(T_world_camera, frame)
        rng = generator("noisy", self._seed, np.asarray(T_world_camera, np.float64).round(6).tobytes().hex())
        ids = np.array(sorted(self.categories))
        labels = _blobs(found.labels, 0.5 * self._share, ids, rng)
        alone = rng.random(labels.shape) < 0.5 * self._share
        labels[alone] = rng.choice(ids, int(alone.sum()))
        return LabelImage(labels, found.instances)


def _blobs(labels: NDArray[np.integer[Any]], share: float, ids: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A copy with discs of one wrong label each over about a share of its pixels."""
    result = labels.astype(np.int64)
    height, width = result.shape
    row, column = np.ogrid[:height, :width]
    wrong = np.zeros(labels.shape, np.bool_)
    while wrong.mean() < share:
        radius = rng.uniform(0.01, 0.05) * max(height, width)
        disc = (row - rng.uniform(0, height)) ** 2 + (column - rng.uniform(0, width)) ** 2 < radius**2
        result[disc] = rng.choice(ids)
        wrong |= disc
    return result


LABELLERS: dict[str, Callable[..., Labeller]] = {"truth": Truth, "noisy": Noisy}


def labeller_names() -> list[str]:
    """Every name that ``create_labeller`` knows, sorted; plug-ins are listed without being imported."""
    return sorted({*LABELLERS, *_plugins()})


def describe_labellers() -> dict[str, str]:
    """Name -> one line, for every labeller; plug-ins are named by where they come from, without being imported."""
    lines = {name: (inspect.getdoc(factory) or "").split("\n")[0] for name, factory in LABELLERS.items()}
    return dict(sorted((lines | {name: f"plug-in {point.value}" for name, point in _plugins().items()}).items()))


def create_labeller(name: str, **options: Any) -> Labeller:
    """A labeller by name, options after a question mark or as keywords.

    Raises:
        UnknownName: no such labeller or option; lists the closest. UserError: an option is missing or cannot be read.
        ImportFailed: a plug-in that cannot be imported or is no labeller.
    """
    plain, _, tail = name.partition("?")
    for item in filter(None, tail.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise UserError(f"cannot read the option {item!r} of a labeller", where=name, next_step="write for example truth?mesh=worlds/home")
        options.setdefault(key.strip(), value.strip())
    factory = _find(plain)
    _check_options(plain, factory, options)
    made = factory(**options)
    if not isinstance(made, Labeller):
        raise ImportFailed(f"{plain!r} is no labeller", why=f"{type(made).__name__} lacks one of needs, categories, privileged, label")
    return made


def _find(name: str) -> Callable[..., Labeller]:
    if name in LABELLERS:
        return LABELLERS[name]
    plugins = _plugins()
    if name not in plugins:
        raise UnknownName("labeller", name, labeller_names(), list_command=LIST_COMMAND)
    try:
        found: Callable[..., Labeller] = plugins[name].load()
    except Exception as error:
        raise ImportFailed(
            f"the labeller {name!r} cannot be imported", where=plugins[name].value, why=f"{type(error).__name__}: {error}", next_step="install what it needs"
        ) from error
    return found


def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _check_options(name: str, factory: Callable[..., Labeller], options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(factory).parameters
    named = {key for key, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for key in options:
            if key not in named:
                raise UnknownName(f"option of the labeller {name!r}", key, named)
    missing = [key for key in named if parameters[key].default is inspect.Parameter.empty and key not in options]
    if missing:
        raise UserError(f"the labeller {name!r} needs {missing[0]!r}", where=name, next_step=f"write {name}?{missing[0]}=...")


def _number(key: str, value: float | str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise UserError(f"cannot read the option {key!r} of a labeller", where=f"{key}={value}", next_step="write a number") from error


@dataclass(frozen=True)
class Survey:
    """Views of a capture that a labeller labels one by one as they are asked for.

    Attributes:
        poses: T_world_camera, (4, 4) each.
    """

    world: World
    labeller: Labeller
    poses: Iterable[Floats]
    camera: Camera

    def __iter__(self) -> Iterator[LabelView]:
        renderer = renderer_of(self.world) if self.labeller.needs else None
        for n, T in enumerate(self.poses):
            frame = Frame(self.camera) if renderer is None else renderer.render(T, self.camera, sorted(self.labeller.needs))
            found = self.labeller.label(T, frame)
            yield LabelView(T, self.camera, found.labels, found.instances, f"rendered view {n}")
