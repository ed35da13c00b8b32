"""NavArena's scene assets, version 1: folders of a manifest, an aligned capture, a navigation map and labels; both ways.

Format: NavArena's data documentation. Files have fixed names; ground lies at z = 0, z up, metres.
"""

from portico.build.navarena.assets import ids_beside, read_asset, scene_id
from portico.build.navarena.exporter import ExportedAsset, export_navarena
from portico.build.navarena.importer import ImportedAsset, import_navarena

__all__ = ["ExportedAsset", "ImportedAsset", "export_navarena", "ids_beside", "import_navarena", "read_asset", "scene_id"]
