"""``lift``: label images of a capture become labels of its Gaussians, instances, and objects that a body can be sent to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.lifting.evidence import Evidence, Sight
from portico.build.lifting.fusion import Fused, fuse, spread
from portico.build.lifting.islands import cells_of, parts_of, whole_things
from portico.build.lifting.objects import TOO_SMALL, Candidate, Judge, counted
from portico.build.lifting.tracks import follow
from portico.build.lifting.views import LabelView, check_view, is_structure
from portico.errors import ImportFailed, WorldError
from portico.render.splats import SplatRenderer
from portico.space import BodySize, Space, build_space
from portico.world import Gaussians, InstanceLabel, ObjectInstance, Semantics, World

#: What labels.json calls labels that nobody checked.
MODEL_PREDICTED = "model_predicted"


@dataclass(frozen=True)
class Lifted:
    """What lifting found.

    Attributes:
        world: the capture with instances on its Gaussians, ``semantics.instances`` of all things, ``semantics.objects`` of those kept.
        candidates: every thing that is no part of the building, the kept ones first in the order of ``world.semantics.objects``.
        lines: what was done, for people.
    """

    world: World
    candidates: tuple[Candidate, ...]
    lines: tuple[str, ...]

    def dropped(self) -> dict[str, int]:
        """How many things did not become objects, by reason."""
        return counted(list(self.candidates))


def lift(
    world: World,
    views: Iterable[LabelView],
    categories: Mapping[int, str],
    body: BodySize,
    *,
    space: Space | None = None,
    tell: Callable[[int, int], None] | None = None,
    wanted: int = 0,
    source: str = "label images",
) -> Lifted:
    """Lift label images to the Gaussians of a captured world, and make objects of what they show.

    Earlier labels, instances and objects of the capture give way. An object is kept when enough views agree on it and the body finds a free
    place on the main component within a metre of its centre. The same views in the same order give the same world.

    Args:
        views: looked at one by one, so that a generator needs no memory. categories: id -> name; others are not counted.
        body: who has to come near. space: its space, built when left out.
        tell: told (views done, ``wanted``) after each. source: who made the label images; the world's recipe and notes keep it.

    Raises:
        WorldError: the world holds no Gaussians.
        ImportFailed: a bad view, no view shows the capture, or nothing was found; says how much each filter removed.
        UserError: the body fits nowhere.
    """
    gaussians = world.appearance.gaussians
    if gaussians is None:
        raise WorldError("only a capture can be labelled", where=world.id, why="the world holds no Gaussians", next_step="make one: portico world splat")
    space = space or build_space(world, body)
    evidence, unnamed = _gathered(gaussians, views, categories, tell, wanted)
    fused = fuse(evidence)
    candidates = things(gaussians, fused, categories, Judge(world.semantics, space, evidence.views), evidence.sights, evidence.pairs)
    kept = [c for c in candidates if not c.dropped]
    lines = [f"labelled by {source}", *_account(evidence, fused, unnamed, candidates)]
    if not kept:
        raise ImportFailed(
            "no object was found", where=world.id, why="; ".join(lines), next_step="check that poses and capture share one frame, and the categories"
        )
    return Lifted(_labelled(world, gaussians, fused, candidates, categories, source, lines), tuple(candidates), tuple(lines))


def _gathered(
    gaussians: Gaussians, views: Iterable[LabelView], categories: Mapping[int, str], tell: Callable[[int, int], None] | None, wanted: int
) -> tuple[Evidence, Counter[int]]:
    """All votes, and how many pixels had labels that have no name."""
    evidence, unnamed = Evidence(SplatRenderer(gaussians)), Counter[int]()
    top = max(categories, default=0)
    known = np.zeros(top + 2, np.bool_)
    known[list(categories)] = True
    known[0] = False
    for view in views:
        check_view(view)
        named = known[np.clip(view.labels, 0, top + 1)]
        unnamed.update(view.labels[~named & (view.labels != 0)].tolist())
        evidence.add(replace(view, labels=np.where(named, view.labels, 0)))
        if tell is not None:
            tell(evidence.views, wanted)
    if not evidence.useful:
        why = f"{evidence.views} views, none of which shows a labelled pixel on a Gaussian"
        raise ImportFailed(
            "no view sees the capture", why=why, next_step="check that poses are T_world_camera (x right, y down, z forward) in the world's frame"
        )
    return evidence, unnamed


def things(
    gaussians: Gaussians,
    fused: Fused,
    names: Mapping[int, str],
    judge: Judge,
    sights: Sequence[Sight],
    pairs: Sequence[NDArray[np.int64]] = (),
) -> list[Candidate]:
    """Every thing that is no part of the building, kept ones first, by name and place; ``sights`` and ``pairs`` as ``Evidence`` holds them."""
    seen = np.flatnonzero(fused.category)
    cells = cells_of(gaussians, seen, fused.category[seen])
    loose = np.isin(cells.category, [number for number, name in names.items() if not is_structure(name)])
    told_apart = len(pairs) > 0
    thing, apart = follow(pairs, len(gaussians)) if told_apart else (np.zeros(len(gaussians), np.int64), np.zeros((1, 1), np.bool_))
    part = parts_of(cells, thing, apart)
    part = whole_things(cells, part, loose, sights, told_apart=told_apart)
    entry = np.unique(np.stack([part[cells.home], cells.member], axis=1)[loose[cells.home]], axis=0)
    voxels = np.bincount(part)
    largest = np.zeros(int(cells.category.max(initial=0)) + 1, np.int64)
    np.maximum.at(largest, cells.category, voxels[part])
    found = []
    for number, matter in _groups(entry):
        kind = int(fused.category[matter[0]])
        found.append(judge.candidate(names[kind], matter, int(voxels[number]), int(largest[kind]), fused, gaussians.means))
    return sorted(found, key=lambda c: (bool(c.dropped), c.category, c.floor or "", c.center))


def _groups(entry: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The second column for every value of the first, of rows (R, 2) in order."""
    for group in np.split(entry, np.flatnonzero(np.diff(entry[:, 0])) + 1):
        if len(group):
            yield int(group[0, 0]), group[:, 1]


