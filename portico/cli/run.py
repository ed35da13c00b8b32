"""``portico run``: evaluate policies on a suite. Running the same command again continues it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from portico.cli.console import Narrator, duration, errors, out
from portico.cli.warmup import warm_up
from portico.errors import SuiteError, UnknownName
from portico.evaluate.executors import local
from portico.evaluate.prepare import default_cache, prepare, select
from portico.evaluate.run import Progress as RunProgress
from portico.evaluate.run import RunRequest, check_measures, check_policy_name, execute
from portico.evaluate.timing import timing_mode
from portico.report import print_runs, print_summary, write_report
from portico.suites import Suite, load_suite, under
from portico.tasks.episode import TASK_STAGES

_PLAIN_EVERY_S = 5.0


def run(
    suite: Annotated[str, typer.Argument(help="a suite's name or a YAML file, see `portico list suites`")],
    policy: Annotated[list[str] | None, typer.Option("--policy", "-p", help="whom to evaluate, may be repeated; the suite's own list when left out")] = None,
    out_folder: Annotated[Path | None, typer.Option("--out", help="run folder; runs/<suite> by default. Several policies get a folder each inside")] = None,
    workers: Annotated[int, typer.Option(min=1, help="processes on this machine; results do not depend on it")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="at most this many episodes per world, spread over the tasks; stamps the run as partial")] = None,
    episode: Annotated[list[str] | None, typer.Option("--episode", help="only this episode, may be repeated; stamps the run as partial")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="how often every episode is run")] = 1,
    task: Annotated[list[str] | None, typer.Option(help="only the suite's episodes of this task, may be repeated; stamps the run as partial")] = None,
    termination: Annotated[
        str | None, typer.Option(help="replaces how point, image and object goals end: on_arrival or explicit_stop; a run of its own")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="replaces the suite's seed")] = None,
    robot: Annotated[str | None, typer.Option(help="replaces the suite's embodiment; a name, or the path of a robot file")] = None,
    motion: Annotated[str | None, typer.Option(help="kinematic, or physics: mass, grip and falls; the questions stay the same")] = None,
    friction: Annotated[float | None, typer.Option(min=0.01, help="under physics, factor on what surfaces grip; the questions stay the same")] = None,
    same_questions: Annotated[bool, typer.Option("--same-questions", help="ask another --robot what the suite's own robot is asked")] = False,
    track: Annotated[str | None, typer.Option(help="replaces the suite's observation track: rgb or rgbd")] = None,
    split: Annotated[str | None, typer.Option(help="replaces the suite's split: only worlds of this split are asked about")] = None,
    instructions: Annotated[str | None, typer.Option(help="how places are asked for: category, route or intention; the same episodes under each")] = None,
    allow_privileged: Annotated[
        bool, typer.Option("--allow-privileged", help="accept policies that need more than the track grants; stamped everywhere")
    ] = False,
    cache: Annotated[Path | None, typer.Option(help="where generated worlds and episodes are kept; ./worlds by default")] = None,
    timing: Annotated[
        str, typer.Option(help="what deciding costs in simulated time: paused (nothing), charged (what it took), charged:SECONDS, or realtime")
    ] = "paused",
    max_errors: Annotated[float, typer.Option(min=0.0, max=1.0, help="share of episodes that may end in an error before the exit code is 2")] = 0.0,
) -> None:
    """Run policies through a suite, record every step, and write summary.json and report.html."""
    chosen = load_suite(suite, seed=seed, track=track, termination=termination, split=split, instructions=instructions)
    chosen = under(chosen, motion=motion, friction=friction, robot=robot, same_questions=same_questions)
    base = Path(suite).parent if Path(suite).suffix in {".yaml", ".yml"} else Path.cwd()
    folder = out_folder or Path("runs") / chosen.name
    summaries = evaluate(
        chosen,
        policy or chosen.policies,
        folder,
        base=base,
        workers=workers,
        limit=limit,
        only=episode or [],
        tasks=task or [],
        repeats=repeats,
        allow_privileged=allow_privileged,
        cache=cache,
        timing=timing,
    )
    for summary in summaries.values():
        print_summary(summary, out)
    if len(summaries) > 1:
        print_runs(list(summaries.values()), out)
    page = write_report(list(summaries), folder / "report.html")
    out.print(f"\nreport: {page}")
    if any(exceeds(summary, max_errors) for summary in summaries.values()):
        errors.print("some episodes ended in an error: they count as errors, not as failures. Run the same command again to retry them.")
        raise typer.Exit(2)


def evaluate(
    suite: Suite,
    policies: list[str],
    folder: Path,
    *,
    base: Path | None = None,
    workers: int = 1,
    limit: int | None = None,
    only: list[str] | None = None,
    tasks: list[str] | None = None,
    repeats: int = 1,
    allow_privileged: bool = False,
    cache: Path | None = None,
    timing: str = "paused",
) -> dict[Path, dict[str, Any]]:
    """Run every policy; returns run folder -> summary. One policy uses the folder itself, several a folder each inside it."""
    if not policies:
        raise SuiteError(
            "nobody to evaluate", where=suite.name, why="the suite lists no policies", next_step="name one: --policy frontier, see `portico list policies`"
        )
    check_measures(suite)
    timing_mode(timing)
    asked = [task for task in suite.tasks if suite.asks(task) and (not tasks or task in tasks)]
    for task in tasks or []:
        if task not in suite.tasks:
            raise UnknownName("task", task, suite.tasks, where=f"suite {suite.name}")
    for policy in policies:
        fit = check_policy_name(suite, policy, allow_privileged, {kind for task in asked for kind in TASK_STAGES[task]})
        for note in fit.notes:
            errors.print(f"note on {policy}: {note.sentence} [{note.code}]", markup=False)
    warm_up()
    summaries: dict[Path, dict[str, Any]] = {}
    with closing(local(workers)) as executor:
        narrator = Narrator()
        prepared = prepare(suite, cache or default_cache(), relative_to=base, announce=narrator.begin, watch=narrator.tell, workers=workers)
        chosen = select(prepared, limit=limit, only=only or [], tasks=tasks or [])
        for policy in policies:
            run_folder = folder if len(policies) == 1 else folder / folder_name(policy)
            request = RunRequest(suite, policy, run_folder, chosen, workers, repeats, allow_privileged, bool(limit or only or tasks), timing)
            with _Watcher(policy) as watch:
                summaries[run_folder] = execute(request, watch=watch, executor=executor)
    return summaries


def folder_name(policy: str) -> str:
    """A policy's name as one path component."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in policy)


