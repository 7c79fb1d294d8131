"""The live server: who may ask it, what every page holds, and how a running session grows."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Thread

import pytest
from starlette.testclient import TestClient

from crucible.core.prices.price_list import load_prices
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Decision,
    Intervention,
    Phase,
    Prose,
    Session,
    Status,
    ToolCall,
    ToolCalls,
)
from crucible.vault.notes.vault import Vault
from crucible.web.live_changes import LiveChanges
from crucible.web.web_server import build_app
from crucible.web.web_vault import WebSettings, WebVault
from tests.paths import TESTS
from tests.running import Cru
from tests.unit.web.test_markdown_html import Page

TOKEN, PORT = "secret-token", 8000
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
HOST = {"host": f"127.0.0.1:{PORT}"}
COOKIE = {"cookie": f"cru-{PORT}={TOKEN}"}
SESSION = "2026-11-18-choose-a-search-index"
EVIL = '"><script src=https://evil.example/x.js></script><img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](//evil.example/y)'


def live_of(vault: Vault) -> LiveChanges:
    return LiveChanges(vault.root, vault.settings, UserSettings(), lambda: None)


def client_of(vault: Vault) -> TestClient:
    web = WebVault(vault, WebSettings(UTC, lambda: NOW, load_prices()))
    return TestClient(build_app(web, live_of(vault), TOKEN, PORT), headers=HOST | COOKIE, follow_redirects=False)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    root = tmp_path_factory.mktemp("web") / "vault"
    shutil.copytree(TESTS.parent / "vault-example", root)
    return client_of(Vault(root))


PAGES = {
    "/": "Waiting for you",
    "/sessions": "Which index for searching the bookshelf?",
    "/sessions?status=paused": "Move the avatars to object storage",
    "/sessions?q=fts5": "<mark>",
    f"/sessions/{SESSION}": "SQLite FTS5, in the same file as the books.",
    "/inbox": "Who may read the bucket?",
    "/workflows": "add-a-rate-limiter-to-this-project",
    "/workflows/add-a-rate-limiter-to-this-project": "<svg class=graph",
    "/cases": "2026-11-16-import-books-from-csv-correction-ba9d9a9f",
    "/cases/2026-11-16-import-books-from-csv-correction-ba9d9a9f": "cru case accept",
    "/knowledge": "FTS5",
    "/knowledge/the-small-servers-python-has-no-fts5": "Root cause",
    "/history": "Which index",
    "/history/2026-11-18-choose-a-search-index-history": "<div class=md>",
}


@pytest.mark.parametrize(("address", "text"), PAGES.items())
def test_a_page_is_there(example: TestClient, address: str, text: str) -> None:
    answer = example.get(address)
    assert answer.status_code == 200
    assert text in answer.text


def test_every_link_on_every_page_leads_to_a_page(example: TestClient) -> None:
    found = {value for address in PAGES for value in _links(example.get(address).text)}
    broken = [link for link in sorted(found) if example.get(link).status_code not in (200, 303)]
    assert not broken


def _links(html: str) -> Iterator[str]:
    found = (value for name, value in Page(html).attributes if name in ("href", "src"))
    return (link.partition("#")[0] for link in found if link.startswith("/"))


@pytest.mark.parametrize(
    "address",
    [
        "/nope",
        "/sessions/nope",
        "/cases/..%2f..%2fx",
        "/notes/x",
        "/sessions/.git",
        "/static/1/x",
        f"/sessions/{'%c3%a9' * 150}",
    ],
)
def test_an_unknown_page_is_404(example: TestClient, address: str) -> None:
    assert example.get(address).status_code == 404


# --- strangers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (HOST | {"cookie": ""}, 403),
        (HOST | {"cookie": f"cru-{PORT}=guess"}, 403),
        (HOST | {"cookie": f"cru-1={TOKEN}"}, 403),
        (HOST | {"cookie": "=;;,"}, 403),
        (COOKIE | {"host": f"evil.example:{PORT}"}, 421),
        (COOKIE | {"host": "127.0.0.1"}, 421),
        (COOKIE | {"host": f"localhost:{PORT}"}, 200),
    ],
)
def test_only_who_has_the_token_and_names_this_machine_gets_a_page(
    example: TestClient, headers: dict[str, str], status: int
) -> None:
    assert example.get("/inbox", headers=headers).status_code == status


def test_the_token_of_the_address_becomes_a_cookie_that_other_sites_cannot_use(example: TestClient) -> None:
    answer = example.get(f"/sessions?q=a&token={TOKEN}", headers=HOST | {"cookie": ""})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sessions?q=a")
    assert answer.headers["set-cookie"] == f"cru-{PORT}={TOKEN}; HttpOnly; Path=/; SameSite=strict"


def test_a_redirect_never_leaves_this_machine(example: TestClient) -> None:
    answer = example.get(f"http://127.0.0.1:{PORT}//evil.example?token={TOKEN}")
    assert answer.headers["location"] == "/evil.example"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(example: TestClient, method: str) -> None:
    assert example.request(method, "/sessions").status_code == 405


def test_every_answer_has_the_policy(example: TestClient) -> None:
    for address in (*PAGES, "/nope", "/static/1/cru.js"):
        headers = example.get(address).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


# --- hostile notes ---------------------------------------------------------------------------------------------------


def test_hostile_notes_put_nothing_into_any_page(vault: Vault) -> None:
    entries = (Intervention(EVIL), Prose(EVIL), ToolCalls((ToolCall(f"Bash {EVIL}", EVIL),)), Decision(EVIL, EVIL))
    session = Session("2026-11-18-evil", started=NOW, title=EVIL, project=EVIL, branch=EVIL, pause_reason=EVIL,
                      status=Status.PAUSED, phases=(Phase(EVIL, entries=entries),), summary=EVIL)  # fmt: skip
    vault.create(session.id, render_session(session))
    for folder, kind in {
        "workflows": "workflow",
        "cases": "case",
        "knowledge": "knowledge",
        "history": "history",
    }.items():
        (vault.root / folder).mkdir(exist_ok=True)
        text = f"---\ntype: {kind}\ntitle: '{EVIL}'\nevil: '{EVIL}'\n---\n\n# {EVIL}\n\n{EVIL}\n\n## {EVIL}\n"
        (vault.root / folder / "evil.md").write_text(text, encoding="utf-8")
    client = client_of(vault)
    pages = ["/", "/sessions", f"/sessions?q={EVIL}", "/sessions?q=script", "/sessions/2026-11-18-evil", "/inbox"]
    pages += [f"/{folder}{name}" for folder in ("workflows", "cases", "knowledge", "history") for name in ("", "/evil")]
    for address in pages:
        answer = client.get(address)
        assert answer.status_code == 200, address
        page = Page(answer.text)
        assert page.tags.count("script") == 1, address
        assert "img" not in page.tags, address
        own = re.compile(r"/|#|https?://[^/]|mailto:")
        assert all(own.match(value) for name, value in page.attributes if name in ("href", "src")), address
        assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"], address


# --- sessions --------------------------------------------------------------------------------------------------------


def test_a_wrong_filter_is_told_on_the_page(example: TestClient) -> None:
    assert "is not a time" in example.get("/sessions?since=soon").text
    assert "no column" in example.get("/sessions?where=colour+%3D+red").text
    assert "is not a status" in example.get("/sessions?status=odd").text


def test_a_line_of_a_note_leads_to_its_entry(example: TestClient) -> None:
    note = (TESTS.parent / "vault-example" / "sessions" / f"{SESSION}.md").read_text(encoding="utf-8").split("\n")
    line = next(at for at, text in enumerate(note, 1) if "python3 scratch/fts.py --time" in text)
    place = example.get(f"/sessions/{SESSION}?line={line}").headers["location"]
    assert re.fullmatch(rf"/sessions/{SESSION}#e2-\d-5", place)
    assert f"id={place.partition('#')[2].removesuffix('-5')}>" in example.get(place).text


def test_only_results_are_sent_when_the_script_asks(example: TestClient) -> None:
    part = example.get("/sessions?status=paused", headers=HOST | COOKIE | {"x-part": "results"}).text
    assert "<html" not in part
    assert "Move the avatars" in part


def test_a_call_without_a_log_says_so(example: TestClient) -> None:
    assert "no details" in example.get(f"/sessions/{SESSION}/details/e2-3-1").text


def test_a_stream_tells_of_a_changed_note_and_ends_with_the_server(vault: Vault) -> None:
    note = vault.create("2026-11-18-live", render_session(Session("2026-11-18-live", started=NOW)))
    live = live_of(vault)

    async def read() -> list[str]:
        events = live.stream("2026-11-18-live", note.path)
        found = [await anext(events)]
        with note.path.open("a") as file:
            file.write("\nmore\n")
        found.append(await anext(events))
        Thread(target=live.end_streams).start()
        return [*found, *[event async for event in events]]

    first, changed, *rest = asyncio.run(read())
    assert first.startswith("retry:")
    assert changed.startswith("event: changed")
    assert "event: changed\ndata: \n\n" not in rest


def test_growth_sends_only_the_last_phases(example: TestClient) -> None:
    text = example.get(f"/sessions/{SESSION}?first=3").text
    assert "id=phase-3" in text
    assert "id=phase-2" not in text


def test_a_watcher_reports_changes_to_streams(vault: Vault) -> None:
    note = vault.create("2026-11-18-live", render_session(Session("2026-11-18-live", started=NOW)))
    live = live_of(vault)
    live.start()
    assert live.started.wait(5)

    def grow() -> None:
        with note.path.open("a") as file:
            file.write("\nmore\n")

    async def read() -> str:
        events = live.stream("2026-11-18-live", note.path)
        await anext(events)
        grow()
        return await asyncio.wait_for(anext(events), 5)

    try:
        assert asyncio.run(read()).startswith("event: changed")
    finally:
        live.end_streams()
        live.stop()


# --- the command -----------------------------------------------------------------------------------------------------


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, cru: Cru) -> None:
    monkeypatch.setattr("crucible.cli.web_command.find_spec", lambda _name: None)
    done = cru("web")
    assert done.exit_code == 1
    assert done.stderr.startswith('error: "cru web" needs the extra "web", which is not installed')
    assert "[web]" in done.stderr


def test_a_port_in_use_is_an_error(cru: Cru, vault: Vault) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = cru("--vault", str(vault.root), "web", "--no-open", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 1
    assert "Choose another port" in done.stderr
