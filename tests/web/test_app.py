"""What the viewer answers, without a browser."""

import html
import http.client
import io
import json
import os
import re
import shutil
from dataclasses import asdict

import numpy as np
import pytest
from PIL import Image

from portico.interface import Camera

ONE = "corner--outdoor-0--0"


def page(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[:2000]
    return answer.text


def test_the_table_shows_every_episode_of_every_run(client):
    text = page(client, "/")
    assert text.count('<td class="c-outcome"') == 22
    assert "chain" in text
    assert "privileged/oracle-trajectory" in text
    assert "<b>22</b>" in text


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("?run=chain", 11),
        ("?run=chain&task=i2o2i", 2),
        ("?task=i2o2i&status=error", 1),
        ("?world=corner", 22),
        ("?world=nowhere", 0),
        ("?q=OUTDOOR", 2),
        ("?stage=exit&run=chain", 3),
        ("?label=premature_stop&task=exit", 2),
        ("?nonsense=1&page=99999999999999999999", 22),
    ],
)
def test_filters_leave_what_they_say(client, query, rows):
    text = page(client, "/" + query)
    assert text.count('<td class="c-outcome"') == rows
    assert ("No episode is like that" in text) == (rows == 0)


def test_runs_stand_side_by_side_on_the_same_question(client):
    text = page(client, "/?by=question&differ=1")
    assert text.count('<th scope="row">') < 11
    assert "?by=question&amp;differ=1&amp;with=oracle" in text or "&amp;with=oracle" in text
    both = page(client, f"/e/chain/{ONE}?with=oracle")
    assert both.count('class="sight"') == 2
    assert both.count('class="robot ') == 2


def test_an_episode_says_what_was_asked_what_happened_and_why(client):
    text = page(client, f"/e/chain/{ONE}?step=20")
    assert "Follow the route to the goal." in text
    assert "Never reached the goal" in text
    assert 'class="g contact"' in text
    assert "navigation error" in text
    assert "60 actions" in text
    assert f"/frame/chain/{ONE}/20.jpg" in text
    assert "10.0 s · action 20 of" in text


def test_a_map_lies_behind_the_way_and_the_robot_stands_where_it_was(client):
    text = page(client, f"/e/chain/{ONE}?step=0")
    picture = Image.open(io.BytesIO(client.get(re.search(r'href="(/map/[^"]+)"', text).group(1).replace("&amp;", "&")).content))
    assert picture.size == tuple(map(int, re.search(r'<image class="sheet" width="(\d+)" height="(\d+)"', text).groups()))
    light = np.asarray(picture.convert("L"), float)

    def underfoot(step: int) -> float:
        robot = re.search(r'data-track="0" transform="translate\(([\d.]+) ([\d.]+)\)', page(client, f"/e/chain/{ONE}?step={step}"))
        column, row = (int(float(v)) for v in robot.groups())
        return float(light[row - 3 : row + 4, column - 3 : column + 4].mean())

    # After 24 steps of 25 cm it walks on the dark lane, after 40 on the bright crosswalk.
    assert underfoot(40) > underfoot(24) + 40


def test_frames_are_drawn_from_the_recorded_pose(client):
    first, again, later, draft = (client.get(f"/frame/chain/{ONE}/{tail}") for tail in ("0.jpg", "0.jpg", "30.jpg", "0.jpg?draft=1"))
    assert Image.open(io.BytesIO(first.content)).size == (640, 480)
    assert first.content == again.content
    assert first.content != later.content
    smooth, rough = (np.asarray(Image.open(io.BytesIO(a.content)), float) for a in (first, draft))
    assert 0 < np.abs(smooth - rough).mean() < 12


