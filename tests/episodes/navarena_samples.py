"""Small episodes and trajectories for NavArena's files."""

from datetime import UTC, datetime

import numpy as np

from portico.episodes.navarena import EpisodeRow, Trajectory, TrajectoryWriter
from portico.geometry import Pose

NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)


def row(k=0):
    return EpisodeRow(Pose(float(k), 0.0, 0.0, 0.5), Pose(float(k), 3.0), "position", 3.25)


def drive(steps=4):
    """Stands, turns, drives a curve, stands."""
    time = 0.05 * np.arange(steps)
    poses = np.column_stack([0.0225 * np.arange(steps), np.zeros(steps), np.zeros(steps), 0.1 * np.arange(steps)])
    velocity = np.zeros((steps, 3))
    velocity[1:-1, 2] = 0.8
    velocity[2:-1, 0] = 0.45
    return Trajectory(time, poses, velocity)


def writer(folder, **changes):
    values = {"dataset_name": "d", "scene_path": "g/s", "task_type": "pointnav", "split": "train", "now": NOON} | changes
    return TrajectoryWriter(folder, **values)
