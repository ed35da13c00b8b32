"""Labels and the objects of a world, both ways."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portico.build.navarena.schema import SCHEMA_VERSION, Label, Labels
from portico.build.rosmap import MapGrid
from portico.errors import ImportFailed
from portico.geometry import rotation_z
from portico.world import Building, InstanceLabel, ObjectInstance, Semantics, World

#: Names that say that nobody knows what a thing is: nobody can be sent to one.
_NAMELESS = frozenset({"", "unknown", "unlabeled", "unlabelled", "none", "object", "void"})
_OFF_CENTRE_M = 1e-3
_BELOW_M = 0.5
#: Of the coordinates of boxes, so that rounding does not grow from one trip to the next.
_DIGITS = 6


def objects_of(labels: Labels, grid: MapGrid, building: Building, where: str) -> tuple[list[ObjectInstance], list[str]]:
    """The objects that labels stand for, and remarks about those that cannot be one.

    A box keeps its size and is centred on the position, since goals are measured to that. Left out and counted are labels whose
    category is nobody's and those that lie beyond the map.

    Raises:
        ImportFailed: the same instance_id twice, or a box inside out; names the label.
    """
    objects: dict[str, ObjectInstance] = {}
    left_out: Counter[str] = Counter()
    off_centre = 0
    for n, label in enumerate(labels.labels):
        name = str(label.instance_id)
        if name in objects:
            raise ImportFailed(
                f"the instance_id {name!r} appears twice", where=f"{where}: labels[{n}].instance_id", next_step="give every label an id of its own"
            )
        size = _size(label, f"{where}: labels[{n}].bounding_box")
        if label.category.strip().lower() in _NAMELESS:
            left_out[f"their category says nothing ({label.category!r})"] += 1
            continue
        if not grid.inside(grid.cells([label.position]))[0]:
            left_out["their position lies beyond the map"] += 1
            continue
        box = label.bounding_box
        off_centre += box is not None and not np.allclose(np.add(box.min, box.max) / 2.0, label.position, atol=_OFF_CENTRE_M)
        floor = max((f for f in building.floors if label.position[2] >= f.z_m - _BELOW_M), key=lambda f: f.z_m, default=building.floors[0])
        objects[name] = ObjectInstance(id=name, category=label.category, center=label.position, size=size, building=building.id, floor=floor.id)
    remarks = [f"{number} labels were left out: {why}" for why, number in left_out.items()]
    if off_centre:
        remarks.append(f"{off_centre} boxes were moved so that their centre is the label's position")
    return list(objects.values()), remarks


def _size(label: Label, where: str) -> tuple[float, float, float]:
    if label.bounding_box is None:
        return (0.0, 0.0, 0.0)
    x, y, z = (high - low for low, high in zip(label.bounding_box.min, label.bounding_box.max, strict=True))
    if min(x, y, z) < 0.0:
        raise ImportFailed("a box is inside out", where=where, why="min exceeds max", next_step="exchange the two")
    return (x, y, z)


def labelled(instance: NDArray[np.int32], means: NDArray[np.float32], objects: list[ObjectInstance], first: int) -> NDArray[np.int32]:
    """(N,) instances with those of Gaussians (N, 3) inside of an object's box set to ``first`` and on; of two boxes the smaller holds."""
    result = instance.copy()
    # Along one axis in order, so that a box looks at its own slice of millions.
    along = np.argsort(means[:, 0], kind="stable")
    x = means[along, 0].astype(np.float64)
    order = sorted(range(len(objects)), key=lambda k: -float(np.prod(objects[k].size)))
    for k in order:
        center, half = np.array(objects[k].center), 0.5 * np.array(objects[k].size)
        if not (half > 0.0).all():
            continue
        near = along[np.searchsorted(x, center[0] - half[0]) : np.searchsorted(x, center[0] + half[0], "right")]
        result[near[(np.abs(means[near] - center) <= half).all(axis=1)]] = first + k
    return result


def with_objects(semantics: Semantics, objects: list[ObjectInstance]) -> tuple[Semantics, int]:
    """Semantics with objects and an instance for each, and the first of those instances."""
    first = 1 + max((label.id for label in semantics.instances), default=0)
    numbers = count(first)
    instances = [*semantics.instances, *(InstanceLabel(id=next(numbers), category=item.category, object=item.id) for item in objects)]
    return semantics.model_copy(update={"objects": [*semantics.objects, *objects], "instances": instances}), first


def labels_of(world: World) -> dict[str, Any]:
    """``labels.json`` of a world's objects; what a model said of lifted or imported ones is said again."""
    recipe = world.manifest.recipe
    said = recipe.get("lifting", recipe.get("navarena", {})).get("predicted", {})
    labels = [_label(item, *said.get(item.id, (1.0, "ground_truth"))) for item in world.semantics.objects]
    return {"schema_version": SCHEMA_VERSION, "labels": labels}


def predicted(labels: Labels) -> dict[str, tuple[float, str]]:
    """Confidence and source of the labels that are not simply true, by id."""
    truth = (1.0, "ground_truth")
    return {str(label.instance_id): (label.confidence, label.source) for label in labels.labels if (label.confidence, label.source) != truth}


def _label(item: ObjectInstance, confidence: float, source: str) -> dict[str, Any]:
    half = 0.5 * np.abs(rotation_z(item.yaw_rad)) @ np.array(item.size)
    corners = {"min": np.array(item.center) - half, "max": np.array(item.center) + half}
    box = {name: np.round(corner, _DIGITS).tolist() for name, corner in corners.items()} if half.any() else None
    return {
        "instance_id": item.id,
        "category": item.category,
        "position": list(item.center),
        "bounding_box": box,
        "confidence": confidence,
        "source": source,
    }
