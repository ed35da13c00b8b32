"""The viewer's pages as text, from the library's rows and an episode's scene."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from portico import __version__
from portico.evaluate.intervals import wilson
from portico.evaluate.measures import MEASURES
from portico.report import wording
from portico.web.index import DONE, FIGURES, Row
from portico.web.library import Library, Shelved
from portico.web.listing import PAGE_ROWS, Item, Query, choices, everything, grouped, neighbours, same_question, selected, words
from portico.web.maps import map_views
from portico.web.playing import play
from portico.web.scene import Scene
from portico.web.timeline import Axis
from portico.web.worlds import way_back

_UNITS = {"spl": "", "steps": "", "path_length_m": "m", "duration_s": "s", "navigation_error_m": "m"}
_FILTER_NAMES = {"run": "policy", "status": "outcome", "stage": "ended in", "label": "failure label", "reason": "how it ended"}
#: Heads of the table: order, words, whether it holds figures.
COLUMNS = (
    ("outcome", "outcome", False),
    ("policy", "policy", False),
    ("episode", "episode", False),
    ("task", "task", False),
    ("world", "world", False),
    ("reached", "stage reached", False),
    ("reason", "how it ended", False),
    ("spl", "SPL", True),
    ("path_length_m", "travelled", True),
    ("steps", "actions", True),
    ("duration_s", "time", True),
    ("navigation_error_m", "still to go", True),
)


@dataclass(frozen=True)
class Tally:
    """How some episodes ended: errors are in no rate."""

    recorded: int
    successes: int
    errors: int

    @property
    def rate(self) -> str:
        """Success rate in percent, a dash when nothing was scored."""
        scored = self.recorded - self.errors
        return wording.percent(self.successes / scored if scored else None)

    @property
    def interval(self) -> str:
        """Wilson's 95 % interval of the rate."""
        scored = self.recorded - self.errors
        return wording.interval("success", *wilson(self.successes, scored)) if scored else ""


def tally(rows: Sequence[Row]) -> Tally:
    """Counts of rows by outcome."""
    return Tally(len(rows), sum(row.status == "success" for row in rows), sum(row.status == "error" for row in rows))


