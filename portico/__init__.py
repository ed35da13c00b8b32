"""Portico: can a navigation policy get from a room, along the street, into another building, and where does it fail?"""

__version__ = "0.1.0"
