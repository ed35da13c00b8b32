"""What a person sees who types the right thing, and who does not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hut import build

from portico.cli.main import main


@pytest.fixture
def portico(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["portico", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def hut(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    build(folder / "hut")
    suite = {"name": "hut", "worlds": [{"path": "hut"}], "tasks": {"exit": 2}, "budget": {"max_actions": 20}, "policies": ["stop", "random"]}
    (folder / "hut.yaml").write_text(yaml.safe_dump(suite))
    return folder


def test_a_folder_that_was_removed_beneath_one_is_no_reason_to_give_up(portico, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, out, _ = portico("--version")
    assert (code, out.split()[0]) == (0, "portico")


def test_help_teaches_the_way(portico):
    code, out, _ = portico("--help")
    assert code == 0
    for word in ("demo", "world", "episodes", "run", "score", "report", "tables", "compare", "view", "list", "doctor", "warmup"):
        assert word in out
    assert "world build -> episodes generate -> run -> report -> compare" in " ".join(out.split())


def test_without_arguments_it_shows_the_help(portico):
    _, out, err = portico()
    assert "Usage" in out + err


@pytest.mark.parametrize("kind", ["suites", "policies", "measures", "tasks", "embodiments", "recipes", "tracks"])
def test_list_shows_every_kind(portico, kind):
    code, out, _ = portico("list", kind)
    assert code == 0
    assert len(out.splitlines()) > 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("wrld",), "Did you mean 'world'"),
        (("list", "polcies"), "did you mean 'policies'"),
        (("run", "i2o2i-dmo"), "did you mean 'i2o2i-demo'"),
        (("run", "i2o2i-demo", "--robot", "spott"), "did you mean 'spot'"),
        (("run", "i2o2i-demo", "--track", "lidar"), "known tracks: rgb, rgbd"),
        (("run", "i2o2i-demo", "--workers", "0"), "--workers"),
        (("world", "build", "compsite"), "did you mean 'composite'"),
        (("world", "info", "/nowhere"), "this is not a world"),
        (("world", "import", "osm", "/nowhere.osm", "--out", "/tmp/never"), "/nowhere.osm"),
        (("episodes", "validate", "/nowhere.json", "/nowhere"), "there is no episode file"),
        (("score", "/nowhere"), "this is not a run folder"),
        (("report", "/nowhere"), "/nowhere"),
        (("view", "/nowhere"), "no such run folder"),
    ],
)
def test_a_mistake_exits_with_1_and_says_what_to_do(portico, arguments, words):
    code, out, err = portico(*arguments)
    assert code == 1
    assert words in out + err
    assert "Traceback" not in out + err


def test_a_run_from_a_suite_file_ends_with_tables_and_a_report(portico, hut, tmp_path):
    code, out, _ = portico("run", hut / "hut.yaml", "--out", tmp_path / "run", "--cache", tmp_path / "cache")
    assert code == 0
    assert "random" in out
    assert (tmp_path / "run" / "report.html").is_file()
    assert json.loads((tmp_path / "run" / "stop" / "summary.json").read_text())["measures"]["success"]["mean"] == 0.0
    code, out, _ = portico("score", tmp_path / "run" / "random")
    assert code == 0
    assert "0 records differ" in out
    code, out, _ = portico("compare", tmp_path / "run" / "stop", tmp_path / "run" / "random")
    assert code == 0
    assert "McNemar" in out


def test_privileged_policies_are_refused_unasked(portico, hut, tmp_path):
    code, _, err = portico("run", hut / "hut.yaml", "-p", "privileged/oracle-trajectory", "--out", tmp_path / "r", "--cache", tmp_path / "c")
    assert code == 1
    assert "--allow-privileged" in err


def test_an_output_that_cannot_be_written_is_named(portico, hut, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = portico("run", hut / "hut.yaml", "-p", "stop", "--out", tmp_path / "file" / "run", "--cache", tmp_path / "c")
    assert code == 1
    assert "cannot be written" in err


def test_episodes_are_generated_checked_and_calibrated(portico, hut, tmp_path):
    file = tmp_path / "e.json"
    code, out, _ = portico("episodes", "generate", hut / "hut", "--out", file, "--task", "exit", "--count", "2")
    assert code == 0
    assert "exit" in out
    code, out, _ = portico("episodes", "validate", file, hut / "hut", "--oracle")
    assert code == 0
    assert "oracle 100.0%" in out
    raw = json.loads(file.read_text())
    raw["episodes"][0]["start"]["position"] = [0.1, 4.0, 0.0]
    file.write_text(json.dumps(raw))
    code, out, _ = portico("episodes", "validate", file, hut / "hut")
    assert code == 1
    assert "start_blocked" in out


def test_a_world_is_exported(portico, hut, tmp_path):
    code, _, _ = portico("world", "export", hut / "hut", "--out", tmp_path)
    assert code == 0
    assert (tmp_path / "hut.glb").stat().st_size > 1000
    assert json.loads((tmp_path / "hut.json").read_text())["semantics"]["buildings"][0]["name"] == "Hut"


def test_python_m_portico_is_the_same_command():
    shown = subprocess.run([sys.executable, "-m", "portico", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("portico ")


def test_a_policy_in_the_folder_one_works_in_is_found_by_every_worker(hut, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from portico.interface import Move, PolicySpec\n\n\n"
        "class Mine:\n    spec = PolicySpec('mine')\n\n    def reset(self, brief):\n        pass\n\n"
        "    def act(self, observation):\n        return Move('turn_left')\n\n    def close(self):\n        pass\n"
    )
    command = [str(Path(sys.executable).with_name("portico")), "run", str(hut / "hut.yaml"), "-p", "mine:Mine", "--workers", "2", "--out", "run"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "mine:Mine" in ended.stdout
