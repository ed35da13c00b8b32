"""Expert trajectories: shortest ways with rounded corners, driven under limits of motion, checked, and streamed into NavArena's data."""

from portico.episodes.experts.checks import Extremes, extremes, flaw
from portico.episodes.experts.limits import Limits
from portico.episodes.experts.rollout import Rollout, roll_out
from portico.episodes.experts.stream import Summary, write_experts
from portico.episodes.experts.workshop import Source, Workshop

__all__ = ["Extremes", "Limits", "Rollout", "Source", "Summary", "Workshop", "extremes", "flaw", "roll_out", "write_experts"]
