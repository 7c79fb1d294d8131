"""`cru web --export`: a site that works from a folder, holds nothing private, and is renewed by the next export."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core import files
from crucible.core.locks import hold
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Intervention, Phase, Prose, Session, ToolCall, ToolCalls
from crucible.vault.notes.vault import Vault
from crucible.web.site_pages import localize
from crucible.web.site_search import Entry, index_files, part_of
from samples.hostile_texts import hostile_text
from tests.paths import TESTS
from tests.running import Cru
from tests.unit.web.test_markdown_html import Page
from tests.unit.web.test_sharing import PRIVATE, START, TELL_ALL, session_of

Export = Callable[..., str]
MANIFEST = ".crucible-site/pages.jsonl"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def export(vault: Vault, site: Path, monkeypatch: pytest.MonkeyPatch) -> Export:
    monkeypatch.setattr("crucible.cli.share_command.socket.gethostname", lambda: "ada-laptop")

    write(vault, session_of("Hello", "2026-11-21-hello"))
    for folder in ("knowledge", "workflows", "cases", "history"):
        (vault.root / folder).mkdir(exist_ok=True)

    def run(*arguments: str, code: int = 0, to: Path = site) -> str:
        result = Cru(vault)("web", "--export", to, "--yes", *arguments)
        assert result.exit_code == code, result.output
        return result.output

    return run


def pages_of(site: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(site.rglob("*.html")):
        yield path, Page(path.read_text(encoding="utf-8"))


def times_of(site: Path) -> dict[str, int]:
    return {str(path.relative_to(site)): path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file()}


def write(vault: Vault, session: Session) -> Path:
    path = vault.sessions / f"{session.id}.md"
    path.write_text(render_session(session), encoding="utf-8")
    return path


def test_every_address_on_every_page_of_the_example_is_a_file_of_the_site(site: Path, tmp_path: Path) -> None:
    shutil.copytree(TESTS.parent / "vault-example", tmp_path / "example")
    said = Cru(Vault(tmp_path / "example"))("web", "--export", site, "--yes").output
    assert "11 sessions, 18 other pages" in said
    for path, page in pages_of(site):
        for name, value in page.attributes:
            if name in ("href", "src", "action") and not re.match(r"https?://|mailto:|#", value):
                target = path.parent / unquote(value.partition("#")[0])
                assert target.is_file(), (path.name, value)
                assert target.resolve().is_relative_to(site)


def test_a_page_names_its_policy_and_has_no_script_of_its_own(export: Export, site: Path) -> None:
    export()
    for path, page in pages_of(site):
        assert "default-src 'none'; style-src 'self'; script-src 'self'" in unescape(path.read_text(encoding="utf-8"))
        assert page.tags.count("script") == (2 if path.name == "search.html" else 1)


def test_no_file_of_the_site_tells_anything_private(export: Export, vault: Vault, site: Path) -> None:
    write(vault, session_of(TELL_ALL, "2026-11-22-ask-ada-laptop"))
    for folder, kind in (("knowledge", "knowledge"), ("workflows", "workflow"), ("history", "history")):
        note = f"---\ntype: {kind}\ntitle: '{TELL_ALL}'\nmore: '{TELL_ALL}'\n---\n\n# {TELL_ALL}\n\n{TELL_ALL}\n"
        (vault.root / folder / "ada-laptop.md").write_text(note, encoding="utf-8")
    said = export()
    assert "email" in said
    assert "looks private, not redacted: IP address: 10.1.2.3" in said
    for path in site.rglob("*"):
        assert "ada-laptop" not in path.name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        assert not [word for word in PRIVATE if word in text], path
    assert "2026-11-22-ask-host.html" in os.listdir(site / "sessions")


def test_an_address_that_escapes_split_is_redacted(export: Export, vault: Vault, site: Path) -> None:
    (vault.root / "knowledge" / "who.md").write_text("---\ntype: knowledge\n---\n\nAsk a\\_lovelace@ada.org.\n")
    export()
    assert "Ask user@example.com." in (site / "knowledge" / "who.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("level", "words"), [("user", "mine"), ("talk", "mine prose"), ("full", "mine prose tool")])
def test_a_level_leaves_out_what_it_does_not_show_also_from_the_search(
    export: Export, vault: Vault, site: Path, level: str, words: str
) -> None:
    entries = (Intervention("wordmine"), Prose("wordprose"), ToolCalls((ToolCall("Bash wordtool", "ok"),)))
    write(vault, Session("2026-11-22-x", started=START, title="T", phases=(Phase("P", entries=entries),)))
    export("--level", level)
    everything = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*") if path.is_file())
    assert [word for word in ("mine", "prose", "tool") if f"word{word}" in everything] == words.split()


def test_outputs_that_would_make_a_page_too_large_are_left_out_and_it_says_so(
    vault: Vault, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cru(vault)("import", "claude-code", TESTS / "data" / "transcripts" / "claude-code" / "limiter")
    monkeypatch.setattr("crucible.web.site_pages.ROOM_OF_PAGE", 300)
    said = Cru(vault)("web", "--export", site, "--yes").stdout
    assert re.search(r"left out: arguments and outputs of \d+ calls, because of their size", said)
    page = max((site / "sessions").iterdir(), key=lambda path: path.stat().st_size).read_text(encoding="utf-8")
    assert "<p class=facts>Not on this page, which would be too large.</p>" in page
    assert 0 < sum(map(len, re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))) <= 300


# --- the next export -------------------------------------------------------------------------------------------------


def test_a_page_that_nothing_changed_is_not_made_again(
    export: Export, vault: Vault, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export()
    before = times_of(site)
    os.utime(vault.sessions / "2026-11-21-hello.md", (1, 1))
    export()  # makes the page again, with the same bytes
    for maker in ("session_html", "note_values", "workflow_values"):
        monkeypatch.delattr(f"crucible.web.site_pages.{maker}")
    assert "0 files written, 0 removed" in export()
    assert {**times_of(site), MANIFEST: 0} == {**before, MANIFEST: 0}


def test_a_second_export_writes_what_changed_and_removes_what_is_gone(export: Export, vault: Vault, site: Path) -> None:
    path = write(vault, session_of("Look at the lighthouse", "2026-11-22-x"))
    export()
    before = times_of(site)
    write(vault, session_of("Look at the windmill", "2026-11-22-x"))
    export()
    changed = {name for name, time in times_of(site).items() if before.get(name) != time}
    assert {name for name in changed if name.startswith(("sessions/", "cases/"))} == {"sessions/2026-11-22-x.html"}
    path.unlink()
    assert "removed" in export()
    assert not (site / "sessions" / "2026-11-22-x.html").exists()
    assert "windmill" not in "".join(one.read_text(encoding="utf-8") for one in (site / "search").iterdir())


def test_a_page_whose_link_finds_its_note_later_is_made_again(export: Export, vault: Vault, site: Path) -> None:
    (vault.root / "knowledge" / "a.md").write_text("---\ntype: knowledge\n---\n\nSee [[2026-11-22-later]].\n")
    export()
    assert "See [[2026-11-22-later]]." in (site / "knowledge" / "a.html").read_text(encoding="utf-8")
    write(vault, session_of("Later", "2026-11-22-later"))
    export()
    assert 'href="../sessions/2026-11-22-later.html"' in (site / "knowledge" / "a.html").read_text(encoding="utf-8")


def test_an_interrupted_export_is_finished_by_the_next(
    export: Export, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = files.write_atomic, iter(range(9))

    def failing(path: Path, data: bytes, **options: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(path, data, **options)

    monkeypatch.setattr("crucible.web.site_export.write_atomic", failing)
    export(code=130)
    monkeypatch.undo()
    written = set(times_of(site))
    export()
    assert written < set(times_of(site))
    assert "0 files written" in export()


def test_a_full_disk_keeps_the_old_pages(
    export: Export, vault: Vault, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export()
    before = (site / "index.html").read_bytes()
    write(vault, session_of("New", "2026-11-22-x"))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("crucible.core.files.os.fsync", full)
    assert "no space left on device" in export(code=1)
    monkeypatch.undo()
    assert (site / "index.html").read_bytes() == before
    export()
    assert (site / "sessions" / "2026-11-22-x.html").is_file()


def test_two_exports_at_once_do_not_mix(export: Export, site: Path) -> None:
    (site / ".crucible-site").mkdir(parents=True)
    with hold(site / ".crucible-site" / "lock", 0) as lock:
        assert lock
        assert "another export is writing here" in export(code=2)
    export()


# --- what is not a site ----------------------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_refused(export: Export, vault: Vault, site: Path) -> None:
    site.mkdir()
    (site / "thesis.md").write_text("mine")
    assert "not empty, and not a site of cru" in export(code=2)
    assert os.listdir(site) == ["thesis.md"]
    assert "in the vault" in export(code=2, to=vault.root / "site")
    assert "not a folder" in export(code=2, to=site / "thesis.md")


def test_a_file_of_somebody_else_in_a_site_is_kept(export: Export, vault: Vault, site: Path) -> None:
    export()
    (site / "CNAME").write_text("sessions.example")
    (site / "sessions" / "2026-11-22-x.html").write_text("mine")
    write(vault, session_of("New", "2026-11-22-x"))
    assert "not written by an export" in export(code=2)
    assert (site / "sessions" / "2026-11-22-x.html").read_text() == "mine"
    assert (site / "CNAME").read_text() == "sessions.example"


def test_nothing_outside_the_folder_is_written_or_removed(
    export: Export, vault: Vault, site: Path, tmp_path: Path
) -> None:
    export()
    outside = tmp_path / "outside.html"
    outside.write_text("mine")
    with (site / MANIFEST).open("a", encoding="utf-8") as manifest:
        manifest.writelines(
            f'{{"path": "{path}"}}\n' for path in ("../outside.html", str(outside), "..\\\\outside.html")
        )
    export()
    assert outside.read_text() == "mine"
    shutil.rmtree(site / "sessions")
    (tmp_path / "elsewhere").mkdir()
    (site / "sessions").symlink_to(tmp_path / "elsewhere")
    export(code=2)
    assert not os.listdir(tmp_path / "elsewhere")


def test_a_pipe_writes_nothing_without_yes(vault: Vault, site: Path) -> None:
    result = Cru(vault)("web", "--export", site)
    assert result.exit_code == 2
    assert "0 sessions" in result.output
    assert not site.exists()


# --- parts -----------------------------------------------------------------------------------------------------------


def test_names_differ_where_case_does_not_count(export: Export, vault: Vault, site: Path) -> None:
    for name in ("2026-11-22-Readme", "2026-11-22-readme"):
        write(vault, session_of(name, name))
    export()
    names = [name for name in os.listdir(site / "sessions") if "readme" in name.lower()]
    assert len({name.casefold() for name in names}) == len(names)


@given(hostile_text(), st.sampled_from(["/x", "/", "/search", "/y z"]))
def test_only_addresses_in_attributes_of_tags_are_made_relative(text: str, address: str) -> None:
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    html = f'<p>{safe} href="{address}"</p><a title="{safe} href={address} x" href="{address}#e1">{safe}</a>'
    made = localize(html, "sessions/a.html", {"/x": "x.html", "/": "index.html", "/y z": "y z.html"})
    known = {"/x": "../x.html#e1", "/": "../index.html#e1", "/y z": "../y%20z.html#e1"}.get(address)
    assert made == html.replace(f' href="{address}#e1"', f' href="{known}"' if known else "")


def test_the_index_finds_words_by_their_first_characters() -> None:
    parts = [part_of(["Ein Wörterbuch, übersetzt"]), part_of(["limiter_bucket 漢字"], "phase-1", "One")]
    found = dict(index_files([Entry("sessions/a b.html", "A", "facts", parts)]))
    assert json.loads(found["search/words-l_.js"].removeprefix(b'cruData("words-l_",')[:-2]) == {"limiter": [0, 1]}
    assert "übersetzt".encode() in found["search/words-u0.js"]
    assert "漢字".encode() in found["search/words-u6f.js"]
    assert b'"sessions/a%20b.html","A","facts",[["",""],["phase-1","One"]]' in found["search/pages-0.js"]
