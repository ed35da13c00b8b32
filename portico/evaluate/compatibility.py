"""Whether a policy fits a suite, told before the first episode: every finding has a stable code, a sentence and a remedy.

Codes that refuse: ``privileged``, ``stages``, ``goals``, ``actions``, ``server``. Codes that are recorded with the run: ``cameras``, ``steps``,
``never-declares``, ``body``, ``slides``, ``samples``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from portico.declarations import GoalForm
from portico.errors import PolicyRefused
from portico.interface import TRACKS, Answering, Policy, PolicyFailure, PolicySpec, StageKind
from portico.robots import embodiment
from portico.suites import Suite

#: In which forms a kind of stage says what it asks for.
GIVEN: Mapping[StageKind, frozenset[GoalForm]] = {
    "point": frozenset({"point"}),
    "image": frozenset({"image"}),
    "object": frozenset({"category", "instruction"}),
    "ovon": frozenset({"category", "instruction"}),
    "place": frozenset({"category", "instruction"}),
    "outdoor": frozenset({"point", "route", "instruction"}),
}
_INSTRUCTED: frozenset[GoalForm] = frozenset({"instruction"})
#: Stages that nothing but a STOP completes, whatever the suite says.
_DECLARED: frozenset[StageKind] = frozenset({"exit", "entrance", "ovon", "place", "vln", "boundary", "landmark", "route"})
_SAME_M = 0.05


@dataclass(frozen=True)
class Finding:
    """One thing that does not fit.

    Attributes:
        code: stable, for scripts. refuses: the run must not start; otherwise it is recorded with the run.
    """

    code: str
    sentence: str
    remedy: str
    refuses: bool = True
    why: str = ""


def findings(policy: Policy, suite: Suite, kinds: Collection[StageKind], *, allow_privileged: bool = False) -> list[Finding]:
    """All that does not fit between a policy and what a suite asks, refusals first.

    Args:
        kinds: of the stages that it will be asked for.
    """
    found = [*_refusals(policy.spec, suite, kinds, allow_privileged), *_notes(policy.spec, suite, kinds)]
    if isinstance(policy, Answering):
        try:
            policy.ready()
        except PolicyFailure as failure:
            found.append(Finding("server", failure.what, failure.next_step, why=": ".join(filter(None, (failure.where, failure.why)))))
    return sorted(found, key=lambda f: not f.refuses)


def check(policy: Policy, suite: Suite, kinds: Collection[StageKind], *, allow_privileged: bool = False) -> list[Finding]:
    """The findings to record with a run.

    Raises:
        PolicyRefused: something refuses; the others that do are named as well.
    """
    found = findings(policy, suite, kinds, allow_privileged=allow_privileged)
    refusals = [f for f in found if f.refuses]
    if refusals:
        first, others = refusals[0], refusals[1:]
        why = "; ".join([first.why, *(f"also [{f.code}] {f.sentence}" for f in others)]).removeprefix("; ")
        raise PolicyRefused(first.sentence, where=f"policy {policy.spec.name!r} in suite {suite.name} [{first.code}]", why=why, next_step=first.remedy)
    return found


def _refusals(spec: PolicySpec, suite: Suite, kinds: Collection[StageKind], allow_privileged: bool) -> Iterator[Finding]:
    beyond = spec.beyond(suite.track)
    if beyond and not allow_privileged:
        yield Finding(
            "privileged",
            f"policy {spec.name!r} needs more than track {suite.track!r} grants",
            "add --allow-privileged to run it anyway: every record and table will carry the stamp",
            why=f"it asks for {', '.join(sorted(beyond))}; the track grants {', '.join(sorted(TRACKS[suite.track]))}",
        )
    if strange := sorted(set(kinds) - spec.stages):
        yield Finding(
            "stages",
            f"policy {spec.name!r} cannot attempt {', '.join(strange)}",
            "choose tasks that it knows with --task, or another policy: `portico list policies`",
            why=f"it attempts {', '.join(sorted(spec.stages))}",
        )
    if unsaid := sorted(kind for kind in set(kinds) & spec.stages if not spec.goals & GIVEN.get(kind, _INSTRUCTED)):
        yield Finding(
            "goals",
            f"policy {spec.name!r} cannot be told what {', '.join(unsaid)} asks for",
            "choose tasks whose goals it understands with --task",
            why=f"it takes {', '.join(sorted(spec.goals))}; {unsaid[0]} gives {', '.join(sorted(GIVEN.get(unsaid[0], _INSTRUCTED)))}",
        )
    accepted = suite.actions.space().accepts
    emitted = {e.kind for e in spec.actions}
    if emitted and not emitted & accepted:
        yield Finding(
            "actions",
            f"nothing that policy {spec.name!r} returns can be carried out",
            "choose another policy, or a suite whose actions accept it",
            why=f"it returns {', '.join(sorted(emitted))}; accepted are {', '.join(sorted(accepted))}",
        )


def _notes(spec: PolicySpec, suite: Suite, kinds: Collection[StageKind]) -> Iterator[Finding]:
    body, asked = embodiment(suite.embodiment), suite.actions.space()
    if spec.cameras:
        names = ", ".join(f"{c.name} {c.width}x{c.height} at {c.z:g} m" for c in spec.cameras)
        kept = "stay" if spec.keeps_cameras else "are not used"
        yield _note("cameras", f"the policy brings its own cameras ({names}); those of {body.name} {kept}", "nothing to do: it sees as it was trained to")
    own = sorted(
        {f"{e.step_m:g} m" for e in spec.actions if e.step_m not in (None, asked.step_m)}
        | {f"{np.degrees(e.turn_rad):g} deg" for e in spec.actions if e.turn_rad is not None and abs(e.turn_rad - asked.turn_rad) > 1e-9}
    )
    if own:
        suite_has = f"{asked.step_m:g} m and {np.degrees(asked.turn_rad):g} deg"
        yield _note(
            "steps", f"the policy's moves have their own amounts ({', '.join(own)}), the suite's are {suite_has}", "nothing to do: its own are carried out"
        )
    if not spec.stop.declares and (silent := sorted(set(kinds) & _DECLARED)):
        yield _note("never-declares", f"the policy declares nothing, and {', '.join(silent)} end by a STOP alone", "expect them to end with their budget")
    made = spec.made_for
    for what, wanted, has in (("radius", made.radius_m, body.radius_m), ("height", made.height_m, body.height_m)):
        if wanted is not None and abs(wanted - has) > _SAME_M:
            yield _note("body", f"the policy was made for a {what} of {wanted:g} m, {body.name} has {has:g} m", "choose another --robot, or keep it in mind")
    if made.slides is not None and made.slides != suite.actions.slide:
        was, now = ("slides along" if s else "stops at" for s in (made.slides, suite.actions.slide))
        yield _note("slides", f"the policy was made for a body that {was} what it touches, this one {now} it", "set actions.slide in the suite to match")
    if not spec.seedable:
        yield _note("samples", "the policy draws its answers: two runs differ", "use --repeats to see by how much")


def _note(code: str, sentence: str, remedy: str) -> Finding:
    return Finding(code, sentence, remedy, refuses=False)
