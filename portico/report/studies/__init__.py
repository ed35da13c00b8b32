"""Studies of runs: NavVerse's tables, each from run folders alone [NV 4, 10].

``STUDIES`` names them; ``Study.tables`` refuses runs that were not asked the same, and says which key differs.
"""

from portico.report.studies.agentic import agent_tables, has_agents
from portico.report.studies.controlled import (
    difficulty_tables,
    embodiment_tables,
    feasibility_tables,
    instruction_tables,
    is_embodied,
    is_feasibility,
    is_worded,
)
from portico.report.studies.flights import flight_tables, is_flown
from portico.report.studies.scenic import has_scenes, leaves, safety_tables, scene_tables, termination_tables, transition_tables
from portico.report.studies.study import Study, Table

_ALL = (
    Study("scenes", "Success by task and scene", has_scenes, scene_tables),
    Study("transition", "Getting out of the building", leaves, transition_tables),
    Study("terminations", "How episodes ended, by scene", has_scenes, termination_tables),
    Study("difficulty", "Thirds of the reference length", has_scenes, difficulty_tables),
    Study("safety", "Safety and coverage", has_scenes, safety_tables),
    Study("feasibility", "With and without oracles", is_feasibility, feasibility_tables),
    Study("instructions", "Places by kind of instruction", is_worded, instruction_tables, frozenset({"instructions"})),
    Study("agent", "What the agent adds", has_agents, agent_tables),
    Study("embodiment", "Bodies and ground", is_embodied, embodiment_tables),
    Study("flights", "Satellite maps by subtype, style and world", is_flown, flight_tables),
)
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}

__all__ = ["STUDIES", "Study", "Table", "has_scenes"]
