"""`cru web`, its exported site and a shared file in a real Chromium: every page, keyboard, live growth, dark mode, 400 px, axe-core."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Intervention, Phase, Prose, Session, Status, ToolCall, ToolCalls
from crucible.vault.notes.vault import Vault
from crucible.web.call_details import read_call_details
from crucible.web.page_frame import page_frame
from crucible.web.session_entries import Shown, calls_of
from crucible.web.session_page import Facts, session_html
from samples.hostile_texts import BLOCKS, FRAGMENTS, INLINE
from tests.browser.browsing import Visit, axe_source, chromium, visiting
from tests.clients.install import Unavailable
from tests.paths import ROOT

pytestmark = pytest.mark.e2e

NOW = datetime.now(UTC)
LIVE, EVIL, LIMITER = "2026-11-21-live", "2026-11-21-evil", "2026-11-21-add-rate-limiter-project"
ATTACK = (
    '"><script>window.pwned=1</script><img src=https://evil.example/x onerror="window.pwned=1">'
    "<svg onload=window.pwned=1> [x](javascript:window.pwned=1) ![y](https://evil.example/y.png) <https://evil.example>"
)
PAGES = [
    "/",
    "/sessions",
    "/sessions?q=limiter",
    "/sessions?since=soon",
    f"/sessions/{LIMITER}",
    "/sessions/2026-11-18-choose-a-search-index",
    "/inbox",
    "/workflows",
    "/workflows/add-a-rate-limiter-to-this-project",
    "/cases",
    "/cases/2026-11-16-import-books-from-csv-correction-ba9d9a9f",
    "/knowledge",
    "/knowledge/the-small-servers-python-has-no-fts5",
    "/history",
    "/history/2026-11-18-choose-a-search-index-history",
    f"/sessions/{EVIL}",
    "/sessions/nope",
]


def session(name: str, *phases: Phase, status: Status = Status.COMPLETED, title: str = "") -> Session:
    return Session(name, started=NOW, status=status, title=title or name, phases=phases)


def live_phase(number: int, words: str) -> Phase:
    return Phase(f"Phase {number}", entries=(Intervention(f"Prompt {number}"), Prose("\n\n".join([words] * 30))))


def hostile_session() -> Session:
    texts = [ATTACK, "\n".join(BLOCKS), " ".join(text for text in INLINE if text.isprintable()), "\n\n".join(FRAGMENTS)]
    entries = [
        e for text in texts for e in (Intervention(text), Prose(text), ToolCalls((ToolCall(f"Bash {ATTACK}", ATTACK),)))
    ]
    return session(EVIL, Phase("evil <b>", entries=tuple(entries)), title=ATTACK)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example vault, with the sessions of the real transcripts imported so that they have event logs."""
    root = tmp_path_factory.mktemp("browser") / "vault"
    shutil.copytree(ROOT / "vault-example", root)
    for note in (root / "sessions").glob("*rate-limiter*"):
        note.unlink()
    transcripts = ROOT / "tests" / "data" / "transcripts" / "claude-code" / "limiter"
    cru(root, "import", "claude-code", str(transcripts))
    vault = Vault(root)
    vault.create(EVIL, render_session(hostile_session()))
    vault.create(LIVE, render_session(session(LIVE, live_phase(1, "Working."), status=Status.ACTIVE)))
    return root


def environment(root: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(root.parent), "TZ": "UTC", "PYTHONPATH": str(ROOT)}


