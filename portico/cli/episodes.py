"""``portico episodes``: make, check and calibrate the questions that are asked in a world."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from portico.cli.console import counted, errors, out, timed
from portico.cli.experts import experts
from portico.cli.satnav_files import convert_satnav
from portico.episodes import calibrate, generate, load_episodes, save_episodes
from portico.episodes import validate as find_problems
from portico.episodes.grounds import Grounds
from portico.episodes.navverse import scenes_of
from portico.errors import EpisodeError, UnknownName, UserError
from portico.robots import Embodiment, embodiment
from portico.space import Space, cached_space
from portico.suites import Suite, check_disjoint, load_suite, placed
from portico.tasks.episode import LEVELS, TASK_STAGES, Episode, EpisodeSet
from portico.world import World, load

app = typer.Typer(no_args_is_help=True, help="Make, check and calibrate episodes.")
app.command()(experts)

WorldFolder = Annotated[Path, typer.Argument(help="folder of a world", metavar="WORLD")]
EpisodesFile = Annotated[Path, typer.Argument(help="file made by `episodes generate`", metavar="EPISODES")]
SuiteName = Annotated[str, typer.Option("--suite", help="suite whose rules apply: a name or a YAML file, see `portico list suites`")]


@app.command("generate")
def generate_command(
    world_folder: WorldFolder,
    out_file: Annotated[Path, typer.Option("--out", help="episode file to write")] = Path("episodes.json"),
    suite: SuiteName = "i2o2i",
    task: Annotated[list[str] | None, typer.Option(help="only these tasks, e.g. --task outdoor; all of the suite's when left out")] = None,
    count: Annotated[int | None, typer.Option(min=0, help="episodes per task; the suite's counts when left out")] = None,
    seed: Annotated[int | None, typer.Option(help="same seed, same episodes")] = None,
    robot: Annotated[str | None, typer.Option(help="embodiment, see `portico list embodiments`")] = None,
    termination: Annotated[
        str | None, typer.Option(help="how point, image and object goals end: on_arrival or explicit_stop; the suite's way when left out")
    ] = None,
) -> None:
    """Sample starts and goals, plan references, and keep what the oracle can do."""
    chosen = load_suite(suite, seed=seed, embodiment=robot, termination=termination)
    for name in task or []:
        if name not in TASK_STAGES:
            raise UnknownName("task", name, TASK_STAGES)
    if task or count is not None:
        known = {str(name): number for name, number in chosen.tasks.items()}
        counts = {name: known.get(name, 10) if count is None else count for name in (task or known)}
        chosen = load_suite(suite, seed=seed, embodiment=robot, termination=termination, tasks=counts)
    world = load(world_folder)
    space = _survey(world, embodiment(chosen.embodiment), world_folder)
    with counted(f"sampling and verifying candidates for {chosen.wanted(scenes_of(world))} episodes in {world.id}") as tell:
        episodes = generate(world, chosen, space=space, watch=tell)
    if not episodes.episodes:
        raise EpisodeError(
            "no episode could be made",
            where=world.id,
            why="; ".join(f"{name}: " + ", ".join(f"{reason} {n}" for reason, n in reasons.items()) for name, reasons in episodes.rejected.items()),
            next_step="choose tasks that the world has the buildings, objects and ground for, or another robot",
        )
    save_episodes(episodes, out_file)
    _inventory(episodes)
    out.print(f"\nwritten to {out_file}\ncheck them:  portico episodes validate {out_file} {world_folder} --oracle")


@app.command()
def verify(episodes_file: EpisodesFile, world_folder: WorldFolder, suite: SuiteName = "i2o2i") -> None:
    """Roll the oracle out on every episode through the motion interface."""
    episodes = load_episodes(episodes_file)
    _calibrated(episodes, load_suite(suite), _grounds(episodes, world_folder))


@app.command()
def validate(
    episodes_file: EpisodesFile,
    world_folder: WorldFolder,
    oracle: Annotated[bool, typer.Option("--oracle", help="calibrate too: the oracle must reach 99 %, stopping at the start at most 1 %")] = False,
    suite: SuiteName = "i2o2i",
) -> None:
    """Check starts, floors, goals, categories, reachability and references; name every episode that cannot be asked."""
    episodes = load_episodes(episodes_file)
    grounds = _grounds(episodes, world_folder)
    with counted(f"checking {len(episodes.episodes)} episodes") as tell:
        problems = find_problems(episodes, grounds, watch=tell)
    for problem in problems:
        out.print(f"[red]{problem.code}[/red]  {problem.episode}: {problem.text}")
    out.print(f"{len(episodes.episodes)} episodes, {len({p.episode for p in problems})} with problems")
    if oracle:
        _calibrated(episodes, load_suite(suite), grounds)
    if problems:
        raise typer.Exit(1)


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(help="an episode file (with --to), or foreign data (with --from): NavArena's folder, SatNav's .json or .json.gz", metavar="SOURCE")
    ],
    out_path: Annotated[Path, typer.Option("--out", help="the dataset's folder, or the episode file to write")],
    to: Annotated[str | None, typer.Option("--to", help="format to write: navarena or satnav")] = None,
    from_: Annotated[str | None, typer.Option("--from", help="format to read: navarena or satnav")] = None,
    world_folder: Annotated[Path | None, typer.Option("--world", help="folder of the episodes' world: where objects stand, and to plan references")] = None,
    scene: Annotated[str | None, typer.Option(help="group/scene of NavArena's data, portico/WORLD when left out; scene_id of SatNav's")] = None,
    dataset: Annotated[str, typer.Option(help="name of a new dataset")] = "portico",
    split: Annotated[str | None, typer.Option(help="train, val_seen, val_unseen or test; the set's own, else val_unseen")] = None,
    robot: Annotated[str | None, typer.Option(help="embodiment of episodes that do not name theirs")] = None,
) -> None:
    """Turn episodes into NavArena's Parquet data or SatNav's JSON, or such data into an episode file."""
    from portico.episodes.navarena import from_navarena, to_navarena

    name, other = (to, from_) if to is not None else (from_, to)
    if name is None or other is not None:
        raise UserError("say which way to convert", where="--to, --from", next_step="give one of them, e.g. --to navarena")
    if name == "satnav":
        convert_satnav(source, out_path, reads=from_ is not None, world_folder=world_folder, scene=scene, split=split)
        return
    if name != "navarena":
        raise UnknownName("format", name, ["navarena", "satnav"])
    world = load(world_folder) if world_folder is not None else None
    if to is not None:
        lines = to_navarena(load_episodes(source), out_path, world=world, dataset_name=dataset, scene_path=scene, split=split)
    else:
        converted = from_navarena(source, scene=scene, world=world, robot=robot)
        save_episodes(converted.episodes, out_path)
        lines = converted.lines
    for line in lines:
        out.print(line)
    out.print(f"written to {out_path}")


@app.command()
def splits(suites: Annotated[list[str], typer.Argument(help="suites of one family: names or YAML files", metavar="SUITE...")]) -> None:
    """List which worlds are in which split, and refuse a world that is in two."""
    found = []
    for name in suites:
        base = Path(name).parent if Path(name).suffix in {".yaml", ".yml"} else Path.cwd()
        found += placed(load_suite(name), base)
    for split in sorted({world.split for world in found}):
        names = sorted({world.source for world in found if world.split == split})
        out.print(f"{split}: {len(names)} world{'s' if len(names) > 1 else ''}: {', '.join(names)}")
    check_disjoint(found)
    out.print("no world is in two splits")


def _grounds(episodes: EpisodeSet, world_folder: Path) -> Grounds:
    if not episodes.episodes:
        raise EpisodeError("the set holds no episodes", where=episodes.world, next_step="generate some with `portico episodes generate`")
    world, body = load(world_folder), embodiment(episodes.episodes[0].embodiment)
    return Grounds.of(world, body, _survey(world, body, world_folder))


def _survey(world: World, body: Embodiment, folder: Path) -> Space:
    with timed(f"surveying {world.id} for {body.name}"):
        return cached_space(world, body, folder)


def _calibrated(episodes: EpisodeSet, suite: Suite, grounds: Grounds) -> None:
    with counted("rolling out the oracle") as tell:
        result = calibrate(episodes, suite, grounds, watch=tell)
    for failure in result.failures:
        out.print(f"[red]{failure.code}[/red]  {failure.episode}: {failure.text}")
    out.print(f"oracle {result.oracle:.1%} (at least 99 %), stop at start {result.stop_at_start:.1%} (at most 1 %) over {result.episodes} episodes")
    if not result.passed:
        errors.print("the set fails its calibration: numbers measured on it would not mean much")
        raise typer.Exit(1)


def _inventory(episodes: EpisodeSet) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("task", "episodes", "easy / medium / hard", "shortest", "median", "longest", "rejected candidates"):
        table.add_column(column, justify="left" if column in ("task", "rejected candidates") else "right")
    groups: dict[str, list[Episode]] = {}
    for e in episodes.episodes:
        groups.setdefault(e.task if e.scene is None else f"{e.task} {e.scene}", []).append(e)
    for name, reasons in episodes.rejected.items():
        mine = groups.get(name, [])
        lengths = sorted(e.reference.length_m for e in mine if e.reference)
        spread = [f"{lengths[i]:.1f} m" for i in (0, len(lengths) // 2, -1)] if lengths else ["-"] * 3
        levels: Counter[str] = Counter(e.difficulty for e in mine if e.difficulty)
        graded = " / ".join(str(levels[level]) for level in LEVELS) if levels else "-"
        table.add_row(name.replace("_", " "), str(len(mine)), graded, *spread, ", ".join(f"{reason}: {n}" for reason, n in reasons.items()))
    out.print(table)
