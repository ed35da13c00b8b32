"""The simulator: world + robot + cameras + task behind ``reset()`` and ``step()``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from portico.errors import EpisodeError
from portico.geometry import Floats, Pose
from portico.interface import TRACKS, Action, ActionSpace, Brief, Camera, Channel, Frame, Need, Observation, StageBrief, Stop, Velocity, Waypoints
from portico.render import WorldRenderer, renderer_of
from portico.robots import LONGEST_S, Embodiment, KinematicRobot, Robot, State
from portico.space import Space, build_space
from portico.tasks.annotations import Annotations
from portico.tasks.episode import Episode
from portico.tasks.machine import Outcome, StageMachine
from portico.tasks.predicates import PLANE_MARGIN_M, SamePlane
from portico.tasks.release import released, stage_brief
from portico.tasks.trajectory import Trajectory
from portico.world import World

#: By this much an episode may outlast its time, so that it is seen to be over.
_MOMENT_S = 0.1
_CHANNELS: tuple[Channel, ...] = ("rgb", "depth", "semantic")


class Simulator:
    """One world and one embodiment, for any number of episodes.

    Args:
        world: what exists.
        body: the embodiment.
        space: where it can go; built when absent.
        track: what the protocol grants, see ``portico.interface.TRACKS``.
        needs: what the policy asked for; channels and goal images nobody asked for are not rendered.
        image_size: (width, height) of every camera, or None for the embodiment's own.
        cameras: mounted in place of the embodiment's own; they keep their size. keeps_cameras: beside its own instead.
        renderer: of the same world, to share; made on first use when absent.
        robot: what moves; a kinematic one that stops at contact when absent. Its space is the simulator's.
    """

    def __init__(
        self,
        world: World,
        body: Embodiment,
        *,
        space: Space | None = None,
        track: str = "rgbd",
        needs: Collection[Need] = frozenset(),
        image_size: tuple[int, int] | None = None,
        cameras: tuple[Camera, ...] = (),
        keeps_cameras: bool = False,
        renderer: WorldRenderer | None = None,
        actions: ActionSpace | None = None,
        robot: Robot | None = None,
    ) -> None:
        self.world, self.body, self.track = world, body, track
        self.space = space or build_space(world, body)
        self.annotations = Annotations(world.semantics)
        self.robot: Robot = robot or KinematicRobot(self.space, body, actions)
        self.actions = self.robot.actions
        own = tuple(c.resized(*image_size) if image_size else c for c in body.cameras)
        self.cameras: tuple[Camera, ...] = (*(own if keeps_cameras or not cameras else ()), *cameras)
        self._needs = frozenset(needs)
        self._channels: tuple[Channel, ...] = tuple(c for c in _CHANNELS if c in self._needs)
        self._renderer = renderer

    @property
    def renderer(self) -> WorldRenderer:
        """Made on first use: policies that need no picture never pay for one."""
        if self._renderer is None:
            self._renderer = renderer_of(self.world)
        return self._renderer

    def reset(self, episode: Episode, *, key: str = "", seed: int = 0) -> tuple[Brief, Observation]:
        """Place the robot at the start and hand out the first observation.

        Raises:
            EpisodeError: the start is on no floor or inside an obstacle, or an image stage lacks its goal pose.
        """
        start = self.robot.reset(Pose(*episode.start.position, episode.start.yaw_rad))
        self.episode = episode
        self._states: list[State] = [State(start, 0.0, False, False, *self.robot.tilt)]
        self._action_of = [0]
        self._stage_of = [0]
        self._stops: list[int] = []
        self._fell = -1
        self._actions = self._observations = 0
        self._time_s = 0.0
        self._last: Action | None = None
        self._goal_images: dict[int, NDArray[np.uint8]] = {}
        self.machine = StageMachine(episode, self.annotations, self.body, same_plane=same_plane(self.space))
        self.machine.start(start.position)
        brief = Brief(
            episode_key=key,
            task=episode.task,
            stages=tuple(s.kind for s in episode.stages),
            stage=self._brief(0),
            body=self.body.body(),
            cameras=self.cameras,
            actions=self.actions,
            track=self.track,
            max_actions=episode.budget.max_actions,
            seed=seed,
            categories=self.world.semantics.categories() if "semantic" in self._needs else {},
        )
        return brief, self._observe(stage_changed=False)

    def step(self, action: Action, *, after_s: float = 0.0, holds_s: float = 0.0) -> Observation | None:
        """Carry out an action; None once the episode is over.

        Args:
            after_s: simulated time that deciding took. The body stands meanwhile, and waypoints relative to the base are meant from where
                it stood when it was asked.
            holds_s: for how long of that time a velocity asked for before goes on.
        """
        stage = self.machine.stage
        if after_s > 0.0:
            action = _anchored(action, self.robot.pose)
            for meanwhile in _meanwhile(self._last, after_s, holds_s):
                self._carry_out(meanwhile, stage)
        if not self.machine.done:
            self._carry_out(action, stage)
        self._last = action
        self._actions += 1
        self.machine.spend(self._actions, self._time_s)
        if self.machine.done:
            return None
        return self._observe(stage_changed=self.machine.stage != stage)

    def _carry_out(self, action: Action, asked_in: int) -> None:
        """Move, and let the stage machine see the way; a STOP declares the stage that was asked about and no other."""
        motion = self.robot.execute(self._in_time(action))
        began, stage = self._time_s, self.machine.stage
        for state in motion.states:
            self._states.append(replace(state, elapsed_s=began + state.elapsed_s))
            self._action_of.append(self._actions + 1)
            self._stage_of.append(stage)
        self._time_s = began + motion.duration_s
        self.machine.update([s.pose.position for s in motion.states])
        if isinstance(action, Stop) and not self.machine.done and self.machine.stage == asked_in:
            self._stops.append(len(self._states) - 1)
            self.machine.declare_stop()
        if motion.fallen:
            self._fell = len(self._states) - 1
            self.machine.end("fall")

    def _in_time(self, action: Action) -> Action:
        """An action that ends a moment after the episode's time is over: nobody waits for what goes on beyond."""
        limit_s = self.episode.budget.max_time_s
        if limit_s is None or not isinstance(action, Velocity | Waypoints):
            return action
        left_s = min(max(limit_s - self._time_s, 0.0) + _MOMENT_S, LONGEST_S)
        return action if action.duration_s is not None and action.duration_s <= left_s else replace(action, duration_s=left_s)

    def trajectory(self) -> Trajectory:
        """What happened so far."""
        states = self._states
        return Trajectory(
            position=np.array([s.pose.position for s in states]),
            yaw_rad=np.array([s.pose.yaw_rad for s in states]),
            time_s=np.array([s.elapsed_s for s in states]),
            action=np.array(self._action_of, np.int32),
            stage=np.array(self._stage_of, np.int32),
            collided=np.array([s.collided for s in states]),
            stop_steps=np.array(self._stops, np.int32),
            moved=np.array([s.moved for s in states]),
            tilt_rad=np.array([(s.roll_rad, s.pitch_rad) for s in states]),
            clipped=np.array([s.clipped for s in states]),
            fallen=np.arange(len(states)) == self._fell,
            surface=np.array([s.surface for s in states], np.uint8),
        )

    def outcome(self) -> Outcome:
        """How the episode ended."""
        return self.machine.outcome()

    def frames(self, channels: Collection[Channel]) -> dict[str, Frame]:
        """Every camera's images from where the robot is."""
        base = self.robot.base_matrix()
        return {c.name: self.renderer.render(base @ c.T_base_camera(), c, channels) for c in self.cameras}

    def _brief(self, stage: int) -> StageBrief:
        """The stage as the policy may know it, with the picture it is to find."""
        brief = stage_brief(self.episode, stage)
        if brief.kind != "image" or "rgb" not in self._needs:
            return brief
        if stage not in self._goal_images:
            self._goal_images[stage] = self._goal_image(stage)
        return replace(brief, goal_image=self._goal_images[stage])

    def _goal_image(self, stage: int) -> NDArray[np.uint8]:
        """What the first camera sees from a stage's goal pose: (H, W, 3) uint8, read-only."""
        spec, camera = self.episode.stages[stage], self.cameras[0]
        if spec.goal is None or spec.goal_yaw_rad is None:
            raise EpisodeError("an image stage has no goal pose", where=f"episode {self.episode.id}", next_step="give it `goal` and `goal_yaw_rad`")
        base = Pose(*spec.goal, spec.goal_yaw_rad).matrix()
        channels: tuple[Channel, ...] = ("rgb",)
        frame = self.renderer.render(base @ camera.T_base_camera(), camera, channels)
        assert frame.rgb is not None
        image = frame.rgb.copy()
        image.flags.writeable = False
        return image

    def _observe(self, *, stage_changed: bool) -> Observation:
        pose, stage = self.robot.pose, self.machine.stage
        release = released(self.episode, stage)
        localised = release.pose or "odometry" in TRACKS[self.track]
        last = self._states[-1]
        self._observations += 1
        return Observation(
            step=self._actions,
            time_s=self._time_s,
            frames=self.frames(self._channels) if self._channels else {},
            stage=self._brief(stage),
            stage_changed=stage_changed,
            odometry=pose.relative_to(self.robot.start) if "odometry" in TRACKS[self.track] else None,
            pose=pose if release.pose else None,
            collided=last.collided,
            tilt_rad=(last.roll_rad, last.pitch_rad) if localised else (0.0, 0.0),
            number=self._observations - 1,
        )


def _anchored(action: Action, asked_at: Pose) -> Action:
    """Waypoints relative to the base as poses of the world, so that they stay where they are when the base moves on."""
    if isinstance(action, Waypoints) and action.frame == "base":
        return replace(action, poses=tuple(asked_at.compose(p) for p in action.poses), frame="world")
    return action


def _meanwhile(last: Action | None, after_s: float, holds_s: float) -> Iterator[Velocity]:
    """What the body does until the decision is there."""
    held = min(after_s, holds_s) if isinstance(last, Velocity) else 0.0
    if held > 0.0 and isinstance(last, Velocity):
        yield replace(last, duration_s=held)
    if after_s > held:
        yield Velocity(0.0, 0.0, 0.0, after_s - held)


def same_plane(space: Space) -> SamePlane:
    """Whether two points (3,) share a navigation plane: on connected surfaces, heights within climb + 0.5 m."""

    def check(a: Floats, b: Floats) -> bool:
        nodes = space.locate(np.stack([a, b]))
        if (nodes < 0).any() or abs(float(a[2]) - float(b[2])) > space.embodiment.climb_m + PLANE_MARGIN_M:
            return False
        components = space.node_component[nodes]
        return bool(components[0] == components[1])

    return check
