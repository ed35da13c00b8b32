"""Gaussians in glTF: .spz blocks inside a GLB or glTF, placed by the nodes of the scene.

Extensions: KHR_spz_gaussian_splats_compression, and the names that its later drafts carry. The result is in the axes of glTF: y up.
Blocks whose .spz states its axes are turned to glTF's left, up, front, as the extension asks; others are taken as written.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from portico.build.splats.capture import Capture, sound_gaussians
from portico.build.splats.read_spz import axes_to_rdf, read_spz
from portico.build.splats.turn import turned
from portico.errors import ImportFailed
from portico.world.gaussians import Gaussians

GLB_MAGIC = b"glTF"
_EXTENSIONS = (
    "KHR_spz_gaussian_splats_compression",
    "KHR_spz_compression",
    "KHR_gaussian_splatting_compression_spz",
    "KHR_gaussian_splatting_compression_spz_2",
)
_JSON_CHUNK, _BIN_CHUNK = 0x4E4F534A, 0x004E4942


def read_gltf(path: Path) -> Capture:
    """All Gaussians of a GLB or glTF file, in the scene's frame.

    Raises:
        ImportFailed: when the file is damaged, holds no .spz block, or a node stretches or mirrors its block.
    """
    data = path.read_bytes()
    binary = data[:4] == GLB_MAGIC
    try:
        document, chunk = _glb_chunks(data, str(path)) if binary else (json.loads(data), b"")
        parts: list[Gaussians] = []
        formats: list[str] = []
        remarks: list[str] = []
        for view, T_scene_node, name in _blocks(document):
            where = f"{path}, node {name}"
            content = read_spz(_buffer_view(document, view, chunk, path), where)
            gaussians, notes = sound_gaussians(content.columns, where)
            T_gltf_block = np.linalg.inv(axes_to_rdf("LUF")) @ axes_to_rdf(content.axes) if content.axes else np.eye(4)
            parts.append(_placed(gaussians, T_scene_node @ T_gltf_block, where))
            formats.append(f"spz {content.version}")
            remarks += notes
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise _damaged(str(path), f"{type(error).__name__}: {error}") from error
    if not parts:
        raise ImportFailed(
            "the glTF file holds no Gaussians",
            where=str(path),
            why=f"no primitive has the extension {_EXTENSIONS[0]}",
            next_step="give a capture; a mesh can only go with one: `portico world import splat CAPTURE --mesh MESH`",
        )
    kind = "glb" if binary else "gltf"
    return Capture(_joined(parts), f"{kind}, {formats[0]}", tuple(remarks), up="y")


def _damaged(where: str, why: str) -> ImportFailed:
    return ImportFailed("the glTF file is damaged", where=where, why=why, next_step="download or export the file again")


def _glb_chunks(data: bytes, where: str) -> tuple[dict[str, Any], bytes]:
    """The document and the binary chunk of a GLB."""
    if len(data) < 20 or struct.unpack_from("<I", data, 8)[0] > len(data):
        raise _damaged(where, f"truncated: {len(data):,} bytes are fewer than its header declares")
    at, chunks = 12, dict[int, bytes]()
    while at + 8 <= len(data):
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > len(data):
            raise _damaged(where, "truncated: a chunk ends behind the end of the file")
        chunks.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    if _JSON_CHUNK not in chunks:
        raise _damaged(where, "it has no JSON chunk")
    return json.loads(chunks[_JSON_CHUNK]), chunks.get(_BIN_CHUNK, b"")


def _blocks(document: dict[str, Any]) -> Iterator[tuple[int, NDArray[np.float64], str]]:
    """(buffer view, T_scene_node, node name) of every .spz block that the scene shows."""
    nodes = document.get("nodes", [])
    scenes = document.get("scenes")
    children = {child for node in nodes for child in node.get("children", [])}
    roots = scenes[document.get("scene", 0)].get("nodes", []) if scenes else [i for i in range(len(nodes)) if i not in children]
    pending, visited = [(index, np.eye(4)) for index in roots], set()
    while pending:
        index, T_scene_parent = pending.pop(0)
        if index in visited:
            raise ValueError(f"node {index} is placed twice")
        visited.add(index)
        node = nodes[index]
        T_scene_node = T_scene_parent @ _node_transform(node)
        pending += [(child, T_scene_node) for child in node.get("children", [])]
        if "mesh" in node:
            for primitive in document["meshes"][node["mesh"]]["primitives"]:
                for view in _compressed_views(primitive):
                    yield view, T_scene_node, str(node.get("name", index))


def _compressed_views(primitive: dict[str, Any]) -> list[int]:
    """Buffer views of a primitive's .spz, written directly or inside KHR_gaussian_splatting."""
    outer = primitive.get("extensions", {})
    inner = outer.get("KHR_gaussian_splatting", {}).get("extensions", {})
    return [int(place[name]["bufferView"]) for place in (outer, inner) for name in _EXTENSIONS if name in place]


def _node_transform(node: dict[str, Any]) -> NDArray[np.float64]:
    """T_parent_node, (4, 4)."""
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(node.get("rotation", (0.0, 0.0, 0.0, 1.0))).as_matrix() * np.array(node.get("scale", (1.0, 1.0, 1.0)))
    T[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return T


def _buffer_view(document: dict[str, Any], index: int, chunk: bytes, path: Path) -> bytes:
    view = document["bufferViews"][index]
    buffer = document["buffers"][view["buffer"]]
    content = _external(buffer["uri"], path) if "uri" in buffer else chunk
    start = view.get("byteOffset", 0)
    block = content[start : start + view["byteLength"]]
    if len(block) < view["byteLength"]:
        raise _damaged(f"{path}, buffer view {index}", f"truncated: it should hold {view['byteLength']:,} bytes and holds {len(block):,}")
    return block


def _external(uri: str, path: Path) -> bytes:
    """Bytes of a data URI, or of a file beside the document."""
    if uri.startswith("data:"):
        try:
            return base64.b64decode(uri.partition(",")[2], validate=True)
        except binascii.Error as error:
            raise _damaged(str(path), f"its data URI is not base64: {error}") from error
    folder = path.parent.resolve()
    file = (folder / unquote(uri)).resolve()
    if not file.is_relative_to(folder):
        raise _damaged(str(path), f"its buffer {uri} lies outside the folder of the file")
    try:
        return file.read_bytes()
    except OSError as error:
        raise ImportFailed("a buffer of the glTF file is missing", where=str(file), why=str(error), next_step="keep the .gltf and its .bin together") from error


def _placed(gaussians: Gaussians, T_scene_block: NDArray[np.float64], where: str) -> Gaussians:
    try:
        return turned(gaussians, T_scene_block)
    except ImportFailed as error:
        raise ImportFailed(error.what, where=where, why=error.why, next_step=error.next_step) from error


def _joined(parts: list[Gaussians]) -> Gaussians:
    """One after the other; lower degrees are filled up with zeros."""
    if len(parts) == 1:
        return parts[0]
    most = max(part.sh.shape[1] for part in parts)
    sh = [np.pad(part.sh, ((0, 0), (0, most - part.sh.shape[1]), (0, 0))) for part in parts]
    together = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("means", "rotations_wxyz", "scales_m", "opacity", "instance")}
    return Gaussians(sh=np.concatenate(sh), **together)
