"""`cru session resume` when something goes wrong meanwhile: renames, other people's words, clocks, signals, no home."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

import crucible.cli.session_continue as door
from crucible.cli import session_continue as continued
from crucible.clients.launch.session_marks import resume_mark
from crucible.clients.launch.terminal import run_client
from crucible.clients.registry import DIALECTS
from crucible.commands.resume.material_gathering import Native, Workplace
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.session import Status
from crucible.memory.bookmarks.resume_tickets import issue_ticket
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.clients.opencode_building import talk, text
from tests.unit.commands.resume.resumed import PAUSED, Scene, make_scene, paused_note

OTHER = "2026-11-21-token-bucket"
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7h8"

Meanwhile = Callable[[Callable[[], object]], None]


@pytest.fixture
def scene(tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The command runs in this process, in the project."""
    found = make_scene(tmp_path, vault)
    found.write(paused_note())
    for name, value in found.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(found.project)
    return found


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Something happens when the client has written, and has not ended."""

    def happens(what: Callable[[], object]) -> None:
        def run(*args: object, **more: object) -> int:
            code = run_client(*args, **more)  # type: ignore[arg-type]
            what()
            return code

        monkeypatch.setattr(door, "run_client", run)

    return happens


def transcripts(scene: Scene) -> list[Path]:
    return list(Path(scene.env["HOME"]).glob(".claude/projects/*/*.jsonl"))


def test_a_session_that_is_renamed_while_its_client_runs_has_what_was_done(
    scene: Scene, cru: Cru, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda: cru("session", "rename", PAUSED, OTHER))
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    session = scene.session(OTHER)
    assert (session.status, session.resume_point) == (Status.PAUSED, "phase-3")
    assert "Answer " in scene.text(OTHER)


def test_a_session_is_held_under_its_new_name_too(scene: Scene, cru: Cru, meanwhile: Meanwhile) -> None:
    told: list[str] = []

    def twice() -> None:
        cru("session", "rename", PAUSED, OTHER)
        told.append(cru("session", "resume", OTHER, "--with", "claude", "--force").stderr)

    meanwhile(twice)
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    assert f"{OTHER}: locked by a process that started under its old name {PAUSED}" in told[0]
    assert len(scene.log()) == 1


def test_a_note_whose_properties_are_broken_is_named(scene: Scene, cru: Cru) -> None:
    before = scene.write("---\n: : bad [\n---\n\n# Add it\n").read_bytes()
    result = cru("session", "resume", PAUSED, "--with", "claude")
    assert result.exit_code == 1
    assert f"error: {PAUSED}: line 1: the frontmatter's YAML is broken" in result.stderr
    assert (scene.vault.sessions / f"{PAUSED}.md").read_bytes() == before


def test_a_missing_note_is_reported_with_where_the_work_is(scene: Scene, cru: Cru, meanwhile: Meanwhile) -> None:
    meanwhile((scene.vault.sessions / f"{PAUSED}.md").unlink)
    result = cru("session", "resume", PAUSED, "--with", "claude")
    assert result.exit_code == 1
    assert "its note is missing" in result.stderr
    assert '"cru import claude-code"' in result.stderr
    assert cru("import", "claude-code").exit_code == 0
    (left,) = scene.vault.session_ids()
    assert "Answer " in scene.text(left)


def test_a_pause_while_the_client_runs_is_kept(scene: Scene, cru: Cru, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: cru("session", "pause", PAUSED, "--reason", "dinner"))
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    session = scene.session()
    assert (session.status, session.pause_reason, session.resume_point) == (
        Status.PAUSED,
        "dinner",
        "phase-3",
    )
    assert "Answer " in scene.text()


@pytest.mark.parametrize("words", [(), ("--failed",)])
def test_an_end_while_the_client_runs_is_kept(
    scene: Scene, cru: Cru, meanwhile: Meanwhile, words: tuple[str, ...]
) -> None:
    meanwhile(lambda: cru("session", "end", *words, env={"CRU_SESSION": PAUSED}))
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    session = scene.session()
    assert session.status is (Status.FAILED if words else Status.COMPLETED)
    assert session.ended is not None
    assert "Answer " in scene.text()
    before = scene.text()
    assert cru("import", "claude-code").exit_code == 0
    assert scene.text() == before


def test_a_terminal_that_hangs_up_again_after_the_client_breaks_nothing_off(
    scene: Scene, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_work = continued.import_work

    def hung_up(*args: object, **more: object) -> None:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGINT)
        import_work(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(door, "import_work", hung_up)
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    assert (scene.session().status, len(scene.session().phases)) == (Status.PAUSED, 3)


class _Clock(datetime):
    behind = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) - cls.behind


def test_a_clock_that_is_set_back_hides_nothing_of_what_was_done(
    scene: Scene, cru: Cru, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_back() -> None:
        monkeypatch.setattr(_Clock, "behind", timedelta(hours=1))
        for path in transcripts(scene):
            os.utime(path, (time.time() - 3600,) * 2)

    monkeypatch.setattr(door, "datetime", _Clock)
    meanwhile(set_back)
    assert cru("session", "resume", PAUSED, "--with", "claude").exit_code == 0
    assert len(scene.session().phases) == 3


def test_a_client_gets_no_secret_and_no_other_session(scene: Scene, cru: Cru) -> None:
    scene.write(paused_note().replace("Token bucket.", f"Token bucket {TOKEN}."))
    env = {"CRU_SESSION": "2020-01-01-other"}
    assert cru("session", "resume", PAUSED, "--with", "claude", env=env).exit_code == 0
    (given,) = scene.log()
    assert "Token bucket [REDACTED:github-token]" in given["said"]
    assert TOKEN not in given["said"]
    assert given["CRU_SESSION"] is None


def test_a_session_that_got_the_old_name_after_a_rename_gets_nothing(scene: Scene, cru: Cru) -> None:
    ticket = issue_ticket(scene.vault.root, PAUSED, "claude-code", datetime.now(UTC))
    cru("session", "rename", PAUSED, OTHER)
    other = scene.write(paused_note().replace("2026-11-21T20", "2099-11-21T20")).read_bytes()
    told = f"{resume_mark(PAUSED, ticket.token)}\n\nGo on.".encode()
    subprocess.run(["claude", "-p"], input=told, check=True)
    assert cru("import", "claude-code").exit_code == 0
    assert (scene.vault.sessions / f"{PAUSED}.md").read_bytes() == other
    assert "Answer " in scene.text(OTHER)


def test_without_a_home_a_client_runs_all_the_same(scene: Scene, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_uid: int) -> object:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.delenv("HOME")
    before = scene.text()
    result = cru("session", "resume", PAUSED, "--with", "claude", env={"FAKE_QUIET": "1"})
    assert (result.exit_code, len(scene.log()), scene.text()) == (0, 1, before)


def test_a_folder_of_the_client_that_cannot_be_looked_at_has_no_session_of_its_own(scene: Scene, cru: Cru) -> None:
    scene.write(paused_note(more="sources:\n  - claude-code:abc\n"))
    env = {"CLAUDE_CONFIG_DIR": "/" + "x" * 300}
    result = cru("session", "resume", PAUSED, "--print", env=env)
    assert (result.exit_code, "Token bucket." in result.stdout) == (0, True)


def test_a_session_of_a_database_that_the_client_continued_is_imported(tmp_path: Path) -> None:
    said = talk(tmp_path)
    said.agent(text("The first answer."))
    (before,) = DIALECTS["opencode"].find(tmp_path)
    begun = datetime.fromtimestamp(said.now / 1000 + 60, UTC)
    native, place = Native(before, tmp_path), Workplace({}, tmp_path, tmp_path, UserSettings())
    assert continued._written(DIALECTS["opencode"], native, place, begun) == []
    said.now += 90_000
    said.agent(text("The second answer."))
    assert continued._written(DIALECTS["opencode"], native, place, begun) == [before.path]
