"""Every example runs, as its own docstring says."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_looking_at_a_world(tmp_path, capsys):
    load("01_look_at_a_world").main(tmp_path)
    assert (tmp_path / "map.png").stat().st_size > 10_000
    assert "block-0007" in capsys.readouterr().out


@pytest.mark.slow
def test_bringing_a_policy(tmp_path, capsys):
    load("02_bring_your_policy").main(tmp_path)
    assert "5 episodes" in capsys.readouterr().out


@pytest.mark.slow
def test_a_real_map(tmp_path, capsys, shared):
    load("03_a_real_map").main(next((shared / "data" / "osm").glob("planet_*.osm")), tmp_path)
    assert "route-follower: success" in capsys.readouterr().out


@pytest.mark.slow
def test_serving_a_model(tmp_path, capsys):
    load("05_serve_a_model").main(tmp_path)
    said = capsys.readouterr().out
    assert "serving at ws://127.0.0.1:" in said
    assert "3 episodes" in said
