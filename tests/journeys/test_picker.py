"""Commands without an id: a picker on a terminal, an error with the first ids in a pipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import Typing
from tests.running import Cru

UP, DOWN, ENTER, ESCAPE, INTERRUPT = "\x1b[A", "\x1b[B", "\r", "\x1b", "\x03"
CHOOSE = "Esc: cancel"


@pytest.fixture
def shop(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project `shop` with sessions, as the working directory; another project has the newest session."""
    for day, title in ((10, "Rate limiter"), (11, "Fix the login"), (12, "Login page")):
        name = f"2026-11-{day}-{title.lower().replace(' ', '-')}"
        body = f"## Work\n\nIt is about the {title}.\n"
        started = f"2026-11-{day}T08:00:00Z"
        write(vault, name, note(name, body, title=title, project="shop", started=started, status="paused"))
    write(vault, "other", note("other", project="ledger", started="2026-11-20T08:00:00Z"))
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _typing(vault: Vault, shop: Path, *args: str, columns: int = 80, **env: str) -> Typing:
    return Typing("--vault", vault.root, *args, cwd=shop, columns=columns, env=env)


def test_enter_takes_the_newest_session_of_this_project(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "show", "--format", "markdown") as cru:
        cru.see(CHOOSE)
        assert "> 2026-11-12-login-page" in cru.shown
        assert "It is about the Login page." in cru.shown  # the preview
        cru.type(ENTER)
        assert cru.end() == 0
    assert "session_id: 2026-11-12-login-page" in cru.shown


def test_arrow_keys_move_and_words_filter(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "show", "--format", "markdown", columns=40) as cru:
        cru.see(CHOOSE)
        cru.type("login" + DOWN + ENTER)
        assert cru.end() == 0
    assert "session_id: 2026-11-11-fix-the-login" in cru.shown


@pytest.mark.parametrize("key", [ESCAPE, INTERRUPT])
def test_no_choice_ends_with_130_and_does_nothing(key: str, vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "delete", "--yes") as cru:
        cru.see(CHOOSE)
        cru.type(key)
        assert cru.end() == 130
    assert len(list(vault.sessions.glob("*.md"))) == 4


def test_a_filter_that_matches_nothing_cannot_be_chosen(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "show") as cru:
        cru.see(CHOOSE)
        cru.type("nowhere" + ENTER)
        cru.see("no session matches")
        cru.type(ESCAPE)
        assert cru.end() == 130


@pytest.mark.parametrize(("columns", "term"), [(80, "dumb"), (25, "xterm-256color")])
def test_a_dumb_or_tiny_terminal_asks_for_a_number(vault: Vault, shop: Path, columns: int, term: str) -> None:
    with _typing(vault, shop, "session", "show", "--format", "markdown", columns=columns, TERM=term) as cru:
        cru.see("Number or word [1]")
        cru.type("login\n")
        cru.see("Number or word [1]")
        cru.type("2\n")
        assert cru.end() == 0
    assert "session_id: 2026-11-11-fix-the-login" in cru.shown
    assert "\x1b[" not in cru.shown.partition("session_id")[0]


def test_an_interrupt_of_the_numbers_ends_with_130(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "show", TERM="dumb") as cru:
        cru.see("Number or word [1]")
        assert cru.interrupt() == 130


def test_a_title_cannot_write_to_the_terminal(vault: Vault, shop: Path) -> None:
    write(vault, "bad", note("bad", "\x1b]0;owned\x07", title='"a\\u001b[2Jb"', project="shop", status="paused"))
    with _typing(vault, shop, "session", "show") as cru:
        cru.see(CHOOSE)
        cru.type(ESCAPE)
        cru.end()
    assert "]0;owned\x07" not in cru.shown
    assert "\x1b[2Jb" not in cru.shown


def test_rename_asks_for_the_new_id_too(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "rename") as cru:
        cru.see(CHOOSE)
        cru.type(ENTER)
        cru.see("New id of 2026-11-12-login-page")
        cru.type("new-name\n")
        assert cru.end() == 0
    assert vault.find("new-name").is_file()


def test_an_agent_at_a_terminal_gets_the_error(vault: Vault, shop: Path) -> None:
    with _typing(vault, shop, "session", "show", CLAUDECODE="1") as cru:
        assert cru.end() == 2
    assert "no session given" in cru.shown


