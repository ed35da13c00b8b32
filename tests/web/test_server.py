import builtins
import socket

import httpx
import pytest

from portico.errors import SuiteError, UserError
from portico.web import serve_runs
from portico.web.server import is_loopback


def test_runs_are_served_on_loopback(corner):
    with serve_runs([corner.runs]) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/"
        assert httpx.get(server.url, timeout=60).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url, timeout=5)


def test_a_folder_that_is_not_there_or_holds_no_run_is_named(tmp_path, corner):
    with pytest.raises(SuiteError, match="no such run folder"), serve_runs([tmp_path / "nope"]):
        pass
    with pytest.raises(SuiteError, match="holds no run"), serve_runs([tmp_path]):
        pass
    with pytest.raises(SuiteError, match="did you mean the run above it"), serve_runs([corner.runs / "chain" / "records"]):
        pass


def test_a_port_that_is_taken_is_named(corner):
    with (
        serve_runs([corner.runs]) as server,
        pytest.raises(UserError, match=rf"127\.0\.0\.1:{server.port}[\s\S]*--port"),
        serve_runs([corner.runs], port=server.port),
    ):
        pass


def test_a_host_of_another_machine_is_refused(corner):
    with pytest.raises(UserError, match="cannot listen"), serve_runs([corner.runs], host="192.0.2.1"):
        pass


def test_missing_packages_are_told_with_the_command(corner, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "uvicorn":
            raise ModuleNotFoundError("No module named 'uvicorn'", name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r'pip install "portico-nav\[web\]"'), serve_runs([corner.runs]):
        pass


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("10.0.0.3", False), ("example.org", False)]
)
def test_what_only_this_machine_reaches(host, own):
    assert is_loopback(host) == own


def test_other_names_are_answered_only_when_it_listens_to_others(corner):
    with serve_runs([corner.runs], host="0.0.0.0") as server:
        assert httpx.get(server.url, headers={"host": f"{socket.gethostname()}:{server.port}"}, timeout=60).status_code == 200
