"""What answers to which address. Read-only; nothing but pages, pictures and the files of the runs on the shelf."""

from __future__ import annotations

import re
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import BackgroundTasks, FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

import portico.report
from portico.errors import StorageError, UserError
from portico.web import maps, pages
from portico.web.library import Library, Shelved
from portico.web.listing import Item, identity
from portico.web.listing import Query as Asked
from portico.web.pictures import Painter, PictureCache, draw_frame, draw_goal
from portico.web.scene import Stage, trajectory_file
from portico.web.worlds import Atlas

_POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
#: A report is a file of the run: it may style and filter itself, but is nobody's page.
_REPORT_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; sandbox allow-scripts"
_KEEP = {"Cache-Control": "private, max-age=3600"}
_FRESH = {"Cache-Control": "no-cache"}
_FILES = re.compile(
    r"run\.json|summary\.json|scores\.jsonl?|records/rank-[0-9a-z-]+\.jsonl|episodes/[^/\\]+\.json|films/[^/\\]+\.png|figures/[^/\\]+\.(svg|png)"
)
_OWN_NAME = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")
#: After so long without a request a viewer gets ready for the first episode, unless it has done so after a table.
_SOON_S = 1.5
_STATIC = Path(__file__).parent / "static"
_REPORT_STYLE = Path(portico.report.__file__).parent / "templates" / "style.css"


class Viewer:
    """What the addresses share: the runs, their worlds, two painters and the pictures they made."""

    def __init__(self, library: Library, worlds: Path | None) -> None:
        self.library = library
        self.stage = Stage(Atlas(worlds))
        cache = PictureCache()
        self.frames = Painter("frames", cache)
        self.maps = Painter("maps", cache, after=self.frames)
        self._cold = threading.Lock()
        self.asked = 0
        self._soon()

    def _soon(self) -> None:
        """Warm up in a moment, or later when somebody waits for a page."""
        self._timer = threading.Timer(_SOON_S, lambda: self._soon() if self.asked else self.warm_up())
        self._timer.daemon = True
        self._timer.start()

    def warm_up(self) -> None:
        """Once, while nobody waits: load the world that is likely to be looked at first, the kernels and the templates."""
        if not self._cold.acquire(blocking=False):
            return
        items = [Item(run, row) for run in self.library.runs.values() for row in run.index.rows[:1]]
        try:
            for item in items[:1]:
                scene = self.stage.scene([item])
                pages.episode_page(self.library, item, scene, Asked(), {})
                if scene.first.trajectory is not None and scene.first.site.world is not None:
                    self.frames.prepare(lambda track=scene.first: draw_frame(track, 0, fine=False))  # type: ignore[misc]
        except UserError:
            # Whoever looks at that episode is told.
            return

    def run(self, name: str) -> Shelved:
        """A run on the shelf.

        Raises:
            StorageError: there is none of that name.
        """
        found = self.library.runs.get(name)
        if found is None:
            raise StorageError("there is no such run here", where=name, next_step=f"runs here: {', '.join(self.library.runs)}")
        return found

    def item(self, run: str, slug: str) -> Item:
        """A recorded episode.

        Raises:
            StorageError: the run has no record of it.
        """
        shelved = self.run(run)
        row = shelved.index.find(slug)
        if row is None:
            shelved.index.refresh()
            row = shelved.index.find(slug)
        if row is None:
            raise StorageError("the run has no record of this episode", where=f"{run}: {slug}", next_step="go back to the table")
        return Item(shelved, row)

    def items(self, run: str, slug: str, together: str) -> list[Item]:
        """An episode, and the same as other runs answered it."""
        first = self.item(run, slug)
        others = [Item(other, row) for name in together.split(",") if (other := self.library.runs.get(name)) and (row := other.index.find(slug))]
        return [first, *(o for o in others if o.run is not first.run and identity(o) == identity(first))]

    def reports(self) -> dict[str, str]:
        """Addresses of the reports that lie in run folders, and in the folders that were given."""
        found = {f"report of {run.name}": f"/report/{run.name}" for run in self.library.runs.values() if (run.folder / "report.html").is_file()}
        above = {f"report of {folder.resolve().name}": f"/reports/{n}" for n, folder in enumerate(self.library.folders) if (folder / "report.html").is_file()}
        own = {run.folder for run in self.library.runs.values()}
        return {**{k: v for k, v in above.items() if self.library.folders[int(v.rsplit("/", 1)[1])].resolve() not in own}, **found}

    def close(self) -> None:
        """Stop the painters."""
        self._timer.cancel()
        self.frames.close()
        self.maps.close()


def create_app(library: Library, *, worlds: Path | None = None, any_host: bool = False) -> FastAPI:
    """The application.

    Args:
        library: the runs, read already. worlds: folder that holds the worlds, when they have moved since the runs.
        any_host: answer to whatever name the browser used; else to names of this machine alone, so that no page elsewhere can reach the runs.
    """
    viewer = Viewer(library, worlds)
    app = FastAPI(title="Portico viewer", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.viewer = viewer
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=5)
    app.state.any_host = any_host
    app.add_exception_handler(UserError, _told)
    app.middleware("http")(_guarded)
    _add_pages(app, viewer)
    _add_pictures(app, viewer)
    _add_files(app, viewer)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    return app


