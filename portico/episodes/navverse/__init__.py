"""NavVerse's episodes: goals in scenes, words for them, and what a rollout must show [NV 8].

``SceneDraw`` draws the questions; ``unfit`` says why a rollout does not verify one; ``disagreements`` checks directions against geometry.
"""

from portico.episodes.navverse.directions import directions, disagreements
from portico.episodes.navverse.draw import SceneDraw
from portico.episodes.navverse.rollouts import unfit
from portico.episodes.navverse.scenes import scenes_of

__all__ = ["SceneDraw", "directions", "disagreements", "scenes_of", "unfit"]
