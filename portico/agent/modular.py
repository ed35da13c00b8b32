"""The MODULAR agent: executors coordinated by a reasoner through verified completion, hand-offs and bounded recovery [I2 3.6, F]."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from portico.agent.budgets import Ledger
from portico.agent.checkpoints import outdoor_verdict
from portico.agent.contract import DECISIVE, Assessment, BudgetSpent, Occasion, Reasoner, SchemaFailure, Situation, Verdict, View
from portico.agent.journal import Journal
from portico.agent.looking import Looking
from portico.agent.members import all_ready, distinct, image_size_of, make_members, needs_of, privileges_of, seedable
from portico.agent.memory import EpisodeMemory, MissionMemory
from portico.agent.options import Settings, settings_of
from portico.agent.reasoners import make_reasoner
from portico.agent.reckoning import Reckoning
from portico.agent.workflow import Workflow
from portico.errors import PolicyRefused
from portico.interface import Action, Brief, Move, Observation, Policy, PolicySpec, StageKind, Stop, Velocity
from portico.policies.own_cameras import cameras_of

#: Stages that have a workflow, in the benchmark's order.
WORKFLOWS: tuple[StageKind, ...] = ("exit", "outdoor", "entrance", "ovon")


class AgentPolicy:
    """Executors per stage whose STOP counts only once it is verified; at most three replanning cycles per workflow.

    Args:
        exit, outdoor, entrance, ovon: executors, names or policies, as in ``chain``.
        detector: handed to every executor that is ``frontier`` and to the geometric reasoner.
        reasoner: ``geometric``, ``vlm``, or a reasoner.
        profile, base_url, model, cassette, mode: of the ``vlm`` reasoner, see ``portico.agent.vlm``.
        control, verify, extra, replans, cadence: ablations and controls, see ``portico.agent.options.Settings``.
        slips: a profile of unreliable declarations for the executors, see ``portico.agent.slips``.
        now: the clock that wall time is read from, seconds.
    """

    def __init__(
        self,
        exit: str | Policy | None = None,
        outdoor: str | Policy | None = None,
        entrance: str | Policy | None = None,
        ovon: str | Policy | None = None,
        detector: str | None = None,
        reasoner: str | Reasoner = "geometric",
        profile: str | None = None,
        base_url: str | None = None,
        model: str | None = None,
        cassette: str | None = None,
        mode: str | None = None,
        control: str = "agent",
        verify: str = "full",
        extra: int | str = 1,
        replans: int | str = 3,
        cadence: int | str = 50,
        slips: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings: Settings = settings_of(control, verify, extra, replans, cadence)
        given: dict[StageKind, str | Policy | None] = {"exit": exit, "outdoor": outdoor, "entrance": entrance, "ovon": ovon}
        self._members = make_members(given, WORKFLOWS, detector, slips)
        options = {"profile": profile, "base_url": base_url, "model": model, "cassette": cassette, "mode": mode}
        self._reasoner = make_reasoner(reasoner, detector, options)
        self._now, self._slips = now, slips or ""
        needs = needs_of(self._members) | self._reasoner.needs
        stages = frozenset(kind for kind, member in self._members.items() if kind in member.spec.stages)
        size = _larger(image_size_of(self._members), self._reasoner)
        cameras, keeps = cameras_of(self._members)
        # The reasoner looks through the robot's own.
        spec = PolicySpec("agent", needs=needs, stages=stages, image_size=size, cameras=cameras, keeps_cameras=keeps or bool(cameras))
        repeats = seedable(self._members) and self._reasoner.name != "vlm"
        self.spec = replace(spec, seedable=repeats, privileges=privileges_of(self._members))
        self._brief: Brief | None = None

    def ready(self) -> None:
        """See whether every executor's server answers; raises ``PolicyFailure`` where one does not."""
        all_ready(self._members)

    def reset(self, brief: Brief) -> None:
        """A new episode: empty memories, full budgets."""
        self._brief = brief
        self._ledger = Ledger(self._settings.budgets, self._now)
        self._journal = Journal(brief.episode_key, self._said(), self._ledger)
        self._mission = MissionMemory(brief.stages)
        self._reckoning = Reckoning(brief.actions)
        self._flow: Workflow | None = None
        self._looking: Looking | None = None
        self._reasoner.reset(brief, self)

    def act(self, observation: Observation) -> Action:
        """Decide the next action.

        Raises:
            PolicyRefused: the agent was not reset.
            ProviderFailure: a model's provider failed; the episode is an error, not a failure.
        """
        if self._brief is None:
            raise PolicyRefused("the policy was not reset", next_step="call reset(brief) before act(observation)")
        self._ledger.actions = self._journal.action = observation.step
        self._reckoning.observe(observation)
        if self._flow is None or observation.stage.index != self._flow.stage.index:
            self._enter(observation)
        if not self._current.failed:
            self._timed("reasoner", lambda: self._reasoner.notice(observation))
        action = self._decide(observation)
        self._reckoning.act(action)
        return action

    def close(self) -> None:
        """Release executors and reasoner."""
        self._reasoner.close()
        for member in distinct(self._members):
            member.close()

    def report(self) -> Mapping[str, Any]:
        """What the last episode took: plans, verifications, replanning, requests, tokens; ``timing`` holds seconds."""
        return self._journal.report() if self._brief is not None else {}

    def spend_request(self, purpose: str) -> None:
        """A reasoner is about to call a model.

        Raises:
            BudgetSpent: no request is left.
        """
        self._ledger.charge_request()

    def note_reply(self, facts: Mapping[str, Any], *, seconds: float) -> None:
        """What became of the call."""
        self._ledger.tokens_in += int(facts.get("tokens_in", 0))
        self._ledger.tokens_out += int(facts.get("tokens_out", 0))
        self._ledger.seconds["model"] += seconds
        self._journal.add("request", **facts)

    def note_unread(self, purpose: str, why: str) -> None:
        """A location or a plan could not be read."""
        self._journal.add(f"{purpose}_schema_failure", why=why)

    def _enter(self, observation: Observation) -> None:
        """Hand off: the memory of the stage before is closed by the mission's rules."""
        stage, old = observation.stage, self._flow
        if old is None:
            memory = EpisodeMemory(stage.kind, observation.step)
        else:
            memory = self._mission.hand_off(old.memory, "success", "evaluator", observation.step, stage.kind)
        self._flow, self._looking = Workflow(stage, memory, self._settings.budgets), None
        self._journal.enter(stage)
        self._reasoner.enter(stage)

    def _decide(self, observation: Observation) -> Action:
        flow = self._current
        if not flow.failed and (spent := self._ledger.spent()):
            self._give_up(f"the episode's {spent} are used up")
        if flow.failed:
            return self._idle()
        try:
            if self._looking is not None:
                return self._look(observation)
            if not flow.steps:
                self._plan(observation)
            occasion = flow.due(observation, self._reckoning.pose, self._periodic_left)
            return self._execute(observation) if occasion is None else self._check(observation, occasion)
        except BudgetSpent as error:
            self._give_up(f"the episode's {error.args[0]} are used up")
            return self._idle()

    def _plan(self, observation: Observation) -> None:
        """Assess, decompose, and begin an attempt."""
        flow = self._current
        situation = self._situation(observation)
        assessment: Assessment = self._timed("reasoner", lambda: self._reasoner.assess(situation))
        steps = self._timed("reasoner", lambda: self._reasoner.plan(situation, assessment))
        flow.take(steps, observation.step)
        self._ledger.attempts += 1
        self._journal.count("attempts")
        self._journal.plan(assessment, steps, flow.attempt)

    def _execute(self, observation: Observation) -> Action:
        """Ask the executor of the step at work; its STOP is a proposal."""
        flow, brief = self._current, self._brief
        assert brief is not None
        member = self._members[flow.step.executor]
        stage = replace(observation.stage, kind=flow.step.executor, instruction=flow.step.instruction)
        if not flow.step_started:
            member.reset(replace(brief, stage=stage))
            flow.begin_step(observation)
        self._ledger.executor_calls += 1
        action: Action = self._timed("executor", lambda: member.act(replace(observation, stage=stage)))
        if not isinstance(action, Stop):
            return action
        self._ledger.proposals += 1
        return self._check(observation, "proposal")

    def _check(self, observation: Observation, occasion: Occasion) -> Action:
        """Verify, after looking left and right where the reasoner wants that."""
        flow = self._current
        if self._settings.control == "continuation" or self._settings.verify == "none":
            return self._unverified(observation, occasion)
        assert flow.start_view is not None or occasion != "proposal"
        start = flow.start_view or observation
        assert self._brief is not None
        if occasion in self._reasoner.looks and flow.stage.kind != "outdoor":
            looking = Looking(occasion, start, observation, self._brief.actions, self._brief.body)
            if len(looking) < self._ledger.budgets.actions - observation.step:
                self._looking = looking
                return self._look(observation)
        return self._judge(observation, occasion, {"start": start, "forward": observation})

    def _look(self, observation: Observation) -> Action:
        looking = self._looking
        assert looking is not None
        action = looking.next(observation)
        if action is not None:
            self._ledger.looks += 1
            return action
        self._looking = None
        return self._judge(observation, looking.occasion, looking.views)

    def _judge(self, observation: Observation, occasion: Occasion, views: Mapping[View, Observation]) -> Action:
        """The gate: accepted workflows are declared, accepted steps advance, the rest recovers or goes on."""
        flow = self._current
        if occasion in ("periodic", "progress"):
            self._ledger.periodic += 1
        self._ledger.verifications += 1
        self._journal.count("verifications")
        verdict = self._verdict(self._situation(observation, occasion, views), views)
        flow.verdict = verdict
        if verdict is not None and verdict.parent == "ACCEPT" and flow.stage.kind != "outdoor":
            return self._declare()
        if verdict is not None and verdict.step == "ACCEPT" and not flow.step.closes:
            flow.advance()
            return self._execute(observation)
        if verdict is None or occasion in DECISIVE or (occasion == "progress" and flow.stalled):
            return self._recover(observation, verdict)
        return self._execute(observation)

    def _verdict(self, situation: Situation, views: Mapping[View, Observation]) -> Verdict | None:
        """Ask; None where the reply was no verdict, which the record says."""
        flow, occasion = self._current, situation.occasion
        assert occasion is not None
        try:
            if flow.stage.kind == "outdoor":
                verdict = outdoor_verdict(situation.observation)
            else:
                verdict = self._timed("reasoner", lambda: self._reasoner.verify(situation))
        except SchemaFailure as error:
            self._ledger.schema_failures += 1
            self._journal.add("verification_schema_failure", occasion=occasion, attempt=flow.attempt, step=flow.step.name, why=str(error))
            flow.memory.failures.append(f"attempt {flow.attempt}: the verification could not be read")
            return None
        self._journal.verification(occasion, flow.step, verdict, views, flow.attempt)
        flow.memory.note(f"{occasion} of '{flow.step.name}': {verdict.parent}, {verdict.parent_reason}")
        return verdict

    def _recover(self, observation: Observation, verdict: Verdict | None) -> Action:
        """Replan while cycles are left, else report that the workflow failed."""
        flow = self._current
        if verdict is not None:
            flow.memory.failures.append(f"attempt {flow.attempt}: {verdict.parent_reason}")
            if verdict.retry_guidance:
                flow.memory.directions = [verdict.retry_guidance]
        if flow.replans_left <= 0:
            self._give_up("verification failed and no replanning cycle is left")
            return self._idle()
        self._ledger.replans += 1
        self._journal.count("replans")
        self._plan(observation)
        return self._execute(observation)

    def _unverified(self, observation: Observation, occasion: Occasion) -> Action:
        """Without verification: a STOP counts, once as many as asked for were withheld to go on; attempts end as ever."""
        flow = self._current
        continuing = self._settings.control == "continuation"
        if occasion == "proposal" and flow.stage.kind != "outdoor":
            if not continuing or flow.withheld >= self._settings.extra:
                return self._declare()
            flow.withheld += 1
            return self._recover(observation, None) if flow.replans_left > 0 else self._declare()
        if occasion == "proposal" or occasion in DECISIVE:
            # What was proposed once stands when going on brings nothing new.
            if occasion == "attempt_end" and flow.withheld:
                return self._declare()
            return self._recover(observation, None)
        return self._execute(observation)

    def _declare(self) -> Action:
        self._journal.add("declaration", attempt=self._current.attempt)
        self._journal.close_stage("declared")
        return Stop()

    def _give_up(self, why: str) -> None:
        """The workflow failed: nothing is declared, and nothing more is tried [I2 B.2]."""
        self._current.failed = why
        self._looking = None
        self._mission.hypotheses += [f"{self._current.stage.kind}: {text}" for text in self._current.memory.failures]
        self._journal.add("workflow_failed", why=why)
        self._journal.close_stage("failed", why)

    def _idle(self) -> Action:
        """Stand still: an episode ends by its own budget."""
        assert self._brief is not None
        self._ledger.idle += 1
        return Velocity(0.0, 0.0, 0.0, 0.1) if "velocity" in self._brief.actions.accepts else Move("turn_left")

    @property
    def _current(self) -> Workflow:
        assert self._flow is not None
        return self._flow

    @property
    def _periodic_left(self) -> int:
        verifies = self._settings.control == "agent" and self._settings.verify == "full"
        return self._ledger.budgets.periodic - self._ledger.periodic if verifies else 0

    def _situation(self, observation: Observation, occasion: Occasion | None = None, views: Mapping[View, Observation] | None = None) -> Situation:
        flow = self._current
        return Situation(
            flow.stage,
            observation,
            flow.memory,
            self._mission,
            attempt=max(flow.attempt, 1),
            step=flow.steps[0] if flow.steps else None,
            occasion=occasion,
            views=dict(views or {"forward": observation}),
            verdict=flow.verdict,
            seconds_left=self._ledger.seconds_left,
        )

    def _timed(self, who: str, call: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        try:
            return call()
        finally:
            self._ledger.seconds[who] += time.perf_counter() - began

    def _said(self) -> dict[str, Any]:
        settings = self._settings
        executors = {kind: self._members[kind].spec.name for kind in WORKFLOWS}
        said = {"reasoner": self._reasoner.name, "control": settings.control, "verify": settings.verify, "executors": executors, "slips": self._slips}
        return said | ({"extra": settings.extra} if settings.control == "continuation" else {})


def _larger(size: tuple[int, int] | None, reasoner: Reasoner) -> tuple[int, int] | None:
    """What executors or a reasoner want of pictures, whichever is more; executors take large ones down themselves."""
    wanted: tuple[int, int] | None = getattr(reasoner, "image_size", None)
    return size if wanted is None else wanted if size is None else max(size, wanted)
