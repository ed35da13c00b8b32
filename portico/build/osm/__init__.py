"""Worlds from OpenStreetMap: reads an extract, lays out its streets and buildings, and says what it did."""

from portico.build.osm.importer import ImportedWorld, import_osm
from portico.build.osm.report import ImportReport, Remark

__all__ = ["ImportReport", "ImportedWorld", "Remark", "import_osm"]
