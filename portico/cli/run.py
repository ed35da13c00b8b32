"""``portico run``: evaluate policies on a suite. Running the same command again continues it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from portico.cli.console import Narrator, duration, errors, out
from portico.cli.reproduce import words_of
from portico.cli.warmup import warm_up
from portico.errors import SuiteError, UnknownName
from portico.evaluate.executors import Executor, local
from portico.evaluate.plan import Shard
from portico.evaluate.prepare import default_cache, prepare, select
from portico.evaluate.run import Progress as RunProgress
from portico.evaluate.run import RunRequest, check_measures, check_policy_name, execute
from portico.evaluate.timing import timing_mode
from portico.report import print_runs, print_summary, write_report
from portico.suites import Suite, load_suite, under
from portico.tasks.episode import TASK_STAGES

_PLAIN_EVERY_S = 5.0
#: So many different errors are told while a run is under way; all are in the records and in the report.
_MOST_ERRORS = 5


def run(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="a suite's name or a YAML file, see `portico list suites`")],
    policy: Annotated[list[str] | None, typer.Option("--policy", "-p", help="whom to evaluate, may be repeated; the suite's own list when left out")] = None,
    out_folder: Annotated[Path | None, typer.Option("--out", help="run folder; runs/<suite> by default. Several policies get a folder each inside")] = None,
    workers: Annotated[int, typer.Option(min=1, help="processes on this machine; results do not depend on it")] = 1,
    offset: Annotated[int, typer.Option(min=0, help="leave out so many episodes of each world, spread over the tasks; stamps the run as partial")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="at most this many episodes per world, spread over the tasks; stamps the run as partial")] = None,
    shuffle: Annotated[
        int | None, typer.Option(metavar="SEED", help="shuffle the order in which --offset and --limit count and ranks are dealt; same seed, same order")
    ] = None,
    rank: Annotated[int, typer.Option(min=0, help="which share of the run this is, from 0; ranks may share --out and its file system")] = 0,
    world_size: Annotated[int, typer.Option("--world-size", min=1, help="into how many ranks the run is split; results do not depend on it")] = 1,
    executor: Annotated[str, typer.Option(help="where episodes run: local (processes on this machine) or ray (actors on a cluster)")] = "local",
    ray_address: Annotated[str | None, typer.Option("--ray-address", help="of a Ray cluster; the one that runs here, else a new one, when left out")] = None,
    worker_memory_gb: Annotated[
        float | None, typer.Option("--worker-memory", min=0.1, metavar="GB", help="memory that each worker reserves on a Ray cluster")
    ] = None,
    retries: Annotated[int, typer.Option(min=0, help="how often later starts try an episode again that ended in an error")] = 1,
    policy_timeout_s: Annotated[
        float | None, typer.Option("--policy-timeout", min=0.001, metavar="SECONDS", help="an error for an episode whose policy takes longer to decide")
    ] = None,
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
    """Run policies through a suite, record every step, and write summary.json and report.html.

    Options of a policy follow a question mark: -p "frontier?detector=text", -p "remote?url=ws://127.0.0.1:8765" for one behind `portico serve`.
    """
    chosen = load_suite(suite, seed=seed, track=track, termination=termination, split=split, instructions=instructions)
    chosen = under(chosen, motion=motion, friction=friction, robot=robot, same_questions=same_questions)
    base = Path(suite).parent if Path(suite).suffix in {".yaml", ".yml"} else Path.cwd()
    folder = out_folder or Path("runs") / chosen.name
    shard = Shard(rank, world_size)
    with _gently():
        summaries = evaluate(
            chosen,
            policy or chosen.policies,
            folder,
            base=base,
            workers=workers,
            offset=offset,
            limit=limit,
            shuffle=shuffle,
            shard=shard,
            executor=lambda: chosen_executor(executor, workers, policy_timeout_s, ray_address, worker_memory_gb),
            retries=retries,
            policy_timeout_s=policy_timeout_s,
            command=words_of(context),
            only=episode or [],
            tasks=task or [],
            repeats=repeats,
            allow_privileged=allow_privileged,
            cache=cache,
            timing=timing,
        )
        _show(summaries, folder, shard)
    if any(exceeds(summary, max_errors) for summary in summaries.values()):
        errors.print(
            f"some episodes ended in an error: they count as errors, not as failures; portico runs check {folder} says why. "
            "Start the same command again to retry each "
            f"{'once' if retries == 1 else f'{retries} times'}; where that is used up, --retries {retries + 1} tries once more."
        )
        raise typer.Exit(2)


def _show(summaries: dict[Path, dict[str, Any]], folder: Path, shard: Shard) -> None:
    """Tables and the report; of one rank among many how far the run is."""
    if shard.world_size > 1:
        for path, summary in summaries.items():
            n = summary["n"]
            out.print(f"rank {shard.rank} of {shard.world_size} is done; {path}: {n['scored'] + n['error']} of {n['planned']} episodes, errors {n['error']}")
        out.print(f"when all ranks are done: portico runs check {folder}")
        return
    for summary in summaries.values():
        print_summary(summary, out)
    if len(summaries) > 1:
        print_runs(list(summaries.values()), out)
    page = write_report(list(summaries), folder / "report.html")
    out.print(f"\nreport: {page}")


def evaluate(
    suite: Suite,
    policies: list[str],
    folder: Path,
    *,
    base: Path | None = None,
    workers: int = 1,
    offset: int = 0,
    limit: int | None = None,
    shuffle: int | None = None,
    shard: Shard = Shard(),
    executor: Callable[[], Executor] | None = None,
    retries: int = 1,
    policy_timeout_s: float | None = None,
    command: Sequence[str] = (),
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
    with closing(executor() if executor else local(workers)) as chosen_by:
        narrator = Narrator()
        prepared = prepare(suite, cache or default_cache(), relative_to=base, announce=narrator.begin, watch=narrator.tell, workers=workers)
        chosen = select(prepared, offset=offset, limit=limit, shuffle=shuffle, only=only or [], tasks=tasks or [])
        partial = bool(offset or limit or only or tasks)
        for policy in policies:
            run_folder = folder if len(policies) == 1 else folder / folder_name(policy)
            request = RunRequest(
                suite,
                policy,
                run_folder,
                chosen,
                workers,
                repeats,
                allow_privileged,
                partial,
                timing,
                shuffle=shuffle,
                shard=shard,
                retries=retries,
                policy_timeout_s=policy_timeout_s,
                command=(*command, "--policy", policy) if command else (),
            )
            with _Watcher(policy) as watch:
                summaries[run_folder] = execute(request, watch=watch, executor=chosen_by)
    return summaries


def chosen_executor(name: str, workers: int, policy_timeout_s: float | None, ray_address: str | None, worker_memory_gb: float | None) -> Executor:
    """Who carries a run out.

    Raises:
        UnknownName: no such executor.
        UserError: Ray is not installed, or its cluster does not answer.
    """
    if name not in ("local", "ray"):
        raise UnknownName("executor", name, ("local", "ray"), where="--executor")
    if name == "local":
        return local(workers, killable=policy_timeout_s is not None)
    from portico.evaluate.ray_actors import RayActors

    return RayActors(workers, address=ray_address, memory_gb=worker_memory_gb)


@contextmanager
def _gently() -> Iterator[None]:
    """Schedulers say SIGTERM before they kill: end as after Ctrl-C, with what is finished kept and the way to go on printed."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        # Only there can signals be handled; whoever calls from another thread handles them.
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
        self._told: set[str] = set()
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
        self._tell(progress)
        text = self._status(progress)
        if self._bar:
            self._bar.update(self._task, total=progress.planned, completed=progress.done, status=text)
            return
        now = time.perf_counter()
        if now - self._said > _PLAIN_EVERY_S or progress.done == progress.planned:
            self._said = now
            errors.print(f"{self.policy}: {progress.done}/{progress.planned}  {text}")

    def _tell(self, progress: RunProgress) -> None:
        """The words of an error, each once: a server that is away would say the same for every episode."""
        record = progress.latest
        if record is None or record["status"] != "error" or progress.done == progress.resumed or len(self._told) >= _MOST_ERRORS:
            return
        what, *more = str(record["error"]["message"]).encode(errors="replace").decode().splitlines() or [""]
        if what not in self._told:
            self._told.add(what)
            errors.print("\n".join([f"error in {record['key']['episode']}: {what}", *more]), markup=False, highlight=False)

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
