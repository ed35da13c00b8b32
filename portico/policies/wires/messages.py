"""Portico's own protocol, version 1: what client and server say to each other, as plain data. msgpack or JSON write it down.

Client: ``hello`` (versions, session), then ``reset`` (brief), ``observe`` and ``act`` (observation), ``end``. Each carries ``seq``, one more than the last;
a message sent again with the same ``seq`` is answered again without being carried out again. Server: ``welcome`` (version, session, spec, limits),
``done``, ``action`` or ``error``, each with the ``seq`` that it answers.
"""

from __future__ import annotations

from typing import Any, get_args

from portico.errors import UserError
from portico.interface import Action, Brief, FailureKind, Observation, PolicyFailure, PolicySpec
from portico.policies.wires.actions import breach_of, in_floats
from portico.policies.wires.structure import Mismatch, one_of, plain, shown, structured, tagged

PROTOCOL = "portico.policy"
VERSIONS = (1,)
MIB = 2**20
#: Two 640 x 480 RGB-D cameras take 5 MiB.
DEFAULT_LIMIT_BYTES = 64 * MIB
DEFAULT_DEADLINE_S = 30.0


def hello(session: str = "") -> dict[str, Any]:
    """The first message of a client; ``session`` names one that it goes on with."""
    return {"type": "hello", "protocol": PROTOCOL, "versions": list(VERSIONS), "session": session}


def welcome(version: int, session: str, spec: PolicySpec, limit_bytes: int, *, seq: int, observes: bool) -> dict[str, Any]:
    """The server's answer to ``hello``; ``seq`` is the last one that it carried out in this session."""
    return {
        "type": "welcome",
        "protocol": PROTOCOL,
        "version": version,
        "session": session,
        "seq": seq,
        "spec": plain(spec),
        "limit_bytes": limit_bytes,
        "observes": observes,
        "repeats": True,
    }


def agreed_version(message: dict[str, Any], where: str) -> int:
    """The version that both sides speak, from the other side's ``versions``.

    Raises:
        Mismatch: another protocol, or no common version.
    """
    protocol = message.get("protocol")
    if not isinstance(protocol, str) or protocol != PROTOCOL:
        raise Mismatch("protocol", PROTOCOL, shown(protocol))
    offered = message.get("versions")
    common = sorted(set(VERSIONS) & {v for v in offered if isinstance(v, int)}) if isinstance(offered, list) else []
    if not common:
        raise Mismatch("versions", f"one of {list(VERSIONS)}, spoken by {where}", shown(offered))
    return common[-1]


def spec_of(message: dict[str, Any]) -> PolicySpec:
    """The policy that a server describes.

    Raises:
        Mismatch: a value that is no part of a ``PolicySpec``.
    """
    return structured(PolicySpec, message.get("spec"), "spec")


def brief_of(data: object) -> Brief:
    """The brief of a ``reset``.

    Raises:
        Mismatch: something is missing or of another kind.
    """
    return structured(Brief, data, "brief")


def observation_of(data: object) -> Observation:
    """The observation of an ``act`` or ``observe``.

    Raises:
        Mismatch: something is missing or of another kind, or an image has another size than its camera.
    """
    observation = structured(Observation, data, "observation")
    for name, frame in observation.frames.items():
        size = (frame.camera.height, frame.camera.width)
        for channel in ("rgb", "depth", "instance", "semantic", "normal"):
            image = getattr(frame, channel)
            if image is not None and image.shape != (size if channel not in ("rgb", "normal") else (*size, 3)):
                raise Mismatch(f"observation.frames.{name}.{channel}", f"an image of its camera's size {size}", shown(image))
    return observation


def action_data(action: Action) -> dict[str, Any]:
    """An action as plain data."""
    return tagged(in_floats(action))


def action_of(data: object) -> Action:
    """The action of an answer.

    Raises:
        Mismatch: no action, or one that cannot be carried out.
    """
    action: Action = one_of(get_args(Action), data, "action")
    if wrong := breach_of(action):
        raise Mismatch("action", "an action that can be carried out", wrong)
    return action


def error_data(error: BaseException, seq: int = 0) -> dict[str, Any]:
    """What a server says when it has no answer."""
    kind: FailureKind = "server"
    if isinstance(error, PolicyFailure):
        kind = error.kind
    elif isinstance(error, Mismatch):
        kind = "invalid"
    said = {"type": "error", "seq": seq, "kind": kind, "error": f"{type(error).__name__}: {error}"}
    if isinstance(error, Mismatch):
        said |= {"error": str(error), "where": error.where, "expected": error.expected, "received": error.received}
    if isinstance(error, UserError):
        said |= {"error": error.what, "where": error.where, "why": error.why, "next_step": error.next_step}
    return said


def failure_of(message: dict[str, Any], where: str) -> PolicyFailure:
    """The failure that a server's ``error`` tells of."""
    said = {key: value for key, value in message.items() if isinstance(value, str)}
    kinds: dict[str, FailureKind] = {name: name for name in get_args(FailureKind)}
    kind = kinds.get(said.get("kind", ""), "server")
    why = "; ".join(said[key] for key in ("where", "why") if said.get(key))
    return PolicyFailure(
        kind,
        f"the policy's server says: {(said.get('error') or 'it failed')[:500]}",
        where=where,
        why=why,
        next_step=said.get("next_step") or "look at what the server printed; the same command runs this episode again",
    )
