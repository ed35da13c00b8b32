"""The embedded reasoner: rules over depth, odometry and memory. No model, no network, no hidden label, and the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from portico.agent.contract import Assessment, Occasion, Requests, Situation, Step, Verdict
from portico.agent.things import Things
from portico.agent.witness import Witness
from portico.interface import Brief, Need, Observation, StageBrief
from portico.policies.detectors import Detector, create_detector
from portico.policies.frontier import MAP_NEEDS

#: Ground behind an opening from here on is well inside; from the second figure on, at least on the threshold.
_INSIDE_M, _THRESHOLD_M = 0.8, 0.4
_GONE_M, _OPEN_GROUND_M2 = 0.8, 6.0
#: So far from the last place surely inside, a tree or an awning overhead is no roof of the building.
_CANOPY_M = 2.0
#: Ground this much lower than at the door is the road beyond the kerb, less than a storey; people walk on the pavement.
_KERB_M = 0.08
#: How near an object must be beyond the body's radius: 1.0 m count [I2 3.3], less what a map of 0.1 m may be off.
_BESIDE_M = 0.9
_STOREY_M = 2.0
_SURE, _LIKELY, _UNSURE = 0.9, 0.6, 0.3


class GeometricReasoner:
    """Judges doors, roofs, sky, ground and objects from a map of its own.

    Args:
        detector: finds the objects asked for; without one an executor's word is all there is for them.
    """

    name = "geometric"
    looks: frozenset[Occasion] = frozenset({"proposal", "attempt_end"})

    def __init__(self, detector: str | Detector | None = None) -> None:
        self._detector = create_detector(detector)
        self.needs: frozenset[Need] = MAP_NEEDS | (self._detector.needs if self._detector else frozenset())
        self._brief: Brief | None = None
        self._witness: Witness | None = None
        self._things: Things | None = None
        self._stage: StageBrief | None = None

    def reset(self, brief: Brief, requests: Requests) -> None:
        """A new episode begins; nothing is ever requested."""
        self._brief, self._witness, self._things, self._stage = brief, None, None, None
        if self._detector is not None:
            self._detector.reset(brief)

    def enter(self, stage: StageBrief) -> None:
        """A new map; none outdoors, where arrival is decided by pose and goal."""
        assert self._brief is not None
        self._stage = stage
        self._witness = Witness(self._brief) if stage.kind != "outdoor" else None
        wanted = self._detector if stage.kind == "ovon" and stage.category else None
        self._things = Things(wanted, stage.category) if wanted is not None else None

    def notice(self, observation: Observation) -> None:
        """Map what is seen."""
        if self._witness is None:
            return
        self._witness.notice(observation)
        if self._things is not None:
            self._things.notice(self._witness.pilot, observation)

    def assess(self, situation: Situation) -> Assessment:
        """By roof and sky here, and by ground seen far below."""
        w = self._witness
        if w is None or not w.moments:
            return Assessment("outdoors", "ground", _LIKELY, "the route begins outdoors")
        now = w.now
        floor: Literal["upstairs", "unknown"] = "upstairs" if w.saw_below else "unknown"
        if now.inside or now.cover >= 0.5:
            return Assessment("indoors", floor, _SURE if now.inside else _LIKELY, f"a ceiling over {now.cover:.0%} of the ground here")
        if now.outside:
            return Assessment("outdoors", "ground", _SURE, f"open sky in {now.open_share:.0%} of the view around")
        return Assessment("unknown", floor, _UNSURE, "neither a ceiling nor open sky is sure here")

    def plan(self, situation: Situation, assessment: Assessment) -> Sequence[Step]:
        """One step per thing that the executors can do; stairs first where the ground lies below."""
        kind, instruction = situation.stage.kind, situation.stage.instruction
        if kind == "exit" and assessment.floor == "upstairs" and assessment.location != "outdoors":
            return [Step("go down the stairs", "Find the stairs and go down to the ground floor.", "exit", closes=False), Step("leave", instruction, "exit")]
        names = {"exit": "leave the building", "outdoor": "follow the route", "entrance": "find the door and go in", "ovon": "find it and walk up to it"}
        return [Step(names.get(kind, kind), instruction, kind)]

    def verify(self, situation: Situation) -> Verdict:
        """By the rules of the stage."""
        step = situation.step
        assert step is not None
        assert self._witness is not None
        match situation.stage.kind:
            case "exit":
                done, confidence, reason, guidance = self._left(self._witness)
            case "entrance":
                done, confidence, reason, guidance = self._entered(self._witness)
            case _:
                done, confidence, reason, guidance = self._beside(self._witness, situation)
        if step.closes:
            return Verdict(done, confidence, reason, done, confidence, reason, self._evidence(), guidance)
        down_m = self._witness.descended_m()
        below = down_m >= _STOREY_M and not self._witness.saw_below
        return Verdict(below or done, _SURE, f"{down_m:.1f} m lower than at the start", done, confidence, reason, self._evidence(), guidance)

    def close(self) -> None:
        """Nothing is open."""

    def _left(self, w: Witness) -> tuple[bool, float, str, str]:
        now, last = w.now, w.last_inside()
        # An exit begins indoors by its definition [I2 C.3], also where the first frames looked out of the door and saw no ceiling.
        gone_m = w.straight_m((last or w.moments[0]).pose)
        if not now.outside and not (now.canopy and gone_m >= _CANOPY_M):
            if now.cover >= 0.5:
                return False, _SURE, f"still under a roof: over {now.cover:.0%} of the ground here", "go on through a door, towards daylight"
            return False, _UNSURE, "at the edge of a roof", "go on, clear of the building"
        if gone_m < (_GONE_M if last is not None else _CANOPY_M):
            return False, _UNSURE, "just across the threshold", "go on, clear of the door"
        below_m = w.door_z() - now.pose.z
        if _KERB_M < below_m < _STOREY_M:
            return False, _UNSURE, f"outdoors, but {below_m:.2f} m lower than the ground at the door: it may be the road", "go back up onto the pavement"
        ground = w.open_ground_m2()
        if ground < _OPEN_GROUND_M2:
            return False, _UNSURE, f"only {ground:.1f} m² of ground under the sky: it may be a balcony", "find a way down to open ground"
        overhead = "under the sky" if now.outside else "with something overhead but the view open"
        return True, _SURE if now.outside else _LIKELY, f"out of the door, {overhead}, {ground:.0f} m² of open ground around", ""

    def _entered(self, w: Witness) -> tuple[bool, float, str, str]:
        now, first = w.now, w.moments[0]
        if not now.cover >= 0.5:
            sky = "under the sky" if now.outside else "no ceiling to be sure of"
            return False, _SURE if now.outside else _LIKELY, f"{sky}: before the door, not behind it", "go on through the opening"
        e = w.enclosure((first.pose.x, first.pose.y), first.pose.z)
        depth_m = e.depth_at(*w.pilot.map.cell(now.pose.x, now.pose.y))
        if now.inside and depth_m >= _INSIDE_M:
            return True, _SURE, f"under a ceiling, {depth_m:.1f} m behind the opening", ""
        if now.inside and depth_m >= _THRESHOLD_M:
            return False, _UNSURE, f"on the threshold, {depth_m:.1f} m behind the opening", "a little farther in"
        return False, _LIKELY, f"under something, but no opening was passed ({depth_m:.1f} m behind one)", "go on through the opening"

    def _beside(self, w: Witness, situation: Situation) -> tuple[bool, float, str, str]:
        category = situation.stage.category or "object"
        if self._things is None:
            proposed = situation.occasion == "proposal"
            return proposed, 0.5 if proposed else _UNSURE, "nothing here can recognise objects: the executor's word counts", ""
        gap_m = self._things.nearest_m(w.pilot)
        reach_m = _BESIDE_M + w.pilot.brief.body.radius_m
        if gap_m <= reach_m:
            return True, _SURE, f"{gap_m:.1f} m from a {category}", ""
        if self._things.seen:
            return False, _SURE, f"the nearest {category} seen is {gap_m:.1f} m away", f"walk up to the {category}"
        return False, _SURE, f"no {category} was seen yet", "look into other rooms"

    def _evidence(self) -> str:
        assert self._witness is not None
        now = self._witness.now
        return f"ceiling {now.cover:.2f}, sky {now.open_share:.2f} over {now.open_rad:.1f} rad, {now.pose.z - self._witness.moments[0].pose.z:+.1f} m since the start"
