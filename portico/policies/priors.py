"""What usually is where: common knowledge about rooms, streets and squares, not about any one world."""

from __future__ import annotations

from functools import cache

from portico.policies.place_words import SIGN_WORDS

#: Setting -> things that are usual there. Names are those of categories; what is in many settings tells little.
INDOORS: dict[str, str] = {
    "kitchen": "stove, kitchen counter, kitchen sink, kitchen cupboard, refrigerator, range hood, dishwasher, microwave, cooking pot, fruit bowl, coffee machine,"
    " kettle, toaster, bottle, trash can, stool",
    "dining room": "dining table, chair, fruit bowl, vase, pendant lamp, cupboard, bottle",
    "living room": "sofa, armchair, coffee table, tv, tv stand, bookshelf, rug, floor lamp, piano, pouf, aquarium, painting, side table, plant, vase, fireplace",
    "bedroom": "bed, nightstand, wardrobe, dresser, lamp, rug, mirror, pouf, painting, desk, desk lamp",
    "bathroom": "toilet, bathtub, shower, sink, washstand, towel rack, mirror, medicine cabinet, scale, laundry basket, toilet stall, hand dryer, trash can",
    "utility room": "washing machine, dryer, ironing board, laundry basket, cleaning cart, ladder, workbench, box, shelf, vacuum cleaner, bucket",
    "hall": "coat rack, umbrella stand, shoe rack, mirror, bench, door, exit sign, fire extinguisher, clock, plant, mailbox",
    "office": "desk, office chair, monitor, keyboard, laptop, desk lamp, filing cabinet, bookshelf, whiteboard, telephone, copier, trash can, books, mug, cabinet",
    "meeting room": "conference table, office chair, projector screen, whiteboard, tv, water cooler, plant",
    "reception": "reception desk, waiting bench, magazine rack, newspaper rack, plant, clock, water cooler, bulletin board, telephone, painting, sofa, coffee table",
    "store room": "shelf, box, crate, pallet, hand truck, ladder, cleaning cart, cabinet, freezer, basket, workbench, shopping cart",
    "shop": "store shelf, checkout counter, cash register, shopping cart, shopping baskets, produce stand, refrigerated case, freezer, display case, basket, vending machine",
    "cafe": "coffee counter, coffee machine, bar stool, round table, cafe chair, menu board, display case, pendant lamp, mug, chair, cash register",
    "clinic": "exam bed, hospital bed, medical cart, iv stand, wheelchair, medicine cabinet, scale, poster, waiting bench, stool, sink",
    "gym": "treadmill, exercise bike, dumbbell rack, weight bench, mirror, locker, water cooler, yoga mat",
    "class room": "desk, chair, blackboard, whiteboard, globe, poster, bookshelf, locker, projector screen",
    "guest room": "bed, nightstand, suitcase, wardrobe, tv, desk, lamp, armchair, painting, telephone",
}
OUTDOORS: dict[str, str] = {
    "street": "car, suv, van, pickup truck, motorcycle, bicycle, traffic light, traffic cone, stop sign, road closed sign, barrier, street lamp, fire hydrant,"
    " parking meter, bus shelter, bus stop sign, charging station, street sign, dumpster, curb, crosswalk, road",
    "pavement": "bench, mailbox, newspaper box, phone booth, trash can, recycling bin, bollard, bike rack, electrical box, parcel lockers, advertising column,"
    " sandwich board, planter, hedge, street lamp, fire hydrant, parking meter, sign, canopy, cafe table, cafe chair, parasol, umbrella, flower bed, vending machine",
    "square": "kiosk, food cart, fountain, flagpole, information board, bench, stone bench, stone stool, planter, chess table, statue, bicycle pump, drinking fountain,"
    " cafe table, parasol, park lamp, advertising column, plaza",
    "park": "tree, bush, hedge, flower bed, planting bed, park lamp, bench, picnic table, swing, slide, seesaw, sandbox, wooden trough, pond rim, water, grass, path,"
    " stone bench, stone stool, chess table, drinking fountain, trash can, bird bath, gazebo",
    "yard": "dumpster, pallet, crate, box, recycling bin, electrical box, hand truck, bicycle, trash can, parking",
}
#: Things of buildings themselves say nothing.
_FABRIC = frozenset(
    {"wall", "floor", "ceiling", "window", "door", "roof", "building", "stairs", "railing", "ceiling lamp", "room sign", "sidewalk", "shared road", "ramp"}
)
_MANY = 4
_FAR_APART = -0.35


def is_outdoors(category: str) -> bool | None:
    """Whether a kind of thing or place is reached outdoors; None where it may be either, or nobody knows."""
    if category in SIGN_WORDS:
        return True
    inside, outside = any(category in s for s in _things(False).values()), any(category in s for s in _things(True).values())
    return None if inside == outside else outside


def affinity(goal: str, seen: str) -> float:
    """How much a seen thing says that another is near: up to 1, and below 0 where the two are hardly ever together.

    Settings that both belong to count by how few each is in; things of buildings count nothing.
    """
    if seen in _FABRIC:
        return 0.0
    if goal in SIGN_WORDS:
        return {"sign": 0.6, "canopy": 0.5, "sandwich board": 0.5}.get(
            seen, 0.3 if "pavement" in _settings(seen) else -0.2 if "park" in _settings(seen) else 0.0
        )
    ours, theirs = _settings(goal), _settings(seen)
    if not ours or not theirs:
        return 0.0
    shared = ours & theirs
    if not shared:
        return _FAR_APART if len(theirs) < _MANY else 0.0
    return len(shared) / (len(ours | theirs))


@cache
def _things(outside: bool) -> dict[str, frozenset[str]]:
    return {setting: frozenset(" ".join(thing.split()) for thing in things.split(",")) for setting, things in (OUTDOORS if outside else INDOORS).items()}


@cache
def _settings(category: str) -> frozenset[str]:
    return frozenset(setting for outside in (False, True) for setting, things in _things(outside).items() if category in things)
