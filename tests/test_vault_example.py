"""The vault that newcomers open, and the pages that they read first: each says what is really there."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest

from crucible.clients.registry import DIALECTS
from crucible.commands.check.check_vault import check_sessions
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.core.settings.settings import VaultSettings
from crucible.documents.knowledge.item_notes import render_item
from crucible.documents.knowledge.items import Item
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import find_links, heading_key
from crucible.documents.session.findings_block import FINDINGS
from crucible.documents.session.note_entries import CALLOUT_KINDS
from crucible.documents.session.session import Callout, Decision, Failure, Mode, Outcome, Status, Subagent
from crucible.documents.session.session_reader import read_session
from crucible.memory.bookmarks.bookmark import BOOKMARKS, latest, load_bookmarks
from crucible.memory.knowledge.knowledge_folder import items_by_id, load_items
from crucible.vault.notes.init_vault import OBSIDIAN_FILES, START_NOTE, init_vault, obsidian_text
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.session_notes import heading_of
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.golden import check_file
from tests.running import Cru

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "vault-example"
TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts" / "claude-code"
LIMITER, RETRY = "2026-11-21-add-rate-limiter-project", "2026-11-21-fix-retry-bug-app-py"
AVATARS, UPGRADE = "2026-11-20-move-avatars-to-object-storage", "2026-11-19-upgrade-the-database"
SEARCH, UNTIDY = "2026-11-18-choose-a-search-index", "2026-11-17-tidy-the-readme"
BOOKS = "2026-11-16-import-books-from-csv"
WORKFLOW = "add-a-rate-limiter-to-this-project"
CASES = {
    f"{BOOKS}-correction-ba9d9a9f": "accept",
    f"{RETRY}-correction-8ab44d10": "accept",
    f"{BOOKS}-decision-b01b0210": None,
    f"{RETRY}-workflow-75e53da7": "reject",
}
"""With what the reviewer of the example said; one is still proposed."""

NOTES = sorted(EXAMPLE.rglob("*.md"))


@pytest.fixture(scope="module")
def example() -> Vault:
    return Vault(EXAMPLE)


@pytest.fixture
def copied(tmp_path: Path) -> Vault:
    """A copy that may be written to."""
    shutil.copytree(EXAMPLE, tmp_path / "vault")
    return Vault(tmp_path / "vault", VaultSettings(fsync=False))


def import_real(vault: Vault) -> ImportReport:
    """As the notes of the example were imported: the user's settings said which project the folder belongs to."""
    options = ImportOptions(datetime(2026, 11, 23, tzinfo=UTC), projects={"shop": ("/home/dev/project",)})
    return import_transcripts(vault, DIALECTS["claude-code"], [TRANSCRIPTS], options=options)


# --- the notes ---------------------------------------------------------------------------------------------------


def test_the_example_holds_the_notes_it_is_known_for() -> None:
    assert len(NOTES) == 25


@for_each("path", NOTES)
def test_a_note_is_read_and_written_to_the_same_bytes(path: Path) -> None:
    data = path.read_bytes()
    source = Source.from_bytes(data)
    read_session(source, path.stem)
    assert source.to_bytes() == data


@for_each("path", NOTES)
def test_only_the_untidy_note_has_windows_line_ends(path: Path) -> None:
    data = path.read_bytes()
    if path.stem == UNTIDY:
        assert data.count(b"\r\n") == data.count(b"\n") > 40
        assert not data.endswith(b"\n")
    else:
        assert b"\r" not in data


def test_the_list_shows_the_sessions_newest_first(copied: Vault) -> None:
    rows = json.loads(Cru(copied)("session", "list", "--format", "json").stdout)["sessions"]
    assert [(row["id"], row["status"], row["project"], row["problems"]) for row in rows] == [
        (LIMITER, "paused", "shop", 0),
        (RETRY, "completed", "shop", 0),
        (AVATARS, "paused", "shop", 0),
        (UPGRADE, "failed", "shop", 0),
        (SEARCH, "completed", "bookshelf", 0),
        (UNTIDY, "completed", "bookshelf", 2),
        (BOOKS, "completed", "bookshelf", 0),
    ]


def test_subagents_have_notes_of_their_own(example: Vault) -> None:
    parents = [example.read(path).session.parent for path in example.session_paths()]
    assert sorted(filter(None, parents)) == [AVATARS, LIMITER, LIMITER, RETRY]


