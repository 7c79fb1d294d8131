"""The live server of `cru web`: routes, and the checks that keep other users and sites out.  Needs the extra `web`.

It listens on loopback and answers only GET requests that prove they know the token: the first request exchanges it
for a cookie that other sites cannot use.  The Host header must name this machine, so no other name can point here.
"""

from __future__ import annotations

import hmac
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from socket import socket
from types import FrameType
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crucible.core.errors import CrucibleError, UnknownId, UsageError
from crucible.documents.session.session import Session
from crucible.memory.history.history_folder import HISTORY
from crucible.vault.events.event_files import may_have_records
from crucible.vault.notes.vault import Note
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS
from crucible.web.call_details import read_call_detail
from crucible.web.live_changes import LiveChanges
from crucible.web.note_pages import inbox_values, note_values, table_of, workflow_values
from crucible.web.overview_page import overview_values, waiting_values
from crucible.web.page_frame import ICON, SCRIPT, STYLE, Frame, Section, asset, page_start, render_page, stream_page
from crucible.web.session_entries import Shown, call_in_place, calls_of, phase_prefix, render_detail
from crucible.web.session_lines import list_values
from crucible.web.session_page import Facts, changes_html, stream_session
from crucible.web.web_vault import SESSION_PAGES, WebVault, cost_note, show_cost

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_TYPES = {STYLE: "text/css", SCRIPT: "text/javascript", ICON: "image/svg+xml"}
_SECTIONS = (
    ("/", "Overview"),
    ("/sessions", "Sessions"),
    ("/inbox", "Inbox"),
    (f"/{WORKFLOWS}", "Workflows"),
    (f"/{CASES}", "Cases"),
    (f"/{KNOWLEDGE}", "Knowledge"),
    (f"/{HISTORY}", "History"),
)


