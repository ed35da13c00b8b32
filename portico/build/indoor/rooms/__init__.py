"""Room grammar: what stands where in a room, by what the room is for."""

from portico.build.indoor.rooms import clinics, entrances, homes, offices, schools, shops
from portico.build.indoor.rooms.grammar import GRAMMAR

__all__ = ["GRAMMAR", "clinics", "entrances", "homes", "offices", "schools", "shops"]
