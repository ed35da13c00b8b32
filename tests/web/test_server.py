import urllib.request

import pytest

from portico.errors import StorageError, UserError
from portico.web import serve_folder


def test_a_run_folder_is_served_on_loopback(tmp_path):
    (tmp_path / "report.html").write_text("<p>who got there</p>")
    with serve_folder(tmp_path) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.url.endswith("/report.html")
        assert b"who got there" in urllib.request.urlopen(server.url, timeout=5).read()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StorageError, match="no such run folder"), serve_folder(tmp_path / "nope"):
        pass


def test_a_port_that_is_taken_is_named(tmp_path):
    with serve_folder(tmp_path) as server, pytest.raises(UserError, match="cannot listen"), serve_folder(tmp_path, port=server.port):
        pass