def test_the_check_finds_what_is_meant_to_be_untidy_and_nothing_else(example: Vault) -> None:
    findings = check_sessions(example)
    assert [(f.path.stem, f.problem.line, f.problem.code) for f in findings] == [
        (UNTIDY, 31, "bad-field"),
        (UNTIDY, 56, "unclosed-comment"),
        (UNTIDY, 58, "broken-link"),
    ]


def test_the_untidy_note_still_tells_its_session(example: Vault) -> None:
    session = example.load(UNTIDY).session
    assert [(p.name, str(p.agent), p.channel) for p in session.phases] == [
        ("First pass", "claude-code@2.1.196", "docs"),
        ("Links", "mira", None),
    ]
    assert [(c.call, c.result) for c in session.calls()] == [
        ("Read README.md", "212 lines"),
        ("Edit README.md", "updated, +31 −140"),
    ]
    assert session.summary == "212 lines became 103."
    assert session.properties["reviewed"] == "no"


def test_the_paused_session_knows_where_and_why(example: Vault) -> None:
    session = example.load(AVATARS).session
    assert (session.status, session.resume_point) == (Status.PAUSED, "phase-2")
    assert session.pause_reason == "the bucket's credentials come on Monday"
    assert session.resume_point in {phase.id for phase in session.phases}


def test_the_brief_of_the_paused_session_is_what_the_command_writes(copied: Vault) -> None:
    """`CRUCIBLE_GOLDEN=1` writes it anew, below the words that a human put there."""
    path = copied.find(AVATARS)
    note = path.read_text(encoding="utf-8")
    begin, end = "> [!abstract] Brief\n", "\n\n### Tasks\n"
    brief = note.partition(begin)[2].partition(end)[0]
    assert brief.startswith('> Covers: phase-1 "Find where avatars are used"\n>\n> Avatars lie on')
    human = next(line for line in brief.split("\n") if line.startswith("> Avatars lie on"))
    path.write_text(note.replace(brief, human), encoding="utf-8")
    assert Cru(copied)("session", "brief", AVATARS).exit_code == 0
    _compare_with_the_example(copied, f"sessions/{AVATARS}.md")


