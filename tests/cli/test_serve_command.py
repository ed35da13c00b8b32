"""``portico serve``, ``portico list policies`` and ``portico run --timing`` as users meet them."""

import os
import subprocess
import sys

import pytest
from typer import BadParameter
from typer.testing import CliRunner

from portico.cli.main import application
from portico.errors import PolicyRefused, UnknownName, UserError
from portico.interface import PolicySpec
from portico.policies import describe
from portico.policies.serving.servers import is_loopback

ENTRY = [sys.executable, "-c", "from portico.cli.main import main; main()"]


class Weightless:
    """A policy whose library is not installed: not Portico's own that is missing."""

    spec = PolicySpec("weightless")
    reset = act = close = lambda self, *_: None

    def __init__(self):
        raise ModuleNotFoundError("No module named 'weights'")


class Leaving(Weightless):
    """One that ends the process it is made in."""

    def __init__(self):
        raise SystemExit(3)


def call(*arguments):
    return CliRunner().invoke(application(), list(arguments), standalone_mode=False)


def test_models_behind_wires_are_listed_without_being_imported():
    script = (
        "import sys; from portico.policies import describe; print(*describe()); print('portico.policies.remote.policy' in sys.modules, 'httpx' in sys.modules)"
    )
    names, imported = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"remote", "omninav", "omninav_fast", "socialnav", "uninavid", "lightnav", "poliformer", "navdp", "gnm", "vint", "nomad"} <= set(names.split())
    assert imported == "False False"
    assert "omninav_3view" in describe()["omninav"]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (("serve", "frontir", "--port", "0"), UnknownName, "frontier"),
        (("serve", "stop", "--port", "0", "--wire", "smoke"), UserError, "unknown wire"),
        (("serve", "stop", "--host", "256.1.1.1"), UserError, "cannot listen there"),
        (("serve", "stop", "--port", "70000"), BadParameter, "65535"),
        (("serve", "test_serve_command:Weightless", "--port", "0"), PolicyRefused, "No module named 'weights'"),
        (("serve", "test_serve_command:Leaving", "--port", "0"), PolicyRefused, "SystemExit: 3"),
        (("run", "i2o2i-demo", "--policy", "test_serve_command:Leaving"), PolicyRefused, "SystemExit: 3"),
        (("serve", "privileged/oracle-trajectory", "--port", "0"), PolicyRefused, "cannot be served"),
        (("run", "i2o2i-demo", "--policy", "stop", "--timing", "eternal"), UserError, "unknown timing"),
    ],
)
def test_mistakes_are_named(arguments, kind, words):
    result = call(*arguments)
    assert isinstance(result.exception, kind)
    assert words in str(result.exception)


def test_only_loopback_is_quiet():
    assert [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.168.1.5", "host.example")] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_serving_says_where_how_to_run_it_and_who_else_could(host, warned):
    command = [*ENTRY, "serve", "stop", "--host", host, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"})
    lines = [process.stdout.readline() for _ in range(3)]
    process.terminate()
    _, said = process.communicate(timeout=120)
    assert lines[0].startswith(f"stop at ws://{host}:")
    assert "--policy 'remote?url=ws://" in lines[1]
    assert ("reachable from other machines" in said) == warned
