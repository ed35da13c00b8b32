"""Writes small OSM files for tests, positions in metres around a point."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from portico.build.osm.projection import LocalFrame


class Drawing:
    """Collects nodes, ways and relations; ``write`` makes an .osm file of them."""

    def __init__(self, latitude_deg: float = 47.0, longitude_deg: float = 8.0) -> None:
        self.frame = LocalFrame(latitude_deg, longitude_deg)
        self.lines: list[str] = []
        self._ids = iter(range(1, 100_000))

    def node(self, x: float, y: float, **tags: str) -> int:
        lon, lat = self.frame.to_geographic(np.array([[x, y]]))[0]
        return self.raw_node(f'lat="{lat:.9f}" lon="{(lon + 180.0) % 360.0 - 180.0:.9f}"', **tags)

    def raw_node(self, position: str, node_id: int | None = None, **tags: str) -> int:
        node_id = next(self._ids) if node_id is None else node_id
        self.lines.append(f'<node id="{node_id}" {position}>{_tags(tags)}</node>')
        return node_id

    def way(self, points: list[tuple[float, float]], *, closed: bool = False, refs: list[int] | None = None, **tags: str) -> int:
        refs = [self.node(x, y) for x, y in points] if refs is None else refs
        refs = [*refs, refs[0]] if closed else refs
        way_id = next(self._ids)
        nodes = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        self.lines.append(f'<way id="{way_id}">{nodes}{_tags(tags)}</way>')
        return way_id

    def relation(self, members: list[tuple[int, str]], **tags: str) -> int:
        relation_id = next(self._ids)
        rows = "".join(f'<member type="way" ref="{ref}" role="{role}"/>' for ref, role in members)
        self.lines.append(f'<relation id="{relation_id}">{rows}{_tags(tags)}</relation>')
        return relation_id

    def square(self, x: float, y: float, side: float, **tags: str) -> int:
        return self.way([(x, y), (x + side, y), (x + side, y + side), (x, y + side)], closed=True, **tags)

    def write(self, path: Path) -> Path:
        body = "\n".join(self.lines)
        path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6">\n{body}\n</osm>\n', encoding="utf-8")
        return path


def _tags(tags: dict[str, str]) -> str:
    return "".join(f"<tag k={quoteattr(k.replace('__', ':'))} v={quoteattr(v)}/>" for k, v in tags.items())
