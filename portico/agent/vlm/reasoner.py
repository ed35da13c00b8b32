"""A vision-language model as the agent's reasoner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from portico.agent.contract import Assessment, Occasion, Requests, SchemaFailure, Situation, Step, Verdict
from portico.agent.vlm import prompts
from portico.agent.vlm.cassette import Cassette
from portico.agent.vlm.client import ChatClient, Reply, provider_key
from portico.agent.vlm.parse import assessment_in, plan_in, verdict_in
from portico.agent.vlm.profiles import load_profile
from portico.errors import UnknownName, UserError
from portico.interface import Brief, Need, Observation, StageBrief, StageKind

#: Limits of replies [I2 Table 8].
LOCATION_TOKENS, PLAN_TOKENS, VERDICT_TOKENS = 256, 1024, 512
_MODES = ("replay", "record")
#: Executors that a step of a workflow may name, besides the workflow's own.
_EXECUTORS: dict[StageKind, tuple[StageKind, ...]] = {"exit": ("exit",), "entrance": ("entrance", "exit"), "ovon": ("ovon", "exit", "entrance")}


class VlmReasoner:
    """Asks a model for locations, plans and verdicts. An unreadable plan or location falls back; an unreadable verdict is a failure.

    Args:
        profile: a provider profile that ships, or a YAML file. base_url, model: replace what it says.
        cassette: a file of calls. mode: ``replay`` them without a network, as when left out, or ``record`` them.

    Raises:
        UserError: the provider's key or the cassette is missing or damaged. UnknownName: no such profile or mode.
    """

    name = "vlm"
    needs: frozenset[Need] = frozenset({"rgb"})
    looks: frozenset[Occasion] = frozenset({"proposal", "attempt_end"})
    image_size = (640, 480)

    def __init__(
        self, profile: str = "source", base_url: str | None = None, model: str | None = None, cassette: str | None = None, mode: str | None = None
    ) -> None:
        if mode is not None and mode not in _MODES:
            raise UnknownName("mode of a cassette", mode, _MODES, where="policy agent")
        if mode is not None and not cassette:
            raise UserError(
                f"there is no cassette to {mode}", where=f"policy agent: mode={mode}", next_step=f"add cassette=FILE.jsonl, or leave mode={mode} out"
            )
        chosen = load_profile(profile, base_url=base_url, model=model)
        self._cassette = Cassette(Path(cassette), "record" if mode == "record" else "replay") if cassette else None
        replaying = self._cassette is not None and self._cassette.mode == "replay"
        if chosen.key_env and not replaying:
            provider_key(chosen)
        self._client = ChatClient(chosen, self._cassette)
        self._requests: Requests | None = None

    def reset(self, brief: Brief, requests: Requests) -> None:
        """A new episode begins."""
        self._requests = requests
        if self._cassette is not None:
            self._cassette.rewind()

    def enter(self, stage: StageBrief) -> None:
        """Nothing is kept between questions."""

    def notice(self, observation: Observation) -> None:
        """Pictures come with the question."""

    def assess(self, situation: Situation) -> Assessment:
        """Ask where the robot is; unknown where the reply cannot be read."""
        if situation.stage.kind == "outdoor":
            return Assessment("outdoors", "ground", 1.0, "the stage says so")
        reply = self._ask(prompts.location_messages(situation), "location", LOCATION_TOKENS, situation)
        try:
            return assessment_in(_whole(reply))
        except SchemaFailure as error:
            self._unread("location", error)
            return Assessment(reason="the reply could not be read")

    def plan(self, situation: Situation, assessment: Assessment) -> Sequence[Step]:
        """Ask for steps; the instruction itself is the only one where the reply cannot be read."""
        stage = situation.stage
        if stage.kind == "outdoor":
            return [Step("follow the route", stage.instruction, "outdoor")]
        executors = {str(kind): kind for kind in _EXECUTORS.get(stage.kind, (stage.kind,))}
        purpose = "replanning" if situation.verdict is not None else "planning"
        reply = self._ask(prompts.plan_messages(situation, assessment, executors), purpose, PLAN_TOKENS, situation)
        try:
            return plan_in(_whole(reply), executors)
        except SchemaFailure as error:
            self._unread(purpose, error)
            return [Step("as instructed", stage.instruction, stage.kind)]

    def verify(self, situation: Situation) -> Verdict:
        """Ask for a verdict.

        Raises:
            SchemaFailure: the reply was cut off, refused, empty or no verdict. ProviderFailure, BudgetSpent: as the client says.
        """
        return verdict_in(_whole(self._ask(prompts.verification_messages(situation), "verification", VERDICT_TOKENS, situation)))

    def close(self) -> None:
        """End the client."""
        self._client.close()

    def _unread(self, purpose: str, error: SchemaFailure) -> None:
        assert self._requests is not None
        self._requests.note_unread(purpose, str(error))

    def _ask(self, messages: list[prompts.Message], purpose: str, max_tokens: int, situation: Situation) -> Reply:
        assert self._requests is not None
        return self._client.complete(messages, purpose=purpose, max_tokens=max_tokens, requests=self._requests, seconds_left=situation.seconds_left)


def _whole(reply: Reply) -> str:
    """The text of a reply that is all there.

    Raises:
        SchemaFailure: it was cut off or refused.
    """
    if reply.refusal:
        raise SchemaFailure("the model refused", reply.refusal)
    if reply.finish == "length":
        raise SchemaFailure("the reply was cut off at its limit of tokens", reply.text)
    if reply.finish == "content_filter":
        raise SchemaFailure("the reply was withheld by the provider's filter")
    return reply.text