def _labelled(world: World, gaussians: Gaussians, fused: Fused, candidates: list[Candidate], names: Mapping[int, str], source: str, lines: list[str]) -> World:
    """The world with instances on its Gaussians, and the objects that were kept."""
    instances, first = ground_instances(world)
    instance = np.zeros(len(gaussians), np.int32)
    number = count(first)
    for category in sorted(set(np.unique(fused.category).tolist()) & {n for n, name in names.items() if is_structure(name)}):
        instances.append(InstanceLabel(id=next(number), category=names[category]))
        instance[fused.category == category] = instances[-1].id
    objects: list[ObjectInstance] = []
    per_category = Counter[str]()
    for thing in candidates:
        if thing.dropped == TOO_SMALL:
            continue
        name = None
        if not thing.dropped:
            name = f"{thing.category.replace(' ', '-')}-{per_category[thing.category]}"
            per_category[thing.category] += 1
            objects.append(_object(name, thing))
        instances.append(InstanceLabel(id=next(number), category=thing.category, object=name))
        instance[thing.gaussians] = instances[-1].id
    semantics = world.semantics.model_copy(update={"objects": objects, "instances": instances})
    predicted = {item.id: (thing.confidence, MODEL_PREDICTED) for item, thing in zip(objects, candidates, strict=False)}
    return relabelled(world, replace(gaussians, instance=spread(instance, gaussians.means)), semantics, {"source": source, "predicted": predicted}, lines)


def ground_instances(world: World) -> tuple[list[InstanceLabel], int]:
    """The labels of what bodies walk on, which belong to no object, and the first number that is free."""
    used = set(np.unique(world.geometry.instance).tolist())
    kept = [label.model_copy(update={"object": None}) for label in world.semantics.instances if label.id in used]
    return kept, 1 + max((label.id for label in kept), default=0)


def relabelled(world: World, gaussians: Gaussians, semantics: Semantics, lifting: Mapping[str, Any], lines: Sequence[str]) -> World:
    """A capture with other labels and objects; ``lifting`` says in the recipe where they came from."""
    recipe = {**world.manifest.recipe, "lifting": dict(lifting)}
    manifest = world.manifest.model_copy(update={"recipe": recipe, "notes": [*world.manifest.notes, *lines], "content_hash": ""})
    return World(manifest, world.geometry, replace(world.appearance, gaussians=gaussians), semantics)


def _object(name: str, thing: Candidate) -> ObjectInstance:
    return ObjectInstance(
        id=name,
        category=thing.category,
        center=thing.center,
        size=thing.size,
        yaw_rad=thing.yaw_rad,
        building=thing.building,
        floor=thing.floor,
        room=thing.room,
    )


def _account(evidence: Evidence, fused: Fused, unnamed: Counter[int], candidates: list[Candidate]) -> list[str]:
    """What was done, line by line."""
    total, looked, clear = len(fused.category), int((evidence.total > 0.0).sum()), int((fused.category > 0).sum())
    kept = [c for c in candidates if not c.dropped]
    lines = [
        f"{evidence.useful} of {evidence.views} label images show the capture; they see {looked / total:.0%} of its Gaussians and agree on {clear / total:.0%}",
        f"{len(candidates)} things found, {len(kept)} kept as objects of {len({c.category for c in kept})} categories",
    ]
    lines += [f"{number} things left out: {why}" for why, number in counted(candidates).items()]
    if unnamed:
        ids = ", ".join(str(n) for n in sorted(unnamed)[:5])
        lines.append(f"{sum(unnamed.values()):,} pixels had labels without a name ({ids}{', ...' if len(unnamed) > 5 else ''}) and were not counted")
    return lines
