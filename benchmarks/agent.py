"""What the agent costs per step beside its executors, without a model.

    python benchmarks/agent.py            an exit from a generated town house, made here
    python benchmarks/agent.py --steps 300

A baseline walks once, and what it saw is written down. The same observations are then given to the executor alone, to the agent
around the same executor with the geometric reasoner, and to the agent with a reasoner that looks at nothing, which leaves the loop:
budgets, memory, checkpoints, journal. Actions are ignored, so all three see the same. CPU time per step, the better of two rounds, after one that is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

from portico.agent.contract import Assessment, Situation, Step, Verdict
from portico.build import build_indoor
from portico.interface import Brief, Observation, Policy, Stop
from portico.policies import create
from portico.robots import embodiment
from portico.sim import Simulator
from portico.tasks.episode import Budget, Episode, StageSpec, Start


class Idle:
    """A reasoner that looks at nothing and rejects everything."""

    name = "idle"
    needs = frozenset()
    looks = frozenset()

    def reset(self, brief: Brief, requests: object) -> None:
        pass

    def enter(self, stage: object) -> None:
        pass

    def notice(self, observation: Observation) -> None:
        pass

    def assess(self, situation: Situation) -> Assessment:
        return Assessment()

    def plan(self, situation: Situation, assessment: Assessment) -> Sequence[Step]:
        return [Step("all", situation.stage.instruction, situation.stage.kind)]

    def verify(self, situation: Situation) -> Verdict:
        return Verdict(False, 1.0, "", False, 1.0, "")

    def close(self) -> None:
        pass


def recorded(steps: int) -> tuple[Brief, list[Observation]]:
    """What a baseline sees on its way through a building, and past its end."""
    world = build_indoor(3, program="office", floors=1)
    building = world.semantics.buildings[0]
    probe = Simulator(world, embodiment("spot"))
    nodes = probe.space.nodes_xyz
    inside = nodes[(probe.annotations.inside(nodes) == 0) & (probe.space.clearance(nodes) > 0.6)]
    start = inside[len(inside) // 2]
    ovon = StageSpec(kind="ovon", building=building.id, category="a thing that is nowhere")
    episode = Episode(
        id="bench",
        world=world.id,
        task="ovon",
        embodiment="spot",
        start=Start(position=tuple(float(v) for v in start), yaw_rad=0.0),
        stages=[ovon],
        budget=Budget(max_actions=steps + 1),
    )
    walker = create("frontier")
    simulator = Simulator(world, embodiment("spot"), space=probe.space, needs=walker.spec.needs, image_size=walker.spec.image_size)
    brief, observation = simulator.reset(episode, key="bench", seed=1)
    walker.reset(brief)
    seen = []
    while observation is not None and len(seen) < steps:
        seen.append(observation)
        action = walker.act(observation)
        observation = observation if isinstance(action, Stop) else simulator.step(action)
    return brief, seen


def milliseconds(policy: Policy, brief: Brief, seen: Sequence[Observation]) -> list[float]:
    """Per step."""
    policy.reset(brief)
    spent = []
    for observation in seen:
        began = time.process_time()
        policy.act(observation)
        spent.append(1000.0 * (time.process_time() - began))
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=190, help="below 200, so that no attempt ends and every policy does the same")
    steps = parser.parse_args().steps
    brief, seen = recorded(steps)
    rows = {
        "executor alone (frontier)": create("chain"),
        "agent, nothing but the loop": create("agent", reasoner=Idle()),
        "agent, geometric reasoner": create("agent"),
    }
    print(f"agent overhead, {len(seen)} observations of {seen[0].frames['front'].camera.width} x {seen[0].frames['front'].camera.height} depth")
    print(f"{'':32}{'median ms':>12}{'p95 ms':>10}{'over executor':>16}")
    base = None
    for name, policy in rows.items():
        milliseconds(policy, brief, seen)
        spent = [min(pair) for pair in zip(milliseconds(policy, brief, seen), milliseconds(policy, brief, seen), strict=True)]
        mean = statistics.fmean(spent)
        base = mean if base is None else base
        p95 = sorted(spent)[int(0.95 * len(spent))]
        print(f"{name:32}{statistics.median(spent):12.2f}{p95:10.2f}{mean - base:+13.2f} ms")


if __name__ == "__main__":
    main()
