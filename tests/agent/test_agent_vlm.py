"""The vlm reasoner against a scripted server on a real socket: good and bad verdicts, failing providers, budgets, cassettes."""

from __future__ import annotations

import json

import pytest
from doubles import Executor, Walk, agent_of, brief_of
from model_server import LOCATION, PLAN, Line, Server, answers, purpose_of, serving, verdict

from portico.agent.contract import ProviderFailure
from portico.agent.vlm import VlmReasoner
from portico.agent.vlm.client import ChatClient
from portico.agent.vlm.profiles import Profile
from portico.errors import UserError
from portico.interface import Move, Stop

GOOD = Line(verdict(True))


def vlm(server: Server, tmp_path, *, timeout_s: float = 60.0, retries: int = 2, **options) -> VlmReasoner:
    path = tmp_path / "provider.yaml"
    path.write_text(f"base_url: {server.base_url}\nmodel: scripted\ntimeout_s: {timeout_s}\nretries: {retries}\nbody: {{thinking: {{type: disabled}}}}\n")
    made = VlmReasoner(profile=str(path), **options)
    made._client._sleep = lambda seconds: None
    return made


def run(script, tmp_path, *, most: int = 300, **options):
    """An agent whose executor proposes at its 6th step, under a script; (agent, walk, server)."""
    with serving(script) as server:
        agent = agent_of(Executor(lambda n: Stop() if n == 5 else Move("forward")), vlm(server, tmp_path, **options), cadence=0)
        walk = Walk()
        try:
            walk.run(agent, most=most)
        finally:
            agent.close()
        return agent, walk, server


def events(agent, name: str) -> list[dict]:
    return [e for e in agent.report()["events"] if e["event"] == name]


def test_a_good_verdict_is_declared_after_one_request_each(tmp_path):
    agent, walk, server = run(answers(GOOD), tmp_path)
    assert walk.over == "success"
    assert [purpose_of(body) for body in server.requests] == ["location", "plan", "verification"]
    counts = agent.report()["counts"]
    assert (counts["requests"], counts["tokens_in"], counts["tokens_out"], counts["verifications"]) == (3, 300, 30, 1)
    assert agent.report()["timing"]["model_s"] > 0.0


def test_requests_are_as_the_source_says(tmp_path):
    _, _, server = run(answers(GOOD), tmp_path)
    assert [body["max_tokens"] for body in server.requests] == [256, 1024, 512]
    last = server.requests[-1]
    assert last["model"] == "scripted"
    assert last["thinking"] == {"type": "disabled"}
    assert [m["role"] for m in last["messages"]] == ["system", "user"]
    kinds = [part["type"] for part in last["messages"][1]["content"]]
    assert kinds == ["text", "image_url", "image_url", "image_url", "image_url"]
    assert all(part["image_url"]["url"].startswith("data:image/jpeg;base64,") for part in last["messages"][1]["content"][1:])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (Line("I think it is done."), "no JSON object"),
        (Line('{"step_completed": true, '), "no JSON object"),
        (Line(verdict(True, step_completed="true")), "step_completed"),
        (Line(verdict(True, parent_completed="yes")), "parent_completed"),
        (Line(verdict(True, parent_completed=1)), "parent_completed"),
        (Line(verdict(True, 1.2)), "confidence"),
        (Line(verdict(True, float("nan"))), "confidence"),
        (Line(verdict(True, float("inf"))), "confidence"),
        (Line(verdict(True, 10**400)), "confidence"),
        (Line(verdict(True, step_reason=7)), "step_reason"),
        (Line('{"step_completed": true, "step_confidence": ' + "9" * 5000 + "}"), "no JSON object"),
        (Line(verdict(True, step_confidence="0.9")), "step_confidence"),
        (Line(verdict(True, parent_confidence=True)), "parent_confidence"),
        (Line(""), "empty"),
        (Line(None), "empty"),
        (Line(verdict(True), finish="length"), "cut off"),
        (Line(verdict(True), finish="content_filter"), "withheld"),
        (Line(None, refusal="I cannot help with robots."), "refused"),
    ],
)
def test_a_reply_that_is_no_verdict_consumes_the_attempt(tmp_path, line, why):
    agent, walk, _ = run(answers(line, GOOD), tmp_path)
    (failure,) = events(agent, "verification_schema_failure")
    assert why in failure["why"]
    assert (failure["occasion"], failure["attempt"]) == ("proposal", 1)
    counts = agent.report()["counts"]
    assert (counts["schema_failures"], counts["attempts"], counts["replans"]) == (1, 2, 1)
    assert walk.over == "success"


def test_four_unreadable_verdicts_end_the_workflow_without_a_declaration(tmp_path):
    agent, walk, _ = run(answers(Line("no")), tmp_path)
    assert walk.stops == []
    assert agent.report()["counts"]["schema_failures"] == 4
    assert agent.report()["stages"][0]["outcome"] == "failed"


