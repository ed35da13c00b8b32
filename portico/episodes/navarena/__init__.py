"""NavArena's navigation data, Parquet format 1.0.0: episodes and expert trajectories, in and out.

A dataset's folder holds scenes, a scene's folder holds tasks, and a task's folder chunks of 1,000 episodes. Needs pyarrow.
"""

from portico.episodes.navarena.convert import Converted, from_navarena, to_navarena
from portico.episodes.navarena.reader import TaskData, read_task, read_trajectory, task_folders
from portico.episodes.navarena.rows import EpisodeRow, Trajectory, quaternion_xyzw, yaw_of
from portico.episodes.navarena.writer import TrajectoryWriter

__all__ = [
    "Converted",
    "EpisodeRow",
    "TaskData",
    "Trajectory",
    "TrajectoryWriter",
    "from_navarena",
    "quaternion_xyzw",
    "read_task",
    "read_trajectory",
    "task_folders",
    "to_navarena",
    "yaw_of",
]
