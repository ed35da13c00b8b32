"""``portico world label``: what the Gaussians of a capture are, and which of its things a robot can be sent to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from portico.cli.console import counted, out, timed
from portico.cli.world_facts import describe
from portico.errors import StorageError, UserError
from portico.world import World, check_free, load, save
from portico.world.whole_file import whole_file

if TYPE_CHECKING:
    from portico.build.lifting import Lifted
    from portico.robots import Embodiment


def label(
    world_folder: Annotated[Path, typer.Argument(help="folder of a captured world, as made by `world import splat`", metavar="WORLD")],
    out_folder: Annotated[Path, typer.Option("--out", help="folder for the labelled world")],
    views: Annotated[Path | None, typer.Option(help="folder of cameras.json, categories.json and labels/NAME.png, see docs/labels-of-captures.md")] = None,
    labeller: Annotated[str | None, typer.Option(help="who labels views rendered here, e.g. truth?mesh=worlds/home; see `portico list labellers`")] = None,
    labels: Annotated[Path | None, typer.Option(help="a labels.json of NavArena in the world's frame, instead of label images")] = None,
    robot: Annotated[str, typer.Option(help="who has to come near an object, see `portico list embodiments`")] = "spot",
    spacing: Annotated[float, typer.Option(help="metres between places that rendered views look from")] = 1.5,
    headings: Annotated[int, typer.Option(help="directions looked in at each place")] = 6,
    vocabulary: Annotated[Path | None, typer.Option(help="text file of the category names that are allowed, one a line")] = None,
    write_labels: Annotated[Path | None, typer.Option(help="also write the objects as NavArena's labels.json here")] = None,
    write_views: Annotated[Path | None, typer.Option(help="also write the rendered label views as a folder that --views reads")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace what is there")] = False,
) -> None:
    """Label a capture: lift label images to its Gaussians, tell things apart, keep those that a robot can come to as objects."""
    from portico.robots import embodiment

    if sum(source is not None for source in (views, labeller, labels)) != 1:
        raise UserError("say where the labels come from", next_step="give one of --views, --labeller and --labels")
    _check_free(out_folder, write_labels, overwrite)
    wish = _Wish(load(world_folder), embodiment(robot), _words(vocabulary), spacing, headings, write_views, overwrite)
    if views is not None:
        lifted = _from_views(wish, views)
    elif labeller is not None:
        lifted = _from_labeller(wish, labeller)
    else:
        assert labels is not None
        lifted = _from_labels(wish, labels)
    world = save(lifted.world, out_folder, overwrite=overwrite)
    if write_labels is not None:
        _write_labels(world, write_labels)
    for line in lifted.lines:
        out.print(line)
    describe(replace(world, manifest=world.manifest.model_copy(update={"notes": []})))
    out.print(f"\nwritten to {out_folder}\nask for its objects:  portico episodes generate {out_folder} --suite navarena --task object --robot {robot}")


@dataclass(frozen=True)
class _Wish:
    """What the options ask for, beside the source of the labels."""

    world: World
    body: Embodiment
    vocabulary: frozenset[str]
    spacing_m: float
    headings: int
    write_views: Path | None
    overwrite: bool


def _from_views(wish: _Wish, folder: Path) -> Lifted:
    from portico.build.lifting import lift, read_label_views

    read = read_label_views(folder, vocabulary=wish.vocabulary)
    with counted(f"lifting {len(read)} label images") as tell:
        return lift(wish.world, read, read.categories, wish.body, tell=tell, wanted=len(read), source=f"the label images of {folder.name}")


def _from_labeller(wish: _Wish, name: str) -> Lifted:
    from portico.build.lifting import SURVEY, LabelView, Survey, check_vocabulary, create_labeller, lift, read_label_views, survey_poses, write_label_views
    from portico.space import build_space

    made = create_labeller(name)
    check_vocabulary(made.categories, wish.vocabulary, where=f"--labeller {name}")
    with timed(f"surveying {wish.world.id} for {wish.body.name}"):
        space = build_space(wish.world, wish.body)
        poses = survey_poses(space, spacing_m=wish.spacing_m, headings=wish.headings)
    views: Iterable[LabelView] = Survey(wish.world, made, poses, SURVEY)
    source = f"{name.partition('?')[0]} over {len(poses)} rendered views" + (" (privileged: it knows the truth)" if made.privileged else "")
    if wish.write_views is not None:
        with counted(f"labelling {len(poses)} rendered views") as tell:
            write_label_views(views, made.categories, wish.write_views, overwrite=wish.overwrite, tell=tell, wanted=len(poses))
        views = read_label_views(wish.write_views)
    with counted(f"lifting {len(poses)} rendered views") as tell:
        return lift(wish.world, views, made.categories, wish.body, space=space, tell=tell, wanted=len(poses), source=source)


def _from_labels(wish: _Wish, path: Path) -> Lifted:
    from portico.build.lifting import label_from_file

    with timed(f"placing the labels of {path.name}"):
        return label_from_file(wish.world, path, wish.body, vocabulary=wish.vocabulary)


def _words(file: Path | None) -> frozenset[str]:
    if file is None:
        return frozenset()
    try:
        return frozenset(filter(None, (line.strip() for line in file.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("the vocabulary cannot be read", where=str(file), why=str(error), next_step="give a text file with one category a line") from error


def _check_free(out_folder: Path, write_labels: Path | None, overwrite: bool) -> None:
    """Refuse before minutes of work what would be refused after them."""
    check_free(out_folder, overwrite=overwrite)
    if write_labels and write_labels.exists() and not overwrite:
        raise StorageError("there is such a file already", where=str(write_labels), next_step="choose another --write-labels, or add --overwrite")


def _write_labels(world: World, path: Path) -> None:
    from portico.build.navarena.labels import labels_of

    text = json.dumps(labels_of(world), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with whole_file(path) as file:
        file.write(text.encode())
