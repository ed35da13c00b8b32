"""The simulator: what it hands out, when it releases it, and that it does the same thing twice."""

import numpy as np
import pytest
from hut import build

from portico.errors import EpisodeError
from portico.geometry import Pose
from portico.interface import Move, Stop, Velocity, Waypoints
from portico.robots import embodiment, make_robot
from portico.sim import Simulator
from portico.space import build_space
from portico.tasks.episode import Budget, Episode, StageSpec, Start
from portico.tasks.replay import replay
from portico.world import load


@pytest.fixture(scope="module")
def hut(tmp_path_factory):
    return load(build(tmp_path_factory.mktemp("sim") / "hut"))


@pytest.fixture(scope="module")
def space(hut):
    return build_space(hut, embodiment("spot"))


EXIT = StageSpec(kind="exit", building="a")
OUTDOOR = StageSpec(kind="outdoor", goal=(14.0, 5.0, 0.0), radius_m=3.0, route=[(11.0, 5.0, 0.0), (14.0, 5.0, 0.0)])


def episode(*stages, start=(5.0, 5.0, 0.0), yaw=0.0, budget=100):
    task = "i2o" if len(stages) > 1 else stages[0].kind
    return Episode(
        id="e", world="hut", task=task, embodiment="spot", start=Start(position=start, yaw_rad=yaw), stages=list(stages), budget=Budget(max_actions=budget)
    )


def simulator(hut, space, **options):
    return Simulator(hut, embodiment("spot"), space=space, **options)


def walk(sim, asked, actions):
    _, observation = sim.reset(asked)
    seen = [observation]
    for action in actions:
        seen.append(sim.step(action))
        if seen[-1] is None:
            break
    return seen


MISSION = [Move("forward")] * 16 + [Stop()] + [Move("forward")] * 12


def test_a_mission_hands_off_where_the_robot_stands_and_ends_on_arrival(hut, space):
    sim = simulator(hut, space)
    seen = walk(sim, episode(EXIT, OUTDOOR), MISSION)
    assert seen[-1] is None
    assert sim.outcome().success
    changed = [o.step for o in seen[:-1] if o.stage_changed]
    assert changed == [17]
    trajectory = sim.trajectory()
    assert np.linalg.norm(np.diff(trajectory.position, axis=0), axis=1).max() <= 0.25 + 1e-9


def test_pose_and_route_are_withheld_until_the_exit_is_confirmed(hut, space):
    seen = walk(simulator(hut, space), episode(EXIT, OUTDOOR), MISSION)
    before, after = seen[16], seen[17]
    assert (before.pose, before.stage.route, before.stage.goal) == (None, None, None)
    assert after.pose is not None
    assert after.stage.route is not None
    assert after.pose.x == pytest.approx(9.0)


def test_odometry_belongs_to_the_rgbd_track_and_starts_at_zero(hut, space):
    seen = walk(simulator(hut, space), episode(EXIT, yaw=0.3), [Move("forward")])
    assert (seen[0].odometry.x, seen[0].odometry.yaw_rad) == (0.0, 0.0)
    assert seen[1].odometry.x == pytest.approx(0.25)
    assert walk(simulator(hut, space, track="rgb"), episode(EXIT), [])[0].odometry is None


def test_only_the_channels_that_were_asked_for_are_rendered(hut, space):
    frame = walk(simulator(hut, space, needs={"depth"}, image_size=(32, 24)), episode(EXIT), [])[0].frames["front"]
    assert frame.depth.shape == (24, 32)
    assert frame.rgb is None
    assert frame.semantic is None
    assert walk(simulator(hut, space), episode(EXIT), [])[0].frames == {}


IMAGE = StageSpec(kind="image", goal=(2.0, 2.0, 0.0), goal_yaw_rad=-2.5)


def test_a_goal_image_is_what_the_first_camera_sees_from_the_goal_pose(hut, space):
    sim = simulator(hut, space, needs={"rgb"}, image_size=(32, 24))
    brief, seen = sim.reset(episode(IMAGE))
    picture = seen.stage.goal_image
    assert picture.shape == (24, 32, 3)
    assert picture.dtype == np.uint8
    assert not picture.flags.writeable
    assert brief.stage.goal_image is picture, "rendered once"
    assert seen.stage.goal is None
    _, there = sim.reset(episode(IMAGE, start=(2.0, 2.0, 0.0), yaw=-2.5))
    assert np.array_equal(picture, there.frames["front"].rgb)
    assert not np.array_equal(picture, seen.frames["front"].rgb)


