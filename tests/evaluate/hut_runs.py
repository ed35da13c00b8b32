"""Runs in the smallest world, for tests of what runs go through; and what must be the same however they went."""

import json
from collections.abc import Sequence
from pathlib import Path

import yaml
from hut import build

from portico.evaluate.prepare import prepare
from portico.evaluate.records import read_records, without_timing
from portico.evaluate.run import RunRequest
from portico.suites import load_suite

TASKS = {"exit": 4, "entrance": 4, "ovon": 2}


def suite_in(folder: Path, *, max_actions: int = 25, tasks: dict[str, int] = TASKS, huts: Sequence[str] = ("hut",)) -> Path:
    """A suite of ten episodes in each hut, below a folder; returns its file."""
    for name in huts:
        build(folder / name, name)
    body = {"name": "hut", "worlds": [{"path": name} for name in huts], "tasks": tasks, "budget": {"max_actions": max_actions}, "policies": ["random"]}
    (folder / "hut.yaml").write_text(yaml.safe_dump(body))
    return folder / "hut.yaml"


def prepared_for(file: Path):
    return prepare(load_suite(file), file.parent / "cache", relative_to=file.parent, announce=lambda _: None)


def request_for(file: Path, prepared, folder: Path, policy: str = "chaos_policies:Walker", **more) -> RunRequest:
    return RunRequest(load_suite(file), policy, folder, prepared, **more)


def outcome(folder: Path) -> tuple[list[str], bytes, dict[str, bytes]]:
    """Records without their timing, the summary and every trajectory, byte for byte."""
    records = [json.dumps(without_timing(r), sort_keys=True) for r in read_records(folder).values()]
    files = {path.name: path.read_bytes() for path in sorted((folder / "trajectories").glob("*.npz")) if not path.name.endswith(".tmp.npz")}
    return records, (folder / "summary.json").read_bytes(), files


def read_json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))
