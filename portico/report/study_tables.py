"""Studies in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from portico.report import wording
from portico.report.runs import Run
from portico.report.sections import Cell
from portico.report.studies import Study
from portico.report.studies import Table as StudyTable
from portico.report.tables import show

#: Of the column that names runs: less is not readable, more would push figures off the page.
_NARROWEST = 12


def print_study(study: Study, runs: Sequence[Run], console: Console) -> None:
    """The tables of a study, and what must be said about its runs before their figures.

    Raises:
        SuiteError: the runs are not alike.
    """
    made = study.tables(runs)
    console.print()
    console.print(Text(study.title, "bold"))
    for note in dict.fromkeys(f"{run.policy}: {fact}" for run in runs for fact in wording.run_facts(run.summary)):
        console.print(Text(note, "yellow"))
    for item in made:
        show(console, _grid_table(item))


def _grid_table(item: StudyTable) -> Table:
    table = Table(title=item.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(item.corner, overflow="fold", min_width=_NARROWEST)
    for head in item.grid.heads:
        table.add_column(head, justify="right", overflow="fold")
    for line in item.grid.rows:
        title = Text.assemble(line.title, *([("\n" + line.note, "yellow" if "*" in line.note else "dim")] if line.note else []))
        table.add_row(title, *(_grid_cell(cell) for cell in line.cells))
    if item.notes:
        table.caption, table.caption_justify = "; ".join(item.notes), "left"
    return table


def _grid_cell(cell: Cell) -> Text:
    parts: list[Any] = [cell.text]
    parts += [("\n" + cell.interval, "dim")] if cell.interval else []
    parts += [("\n" + cell.note.replace(", ", "\n"), "dim")] if cell.note else []
    return Text.assemble(*parts)