async def _guarded(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    if not request.app.state.any_host and not _OWN_NAME.fullmatch(request.headers.get("host", "")):
        # A page elsewhere may have given its own name this machine's address.
        return Response("the viewer answers to localhost and 127.0.0.1 only\n", status_code=400, media_type="text/plain")
    viewer: Viewer = request.app.state.viewer
    viewer.asked += 1
    try:
        response = await call_next(request)
    finally:
        viewer.asked -= 1
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    return response


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, UserError)
    status = 404 if isinstance(error, StorageError) else 422
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(pages.problem_page(status, error.what, error.why or error.where, error.next_step), status)
    return JSONResponse({"what": error.what, "where": error.where, "why": error.why, "next_step": error.next_step}, status)


def _add_pages(app: FastAPI, viewer: Viewer) -> None:
    @app.get("/", response_class=HTMLResponse)
    def table(request: Request, after: BackgroundTasks) -> Response:
        viewer.library.refresh()
        text = pages.table_page(viewer.library, Asked.of(request.query_params), viewer.reports())
        after.add_task(viewer.warm_up)
        return HTMLResponse(text, headers=_FRESH, background=after)

    @app.get("/e/{run}/{slug}", response_class=HTMLResponse)
    def episode(request: Request, run: str, slug: str) -> Response:
        given = request.query_params
        items = viewer.items(run, slug, given.get("with", ""))
        text = pages.episode_page(viewer.library, items[0], viewer.stage.scene(items), Asked.of(given), given)
        return HTMLResponse(text, headers=_FRESH)


def _add_pictures(app: FastAPI, viewer: Viewer) -> None:
    @app.get("/frame/{run}/{slug}/{state}.jpg")
    async def frame(request: Request, run: str, slug: str, state: int, v: int = 0, camera: str = "", draft: bool = False) -> Response:
        item = viewer.item(run, slug)

        def drawn() -> Any:
            return draw_frame(viewer.stage.track(item), state, camera, fine=not draft)

        picture = await viewer.frames.picture(("frame", run, slug, item.row.place, v, state, camera, draft), drawn, request.is_disconnected)
        return _picture(picture)

    @app.get("/goal/{run}/{slug}/{stage}.jpg")
    async def goal(request: Request, run: str, slug: str, stage: int, v: int = 0) -> Response:
        item = viewer.item(run, slug)

        def drawn() -> Any:
            return draw_goal(viewer.stage.track(item), stage)

        return _picture(await viewer.frames.picture(("goal", run, slug, v, stage), drawn, request.is_disconnected))

    @app.get("/map/{run}/{slug}/{level}.jpg")
    async def ground(request: Request, run: str, slug: str, level: int, box: str, px: Annotated[int, Query()]) -> Response:
        item = viewer.item(run, slug)
        sheet = maps.Sheet.asked(item.row.key.world, level, box, px)
        facts = item.run.header["worlds"].get(sheet.world) or {}

        def drawn() -> Any:
            return maps.draw(viewer.stage.atlas.site(item.run, sheet.world), sheet)

        picture = await viewer.maps.picture(("map", facts.get("hash"), sheet), drawn, request.is_disconnected)
        return _picture(picture)


def _picture(data: bytes | None) -> Response:
    return Response(data, media_type="image/jpeg", headers=_KEEP) if data is not None else Response(status_code=204)


def _add_files(app: FastAPI, viewer: Viewer) -> None:
    @app.get("/record/{run}/{slug}.json")
    def record(run: str, slug: str) -> Response:
        item = viewer.item(run, slug)
        return JSONResponse(viewer.stage.track(item).record, headers={**_FRESH, **_named(f"{slug}.json")})

    @app.get("/trajectory/{run}/{slug}.npz")
    def trajectory(run: str, slug: str) -> Response:
        item = viewer.item(run, slug)
        return _file(item.run.folder, trajectory_file(item), _named(f"{slug}.npz"))

    @app.get("/report/{run}")
    def report(run: str) -> Response:
        folder = viewer.run(run).folder
        return _file(folder, folder / "report.html", {"Content-Security-Policy": _REPORT_POLICY})

    @app.get("/reports/{number}")
    def report_beside(number: int) -> Response:
        if not 0 <= number < len(viewer.library.folders):
            raise StorageError("there is no such report here", where=str(number))
        folder = viewer.library.folders[number].resolve()
        return _file(folder, folder / "report.html", {"Content-Security-Policy": _REPORT_POLICY})

    @app.get("/files/{run}/{name:path}")
    def file(run: str, name: str) -> Response:
        folder = viewer.run(run).folder
        if not _FILES.fullmatch(name):
            raise StorageError(
                "the viewer does not hand out this file", where=name, next_step="it serves run.json, summary.json, records, episodes and pictures"
            )
        return _file(folder, folder / name, {})

    @app.get("/style/report.css")
    async def report_style() -> Response:
        text = await run_in_threadpool(_REPORT_STYLE.read_text, "utf-8")
        return Response(text, media_type="text/css", headers=_KEEP)


def _file(folder: Path, path: Path, headers: dict[str, str]) -> Response:
    """A file of a folder; links that lead out of it are not followed.

    Raises:
        StorageError: it is not there.
    """
    real = path.resolve()
    if not real.is_file() or not real.is_relative_to(folder.resolve()):
        raise StorageError("there is no such file in the run", where=path.name)
    return FileResponse(real, headers={**_FRESH, **headers})


def _named(name: str) -> dict[str, str]:
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return {"Content-Disposition": f'attachment; filename="{safe}"'}
