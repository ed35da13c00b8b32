"""The semantic layer of captures: label images lifted to Gaussians, told apart into things, and kept where a body can come to them."""

from portico.build.lifting.lift import Lifted, lift
from portico.build.lifting.objects import Candidate
from portico.build.lifting.views import STRUCTURE, LabelView, is_structure

__all__ = ["STRUCTURE", "Candidate", "LabelView", "Lifted", "is_structure", "lift"]
