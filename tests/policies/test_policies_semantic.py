"""Search by what things are, in the toy world: what is approached, what is rejected, and what a search is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_world import ToyWorld, house, run, stage_of

from portico.geometry import Pose
from portico.interface import Camera, Frame
from portico.policies import create
from portico.policies.detectors import Labels
from portico.policies.priors import INDOORS, OUTDOORS, affinity, is_outdoors
from portico.policies.semantic_frontier import SemanticFrontier
from portico.policies.sightings import Sightings
from portico.policies.value_map import ValueMap, back_project

NAMES = {1: "wall", 7: "sofa", 8: "sign", 9: "cafe", 10: "bank"}


class Lettered:
    """Names signs as a reader would, from labels of the toy world; says what it says only so often."""

    needs = frozenset({"semantic"})

    def __init__(self, lies: Sequence[int] = ()) -> None:
        self._lies, self._count = list(lies), 0

    def reset(self, brief) -> None:
        self._count = 0

    def labels(self, frame: Frame) -> Labels:
        assert frame.semantic is not None
        return Labels(frame.semantic, NAMES)

    def detect(self, frame: Frame, category: str):
        assert frame.semantic is not None
        found = np.isin(frame.semantic, [n for n, name in NAMES.items() if name == category])
        if found.any():
            self._count += 1
        if self._lies and (frame.semantic == self._lies[0]).any():
            lie = frame.semantic == self._lies[0]
            self._lies.pop(0)
            return found | lie
        return found


class Squarely(Lettered):
    """Reads only what is seen squarely: by the width of the sign against its height in the image."""

    def __init__(self, x: float) -> None:
        super().__init__()
        self._x = x

    def detect(self, frame: Frame, category: str):
        found = super().detect(frame, category)
        rows, cols = np.nonzero(found)
        legible = len(rows) > 0 and np.ptp(cols) > 2.2 * (np.ptp(rows) + 1)
        return found & legible

    def labels(self, frame: Frame) -> Labels:
        assert frame.semantic is not None
        ids = np.where(self.detect(frame, "cafe") | (frame.semantic == 1), frame.semantic, 0).astype(np.int32)
        return Labels(ids, NAMES)


def street() -> ToyWorld:
    """Houses on both sides of a street along x with pavements above the road; each front may carry a sign at 3 to 3.8 m."""
    world = ToyWorld()
    world.add(-40.0, -12.0, -0.5, 60.0, -5.0, 0.0)
    world.add(-40.0, -5.0, -0.5, 60.0, 5.0, -0.15)
    world.add(-40.0, 5.0, -0.5, 60.0, 12.0, 0.0)
    world.add(-40.0, 8.0, 0.0, 60.0, 12.0, 8.0)
    world.add(-40.0, -12.0, 0.0, 60.0, -8.0, 8.0)
    return world


def sign(world: ToyWorld, x: float, label: int) -> None:
    world.add(x - 1.5, 7.85, 3.0, x + 1.5, 8.0, 3.8, label)


def test_a_thing_in_the_next_room_is_found_and_approached():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    policy = create("semantic-frontier?detector=semantic")
    result = run(world, policy, Pose(7.0, 3.5), stage_of("object", category="sofa"), categories=NAMES)
    end = result.poses[-1]
    assert result.stopped
    assert np.hypot(end.x - 1.4, end.y - 0.55) - 0.4 < 1.0 + 0.3


def test_without_a_detector_it_searches_and_declares_nothing():
    result = run(house(), create("semantic-frontier"), Pose(7.0, 3.5), stage_of("object", category="sofa"), max_actions=60)
    assert not result.stopped
    assert len({(round(p.x), round(p.y)) for p in result.poses}) > 5


def test_a_place_is_known_by_its_sign_and_others_are_passed():
    world = street()
    sign(world, 6.0, 10)
    sign(world, 22.0, 9)
    result = run(world, SemanticFrontier(Lettered()), Pose(0.0, 0.0), stage_of("place", category="cafe"), categories=NAMES, world_frame=True)
    end = result.poses[-1]
    assert result.stopped
    assert max(np.hypot(np.hypot(end.x - 22.0, end.y - 8.0), 2.0) - 2.0, 0.0) < 1.3


def test_what_was_seen_once_and_proves_false_is_not_declared():
    world = street()
    sign(world, 6.0, 10)
    result = run(world, SemanticFrontier(Lettered(lies=[10])), Pose(0.0, 0.0), stage_of("place", category="cafe"), categories=NAMES, max_actions=80)
    assert not result.stopped


def test_a_sign_that_hangs_over_the_own_pavement_is_stepped_back_from_and_read():
    world = street()
    sign(world, 12.0, 9)
    # Along the wall below the sign nothing can be read: only from across the street it is square and low enough.
    result = run(world, SemanticFrontier(Squarely(12.0)), Pose(0.0, 6.8), stage_of("place", category="cafe"), categories=NAMES, world_frame=True)
    assert result.stopped
    assert np.hypot(np.hypot(result.poses[-1].x - 12.0, result.poses[-1].y - 8.0), 2.0) - 2.0 < 1.3


def test_fronts_are_looked_at_once():
    policy = SemanticFrontier(Lettered())
    result = run(street(), policy, Pose(0.0, 0.0), stage_of("place", category="cafe"), categories=NAMES, world_frame=True, max_actions=150)
    assert not result.stopped
    xs = [p.x for p in result.poses]
    assert max(xs) - min(xs) > 12.0


def test_only_the_target_of_directions_is_searched_for():
    world = house()
    world.add(1.0, 0.3, 0.0, 1.8, 0.8, 0.6, 7)
    stage = stage_of("vln", instruction="Go straight 5 m through the door. Stop at the couch on your left.")
    result = run(world, create("semantic-frontier?detector=semantic"), Pose(7.0, 3.5, 0.0, 3.0), stage, categories=NAMES)
    assert result.stopped
    assert np.hypot(result.poses[-1].x - 1.4, result.poses[-1].y - 0.55) < 1.7


def _look(world: ToyWorld, pose: Pose, label: int) -> tuple[Frame, np.ndarray, np.ndarray]:
    frame = world.frame(pose)
    return frame, frame.semantic == label, pose.matrix() @ frame.camera.T_base_camera()


def test_points_come_back_to_where_they_are():
    world = ToyWorld()
    world.add(3.0, -0.5, 0.0, 4.0, 0.5, 1.0, 7)
    frame, mask, T = _look(world, Pose(0.0, 0.0), 7)
    points = back_project(frame, mask) @ T[:3, :3].T + T[:3, 3]
    assert points[:, 0].min() > 2.95
    assert np.abs(points[:, 1]).max() < 0.55
    assert -0.05 < points[:, 2].min() < points[:, 2].max() < 1.05


@pytest.mark.parametrize("from_", [Pose(0.0, 0.0), Pose(0.5, 3.0, 0.0, -0.8)])
def test_distances_to_what_was_seen_are_those_of_the_rule(from_: Pose):
    world = ToyWorld()
    world.add(3.0, -0.6, 0.0, 4.2, 0.6, 1.0, 7)
    found = Sightings(place=False)
    frame, mask, T = _look(world, from_, 7)
    assert found.see(frame, mask, T)
    (candidate,) = found.candidates
    here = np.array([from_.position])
    true = np.linalg.norm(here[0] - [3.6, 0.0, 0.5]) - 0.6
    assert candidate.distance_m(here)[0] == pytest.approx(true, abs=0.5)


def test_things_apart_are_candidates_of_their_own_and_rejected_ones_stay_away():
    world = ToyWorld()
    world.add(4.0, -2.0, 0.0, 4.5, -1.5, 1.0, 7)
    world.add(4.0, 1.5, 0.0, 4.5, 2.0, 1.0, 7)
    found = Sightings(place=False)
    found.see(*_look(world, Pose(0.0, 0.0), 7))
    first, second = found.candidates
    found.reject(first)
    found.see(*_look(world, Pose(0.2, 0.0), 7))
    (left,) = found.candidates
    assert np.allclose(left.middle, second.middle, atol=0.3)


def test_value_is_drawn_by_what_belongs_and_repelled_by_what_does_not():
    world = ToyWorld()
    world.add(5.0, -3.0, 0.0, 5.5, -1.0, 1.5, 7)
    world.add(5.0, 1.0, 0.0, 5.5, 3.0, 1.5, 8)
    values = ValueMap({"good": 0.5, "bad": -0.4}.get, 0.0, 0.0)  # type: ignore[arg-type]
    frame, _, T = _look(world, Pose(0.0, 0.0), 7)
    values.see(frame, Labels(frame.semantic, {7: "good", 8: "bad"}), T)
    assert values.at(5.0, -2.0) > 0.2
    assert values.at(5.0, 2.0) < -0.1
    assert abs(values.at(-20.0, 0.0)) < 1e-6
    assert values.at(1e6, 0.0) == 0.0


def _things() -> list[str]:
    return sorted({" ".join(t.split()) for s in (*INDOORS.values(), *OUTDOORS.values()) for t in s.split(",")})


@given(st.sampled_from(_things()), st.sampled_from(_things()))
def test_affinity_is_bounded_and_mutual(a: str, b: str):
    assert -1.0 <= affinity(a, b) <= 1.0
    assert affinity(a, a) == 1.0 or a in ("door", "sidewalk", "canopy", "ramp")
    if affinity(a, b) > 0.0 and affinity(b, a) > 0.0:
        assert affinity(a, b) == pytest.approx(affinity(b, a))


def test_common_sense():
    assert affinity("stove", "refrigerator") > 0.2 > 0.0 > affinity("stove", "toilet")
    assert affinity("cafe", "sign") > affinity("cafe", "swing")
    assert is_outdoors("cafe")
    assert is_outdoors("fire hydrant")
    assert is_outdoors("stove") is False
    assert is_outdoors("bench") is None
    assert is_outdoors("thing that nobody knows") is None
    assert is_outdoors("sign") is True


def test_images_of_detectors_are_taken_down_for_the_map():
    from portico.policies.shrink import shrunk_frame

    camera = Camera("front", 640, 480)
    depth = np.arange(640 * 480, dtype=np.float32).reshape(480, 640)
    small = shrunk_frame(Frame(camera, depth=depth), (160, 120))
    assert small.depth is not None
    assert small.depth.shape == (120, 160)
    assert small.camera.hfov_rad == camera.hfov_rad
    assert small.depth[0, 0] == depth[2, 2]
    assert shrunk_frame(small, (160, 120)) is small
