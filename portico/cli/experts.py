"""``portico episodes experts``: what a perfect driver does, state by state, as NavArena's training data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from portico.cli.console import counted, out, timed
from portico.cli.satnav_files import fly_experts
from portico.errors import EpisodeError, UnknownName, UserError
from portico.tasks.episode import Episode, TaskName

if TYPE_CHECKING:
    from portico.episodes.experts import Summary

_TASKS: tuple[TaskName, ...] = ("point", "image", "object")
_PAIRS = 1000


def experts(
    world_folder: Annotated[Path, typer.Argument(help="folder of a world", metavar="WORLD")],
    out_folder: Annotated[Path, typer.Option("--out", help="the dataset's folder; experts that are there are kept and gone on from")],
    episodes_file: Annotated[Path | None, typer.Option("--episodes", help="drive the point, image and object episodes of this file")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help=f"experts per task, those that are there included; {_PAIRS:,} when left out")] = None,
    seed: Annotated[int, typer.Option(help="same seed, same starts and goals")] = 0,
    task: Annotated[list[str] | None, typer.Option(help="point, image or object; point, or all of the file's, when left out")] = None,
    robot: Annotated[str | None, typer.Option(help="embodiment; the file's own, else spot")] = None,
    split: Annotated[str, typer.Option(help="train, val_seen, val_unseen or test")] = "train",
    scene: Annotated[str | None, typer.Option(help="group/scene of the data; portico/WORLD when left out")] = None,
    dataset: Annotated[str, typer.Option(help="name of a new dataset")] = "portico",
    workers: Annotated[int, typer.Option(min=1, help="processes")] = 1,
    picture: Annotated[Path | None, typer.Option(help="also draw some of them on a map, into this PNG")] = None,
) -> None:
    """Drive shortest ways under limits of motion, check every step, and stream them as Parquet.

    Over an aerial world the episodes of --episodes are flown, and frames and actions written as SatNav's trainers read them.
    Starts and goals lie on a grid of one metre, with six headings each, 1 to 30 m apart; or they are those of an episode file.
    Whatever ends a run, the same command goes on with it and comes to the same files.
    """
    if fly_experts(world_folder, episodes_file, out_folder):
        return
    from portico.episodes.experts import Source, Workshop, write_experts

    if episodes_file is not None and pairs is not None:
        raise UserError("the file says how many experts there are", where="--pairs, --episodes", next_step="give one of them")
    for name in task or []:
        if name not in _TASKS:
            raise UnknownName("task", name, _TASKS)
    asked = _asked(episodes_file) if episodes_file is not None else []
    tasks: list[TaskName] = [t for t in _TASKS if (t in task if task else any(e.task == t for e in asked) if asked else t == "point")]
    body = robot or (asked[0].embodiment if asked else "spot")
    for name in tasks:
        count = sum(e.task == name for e in asked) if episodes_file is not None else pairs or _PAIRS
        source = Source(world_folder, body, name, seed, episodes_file)
        with timed(f"surveying {world_folder} for {body}, and what may be asked of {name} experts"):
            workshop = Workshop.open(source)
        with counted(f"driving {name} experts") as tell:
            summary = write_experts(
                source,
                out_folder,
                count,
                workshop=workshop,
                dataset_name=dataset,
                scene_path=scene,
                split=split,
                workers=workers,
                watch=lambda done, wanted, rejected: tell(done, wanted, _reasons(rejected)),
            )
        _say(name, summary)
        if picture is not None:
            from portico.report.expert_pictures import draw_experts

            path = picture if len(tasks) == 1 else picture.with_stem(f"{picture.stem}-{name}")
            draw_experts(workshop.grounds.world, summary.folder, path)
            out.print(f"drawn in {path}")


def _asked(file: Path) -> list[Episode]:
    """The episodes of a file that experts can drive."""
    from portico.episodes import load_episodes

    episodes = load_episodes(file).episodes
    known = [e for e in episodes if e.task in _TASKS]
    if not known:
        there = ", ".join(sorted({e.task for e in episodes})) or "none"
        raise EpisodeError("no episode has a single point, image or object goal", where=str(file), why=f"its tasks: {there}")
    return known


def _say(task: str, summary: Summary) -> None:
    rate = f", {summary.made / summary.seconds:,.0f} a second" if summary.made else ""
    out.print(f"{task}: {summary.total:,} experts, {summary.hours:,.1f} hours of navigation; {summary.made:,} of them made now{rate}")
    out.print(f"  rejected  {_reasons(Counter(summary.rejected)) or 'none'}")
    if summary.exhausted:
        out.print("  every start, goal and heading has been asked for: there are no more")
    out.print(f"  written to {summary.folder}")


def _reasons(rejected: Counter[str]) -> str:
    return ", ".join(f"{reason}: {n:,}" for reason, n in rejected.most_common())
