"""The semantic layer of captures: label images lifted to Gaussians, told apart into things, and kept where a body can come to them."""

from portico.build.lifting.conformance import labeller_findings
from portico.build.lifting.from_labels import label_from_file
from portico.build.lifting.label_files import LabelFolder, check_vocabulary, read_label_views, write_label_views
from portico.build.lifting.labellers import LABELLERS, LabelImage, Labeller, Noisy, Survey, Truth, create_labeller, describe_labellers, labeller_names
from portico.build.lifting.lift import Lifted, lift
from portico.build.lifting.objects import Candidate
from portico.build.lifting.stands import SURVEY, survey_poses
from portico.build.lifting.views import STRUCTURE, LabelView, is_structure

__all__ = [
    "LABELLERS",
    "STRUCTURE",
    "SURVEY",
    "Candidate",
    "LabelFolder",
    "LabelImage",
    "LabelView",
    "Labeller",
    "Lifted",
    "Noisy",
    "Survey",
    "Truth",
    "check_vocabulary",
    "create_labeller",
    "describe_labellers",
    "is_structure",
    "label_from_file",
    "labeller_findings",
    "labeller_names",
    "lift",
    "read_label_views",
    "survey_poses",
    "write_label_views",
]