def test_a_policy_that_brought_its_own_cameras_is_shown_what_it_saw(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    header = json.loads((run / "run.json").read_text())
    header["cameras"] = [asdict(Camera("mine", 320, 320, z=1.2))]
    (run / "run.json").write_text(json.dumps(header))
    client = client_of(run)
    assert 'width="320" height="320"' in page(client, f"/e/chain/{ONE}")
    assert Image.open(io.BytesIO(client.get(f"/frame/chain/{ONE}/0.jpg").content)).size == (320, 320)


def test_one_can_look_through_each_camera_of_a_robot_with_several(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    header = json.loads((run / "run.json").read_text())
    header["cameras"] = [asdict(Camera("ahead", 320, 320, z=1.2)), asdict(Camera("to the left", 240, 180, z=1.2, yaw_rad=1.57))]
    (run / "run.json").write_text(json.dumps(header))
    client = client_of(run)
    text = page(client, f"/e/chain/{ONE}?step=3&camera=to+the+left")
    address = html.unescape(re.search(rf'src="(/frame/chain/{ONE}/3.jpg[^"]*)"', text)[1])
    ahead, left, unknown = (client.get(at).content for at in (f"/frame/chain/{ONE}/3.jpg", address, f"/frame/chain/{ONE}/3.jpg?camera=none"))
    assert Image.open(io.BytesIO(left)).size == (240, 180)
    assert ahead == unknown
    chosen = re.findall(r'<a href="([^"]*)" aria-current="true">to the left</a>', text)
    assert "camera=to+the+left" in chosen[0]
    assert f'href="/e/chain/{ONE}?step=3&amp;camera=ahead"' in text


def test_the_picture_that_is_to_be_found_is_shown(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    file = run / "episodes" / "corner.json"
    episodes = json.loads(file.read_text())
    stage = next(e for e in episodes["episodes"] if e["id"] == "outdoor-0")["stages"][0]
    stage |= {"kind": "image", "goal": stage["goal"], "goal_yaw_rad": 0.5}
    file.write_text(json.dumps(episodes))
    client = client_of(run)
    address = re.search(rf'src="(/goal/chain/{ONE}/0.jpg[^"]*)"', page(client, f"/e/chain/{ONE}"))[1]
    assert Image.open(io.BytesIO(client.get(address).content)).size == (640, 480)
    assert client.get(f"/goal/chain/{ONE}/1.jpg", headers={"accept": "image/*"}).status_code == 422
    assert "/goal/" not in page(client_of(corner.runs), f"/e/chain/{ONE}")


def test_records_of_another_run_are_left_out_and_counted(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    stranger = json.loads((run / "records" / "rank-00000.jsonl").read_text().splitlines()[0])
    for change in ({"suite": "another"}, {"episode": "never-asked"}):
        with open(run / "records" / "rank-00009.jsonl", "a") as file:
            file.write(json.dumps({**stranger, "key": {**stranger["key"], **change}}) + "\n")
    text = page(client_of(run), "/")
    assert "11 of 11 recorded" in text
    assert "2 of another run left out" in text
    assert "never-asked" not in text


def test_a_state_that_was_not_recorded_is_refused(client):
    for state in ("100000", "-1"):
        answer = client.get(f"/frame/chain/{ONE}/{state}.jpg", headers={"accept": "image/*"})
        assert answer.status_code == 422
        assert answer.json()["what"] == "there is no such state"


def test_records_and_trajectories_can_be_taken_along(client, corner):
    answer = client.get(f"/record/chain/{ONE}.json")
    assert answer.json()["key"]["episode"] == "outdoor-0"
    assert "attachment" in answer.headers["content-disposition"]
    assert client.get(f"/trajectory/chain/{ONE}.npz").content == (corner.runs / "chain" / "trajectories" / f"{ONE}.npz").read_bytes()


def test_reports_and_run_files_stay_reachable(client, corner):
    assert '/report/oracle"' in page(client, "/")
    answer = client.get("/report/oracle")
    assert "who got there" in answer.text
    assert "sandbox" in answer.headers["content-security-policy"]
    assert client.get("/files/chain/run.json").json() == json.loads((corner.runs / "chain" / "run.json").read_text())
    assert client.get("/files/chain/records/rank-00000.jsonl").status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/files/chain/../oracle/run.json",
        "/files/chain/..%2foracle%2frun.json",
        "/files/chain/%2e%2e/%2e%2e/worlds/corner/world.json",
        "/files/chain//etc/passwd",
        "/files/chain/records/..%2f..%2f..%2fworlds",
        "/files/chain/.lock",
        "/files/../runs/chain/run.json",
        "/trajectory/chain/..%2f..%2foracle.npz",
        "/record/nobody/x.json",
        "/e/chain/corner--nothing--0",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/reports/7",
    ],
)
def test_nothing_else_is_handed_out(client, address):
    # As it stands: clients tidy addresses up before they send them.
    wire = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=60)
    wire.request("GET", address)
    assert wire.getresponse().status == 404
    wire.close()


def test_links_that_lead_out_of_a_run_are_not_followed(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    for name in ("summary.json", "report.html", f"trajectories/{ONE}.npz"):
        (run / name).unlink(missing_ok=True)
        os.symlink(secret, run / name)
    client = client_of(run)
    for address in ("/files/chain/summary.json", "/report/chain", f"/trajectory/chain/{ONE}.npz"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "a secret" not in answer.text


def test_pages_of_other_names_are_not_answered(client):
    assert client.get("/", headers={"host": "rebound.example:7575"}).status_code == 400
    assert client.get("/", headers={"host": "localhost:9000"}).status_code == 200


def test_nothing_comes_from_elsewhere(client):
    for address in ("/", f"/e/chain/{ONE}", f"/e/chain/{ONE}?with=oracle"):
        answer = client.get(address)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r'(?:src|href)="(?:https?:)?//', answer.text)
        assert not re.search(r'\sstyle="', answer.text)


def test_names_are_text_whatever_they_hold(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "a b&c<i>%")
    header = json.loads((run / "run.json").read_text())
    header["policy"] = "<script>alert(1)</script>"
    (run / "run.json").write_text(json.dumps(header))
    client = client_of(run)
    text = page(client, "/")
    assert "<script>alert" not in text
    address = re.search(r'<th scope="row" class="c-episode"><a href="([^"]+)"', text).group(1).replace("&amp;", "&")
    inside = page(client, address)
    assert "<script>alert" not in inside
    assert client.get(re.search(r'href="(/record/[^"]+)"', inside).group(1)).status_code == 200


def test_without_its_world_an_episode_still_has_its_way_and_the_command_that_brings_it_back(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    header = json.loads((run / "run.json").read_text())
    header["worlds"]["corner"]["folder"] = "worlds/block 7"
    header["suite"]["worlds"] = [{"recipe": "composite", "seed": 7, "params": {"size_m": 130}, "path": None, "split": None}]
    (run / "run.json").write_text(json.dumps(header))
    client = client_of(run)
    text = page(client, f"/e/chain/{ONE}")
    assert "World corner is not shown" in text
    assert "portico world build composite --seed 7 --set size_m=130 --out &#39;worlds/block 7&#39;" in text
    assert 'class="way outdoor"' in text
    assert "<image" not in text
    assert "the world is not on disk" in text
    assert client.get(f"/frame/chain/{ONE}/0.jpg").status_code in (404, 422)
    there = client_of(run, worlds=corner.world.parent)
    assert f"/frame/chain/{ONE}/0.jpg" in page(there, f"/e/chain/{ONE}")


def test_what_is_missing_or_damaged_is_said_in_its_place(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    (run / "trajectories" / f"{ONE}.npz").write_bytes(b"half a file")
    (run / "trajectories" / "corner--exit-0--0.npz").unlink()
    client = client_of(run)
    assert "cannot be read" in page(client, f"/e/chain/{ONE}")
    assert "trajectory of this episode is gone" in page(client, "/e/chain/corner--exit-0--0")
    (run / "episodes" / "corner.json").write_text("{")
    assert "episode file is gone or damaged" in page(client_of(run), "/e/chain/corner--exit-1--0")


def test_an_error_shows_its_message_and_no_way(client):
    text = page(client, "/e/chain/corner--i2o2i-1--0")
    assert "the policy failed in act()" in text
    assert "nothing was recorded" in text


def test_a_run_that_is_being_written_shows_what_is_there_and_looks_again(corner, client_of, tmp_path):
    run = shutil.copytree(corner.runs / "chain", tmp_path / "chain")
    file = run / "records" / "rank-00000.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]) + lines[4][:50])
    client = client_of(run)
    text = page(client, "/")
    assert text.count('<td class="c-outcome"') == 4
    assert "4 of 11 recorded" in text
    assert "1 torn line left out" in text
    assert "being written" in text
    assert '<noscript><meta http-equiv="refresh"' in text
    file.write_bytes(b"".join(lines))
    text = page(client, "/")
    assert text.count('<td class="c-outcome"') == 11
    assert "being written" not in text


def test_steps_can_be_taken_without_a_script(client):
    text = page(client, f"/e/chain/{ONE}?step=5&task=outdoor")
    for step in (0, 4, 6, 15):
        assert f'href="/e/chain/{ONE}?task=outdoor&amp;step={step}"' in text
    assert 'rel="next"' in text


def test_something_wrong_in_an_address_is_a_page_not_a_traceback(client):
    assert "There is no such run here" in client.get("/e/nobody/x").text
    assert client.get(f"/map/chain/{ONE}/0.jpg?box=nan,0,1,1&px=100").status_code == 422
    assert client.get(f"/map/chain/{ONE}/0.jpg?box=0,0,1,1&px=100000").status_code == 422
    assert page(client, f"/e/chain/{ONE}?step=many&level=up&with=nobody,chain")
