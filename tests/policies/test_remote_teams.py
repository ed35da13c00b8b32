"""Teams of policies that bring cameras of their own: each is shown its own under the names it knows, and nobody another's."""

from dataclasses import replace
from math import pi

import pytest
from model_servers import brief, observation, stage

from portico.interface import Camera, Move, PolicyFailure, PolicySpec
from portico.policies.own_cameras import cameras_of, each_with_its_own
from portico.robots import embodiment
from portico.sim import Simulator

EXIT, OUTDOOR = stage("exit"), stage("outdoor")
WIDE = (Camera("left", 24, 16, yaw_rad=pi / 2, z=0.9), Camera("front", 24, 16, z=0.9))
ROBOT = (Camera("front", 64, 48, z=0.6),)


class Looking:
    def __init__(self, name, cameras=(), needs=("rgb",)):
        self.spec = PolicySpec(name, needs=frozenset(needs), cameras=cameras)
        self.told, self.seen = None, None

    def reset(self, brief):
        self.told = brief.cameras

    def act(self, observation):
        self.seen = {name: (frame.camera, frame.rgb.shape) for name, frame in observation.frames.items()}
        return Move("forward")

    def close(self):
        self.seen = "closed"


def team():
    members = {"exit": Looking("omninav", WIDE), "outdoor": Looking("plain"), "entrance": Looking("omninav", WIDE[1:])}
    members["ovon"] = members["exit"]
    return members, each_with_its_own(members)


def test_members_without_cameras_of_their_own_are_left_alone():
    members = {"exit": Looking("a"), "ovon": Looking("b")}
    assert each_with_its_own(members) == members
    assert cameras_of(members) == ((), True)


def test_cameras_get_their_members_name_on_the_robot_and_members_stay_one():
    _, shown = team()
    cameras, keeps = cameras_of(shown)
    assert [c.name for c in cameras] == ["omninav/left", "omninav/front", "omninav-2/front"]
    assert keeps
    assert shown["exit"] is shown["ovon"]


def test_everybody_sees_what_is_theirs_under_the_names_they_know():
    members, shown = team()
    cameras, _ = cameras_of(shown)
    on_robot = (*ROBOT, *cameras)
    for kind, own in (("exit", WIDE), ("outdoor", ROBOT), ("entrance", WIDE[1:])):
        shown[kind].reset(brief(on_robot, EXIT))
        assert members[kind].told == own
        shown[kind].act(observation(on_robot, EXIT, 0))
        assert members[kind].seen == {c.name: (c, (c.height, c.width, 3)) for c in own}
        with pytest.raises(PolicyFailure):
            shown[kind].observe(observation(on_robot, EXIT, 1))
        shown[kind].close()
        assert members[kind].seen == "closed"


def test_a_team_that_never_looks_needs_no_camera_of_the_robots():
    assert cameras_of({"exit": Looking("a", WIDE), "ovon": Looking("b", needs=())})[1] is False


def test_the_simulator_mounts_both(tmp_path):
    from hut import build

    from portico.world import load

    build(tmp_path / "hut")
    world, body = load(tmp_path / "hut"), embodiment("spot")
    assert Simulator(world, body, cameras=WIDE).cameras == WIDE
    both = Simulator(world, body, cameras=WIDE, keeps_cameras=True, image_size=(32, 24)).cameras
    assert both == (replace(body.cameras[0], width=32, height=24), *WIDE)
