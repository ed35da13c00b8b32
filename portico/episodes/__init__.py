"""How questions are made: sampling, reference paths, verification by rollout, files.

Everything derives from (suite seed, world, task): the same inputs give the same episodes.
"""

from portico.episodes.files import check_unique, load_episodes, save_episodes
from portico.episodes.generate import generate
from portico.episodes.validate import Calibration, Problem, calibrate, check_askable, validate

__all__ = ["Calibration", "Problem", "calibrate", "check_askable", "check_unique", "generate", "load_episodes", "save_episodes", "validate"]
