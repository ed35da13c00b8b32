"""Train the learned walker on a CPU: ``python training/locomotion.py --out training/out --seed 1 --minutes 60``.

Proximal policy optimisation (J. Schulman et al., 2017) of a network that corrects the model-based walker; it starts as that walker, since its
last layer starts near zero. Writes into the folder, every few minutes and at the end: ``spot_walk.npz`` (the weights), ``state.pt`` (to go on
from), ``curve.csv`` and ``curve.png``. Started again with the same folder it goes on where it stopped, and ``--minutes`` counts anew.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
from rollouts import Batch, Crowd

from portico.robots.physics.legs.learned import ACTIONS, OBSERVED, Network

try:
    import torch
    from torch import nn
except ImportError as error:
    raise SystemExit("training needs torch, and it is not installed: pip install 'portico-nav[learn]'") from error

DISCOUNT, TRACE, CLIP, EPOCHS, PARTS = 0.985, 0.95, 0.2, 3, 4
ENTROPY, VALUE = 1e-3, 0.5
FIELDS = ("iteration", "steps", "minutes", "reward", "falls_per_minute", "falls_per_minute_stairs", "deviation", "divergence", "rate")


class Learner(nn.Module):
    """Policy and value networks, and the running moments of what they see."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(OBSERVED, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, ACTIONS))
        self.value = nn.Sequential(nn.Linear(OBSERVED, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        with torch.no_grad():
            self.policy[-1].weight.mul_(0.01)
            self.policy[-1].bias.zero_()
        self.log_deviation = nn.Parameter(torch.full((ACTIONS,), -1.2))
        for name, start in (("mean", torch.zeros(OBSERVED)), ("square", torch.ones(OBSERVED)), ("seen", torch.zeros(()))):
            self.register_buffer(name, start.double())

    def look(self, observed: torch.Tensor) -> None:
        """Take observations (N, OBSERVED) into the moments."""
        count = len(observed)
        share = count / (float(self.seen) + count)
        self.mean += share * (observed.double().mean(0) - self.mean)
        self.square += share * (observed.double().square().mean(0) - self.square)
        # The past counts for at most this many steps, so that moments follow the robot as it learns.
        self.seen = torch.clamp(self.seen + count, max=1e6)

    def scaled(self, observed: torch.Tensor) -> torch.Tensor:
        """Inputs of the networks."""
        return ((observed - self.mean.float()) * self.scale()).clamp(-5.0, 5.0)

    def scale(self) -> torch.Tensor:
        """One over the standard deviation of what was seen."""
        return (1.0 / (self.square - self.mean.square()).clamp(min=1e-4).sqrt()).float()

    def network(self) -> Network:
        """The policy as the robot runs it."""
        layers = [layer for layer in self.policy if isinstance(layer, nn.Linear)]
        weights = tuple(layer.weight.detach().numpy().T.copy() for layer in layers)
        return Network(self.mean.float().numpy(), self.scale().numpy(), weights, tuple(layer.bias.detach().numpy().copy() for layer in layers))


def serve(pipe: Any, seed: int, worker: int, count: int) -> None:
    """Collect batches in a process of its own until told to stop."""
    crowd = Crowd(seed, worker, count)
    while (order := pipe.recv()) is not None:
        pipe.send(crowd.collect(*order))


def advantages(learner: Learner, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Observations, generalised advantages and value targets, flattened over robots and periods."""
    observed = torch.from_numpy(batch.observed)
    with torch.no_grad():
        values = learner.value(learner.scaled(observed))[..., 0].numpy()
        after = np.concatenate([values[1:], learner.value(learner.scaled(torch.from_numpy(batch.last)))[:, 0].numpy()[None]])
        cut = learner.value(learner.scaled(torch.from_numpy(np.nan_to_num(batch.final))))[..., 0].numpy()
    after = np.where(batch.ends == 0, after, np.where(batch.ends == 2, cut, 0.0))
    gain = np.zeros_like(values)
    running = np.zeros(values.shape[1], np.float32)
    for t in range(len(values) - 1, -1, -1):
        running = batch.rewards[t] + DISCOUNT * after[t] - values[t] + DISCOUNT * TRACE * running * (batch.ends[t] == 0)
        gain[t] = running
    return observed.reshape(-1, OBSERVED), torch.from_numpy(gain).reshape(-1), torch.from_numpy(gain + values).reshape(-1)


def improve(learner: Learner, optimiser: torch.optim.Optimizer, batches: list[Batch], chooser: torch.Generator) -> float:
    """One round of optimisation over what the workers brought; how far the policy moved (mean KL divergence)."""
    parts = [advantages(learner, batch) for batch in batches]
    observed, gain, target = (torch.cat([part[n] for part in parts]) for n in range(3))
    actions = torch.cat([torch.from_numpy(batch.actions).reshape(-1, ACTIONS) for batch in batches])
    noise = torch.cat([torch.from_numpy(batch.noise).reshape(-1, ACTIONS) for batch in batches])
    before = (-0.5 * noise.square() - learner.log_deviation.detach()).sum(-1)
    gain = (gain - gain.mean()) / (gain.std() + 1e-6)
    inputs = learner.scaled(observed)
    divergence = 0.0
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(inputs), generator=chooser).chunk(PARTS):
            off = (actions[chosen] - learner.policy(inputs[chosen])) / learner.log_deviation.exp()
            now = (-0.5 * off.square() - learner.log_deviation).sum(-1)
            ratio = (now - before[chosen]).exp()
            surrogate = torch.minimum(ratio * gain[chosen], ratio.clamp(1 - CLIP, 1 + CLIP) * gain[chosen]).mean()
            error = nn.functional.smooth_l1_loss(learner.value(inputs[chosen])[:, 0], target[chosen])
            loss = -surrogate + VALUE * error - ENTROPY * learner.log_deviation.sum()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
            optimiser.step()
            divergence = float((before[chosen] - now.detach()).mean())
    learner.look(observed)
    return divergence


def draw(rows: list[dict[str, float]], path: Path) -> None:
    """Draw the training curve."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    steps = [row["steps"] / 1e6 for row in rows]
    axes[0].plot(steps, [row["reward"] for row in rows])
    axes[0].set(xlabel="million steps", ylabel="reward per step")
    for name, label in (("falls_per_minute", "all lanes"), ("falls_per_minute_stairs", "stairs")):
        window = min(10, len(rows))
        smooth = np.convolve([row[name] for row in rows], np.ones(window) / window, "valid")
        axes[1].plot(steps[window - 1 :], smooth, label=label)
    axes[1].set(xlabel="million steps", ylabel="falls per minute of walking", ylim=(0, None))
    axes[1].legend()
    figure.savefig(path, dpi=90)
    plt.close(figure)


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The whole text as it stands, and every default."""


def main() -> None:
    """Read the options, start or go on, train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Help)
    parser.add_argument("--out", type=Path, required=True, help="folder for weights, state and curve; one that holds them already is gone on with")
    parser.add_argument("--seed", type=int, default=1, help="of the networks' first weights, the exploring noise, the lanes and the kicks")
    parser.add_argument("--minutes", type=float, default=60.0, help="of training, by the clock on the wall")
    parser.add_argument("--iterations", type=int, default=10**9, help="stop after so many in all, however long that takes: what is the same everywhere")
    parser.add_argument("--workers", type=int, default=2, help="processes that walk the robots; as many as there are cores")
    parser.add_argument("--robots", type=int, default=32, help="per worker")
    parser.add_argument("--periods", type=int, default=64, help="control steps of each robot between two improvements")
    parser.add_argument("--rate", type=float, default=3e-4, help="learning rate at the start; follows the divergence from there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    # The networks are small: more threads would only wait for each other.
    torch.set_num_threads(1)
    learner, rows = Learner(), []
    optimiser = torch.optim.Adam(learner.parameters(), lr=options.rate)
    chooser = torch.Generator().manual_seed(options.seed)
    if (options.out / "state.pt").is_file():
        state = torch.load(options.out / "state.pt", weights_only=False)
        learner.load_state_dict(state["learner"])
        optimiser.load_state_dict(state["optimiser"])
        rows = state["rows"]
        print(f"going on after {rows[-1]['steps'] / 1e6:.2f} million steps", flush=True)
    context = multiprocessing.get_context("spawn")
    pipes = []
    for worker in range(options.workers):
        here, there = context.Pipe()
        # Workers of a training that goes on draw other robots than before.
        arguments = (there, options.seed, worker + 1000 * len(rows), options.robots)
        context.Process(target=serve, args=arguments, daemon=True).start()
        pipes.append(here)
    train(learner, optimiser, chooser, pipes, rows, options)
    for pipe in pipes:
        pipe.send(None)


def train(learner: Learner, optimiser: torch.optim.Optimizer, chooser: torch.Generator, pipes: list[Any], rows: list[Any], options: argparse.Namespace) -> None:
    """Collect and improve until time is over."""
    from terrain import lanes

    stairs = np.array([lane.kind == "stairs" for lane in lanes()])
    began, saved, minutes = time.monotonic(), time.monotonic(), rows[-1]["minutes"] if rows else 0.0
    while (spent := time.monotonic() - began) < options.minutes * 60 and len(rows) < options.iterations:
        for pipe in pipes:
            pipe.send((learner.network(), learner.log_deviation.detach().exp().numpy(), options.periods))
        batches = [pipe.recv() for pipe in pipes]
        divergence = improve(learner, optimiser, batches, chooser)
        rate = optimiser.param_groups[0]["lr"]
        rate = max(rate / 1.3, 3e-5) if divergence > 0.02 else min(rate * 1.1, 1e-3) if divergence < 0.008 else rate
        optimiser.param_groups[0]["lr"] = rate
        falls, seconds = sum(b.falls_by_lane for b in batches), sum(b.seconds_by_lane for b in batches)
        row = {
            "iteration": len(rows) + 1,
            "steps": (rows[-1]["steps"] if rows else 0) + sum(b.rewards.size for b in batches),
            "minutes": round(minutes + (time.monotonic() - began) / 60, 2),
            "reward": round(float(np.mean([b.rewards.mean() for b in batches])), 4),
            "falls_per_minute": round(60.0 * float(falls.sum() / seconds.sum()), 3),
            "falls_per_minute_stairs": round(60.0 * float(falls[stairs].sum() / max(seconds[stairs].sum(), 1e-9)), 3),
            "deviation": round(float(learner.log_deviation.detach().exp().mean()), 4),
            "divergence": round(divergence, 5),
            "rate": rate,
        }
        rows.append(row)
        left = options.minutes - (time.monotonic() - began) / 60
        print(" ".join(f"{k}={v:.4g}" for k, v in row.items()) + f" left={max(left, 0):.1f}min", flush=True)
        if time.monotonic() - saved > 120 or spent < 1:
            save(learner, optimiser, rows, options.out)
            saved = time.monotonic()
    save(learner, optimiser, rows, options.out)


def save(learner: Learner, optimiser: torch.optim.Optimizer, rows: list[Any], out: Path) -> None:
    """Write everything that ``main`` promises."""
    learner.network().save(out / "spot_walk.npz")
    torch.save({"learner": learner.state_dict(), "optimiser": optimiser.state_dict(), "rows": rows}, out / "state.part")
    (out / "state.part").replace(out / "state.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, out / "curve.png")


if __name__ == "__main__":
    main()
