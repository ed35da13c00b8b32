"""Objects of a capture from a ``labels.json`` of NavArena, for captures that somebody labelled elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from portico.build.lifting.label_files import check_vocabulary
from portico.build.lifting.lift import Lifted, ground_instances, relabelled
from portico.build.lifting.objects import Judge, home_of
from portico.build.lifting.views import is_structure
from portico.build.navarena.labels import labelled, objects_of, predicted, with_objects
from portico.build.navarena.schema import Labels, read_json
from portico.build.rosmap.occupancy import grid_around
from portico.errors import ImportFailed, WorldError
from portico.space import BodySize, Space, build_space
from portico.world import ObjectInstance, World

#: Labels this far outside of what the world holds still belong to it: boxes and captures end nowhere exactly.
_SLACK_M = 0.25


def label_from_file(world: World, path: Path | str, body: BodySize, *, space: Space | None = None, vocabulary: Collection[str] = ()) -> Lifted:
    """The capture with the labels of a file, in the world's frame; those that ``lift`` would not keep stay labels without an object.

    Left out and counted: labels outside of the world, of no category or of parts of the building, and those that the body cannot come near.

    Raises:
        WorldError: the world holds no Gaussians.
        ImportFailed: the file is missing, damaged or of another schema; or nothing of it remains, which says how much each filter removed.
        UnknownName: a category that the vocabulary, when there is one, does not hold.
        UserError: the body fits nowhere.
    """
    path = Path(path)
    gaussians = world.appearance.gaussians
    if gaussians is None or not world.semantics.buildings:
        raise WorldError("only a capture can be labelled", where=world.id, why="the world holds no Gaussians", next_step="make one: portico world splat")
    labels = read_json(path, Labels)
    check_vocabulary(dict(enumerate(label.category for label in labels.labels)), vocabulary, where=str(path))
    inside, left_out = _inside(labels, world)
    found, remarks = objects_of(inside, grid_around(world, float(world.manifest.cell_m)), world.semantics.buildings[0], str(path))
    judge = Judge(world.semantics, space or build_space(world, body), 0)
    kept, near = [], np.ones(len(found), np.bool_)
    for n, item in enumerate(found):
        why = _fault(item, judge)
        near[n] = not why
        left_out.update([why] if why else [])
        kept.append(_at_home(item, judge))
    lines = [f"labelled by {path.name}: {int(near.sum())} of {len(labels.labels)} labels became objects", *remarks]
    lines += [f"{number} labels left out: {why}" for why, number in left_out.most_common()]
    if not near.any():
        raise ImportFailed("no label became an object", where=str(path), why="; ".join(lines), next_step="check that labels and capture share one frame")
    ground, first = ground_instances(world)
    bare = world.semantics.model_copy(update={"objects": [], "instances": ground})
    semantics, first = with_objects(bare, kept)
    lost = {item.id for item, good in zip(kept, near, strict=True) if not good}
    instances = [label.model_copy(update={"object": None}) if label.object in lost else label for label in semantics.instances]
    semantics = semantics.model_copy(update={"objects": [o for o in kept if o.id not in lost], "instances": instances})
    marked = replace(gaussians, instance=labelled(np.zeros(len(gaussians), np.int32), gaussians.means, kept, first))
    lifting = {"source": path.name, "predicted": {name: word for name, word in predicted(inside).items() if name not in lost}}
    return Lifted(relabelled(world, marked, semantics, lifting, lines), (), tuple(lines))


def _inside(labels: Labels, world: World) -> tuple[Labels, Counter[str]]:
    """The labels whose position the world could hold, and how many it could not."""
    low, high = world.geometry.bounds()
    assert world.appearance.gaussians is not None
    means = world.appearance.gaussians.means
    low, high = np.minimum(low, means.min(axis=0)) - _SLACK_M, np.maximum(high, means.max(axis=0)) + _SLACK_M
    inside = [label for label in labels.labels if ((np.array(label.position) >= low) & (np.array(label.position) <= high)).all()]
    outside = len(labels.labels) - len(inside)
    return labels.model_copy(update={"labels": inside}), Counter({"their position lies outside of the world": outside} if outside else {})


def _fault(item: ObjectInstance, judge: Judge) -> str:
    if is_structure(item.category):
        return "part of the building"
    center = np.array(item.center)
    return "" if judge.reachable(center, home_of(judge.semantics, center)[1]) else judge.unreachable


def _at_home(item: ObjectInstance, judge: Judge) -> ObjectInstance:
    """The object with the building, floor and room that hold it."""
    building, floor, room = home_of(judge.semantics, np.array(item.center))
    return item.model_copy(update={"building": building and building.id, "floor": floor and floor.id, "room": room and room.id})
