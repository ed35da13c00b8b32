"""What each kind of building holds: units by width along a corridor, and which of them a storey needs or may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Unit:
    """A stretch of a corridor's side: one room, or a flat or guest suite of several.

    Attributes:
        min_m, max_m: along the corridor. min_depth_m: away from it.
        at_most: on one storey. weight: how often it is picked among the optional ones.
    """

    category: str
    min_m: float
    max_m: float
    min_depth_m: float = 2.4
    at_most: int = 40
    weight: float = 1.0


UNITS: dict[str, Unit] = {
    u.category: u
    for u in (
        Unit("office", 2.9, 4.4, 2.9, 10, 3.0),
        Unit("open office", 6.0, 11.0, 4.0, 2),
        Unit("meeting room", 3.6, 5.6, 3.2, 2),
        Unit("conference room", 5.0, 7.5, 4.0, 1),
        Unit("kitchenette", 2.8, 3.6, 2.4, 1),
        Unit("print room", 2.4, 3.2, 2.4, 1),
        Unit("server room", 2.5, 3.4, 2.4, 1),
        Unit("storage", 2.4, 3.2, 2.4, 2, 0.5),
        Unit("restroom", 2.5, 3.4, 2.4, 2),
        Unit("lounge", 4.0, 6.5, 3.0, 1),
        Unit("flat", 7.4, 11.0, 3.2, weight=4.0),
        Unit("laundry room", 2.6, 3.6, 2.4, 1),
        Unit("gym", 4.0, 6.5, 3.6, 1),
        Unit("classroom", 6.2, 8.8, 4.2, 8, weight=4.0),
        Unit("library", 6.0, 9.0, 4.0, 1),
        Unit("computer lab", 6.0, 8.5, 4.0, 1),
        Unit("music room", 5.0, 7.0, 4.0, 1),
        Unit("art room", 5.5, 8.0, 4.0, 1),
        Unit("staff room", 3.6, 5.5, 3.0, 1),
        Unit("guest suite", 4.1, 4.9, 3.2, weight=6.0),
        Unit("dining room", 6.0, 9.0, 4.0, 1),
        Unit("exam room", 2.9, 3.8, 2.9, 12, weight=4.0),
        Unit("doctor's office", 3.0, 4.2, 3.0, 3, weight=1.5),
        Unit("laboratory", 3.8, 5.5, 3.0, 1),
        Unit("ward", 5.0, 7.5, 4.0, 4, weight=2.0),
        Unit("pharmacy", 3.6, 5.0, 3.0, 1),
        Unit("nurses' station", 3.2, 4.6, 2.6, 1),
        Unit("kitchen", 3.2, 5.0, 2.6, 1),
        Unit("stockroom", 4.5, 12.0, 2.4, 2, 3.0),
        Unit("cold room", 2.6, 3.6, 2.4, 1),
    )
}


@dataclass(frozen=True)
class Storey:
    """What a storey must have where it fits, and may have where there is room left."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    service: tuple[str, ...] = ("restroom", "storage")


@dataclass(frozen=True)
class Program:
    """A kind of building.

    Attributes:
        layout: "spine" has rooms along corridors, "hall" one large room with service rooms at the back.
        hall, upper_hall: what is behind the entrance, and what lies above it.
        min_width_m, min_depth_m: of the smallest lot. double_from_m: depth from which two corridors flank a core.
        shopfront: glazed from knee height.
    """

    layout: Literal["spine", "hall"]
    hall: str
    ground: Storey
    upper: Storey
    min_width_m: float
    min_depth_m: float
    upper_hall: str = "lounge"
    hall_m: tuple[float, float] = (5.0, 8.0)
    corridor_m: float = 2.0
    double_from_m: float = 17.5
    shopfront: bool = False


PROGRAMS: dict[str, Program] = {
    "office": Program(
        "spine",
        "lobby",
        Storey(
            ("meeting room", "kitchenette", "restroom", "office", "office"),
            ("office", "open office", "print room", "meeting room"),
            ("restroom", "storage", "server room", "print room", "storage"),
        ),
        Storey(
            ("conference room", "open office", "restroom", "office"),
            ("office", "meeting room", "open office", "kitchenette"),
            ("restroom", "storage", "print room", "storage"),
        ),
        12.0,
        9.0,
        double_from_m=16.4,
    ),
    "apartments": Program(
        "spine",
        "lobby",
        Storey(("flat", "laundry room"), ("flat", "gym", "storage"), ("laundry room", "storage", "storage")),
        Storey(("flat", "flat"), ("flat", "storage"), ("storage", "laundry room", "storage")),
        12.0,
        9.0,
        hall_m=(3.6, 5.5),
        corridor_m=1.9,
        double_from_m=19.5,
    ),
    "school": Program(
        "spine",
        "lobby",
        Storey(("classroom", "staff room", "restroom", "library"), ("classroom", "office", "art room"), ("restroom", "storage", "print room")),
        Storey(("classroom", "computer lab", "music room", "restroom"), ("classroom", "office"), ("restroom", "storage", "storage")),
        14.0,
        10.0,
        corridor_m=2.6,
        double_from_m=21.0,
    ),
    "hotel": Program(
        "spine",
        "lobby",
        Storey(("dining room", "kitchen", "restroom", "office"), ("guest suite", "storage", "gym"), ("storage", "laundry room", "restroom")),
        Storey(("guest suite", "guest suite", "guest suite"), ("guest suite", "storage"), ("storage", "laundry room")),
        14.0,
        9.5,
        hall_m=(6.0, 9.0),
        corridor_m=1.9,
        double_from_m=19.0,
    ),
    "clinic": Program(
        "spine",
        "waiting room",
        Storey(
            ("exam room", "exam room", "doctor's office", "restroom", "laboratory", "pharmacy"),
            ("exam room", "doctor's office", "storage"),
            ("restroom", "storage", "storage"),
        ),
        Storey(("ward", "nurses' station", "exam room", "restroom"), ("ward", "exam room", "doctor's office"), ("restroom", "storage", "laundry room")),
        13.0,
        9.5,
        hall_m=(5.5, 8.0),
        corridor_m=2.2,
        double_from_m=17.0,
    ),
    "cafe": Program(
        "hall",
        "cafe",
        Storey(("kitchen", "restroom"), ("storage", "office", "restroom")),
        Storey(("restroom",), ("office", "storage", "meeting room")),
        8.0,
        8.0,
        upper_hall="cafe lounge",
        shopfront=True,
    ),
    "supermarket": Program(
        "hall",
        "sales floor",
        Storey(("stockroom", "cold room", "staff room", "restroom"), ("stockroom", "office")),
        Storey(("restroom", "kitchenette"), ("office", "meeting room", "storage")),
        12.0,
        10.0,
        upper_hall="open office",
        shopfront=True,
    ),
}