def test_a_verdict_in_prose_or_a_fence_is_found(tmp_path):
    for text in (f"Here it is:\n```json\n{verdict(True)}\n```", f"Sure. {verdict(True)} Good luck."):
        _, walk, _ = run(answers(Line(text)), tmp_path)
        assert walk.over == "success"


@pytest.mark.parametrize("half", ['"\\ud83d a door"', '"a door \\ude80"'])
def test_half_a_character_in_a_reply_is_replaced_and_spoils_nothing(tmp_path, half):
    """Guidance goes back to the model with the next question, and every reason into the record."""
    refused = verdict(False).replace('"turn left"', half).replace('"seen"', half)
    agent, walk, server = run(answers(Line(refused), GOOD), tmp_path)
    assert walk.over == "success"
    said = json.dumps(agent.report(), ensure_ascii=False)
    assert "? a door" in said or "a door ?" in said
    said.encode()
    assert any("a door" in body["messages"][1]["content"][0]["text"] for body in server.requests)


@pytest.mark.parametrize(
    ("line", "kind", "calls"),
    [
        (Line(status=401), "refused", 1),
        (Line(status=403), "refused", 1),
        (Line(status=400), "refused", 1),
        (Line(status=429), "server", 3),
        (Line(status=429, retry_after="0.01"), "server", 3),
        (Line(status=500), "server", 3),
        (Line(raw=b"<html>maintenance</html>"), "parse", 3),
        (Line(raw=b'{"choices": []}'), "parse", 3),
        (Line(raw=b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": Infinity}}'), "parse", 3),
        (Line(drops=True), "transport", 3),
    ],
)
def test_a_failing_provider_is_an_error_and_every_call_is_counted(tmp_path, line, kind, calls):
    with serving(answers(line)) as server:
        agent = agent_of(Executor(lambda n: Stop() if n == 5 else Move("forward")), vlm(server, tmp_path))
        with pytest.raises(ProviderFailure) as failure:
            Walk().run(agent)
        agent.close()
    assert failure.value.kind == kind
    remedies = {"refused": "key_env" if line.status in (401, 403) else "model's name", "transport": "at that address"}
    assert remedies.get(kind, "the same command") in failure.value.next_step
    assert len(server.requests) == 2 + calls
    assert agent.report()["counts"]["requests"] == 2 + calls
    assert agent.report()["counts"]["schema_failures"] == 0


def test_what_passes_is_tried_again(tmp_path):
    agent, walk, _ = run(answers(Line(status=500), Line(status=429), GOOD), tmp_path)
    assert walk.over == "success"
    assert [e["status"] for e in events(agent, "request")] == [200, 200, 500, 429, 200]
    assert agent.report()["counts"]["requests"] == 5


def test_retry_after_is_kept_to_within_the_deadline(tmp_path):
    waits: list[float] = []
    with serving([Line(status=429, retry_after="3"), Line(status=429, retry_after="3600"), GOOD]) as server:
        client = ChatClient(Profile(base_url=server.base_url, model="m", timeout_s=60.0), sleep=waits.append)
        with pytest.raises(ProviderFailure) as failure:
            client.complete([], purpose="verification", max_tokens=9, requests=_Free(), seconds_left=900.0)
        client.close()
    assert waits == [3.0]
    assert "429" in str(failure.value)


@pytest.mark.parametrize("line", [Line(verdict(True), stalls=True), Line(verdict(True), after_s=60.0)])
def test_a_stalled_socket_and_a_late_reply_end_at_the_deadline(tmp_path, line):
    with serving([line]) as server:
        client = ChatClient(Profile(base_url=server.base_url, model="m", timeout_s=2.0))
        with pytest.raises(ProviderFailure) as failure:
            client.complete([], purpose="verification", max_tokens=9, requests=_Free(), seconds_left=900.0)
        client.close()
    assert failure.value.kind == "timeout"
    assert len(server.requests) <= 1


def test_a_request_never_waits_longer_than_the_episode_has(tmp_path):
    with serving([Line(verdict(True), after_s=20.0)]) as server:
        client = ChatClient(Profile(base_url=server.base_url, model="m", timeout_s=60.0))
        with pytest.raises(ProviderFailure, match=r"within 0\.[0-5] s|no time was left"):
            client.complete([], purpose="verification", max_tokens=9, requests=_Free(), seconds_left=0.5)
        client.close()


def test_fifty_requests_and_not_one_more(tmp_path):
    with serving(answers(Line(verdict(False)))) as server:
        agent = agent_of(Executor(), vlm(server, tmp_path), cadence=1)
        agent._settings = agent._settings.__class__(budgets=agent._settings.budgets.__class__(cadence=1, periodic=1000))
        walk = Walk().run(agent, most=300)
        agent.close()
    assert len(server.requests) == 50
    assert agent.report()["counts"]["requests"] == 50
    assert walk.stops == []
    failed = events(agent, "workflow_failed")
    assert [e["why"] for e in failed] == ["the episode's requests are used up"]


def test_retries_count_against_the_fifty(tmp_path):
    verifications = [Line(status=500), Line(verdict(False))] * 60

    def script(body, number):
        return {"location": Line(LOCATION), "plan": Line(PLAN)}.get(purpose_of(body)) or verifications.pop(0)

    with serving(script) as server:
        agent = agent_of(Executor(), vlm(server, tmp_path), cadence=1)
        agent._settings = agent._settings.__class__(budgets=agent._settings.budgets.__class__(cadence=1, periodic=1000))
        Walk().run(agent, most=300)
        agent.close()
    assert len(server.requests) == 50


def test_an_unreadable_plan_or_location_falls_back_and_is_recorded(tmp_path):
    def script(body, number):
        return GOOD if purpose_of(body) == "verification" else Line("no idea")

    agent, walk, _ = run(script, tmp_path)
    assert walk.over == "success"
    assert len(events(agent, "location_schema_failure")) == 1
    assert len(events(agent, "planning_schema_failure")) == 1
    assert events(agent, "plan")[0]["steps"] == ["as instructed"]


def test_a_cassette_replays_an_episode_without_a_server(tmp_path):
    tape = tmp_path / "tape.jsonl"
    with serving(answers(Line(status=500), Line(verdict(False)), GOOD)) as server:
        agent = agent_of(Executor(lambda n: Stop() if n == 5 else Move("forward")), vlm(server, tmp_path, cassette=str(tape), mode="record"), cadence=0)
        recorded = Walk().run(agent)
        first = agent.report()
        agent.close()
        asked = len(server.requests)
        replayer = agent_of(Executor(lambda n: Stop() if n == 5 else Move("forward")), vlm(server, tmp_path, cassette=str(tape)), cadence=0)
        for _ in range(2):
            replayed = Walk().run(replayer)
            again = replayer.report()
            assert replayed.actions == recorded.actions
            assert {k: v for k, v in again.items() if k != "timing"} == {k: v for k, v in first.items() if k != "timing"}
        assert len(server.requests) == asked
    assert b"Bearer" not in tape.read_bytes()


def test_a_cassette_without_the_answer_is_an_error(tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text("")
    with serving([GOOD]) as server:
        agent = agent_of(Executor(), vlm(server, tmp_path, cassette=str(tape)))
        with pytest.raises(ProviderFailure, match="holds no answer"):
            Walk().run(agent)
        assert server.requests == []
    with pytest.raises(UserError, match="cannot be replayed"):
        VlmReasoner(profile="vllm", cassette=str(tmp_path / "none.jsonl"))


def test_keys_come_from_the_environment_and_are_sent_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.delenv("TOY_KEY", raising=False)
    path = tmp_path / "p.yaml"
    with serving(answers(GOOD)) as server:
        path.write_text(f"base_url: {server.base_url}\nmodel: m\nkey_env: TOY_KEY\n")
        with pytest.raises(UserError, match="TOY_KEY"):
            VlmReasoner(profile=str(path))
        monkeypatch.setenv("TOY_KEY", "sesame")
        agent = agent_of(Executor(lambda n: Stop()), VlmReasoner(profile=str(path), cassette=str(tmp_path / "t.jsonl"), mode="record"))
        Walk().run(agent)
        agent.close()
        assert {h["authorization"] for h in server.headers} == {"Bearer sesame"}
    assert "sesame" not in (tmp_path / "t.jsonl").read_text()
    assert "sesame" not in json.dumps(agent.report())


def test_a_key_that_the_provider_repeats_is_in_no_record_and_no_cassette(tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_KEY", "sesame\n")
    path, tape = tmp_path / "p.yaml", tmp_path / "t.jsonl"
    with serving([Line(status=401, raw=b'{"error": {"message": "Incorrect API key provided: sesame."}}')]) as server:
        path.write_text(f"base_url: {server.base_url}\nmodel: m\nkey_env: TOY_KEY\n")
        agent = agent_of(Executor(), VlmReasoner(profile=str(path), cassette=str(tape), mode="record"))
        with pytest.raises(ProviderFailure, match="Incorrect API key") as failure:
            Walk().run(agent)
        agent.close()
        assert server.headers[0]["authorization"] == "Bearer sesame"
    assert failure.value.kind == "refused"
    assert "check the key in the environment variable TOY_KEY" in failure.value.next_step
    for told in (str(failure.value), json.dumps(agent.report()), tape.read_text()):
        assert "sesame" not in told


def test_pictures_and_words_hold_no_pose_and_no_route(tmp_path):
    with serving(answers(GOOD)) as server:
        agent = agent_of(Executor(lambda n: Stop() if n == 5 else Move("forward")), vlm(server, tmp_path))
        agent.reset(brief_of(("exit",)))
        Walk().run(agent)
        agent.close()
        said = [body["messages"][1]["content"][0]["text"] for body in server.requests]
    assert not any("route" in text.replace("its route", "") and "(" in text for text in said)
    assert not any("pose" in text.replace("propose", "") for text in said)


class _Free:
    def spend_request(self, purpose):
        pass

    def note_reply(self, facts, *, seconds):
        pass

    def note_unread(self, purpose, why):
        pass
