"""Keys, cassettes and profiles of the vlm reasoner: what cannot be used is said before anything runs."""

import pytest

from portico.agent.vlm import VlmReasoner, load_profile, profile_names
from portico.errors import UnknownName, UserError


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "tab\there"])
def test_a_key_that_cannot_be_one_is_said_before_anything_runs(monkeypatch, key):
    monkeypatch.setenv("KIMI_API_KEY", key)
    with pytest.raises(UserError, match="characters that no key has") as error:
        VlmReasoner()
    assert "KIMI_API_KEY" in error.value.where
    assert key not in str(error.value)


@pytest.mark.parametrize(
    "damage",
    ['{"key": "a", "status": 200, "bo', '{"status": 200, "body": ""}', '{"key": "a"}', '{"key": "a", "status": "200", "body": "{}"}', "[1]", '"text"', "\x00"],
)
def test_a_damaged_cassette_is_said_before_anything_runs(tmp_path, damage):
    tape = tmp_path / "tape.jsonl"
    tape.write_text(damage + "\n")
    with pytest.raises(UserError, match="cannot be replayed") as error:
        VlmReasoner(profile="vllm", cassette=str(tape))
    assert error.value.where == str(tape)


@pytest.mark.parametrize("mode", ["replay", "record"])
def test_a_mode_without_a_cassette_is_not_passed_over(mode):
    with pytest.raises(UserError, match=f"no cassette to {mode}"):
        VlmReasoner(profile="vllm", mode=mode)


def test_profiles_are_data():
    assert "source" in profile_names()
    source = load_profile("source")
    assert (source.model, source.base_url, source.timeout_s) == ("kimi-k2.6", "https://api.kimi.com/coding/v1", 60.0)
    assert load_profile("vllm", base_url="http://10.0.0.1/v1", model="x").model == "x"
    assert all(load_profile(name).base_url.startswith("http") for name in profile_names())
    with pytest.raises(UnknownName):
        load_profile("sorcerer")


def test_a_profile_that_breaks_the_schema_names_the_key(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("base_url: http://x/v1\nmodel: m\ntimeout: 3\n")
    with pytest.raises(UserError, match="timeout"):
        load_profile(str(path))
