"""The furniture catalogue: every piece is made of a few boxes and cylinders, and named by its category."""

from portico.build.indoor.furniture import bath, decor, devices, kitchen, public, seating, storage, tables
from portico.build.indoor.furniture.assembly import CATALOGUE, Model, make

__all__ = ["CATALOGUE", "Model", "bath", "decor", "devices", "kitchen", "make", "public", "seating", "storage", "tables"]