def test_who_looks_at_nothing_gets_no_goal_image(hut, space):
    _, seen = simulator(hut, space, needs={"depth"}, image_size=(32, 24)).reset(episode(IMAGE))
    assert seen.stage.goal_image is None


def test_an_image_stage_without_its_goal_pose_is_refused(hut, space):
    with pytest.raises(EpisodeError, match="no goal pose"):
        simulator(hut, space, needs={"rgb"}, image_size=(32, 24)).reset(episode(IMAGE.model_copy(update={"goal_yaw_rad": None})))


def test_a_stop_indoors_ends_the_episode_as_a_failed_declaration(hut, space):
    sim = simulator(hut, space)
    assert walk(sim, episode(EXIT, OUTDOOR), [Stop()])[-1] is None
    assert (sim.outcome().reason, sim.outcome().completed) == ("failed_declaration", 0)


def test_the_budget_ends_it_without_inventing_a_stop(hut, space):
    sim = simulator(hut, space)
    assert walk(sim, episode(EXIT, budget=3), [Move("turn_left")] * 5)[-1] is None
    assert sim.outcome().reason == "budget_exhausted"
    assert len(sim.trajectory().stop_steps) == 0


@pytest.mark.parametrize("motion", ["kinematic", "physics"])
@pytest.mark.parametrize(
    "endless", [Velocity(0.0, 0.0, 0.1, 1000.0), Waypoints((Pose(0.5, 0.0), Pose(0.0, 0.0)) * 500), Waypoints((Pose(9.0, 0.0),), "base", 900.0)]
)
def test_an_action_that_goes_on_beyond_the_time_ends_with_it(hut, space, motion, endless):
    asked = episode(EXIT).model_copy(update={"budget": Budget(max_actions=100, max_time_s=3.0)})
    sim = simulator(hut, space, robot=make_robot(hut, "spot", space, motion=motion))
    sim.reset(asked)
    taken = 0
    while sim.step(endless) is not None:
        taken += 1
    assert sim.outcome().reason == "timeout"
    assert 3.0 < sim.trajectory().time_s[-1] < 5.5
    assert taken <= 20


@pytest.mark.parametrize("motion", ["kinematic", "physics"])
def test_an_episode_that_may_take_hours_lets_waypoints_end_where_they_lead(hut, space, motion):
    asked = episode(EXIT).model_copy(update={"budget": Budget(max_actions=100, max_time_s=10_000.0)})
    sim = simulator(hut, space, robot=make_robot(hut, "spot", space, motion=motion))
    sim.reset(asked)
    assert sim.step(Waypoints((Pose(0.5, 0.0),))) is not None
    assert 0.0 < sim.trajectory().time_s[-1] < 10.0


def test_the_first_observation_tells_how_the_body_leans_where_it_starts(hut, space):
    robot = make_robot(hut, "spot", space, motion="physics")
    sim = simulator(hut, space, robot=robot)
    _, observation = sim.reset(episode(EXIT))
    assert observation.tilt_rad == robot.tilt != (0.0, 0.0)
    assert sim.trajectory().tilt_rad[0] == pytest.approx(robot.tilt)
    _, observation = simulator(hut, space).reset(episode(EXIT))
    assert observation.tilt_rad == (0.0, 0.0)


def test_the_record_is_judged_as_the_episode_was(hut, space):
    sim = simulator(hut, space)
    asked = episode(EXIT, OUTDOOR)
    walk(sim, asked, MISSION)
    again = replay(asked, sim.trajectory(), sim.annotations, sim.body)
    assert again == sim.outcome()


def test_the_same_actions_give_the_same_bytes(hut, space):
    def run():
        sim = simulator(hut, space, needs={"rgb", "depth"}, image_size=(64, 48))
        seen = walk(sim, episode(EXIT, OUTDOOR), MISSION[:10])
        images = b"".join(o.frames["front"].rgb.tobytes() + o.frames["front"].depth.tobytes() for o in seen)
        return images, sim.trajectory().position.tobytes()

    assert run() == run()