def test_its_bookmark_is_what_the_command_writes(copied: Vault, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CRUCIBLE_GOLDEN=1` writes it anew."""
    kept = latest(EXAMPLE, AVATARS)
    name = f".crucible/memory/{BOOKMARKS}"
    (copied.root / name).unlink(missing_ok=True)
    monkeypatch.chdir(project)
    said = [
        *("--at", "2026-11-20T10:48:00Z", "--reason", "the bucket's credentials come on Monday"),
        *("--note", "The store works against a bucket on this machine; begin with the real one."),
        *("--blocker", "the bucket's credentials, from Ada"),
    ]
    assert Cru(copied)("session", "pause", AVATARS, *said).exit_code == 0
    _compare_with_the_example(copied, f"sessions/{AVATARS}.md")
    if os.environ.get("CRUCIBLE_GOLDEN"):
        (EXAMPLE / name).write_bytes((copied.root / name).read_bytes())
        kept = latest(EXAMPLE, AVATARS)
    made = latest(copied.root, AVATARS)
    assert kept
    assert made
    assert made == replace(kept, id=made.id)
    assert (made.phase, made.task_number, len(made.files)) == ("phase-2", 2, 2)
    assert load_bookmarks(EXAMPLE).problems == ()


def test_the_history_of_a_session_is_what_the_command_writes(copied: Vault) -> None:
    """`CRUCIBLE_GOLDEN=1` writes it anew."""
    name = f"history/{SEARCH}-history.md"
    (copied.root / name).unlink(missing_ok=True)
    done = Cru(copied)("session", "end", SEARCH, "--no-model")
    assert (done.exit_code, done.stdout) == (0, f"{name}\n")
    (EXAMPLE / "history").mkdir(exist_ok=True)
    _compare_with_the_example(copied, name)


def test_the_page_on_resuming_shows_what_a_resume_of_it_says(
    copied: Vault, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("shop/avatars.py", "shop/views.py"):
        (project / path).write_text("# mine", encoding="utf-8")
    _git(project, "commit", "-qam", "Mine")
    monkeypatch.chdir(project)
    ran = Cru(copied)("session", "resume", "2026-11-20-move", "--with", "true")
    assert ran.exit_code == 0
    page = (ROOT / "docs" / "resume.md").read_text(encoding="utf-8")
    shown = page.partition("$ cru session resume 2026-11-20-move --with claude\n")[2].partition("```")[0]
    ago = r"last active \d+ \w+ ago"
    assert re.sub(ago, "", shown) == re.sub(ago, "", ran.stderr)


def test_the_page_on_briefings_shows_what_one_says(copied: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(2026, 11, 23, 9, tzinfo=tz)

    monkeypatch.setattr("crucible.cli.briefing_commands.datetime", Then)
    told = iter(Cru(copied)("briefing", "--project", "shop").stdout.split("\n"))
    page = (ROOT / "docs" / "briefing.md").read_text(encoding="utf-8")
    shown = page.partition("$ cru briefing --project shop\n")[2].partition("\n````\n")[0].split("\n")
    assert len(shown) > 5
    # Searching the iterator consumes it, so the lines must have the same order.
    assert [line for line in shown if line not in {"…", "```"} and line not in told] == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The shop as it stood when the session was paused."""
    folder = tmp_path / "shop"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "avatars.py").write_bytes(b'"""Where avatars lie."""\n')
    (folder / "shop" / "views.py").write_bytes(b'"""Pages."""\n')
    _git(folder, "init", "-qb", "avatars", ".")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "Avatars in one place")
    return folder


def _git(folder: Path, *args: str) -> None:
    known = ("user.name=dev", "user.email=dev@example.com", "commit.gpgsign=false", "core.autocrlf=false")
    at = "2026-11-20T10:05:00Z"
    subprocess.run(
        ["git", *(word for setting in known for word in ("-c", setting)), *args],
        cwd=folder,
        env={**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at},
        check=True,
    )


def _compare_with_the_example(copied: Vault, name: str) -> None:
    """A file of the copy is the example's; with `CRUCIBLE_GOLDEN` it becomes that."""
    check_file(EXAMPLE / name, (copied.root / name).read_bytes())


def test_the_failed_session_ends_in_an_open_error_and_a_failed_call(example: Vault) -> None:
    session = example.load(UPGRADE).session
    assert (session.status, [phase.status for phase in session.phases]) == (
        Status.FAILED,
        ["success", "failed"],
    )
    assert [call.outcome for call in session.calls()][-1] is Outcome.FAILED


def test_work_of_subagents_is_kept_in_all_three_ways(example: Vault) -> None:
    sessions = [example.read(path).session for path in example.session_paths()]
    modes = {entry.mode for session in sessions for entry in session.all_entries() if isinstance(entry, Subagent)}
    assert modes == set(Mode)


def test_what_cru_found_in_a_session_says_by_what(example: Vault) -> None:
    session = example.load(BOOKS).session
    assert [(item.kind, item.grounds is None) for item in session.findings] == [
        ("correction", False),
        ("outcome", False),
        ("open_end", False),
        ("environment", True),
    ]
    entries = list(session.all_entries())
    plans = [entry for entry in entries if isinstance(entry, Callout) and entry.kind == "plan"]
    assert [(plan.title.partition(":")[0], plan.fold) for plan in plans] == [
        ("rejected", "-"),
        ("approved", "-"),
    ]
    (decision,) = (entry for entry in entries if isinstance(entry, Decision))
    (failure,) = (entry for entry in entries if isinstance(entry, Failure))
    assert decision.alternatives
    assert decision.by
    assert decision.grounds
    assert failure.cause
    assert failure.resolution
    assert failure.grounds


def test_tasks_wait_for_each_other(example: Vault) -> None:
    tasks = example.load(SEARCH).session.tasks
    assert [(task.id, task.depends_on) for task in tasks] == [
        ("1", ()),
        ("2", ("1",)),
        ("3", ("2",)),
        ("4", ("2",)),
    ]


def test_every_link_of_the_start_note_leads_somewhere(example: Vault) -> None:
    source = Source.from_bytes((EXAMPLE / "Start here.md").read_bytes())
    links = LinkTable(map(example.relative, example.note_paths()))
    named = [link.target for link in find_links(source)]
    assert {LIMITER, RETRY, AVATARS, UPGRADE, SEARCH, UNTIDY, BOOKS, f"workflows/{WORKFLOW}", *CASES} < set(named)
    for target in named:
        assert links.resolve(target, "Start here.md").path or (EXAMPLE / target).exists(), target


# --- importing again ---------------------------------------------------------------------------------------------


def test_importing_the_same_transcripts_again_changes_no_note(copied: Vault) -> None:
    before = {path: path.read_bytes() for path in copied.session_paths()}
    report = import_real(copied)
    assert (report.created, report.updated, len(report.unchanged), report.unreadable) == ((), (), 5, ())
    assert {path: path.read_bytes() for path in copied.session_paths()} == before


def test_the_imported_notes_are_what_an_import_writes(tmp_path: Path) -> None:
    """`CRUCIBLE_GOLDEN=1` writes them anew."""
    init_vault(tmp_path)
    vault = Vault(tmp_path, VaultSettings(fsync=False))
    shutil.copytree(EXAMPLE / "projects", tmp_path / "projects", dirs_exist_ok=True)
    assert len(import_real(vault).created) == 5
    for path in vault.session_paths():
        check_file(EXAMPLE / "sessions" / path.name, path.read_bytes())


# --- the workflow ------------------------------------------------------------------------------------------------


def test_the_workflow_is_what_codifying_the_imported_session_writes(copied: Vault) -> None:
    """`CRUCIBLE_GOLDEN=1` writes it anew; what an import keeps beside the notes is needed for it."""
    name = f"workflows/{WORKFLOW}.md"
    for path in copied.session_paths():
        if "rate-limiter" in path.name:
            path.unlink()
    import_real(copied)
    (copied.root / name).unlink(missing_ok=True)
    ran = Cru(copied)("session", "codify", LIMITER)
    said, plan = f"{LIMITER}: made from its note and event log\n", f"cru workflow run {WORKFLOW} --dry-run"
    assert (ran.exit_code, ran.stderr) == (0, f'{said}Run "{plan}" to see its plan.\n')
    _compare_with_the_example(copied, name)
    assert Cru(copied)("session", "codify", LIMITER).exit_code == 0, "who tries it in the demo is not refused"
    _compare_with_the_example(copied, name)


def test_the_workflow_says_what_is_checked_and_has_nothing_wrong(copied: Vault) -> None:
    shown = Cru(copied)("workflow", "show", WORKFLOW, "--format", "markdown").stdout
    assert "- Check: `python3 {{tests}}`\n" in shown
    assert (Cru(copied)("workflow", "check").exit_code, f"[[sessions/{LIMITER}|{LIMITER}]]" in shown) == (0, True)


def test_a_workflow_of_what_was_found_says_what_was_decided_and_corrected(copied: Vault) -> None:
    made = Cru(copied)("session", "codify", BOOKS, "--format", "markdown").stdout
    assert "- Constraint: the user corrected this, so do it this way from the start: \"No. Don't touch" in made
    assert "- Did: The import skips empty lines and names the row of every book that it refuses" in made
    assert "- Learned: pytest: test_last_line, ValueError: row 7 has no title (cause: a blank line at the end " in made


# --- the cases ---------------------------------------------------------------------------------------------------


def test_the_cases_are_what_learning_writes(copied: Vault) -> None:
    """`CRUCIBLE_GOLDEN=1` writes them anew; what an import keeps beside the notes is needed for it."""
    for path in copied.session_paths():
        if path.stem.startswith(RETRY):
            path.unlink()
    import_real(copied)
    shutil.rmtree(copied.root / "cases", ignore_errors=True)
    cru = Cru(copied)
    assert cru("session", "learn", RETRY, BOOKS, "--export", "markdown").exit_code == 0
    for case, word in CASES.items():
        assert word is None or cru("case", word, case).exit_code == 0
        (EXAMPLE / "cases").mkdir(exist_ok=True)
        _compare_with_the_example(copied, f"cases/{case}.md")


def test_the_cases_of_the_example_are_understood_and_reviewed(copied: Vault) -> None:
    rows = json.loads(Cru(copied)("case", "list", "--format", "json").stdout)["cases"]
    words = {"accept": "accepted", "reject": "rejected", None: "proposed"}
    assert {row["id"]: row["status"] for row in rows} == {case: words[word] for case, word in CASES.items()}
    assert Cru(copied)("case", "check").exit_code == 0


def test_the_page_on_learning_shows_what_the_example_teaches(copied: Vault) -> None:
    told = Cru(copied)("session", "learn", "--all").stdout
    page = (ROOT / "docs" / "learn.md").read_text(encoding="utf-8")
    assert page.partition("$ cru session learn --all\n")[2].partition("```")[0] == told


def test_what_was_accepted_of_the_example_is_rows_of_preference(copied: Vault) -> None:
    told = Cru(copied)("session", "learn", "--all", "--accepted", "--export", "jsonl", "--shape", "preference")
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert [row["metadata"]["type"] for row in rows] == ["correction", "correction"]
    assert all(row["chosen"] != row["rejected"] for row in rows)


# --- the knowledge ---------------------------------------------------------------------------------------------------


def test_the_items_of_the_example_are_as_adding_writes_them(example: Vault) -> None:
    items = _items(example)
    assert {item.type.value for item in items.values()} == {
        "decision",
        "evidence",
        "failure",
        "observation",
        "pattern",
    }
    for name, item in items.items():
        assert render_item(item) == (EXAMPLE / "knowledge" / f"{name}.md").read_text(encoding="utf-8")


# --- in Obsidian -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in OBSIDIAN_FILES if name != START_NOTE])
def test_the_example_has_the_files_that_init_brings(name: str) -> None:
    """`CRUCIBLE_GOLDEN=1` writes them."""
    check_file(EXAMPLE / name, obsidian_text(name, VaultSettings()))


def test_every_item_leads_to_the_phase_that_it_comes_from(copied: Vault) -> None:
    checked = Cru(copied)("knowledge", "check")
    assert (checked.exit_code, checked.stdout) == (0, "")
    for item in _items(copied).values():
        heading = heading_of(copied.load(item.source.session), item.source.phase)
        assert heading
        assert heading_key(heading) == heading_key(item.source.heading)


def _items(vault: Vault) -> dict[str, Item]:
    found = items_by_id(load_items(vault))
    assert len(found) == 5
    return found


def test_recall_finds_an_item_and_the_session_that_it_comes_from(copied: Vault) -> None:
    told = json.loads(Cru(copied)("recall", "why", "sqlite", "--all-projects", "--format", "json").stdout)
    assert any(hit["type"] == "knowledge" for hit in told["hits"])
    assert told["sessions"][0]["session"] == SEARCH


# --- what surrounds the notes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".crucible/config.toml", ".crucible/.gitignore"])
def test_settings_are_as_init_writes_them(tmp_path: Path, name: str) -> None:
    init_vault(tmp_path)
    assert (EXAMPLE / name).read_bytes() == (tmp_path / name).read_bytes()


def test_init_finds_only_empty_folders_to_make(copied: Vault) -> None:
    """Git keeps no empty folders; every file is there."""
    assert {copied.relative(path) for path in init_vault(copied.root)} <= {
        ".crucible/templates",
        ".crucible/memory",
        ".crucible/tasks",
    }


def test_git_converts_no_line_end_of_a_note() -> None:
    assert "sessions/**/*.md -text" in (EXAMPLE / ".gitattributes").read_text(encoding="utf-8").split("\n")


def test_nothing_derived_is_kept() -> None:
    # Whoever has looked around in it with `cru` has an index there, which git ignores.
    names = {path.name for path in (EXAMPLE / ".crucible").iterdir()} - {"index", "cache"}
    assert names <= {"config.toml", ".gitignore", "templates", "memory", "tasks"}


def test_every_callout_kind_has_a_colour_and_an_icon() -> None:
    css = (EXAMPLE / ".obsidian" / "snippets" / "crucible.css").read_text(encoding="utf-8")
    rules = dict(re.findall(r'\.callout\[data-callout="(\w+)"\] \{([^}]*--callout-icon[^}]*)\}', css))
    assert set(rules) == {*CALLOUT_KINDS, FINDINGS}
    for kind, rule in rules.items():
        assert re.search(r"--callout-color: #[0-9a-f]{6};", rule), kind
        assert re.search(r"--callout-icon: lucide-[a-z-]+;", rule), kind


def test_obsidian_finds_the_snippet_switched_on() -> None:
    settings = {path.name: json.loads(path.read_bytes()) for path in (EXAMPLE / ".obsidian").glob("*.json")}
    assert settings["appearance.json"] == {"enabledCssSnippets": ["crucible"]}
    assert set(settings) == {"app.json", "appearance.json"}


# --- README and docs ---------------------------------------------------------------------------------------------


def test_the_note_in_the_format_is_one() -> None:
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    note = page.partition("````markdown\n")[2].partition("````")[0]
    session = read_session(Source(note), "2026-11-21-add-rate-limiter")
    assert session.problems == ()
    assert (len(session.phases), len(session.tasks), session.summary) == (
        2,
        2,
        "Written at the end. Not a phase.",
    )


def test_the_picture_shows_what_the_example_says() -> None:
    """`python docs/picture.py` draws it again; its wrapping may change with rich, its words not."""
    svg = (ROOT / "docs" / "images" / "session.svg").read_text(encoding="utf-8")
    said = html.unescape(re.sub(r"<[^>]+>", "", svg)).replace("\xa0", " ")
    for words in (
        "$ cru session show 2026-11-16",
        "Last sessions",
        "the bucket's credentials come on Monday",
        "1 failed, 5 passed",
        "Resolution",
    ):
        assert words in said
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