def cru(root: Path, *args: str) -> None:
    command = [sys.executable, "-m", "crucible", "--vault", str(root), *args]
    subprocess.run(command, env=environment(root), check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    """The address that the real `cru web` prints; Ctrl-C ends it with 0."""
    command = [sys.executable, "-m", "crucible", "--vault", str(root), "web", "--no-open"]
    with subprocess.Popen(
        command, env=environment(root), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.send_signal(2)
        assert server.wait(10) == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        program = chromium()
        axe_source()
        from playwright.sync_api import sync_playwright
    except (Unavailable, ImportError) as reason:
        pytest.skip(f"no browser here: {reason}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    origin = address.partition("/?")[0]
    with visiting(browser, origin, viewport={"width": 1280, "height": 800}, color_scheme="light") as visit:
        visit.page.goto(address)
        assert "token" not in visit.page.url
        yield visit
        visit.check()


def test_every_page_is_accessible_and_keeps_to_its_origin(visit: Visit) -> None:
    found: dict[str, list[str]] = {}
    for scheme, width in (("light", 1280), ("dark", 400)):
        visit.page.emulate_media(color_scheme=scheme)
        visit.page.set_viewport_size({"width": width, "height": 800})
        for address in PAGES:
            visit.open(address)
            wrong = visit.axe() + (["broader than the window"] if visit.overflows() else [])
            if wrong:
                found[f"{address} {scheme} {width}"] = wrong
            assert visit.page.evaluate("window.pwned") is None
    # Chromium reports the page that is not there as an error of the console.
    visit.complaints = [one for one in visit.complaints if "404" not in one]
    assert not found, "\n".join(f"{page}: {wrong}" for page, wrong in found.items())


def test_keys_move_between_prompts_and_choose_levels(visit: Visit) -> None:
    page = visit.open(f"/sessions/{LIMITER}")
    page.keyboard.press("j")
    visit.until("location.hash === '#e1-1'")
    page.keyboard.press("j")
    visit.until("location.hash === '#e2-1'")
    page.keyboard.press("k")
    visit.until("location.hash === '#e1-1'")
    assert page.locator(".calls li").first.is_visible()
    page.keyboard.press("2")
    assert not page.locator(".calls li").first.is_visible()
    assert page.get_by_text("I'll plan the work as tasks.").is_visible()
    page.keyboard.press("1")
    assert not page.get_by_text("I'll plan the work as tasks.").is_visible()
    assert page.get_by_role("button", name="User").get_attribute("aria-pressed") == "true"
    page.keyboard.press("3")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    assert not visit.axe()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert not visit.axe()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"


def test_rows_of_a_list_are_reached_by_keys(visit: Visit) -> None:
    page = visit.open("/sessions")
    page.keyboard.press("j")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1")
    assert first in page.title()


def test_a_call_unfolds_its_diff_from_the_event_log(visit: Visit) -> None:
    page = visit.open(f"/sessions/{LIMITER}")
    edit = page.locator(".calls li", has_text="Write limiter.py").first
    edit.get_by_role("button", name="Show details").click()
    edit.locator("pre.diff ins").first.wait_for()
    assert "class TokenBucket" in edit.inner_text()
    assert not visit.axe()


def test_a_call_of_a_subagent_unfolds_its_output_on_the_parents_page(visit: Visit) -> None:
    page = visit.open(f"/sessions/{LIMITER}")
    page.locator(".work > summary").first.click()
    call = page.locator(".work .calls li").first
    call.get_by_role("button", name="Show details").click()
    call.locator(".detail pre").first.wait_for()


def test_a_link_to_an_entry_shows_it_at_any_level(visit: Visit) -> None:
    page = visit.open(f"/sessions/{LIMITER}")
    page.keyboard.press("1")
    name = page.locator(".calls li").nth(3).get_attribute("id")
    visit.open(f"/sessions/{LIMITER}#{name}")
    page.reload()
    assert page.locator(f'[id="{name}"]').is_visible()


def test_sessions_are_filtered_while_typing(visit: Visit) -> None:
    page = visit.open("/sessions")
    page.get_by_label("Project").fill("bookshelf")
    visit.until("!document.querySelector('#results').textContent.includes('Upgrade the database')")
    assert page.get_by_text("Which index for searching the bookshelf?").is_visible()
    page.get_by_label("Search").fill("fts5")
    page.locator("mark").first.wait_for()
    assert "q=fts5" in page.url
    page.get_by_label("Project").fill("nobody")
    page.get_by_text("No sessions match.").wait_for()


def test_a_running_session_grows_and_keeps_its_place(visit: Visit, root: Path) -> None:
    page = visit.open(f"/sessions/{LIVE}")
    page.get_by_text("live", exact=True).wait_for()
    page.evaluate("scrollTo(0, 300)")
    grow(root, 2)
    page.locator("#phase-2").wait_for(timeout=10_000)
    assert page.evaluate("scrollY") == 300
    assert page.locator("#outline li").count() == 2
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    grow(root, 3)
    page.locator("#phase-3").wait_for(timeout=10_000)
    visit.until("innerHeight + scrollY >= document.body.scrollHeight - 2")
    grow(root, 3, Status.COMPLETED)
    page.get_by_text("ended", exact=True).wait_for(timeout=10_000)


def grow(root: Path, phases: int, status: Status = Status.ACTIVE) -> None:
    made = session(LIVE, *(live_phase(number, "Working.") for number in range(1, phases + 1)), status=status)
    new = root / "sessions" / f"{LIVE}.tmp"
    new.write_text(render_session(made), encoding="utf-8")
    new.replace(root / "sessions" / f"{LIVE}.md")


def test_paper_has_the_talk_and_no_controls(visit: Visit) -> None:
    page = visit.open(f"/sessions/{LIMITER}")
    page.emulate_media(media="print")
    assert not page.locator(".top").is_visible()
    assert not page.locator(".tools").is_visible()
    assert page.locator(".user").first.is_visible()


@pytest.mark.parametrize("name", [LIMITER, EVIL])
def test_a_file_works_alone_and_asks_for_nothing(browser: Any, root: Path, tmp_path: Path, name: str) -> None:
    vault = Vault(root)
    note = vault.load(name)
    details = read_call_details(vault.root, name, calls_of(note.session))
    html = session_html(note.session, page_frame(inline=True), Shown(details=details), Facts())
    (tmp_path / "session.html").write_text(html, encoding="utf-8")
    with visiting(browser, "", viewport={"width": 400, "height": 800}) as visit:
        page = visit.open((tmp_path / "session.html").as_uri())
        assert not visit.axe()
        assert not visit.overflows()
        page.get_by_role("button", name="Talk").click()
        assert page.locator(".calls").count()
        assert not page.locator(".calls").first.is_visible()
        assert page.evaluate("window.pwned") is None
        visit.check()


# --- the exported site -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(root: Path) -> Path:
    cru(root, "web", "--export", str(root.parent / "site"), "--yes")
    return root.parent / "site"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the site below a path of a plain file server."""
    handler = partial(QuietHandler, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/site"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


@pytest.mark.parametrize("from_files", [True, False])
def test_every_page_of_a_site_is_accessible_and_asks_for_nothing_else(
    browser: Any, site: Path, served: str, from_files: bool
) -> None:
    found: dict[str, list[str]] = {}
    with visiting(browser, "" if from_files else served, viewport={"width": 400, "height": 800}) as visit:
        for page in sorted(site.rglob("*.html")):
            visit.open(page.as_uri() if from_files else f"/{quote(str(page.relative_to(site)))}")
            wrong = [] if from_files else visit.axe()
            wrong += ["broader than the window"] if visit.overflows() else []
            if wrong:
                found[page.name] = wrong
            assert visit.page.evaluate("window.pwned") is None
        visit.check()
    assert not found, "\n".join(f"{page}: {wrong}" for page, wrong in found.items())


@pytest.mark.parametrize("from_files", [True, False])
def test_the_search_of_a_site_leads_to_the_phase_with_the_word(
    browser: Any, site: Path, served: str, from_files: bool
) -> None:
    with visiting(browser, "" if from_files else served) as visit:
        page = visit.open((site / "cases.html").as_uri() if from_files else "/cases.html")
        page.keyboard.press("/")
        page.keyboard.type("tokenbuck")
        page.keyboard.press("Enter")
        page.locator(".found a").first.wait_for()
        page.get_by_label("Words").fill("pwned script")
        page.get_by_text("evil").first.wait_for()
        page.get_by_label("Words").fill("nothingofthekind")
        page.get_by_text("No pages match.").wait_for()
        page.get_by_label("Words").fill("limiter bucket")
        page.locator(".found a").first.click()
        page.wait_for_selector("main.session")
        assert not from_files or page.url.startswith("file:")
        visit.check()