def new_token() -> str:
    """Return a random token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def build_app(web: WebVault, live: LiveChanges, token: str, port: int) -> ASGIApp:
    """Return the application for one vault."""
    pages = _Pages(web, live)
    return _Gate(Starlette(routes=list(pages.routes())), token, port)


@cache
def _asset_folder() -> str:
    """Return the address of the stylesheet and the script, which changes when they do."""
    return f"/static/{sha256(''.join(map(asset, _TYPES)).encode()).hexdigest()[:12]}/"


class _Gate:
    """Checks each request before any page sees it, and adds the security headers to each answer."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"cru-{port}"
        self._hosts = {f"{host}:{port}" for host in _HOSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refused = self._refusal(scope)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name, value) for name, value in message.get("headers", []) if name != b"server"]
                is_asset = scope["path"].startswith(_asset_folder())
                kept = b"private, max-age=86400" if is_asset else b"no-store"
                message["headers"] = [*own, *_HEADERS, (b"cache-control", kept)]
            await send(message)

        await (refused or self._app)(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("read only", 405, {"allow": "GET, HEAD"})
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("unknown host", 421)
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if _is_same(query.pop("token", ""), self._token):
            return self._let_in(scope["path"], query)
        if not _is_same(self._cookie_of(headers), self._token):
            return PlainTextResponse('Open the address that "cru web" printed: it contains the token.', 403)
        return None

    def _let_in(self, path: str, query: Mapping[str, str]) -> Response:
        """Redirect to the same page without the token, which moves to a cookie and out of the browser's history."""
        place = f"/{path.lstrip('/')}"  # never another host
        answer = RedirectResponse(f"{place}?{urlencode(query)}" if query else place, 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _cookie_of(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return found.value if found else ""


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


class _Pages:
    """The pages of one vault."""

    def __init__(self, web: WebVault, live: LiveChanges) -> None:
        self._web = web
        self._live = live
        sections = [Section(href, label) for href, label in _SECTIONS]
        self._frame = Frame(assets=_asset_folder(), home="/", search="/sessions", sections=sections)

    def routes(self) -> Iterator[Route]:
        """Yield all routes."""
        pages: Mapping[str, Callable[[Request], Response]] = {
            "/": self._overview,
            "/sessions": self._sessions,
            f"{SESSION_PAGES}{{id}}": self._session,
            f"{SESSION_PAGES}{{id}}/details/{{call}}": self._details,
            "/inbox": self._inbox,
            "/{folder}": self._folder,
            "/{folder}/{name}": self._note,
            "/static/{version}/{name}": _static,
        }
        yield Route(f"{SESSION_PAGES}{{id}}/events", self._events)
        for path, page in sorted(pages.items(), key=lambda one: "{folder}" in one[0]):
            yield Route(path, self._guarded(page))

    def _guarded(self, page: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """Return the page with errors shown as a page."""

        def guarded(request: Request) -> Response:
            try:
                return page(request)
            except CrucibleError as error:
                status = 404 if isinstance(error, UnknownId | UsageError) else 500
                return self._page("problem", "", {"title": "Not found", "error": str(error)}, status)

        return guarded

    def _page(self, template: str, section: str, values: Mapping[str, object], status: int = 200) -> Response:
        return HTMLResponse(render_page(template, self._frame.within(section), **values), status)

    # --- pages -------------------------------------------------------------------------------------------------------

    def _overview(self, _request: Request) -> Response:
        values = {"title": "Overview", **overview_values(self._web), **waiting_values(self._web)}
        return self._page("overview", "/", values)

    def _sessions(self, request: Request) -> Response:
        values = list_values(self._web, request.query_params)
        template = "session_results" if request.headers.get("x-part") == "results" else "sessions"
        frame = self._frame.within("/sessions")._replace(search="")  # the page has its own search
        return HTMLResponse(render_page(template, frame, title="Sessions", **values))

    def _inbox(self, _request: Request) -> Response:
        return self._page("inbox", "/inbox", {"title": "Inbox", **inbox_values(self._web)})

    def _folder(self, request: Request) -> Response:
        folder = request.path_params["folder"]
        label = dict(_SECTIONS).get(f"/{folder}")
        if label is None:
            raise UnknownId(f"no page /{folder}")
        return self._page("notes", f"/{folder}", {"title": label, "table": table_of(self._web, folder)})

    def _note(self, request: Request) -> Response:
        folder, name = request.path_params["folder"], request.path_params["name"]
        if f"/{folder}" not in dict(_SECTIONS):
            raise UnknownId(f"no page /{folder}")
        note = self._web.note(folder, name)
        if folder == WORKFLOWS:
            return self._page("workflow", f"/{folder}", workflow_values(note, self._web.page_of))
        return self._page("note", f"/{folder}", note_values(note, folder, self._web.page_of))

    # --- a session ---------------------------------------------------------------------------------------------------

    def _session(self, request: Request) -> Response:
        note = self._web.session(request.path_params["id"])
        if line := request.query_params.get("line", ""):
            return RedirectResponse(f"{request.url.path}#{_place_of_line(note.session, line)}", 303)
        if first := _number(request.query_params.get("first", "")):
            numbers = range(first, (_number(request.query_params.get("last", "")) or sys.maxsize - 1) + 1)
            session = note.session
            return HTMLResponse(changes_html(session, numbers, self._shown(session), self._facts(session)))
        start = _number(request.query_params.get("from", "")) or 1
        return StreamingResponse(self._parts(note, start), media_type="text/html")

    def _parts(self, note: Note, start: int) -> Iterator[bytes]:
        """Yield a session's page; its start is sent before the note is parsed."""
        frame = self._frame.within("/sessions")
        yield page_start(frame).encode()
        try:
            session = note.session
            parts = stream_session(session, frame, self._shown(session), self._facts(session), start)
            yield from (part.encode("utf-8", "replace") for part in parts)
        except CrucibleError as error:
            values = {"title": note.name, "error": str(error)}
            yield from (part.encode() for part in stream_page("problem", frame, **values))

    def _shown(self, session: Session) -> Shown:
        root, name = self._web.vault.root, session.id
        reports = self._web.subagents(session)
        has_log = any(may_have_records(root, one) for one in (name, *reports))
        return Shown(links=self._web.page_of, has_log=has_log, reports=reports)

    def _facts(self, session: Session) -> Facts:
        place = SESSION_PAGES + session.id
        cost = self._web.cost(session)
        return Facts(self._web.zone, show_cost(cost), cost_note(cost), f"{place}/events", f"{place}/details/")

    def _details(self, request: Request) -> Response:
        name, call = request.path_params["id"], request.path_params["call"]
        while True:
            note = self._web.session(name)
            name, call = call_in_place(note.session, call)
            if not name:
                break
        detail = read_call_detail(self._web.vault.root, note.name, calls_of(note.session), call)
        return HTMLResponse(render_detail(detail) if detail else "<p class=facts>The event log has no details.</p>")

    async def _events(self, request: Request) -> Response:
        try:
            note = await run_in_threadpool(self._web.session, request.path_params["id"])
        except CrucibleError:
            return PlainTextResponse("", 404)
        return StreamingResponse(self._live.stream(note.name, note.path), media_type="text/event-stream")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _place_of_line(session: Session, text: str) -> str:
    """Return the id on the page of the entry at a line of the note, from 1."""
    line = _number(text) - 1
    for above, entries in [("e0", session.preamble), *((phase_prefix(p), p.entries) for p in session.all_phases())]:
        for number, entry in enumerate(entries, 1):
            if entry.lines.first <= line < entry.lines.end:
                calls = getattr(entry, "calls", ())
                at = next((n for n, one in enumerate(calls, 1) if one.lines.first <= line < one.lines.end), 0)
                return f"{above}-{number}" + (f"-{at or 1}" if calls else "")
    phases = [phase.id for phase in session.all_phases() if phase.lines.first <= line < phase.lines.end]
    return phases[-1] if phases else "main"


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return PlainTextResponse("", 404)
    return Response(asset(name), media_type=_TYPES[name])


class _Server(uvicorn.Server):
    """Ends the streams of open pages when it stops, so that it does not wait for them."""

    def __init__(self, config: uvicorn.Config, live: LiveChanges) -> None:
        super().__init__(config)
        self._live = live

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._live.end_streams()
        super().handle_exit(sig, frame)


def serve(app: ASGIApp, listener: socket, live: LiveChanges) -> None:
    """Serve on a listening socket until Ctrl-C or SIGTERM; `live` runs meanwhile."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    live.start()
    try:
        _Server(config, live).run(sockets=[listener])
    finally:
        live.stop()
