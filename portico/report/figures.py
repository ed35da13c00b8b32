"""Figures for papers and slides: success by task and stage funnels, as SVG and PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from portico.errors import StorageError
from portico.report import sections
from portico.report.runs import load_run
from portico.report.sections import Funnel, Summary

#: The page's colours of policies, in order.
COLORS = ("#2667b0", "#d1720c", "#2b8a57", "#b5397f", "#6a51a8", "#8a6d1b", "#1790a3", "#7a7f87")


def write_figures(run_folders: Sequence[Path], folder: Path) -> list[Path]:
    """Write ``success-by-task`` and one ``funnel-<task>`` per task of several stages; returns the files.

    Raises:
        SuiteError: a folder that holds no run.
        StorageError: the folder cannot be written.
    """
    summaries = [load_run(Path(run)).summary for run in run_folders]
    figures = {"success-by-task": success_figure(summaries)}
    figures |= {f"funnel-{funnel.task}": funnel_figure(funnel) for funnel in sections.funnels(summaries)}
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            written += _saved(figure, folder / name)
    except OSError as error:
        raise StorageError("the figures could not be written", where=str(folder), why=str(error), next_step="choose another --out") from error
    return written


def _saved(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure without date and random ids, so that the same run gives the same bytes."""
    FigureCanvasAgg(figure)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("svg", "png")]
    with rc_context({"svg.hashsalt": "portico"}):
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=200, metadata={"Software": None})
    return paths


def success_figure(summaries: Sequence[Summary]) -> Figure:
    """Success rate by task, a bar per policy, with Wilson's 95 % interval."""
    grid = sections.success_by_task(summaries)
    figure = Figure(figsize=(1.6 + 0.9 * len(grid.heads), 3.2), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(1, len(grid.rows))
    for i, row in enumerate(grid.rows):
        for k, cell in enumerate(row.cells):
            if cell.mean is None or cell.low is None or cell.high is None:
                continue
            x = k + (i - (len(grid.rows) - 1) / 2) * width
            axes.bar(x, cell.mean, 0.92 * width, color=COLORS[i % len(COLORS)])
            axes.plot([x, x], [cell.low, cell.high], color="#1c2127", linewidth=1.0)
            axes.plot([x], [cell.mean], marker="o", markersize=3.0, color="#1c2127")
    for i, row in enumerate(grid.rows):
        axes.bar(0, 0, color=COLORS[i % len(COLORS)], label=f"{row.title} {row.note}".strip())
    axes.set_xticks(range(len(grid.heads)), grid.heads)
    axes.set_ylabel("success, 95 % interval")
    _finish(figure, axes)
    return figure


def funnel_figure(funnel: Funnel) -> Figure:
    """Share of a task's episodes left after each stage, a line per policy; counts beside the points."""
    figure = Figure(figsize=(1.6 + 1.2 * len(funnel.kinds), 3.2), layout="constrained")
    axes = figure.subplots()
    for row in funnel.rows:
        color = COLORS[row.policy % len(COLORS)]
        axes.plot(np.arange(len(row.shares)), row.shares, marker="o", color=color, label=row.title)
        for k, (share, count) in enumerate(zip(row.shares, row.counts, strict=True)):
            axes.annotate(str(count), (k, share), xytext=(4, 5), textcoords="offset points", color=color, fontsize=8)
    axes.set_xticks(range(len(funnel.kinds) + 1), ["start", *funnel.kinds])
    axes.set_ylabel(f"{funnel.task}: share of episodes left")
    _finish(figure, axes)
    return figure


def _finish(figure: Figure, axes: Axes) -> None:
    axes.set_ylim(0.0, 1.08)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside upper left", frameon=False, fontsize=8, ncols=2)