COMMANDS = (
    ("session", "show"),
    ("session", "brief"),
    ("session", "codify"),
    ("session", "learn"),
    ("session", "rename"),
    ("session", "delete"),
    ("session", "end"),
    ("task", "show"),
    ("task", "pick"),
    ("task", "done"),
    ("case", "accept"),
    ("case", "reject"),
    ("knowledge", "show"),
    ("workflow", "show"),
    ("workflow", "run"),
    ("history", "show"),
    ("events", "show"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_pipe_gets_an_error_with_the_first_ids(command: tuple[str, ...], vault: Vault, shop: Path, cru: Cru) -> None:
    names = {
        "session": "2026-11-12-login-page",
        "task": "2026-11-12-login-page.t1",
        "case": "a-case",
        "knowledge": "an-item",
        "workflow": "a-workflow",
        "history": "2026-11-12-login-page",
        "events": "2026-11-12-login-page",
    }
    tasks = '```tasks\n[{"id": "t1", "content": "Test it", "status": "pending"}]\n```\n'
    name = names["session"]
    write(vault, name, note(name, tasks, project="shop", status="paused", started="2026-11-12T08:00:00Z"))
    for folder, one in (("cases", "a-case"), ("knowledge", "an-item"), ("workflows", "a-workflow"), ("history", name)):
        (vault.root / folder).mkdir(exist_ok=True)
        (vault.root / folder / f"{one}.md").write_text("---\nstatus: proposed\n---\n")
    assert cru("record", "prose", "Hello", "--session", name).exit_code in (0, 1)
    result = cru(*command)
    if command[0] == "events":  # recorded by hand, a session has no whole events
        assert result.exit_code == 2
        return
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Name one: {names[command[0]]}" in result.stderr


def test_the_error_names_at_most_ten(vault: Vault, cru: Cru) -> None:
    for number in range(12):
        write(vault, f"s{number:02}", note(f"s{number:02}", started=f"2026-11-{number + 1:02}T08:00:00Z"))
    hint = cru("session", "show").stderr.splitlines()[1]
    assert hint.strip() == (
        "Name one: s11, s10, s09, s08, s07, s06, s05, s04, s03, s02, …. " + 'Run "cru session list" to see all.'
    )


def test_an_empty_vault_has_nothing_to_choose_from(cru: Cru) -> None:
    result = cru("session", "show")
    assert result.exit_code == 2
    assert "the vault has none" in result.stderr


# --- the newest session of this project ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ("learn", "--type", "puzzle"),
        ("learn", "--export", "jsonl"),
        ("learn", "--export", "markdown"),
        ("learn", "--export", "puzzle"),
    ],
    ids=" ".join,
)
def test_learn_for_a_purpose_means_the_newest_session_here(
    args: tuple[str, ...], vault: Vault, shop: Path, cru: Cru
) -> None:
    result = cru("session", *args)
    assert result.exit_code == 0
    assert "2026-11-12-login-page: the newest session of this project" in result.stderr


def test_codify_refine_and_interactive_mean_the_newest_session_here(vault: Vault, shop: Path, cru: Cru) -> None:
    refined = cru("session", "codify", "--refine")
    assert "2026-11-12-login-page: the newest session of this project" in refined.stderr
    with _typing(vault, shop, "session", "codify", "--interactive", EDITOR="true") as terminal:
        terminal.see("without saving [s]")
        terminal.type("q\n")
        terminal.end()
    assert "2026-11-12-login-page: the newest session of this project" in terminal.shown


@pytest.mark.parametrize("args", [("resume", "--print"), ("codify", "-o", "-")], ids=" ".join)
def test_a_session_file_is_taken(args: tuple[str, ...], vault: Vault, shop: Path, cru: Cru) -> None:
    path = next(vault.sessions.glob("*rate-limiter.md"))
    result = cru("session", args[0], path, *args[1:])
    assert "no session" not in result.stderr
    assert "2026-11-10-rate-limiter" in result.stdout + result.stderr


def test_resume_offers_first_what_it_would_take_unasked(vault: Vault, shop: Path, cru: Cru) -> None:
    unasked = cru("session", "resume", "--print", "--json").stdout
    with _typing(vault, shop, "session", "resume", "--print", "--json") as terminal:
        terminal.see(CHOOSE)
        assert "> 2026-11-12-login-page" in terminal.shown
        assert "ledger" not in terminal.shown  # it has ended
        terminal.type(ENTER)
        assert terminal.end() == 0
    assert '"session": "2026-11-12-login-page"' in unasked
    assert '"session": "2026-11-12-login-page"' in terminal.shown


def test_resume_with_nothing_paused_says_so_on_a_terminal(vault: Vault, shop: Path) -> None:
    for path in vault.sessions.glob("2026-*.md"):
        path.write_text(path.read_text().replace("status: paused", "status: completed"))
    with _typing(vault, shop, "session", "resume") as cru:
        assert cru.end() == 1
    assert "no paused session" in cru.shown