def table_page(library: Library, query: Query, reports: Mapping[str, str]) -> str:
    """The table of episodes.

    Args:
        reports: addresses of reports that lie beside the runs, by title.
    """
    items = everything(library)
    found = selected(items, query)
    groups = grouped(found) if query.by == "question" else []
    total = len(groups) if groups else len(found)
    pages = max(1, -(-total // PAGE_ROWS))
    page = min(query.page, pages)
    # A column that says the same everywhere says nothing.
    dull = {
        name
        for name, several in (("policy", len(library.runs)), ("task", len({i.row.task for i in items})), ("world", len({i.row.key.world for i in items})))
        if several < 2
    }
    here = slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS)
    text: str = (
        _environment()
        .get_template("table.html.j2")
        .render(
            query=query,
            runs=[(run, tally(run.index.rows)) for run in library.runs.values()],
            policies=[run.policy for run in library.runs.values()],
            title=" and ".join(dict.fromkeys(str(run.header["suite"]["name"]) for run in library.runs.values())),
            choices=choices(items, query),
            filter_names=_FILTER_NAMES,
            columns=[c for c in COLUMNS if c[0] not in dull],
            rows=found[here],
            groups=groups[here],
            answering=[run for run in library.runs.values() if any(run.name in group.answers for group in groups)],
            found=tally([item.row for item in found]),
            everything=len(items),
            total=total,
            page=page,
            pages=pages,
            first=here.start + 1 if total else 0,
            last=min(here.stop, total),
            problems=library.problems,
            reports=reports,
            live=any(run.live for run in library.runs.values()),
        )
    )
    return text


def episode_page(library: Library, item: Item, scene: Scene, query: Query, asked: Mapping[str, str]) -> str:
    """The page of an episode.

    Args:
        query: the table it was opened from. asked: the address' ``step``, ``level``, ``camera`` and ``with``.
    """
    axis = Axis.of(scene.tracks)
    place = axis.clipped(asked.get("step", "0"))
    views = map_views(scene)
    player = play(scene, axis, views, place, asked.get("camera", ""))
    level = asked.get("level", "")
    found = selected(everything(library), query)
    before, after, number = neighbours(found, item)
    text: str = (
        _environment()
        .get_template("episode.html.j2")
        .render(
            item=item,
            scene=scene,
            views=views,
            player=player,
            place=place,
            level=int(level) if level.lstrip("-").isdigit() and int(level) in scene.levels else player.level,
            query=query,
            before=before,
            after=after,
            number=number,
            total=len(found),
            answers=same_question(library, item),
            together=asked.get("with", ""),
            camera=asked.get("camera", ""),
            measures=measures(scene),
            facts=facts(scene),
            agents=[(track, json.dumps(track.record["agent"], indent=2, ensure_ascii=False)) for track in scene.tracks if track.record.get("agent")],
            way_back=way_back(item.run, item.row.key.world) if scene.first.site.world is None else "",
            data=json.dumps(player.data, separators=(",", ":"), allow_nan=False),
        )
    )
    return text


def problem_page(status: int, what: str, why: str, next_step: str) -> str:
    """The page of something that cannot be shown."""
    text: str = _environment().get_template("problem.html.j2").render(status=status, what=what, why=why, next_step=next_step)
    return text


@dataclass(frozen=True)
class MeasureRow:
    """One measure of an episode: a value per track, or why there is none."""

    name: str
    definition: str
    direction: str
    values: list[tuple[str, str]]


def measures(scene: Scene) -> list[MeasureRow]:
    """Every measure that any track has a value or a reason for, in the order of the registry."""
    rows = []
    for name, about in MEASURES.items():
        values = [_measured(track.record, name, about.unit) for track in scene.tracks]
        if any(value or reason for value, reason in values):
            rows.append(MeasureRow(name.removesuffix("_m").removesuffix("_s").replace("_", " "), about.definition, wording.ARROWS[about.direction], values))
    return rows


def _measured(record: Mapping[str, Any], name: str, unit: str) -> tuple[str, str]:
    value = (record.get("measures") or {}).get(name)
    reason = (record.get("unscored") or {}).get(name)
    return (wording.value(name, value, unit), "") if value is not None else ("", str(reason).replace("_", " ") if reason else "")


def facts(scene: Scene) -> list[tuple[str, str]]:
    """What was asked and how, from the episode and the run's header: name and words."""
    track = scene.first
    record, suite, episode = track.record, track.item.run.header["suite"], track.episode
    found = [
        ("suite", f"{suite['name']}, split {suite.get('split', '–')}"),
        ("robot", track.body.name + (" under physics" if suite.get("motion") == "physics" else "")),
    ]
    if suite.get("motion") == "physics" and suite.get("friction") is not None:
        found.append(("friction", f"{suite['friction']:g}"))
    found.append(("sensors", str(suite.get("track", "–"))))
    if episode is not None:
        budget = episode.budget
        limits = [f"{budget.max_actions:,} actions"] + ([f"{budget.max_time_s:g} s"] if budget.max_time_s else [])
        found.append(("budget", ", ".join(limits)))
        protocols = list(dict.fromkeys(stage.termination for stage in episode.stages if stage.kind != "outdoor"))
        found.append(("ends", {"explicit_stop": "by STOP", "on_arrival": "on arrival"}.get(protocols[0], protocols[0]) if protocols else "on arrival"))
    for name, value in (("scene", record.get("scene")), ("difficulty", record.get("difficulty")), ("words", record.get("phrased"))):
        if value:
            found.append((name, str(value).replace("_", " ")))
    if record.get("reference_length_m") is not None:
        found.append(("reference", f"{record['reference_length_m']:.1f} m"))
    if record.get("surface"):
        found.append(("surface at the end", str(record["surface"]).replace("_", " ")))
    spent = (record.get("timing") or {}).get("wall_s")
    return [*found, ("wall clock", f"{spent:.1f} s")] if spent is not None else found


@cache
def _environment() -> Environment:
    loader = ChoiceLoader([PackageLoader("portico.web", "templates"), PrefixLoader({"report": PackageLoader("portico.report", "templates")})])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["script_safe"] = lambda text: Markup(text.replace("<", "\\u003c"))
    environment.globals.update(
        version=__version__,
        stage_words=wording.STAGES,
        say=words,
        part=_part,
        figure=_figure,
        reached=_reached,
        address=_address,
        side=lambda group: ",".join(item.run.name for item in list(group.answers.values())[1:]),
        others=lambda items: ",".join(item.run.name for item in items[1:]),
        kinds_of=lambda player: {mark.kind.split(" ")[0] for lane in player.lanes for mark in lane.marks},
    )
    return environment


def _part(name: str) -> str:
    """A name as one part of an address."""
    return quote(name, safe="")


def _figure(row: Row, name: str) -> str:
    """A figure of the table."""
    value = row.figures[FIGURES.index(name)]
    return wording.value(name, value, _UNITS[name])


def _reached(row: Row) -> str:
    """How far an episode came, for the table."""
    if row.reached == DONE:
        return "all done" if row.stages > 1 else "done"
    if not row.reached:
        return wording.DASH
    stage = wording.in_words(wording.STAGES, row.reached)
    return f"{stage}, {row.completed + 1} of {row.stages}" if row.stages > 1 else stage


def _address(run: Shelved, row: Row, query: Query, **more: str | int) -> str:
    """Where an episode's page is; ``more`` is ``step``, ``level``, ``camera`` or ``with``, left out where it is empty."""
    said = query.address(page=1)
    extra = urlencode({name: value for name, value in more.items() if value != ""}, safe=",")
    tail = f"{said}&{extra}" if said and extra else said or (f"?{extra}" if extra else "")
    return f"/e/{_part(run.name)}/{_part(row.slug)}{tail}"