def exceeds(summary: dict[str, Any], max_errors: float) -> bool:
    """Whether more episodes than accepted ended in an error."""
    return int(summary["n"]["error"]) > max_errors * max(1, int(summary["n"]["planned"]))


class _Watcher:
    """Shows done/total, success so far with its interval, errors, episodes per minute and the time left."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    def __enter__(self) -> _Watcher:
        self._began = self._said = time.perf_counter()
        self._bar: Progress | None = None
        if errors.is_terminal:
            columns = (TextColumn("{task.description:<28}"), BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.fields[status]}"))
            self._bar = Progress(*columns, console=errors)
            self._task = self._bar.add_task(self.policy, total=None, status="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, progress: RunProgress) -> None:
        text = self._status(progress)
        if self._bar:
            self._bar.update(self._task, total=progress.planned, completed=progress.done, status=text)
            return
        now = time.perf_counter()
        if now - self._said > _PLAIN_EVERY_S or progress.done == progress.planned:
            self._said = now
            errors.print(f"{self.policy}: {progress.done}/{progress.planned}  {text}")

    def _status(self, progress: RunProgress) -> str:
        from portico.evaluate.intervals import wilson

        fresh = progress.done - progress.resumed
        elapsed = time.perf_counter() - self._began
        parts = []
        scored = progress.done - progress.errors
        if scored:
            low, high = wilson(progress.successes, scored)
            parts.append(f"success {progress.successes / scored:.0%} [{low:.0%}, {high:.0%}]")
        if progress.errors:
            parts.append(f"errors {progress.errors}")
        if progress.resumed:
            parts.append(f"{progress.resumed} from before")
        if fresh and elapsed > 0:
            parts.append(f"{60 * fresh / elapsed:.0f}/min")
            if progress.done < progress.planned:
                parts.append(f"{duration(elapsed / fresh * (progress.planned - progress.done))} left")
        return "  ".join(parts)
