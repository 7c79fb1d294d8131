"""`cru knowledge capture`: plain and scriptable without a terminal, a question on one."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crucible.commands.capture import capture as keeping
from crucible.commands.capture.candidates import Candidate, CandidateKind
from crucible.commands.capture.capture_log import captures_of
from crucible.commands.capture.question import set_preference
from crucible.core.settings.settings import load_vault_settings
from crucible.memory.bookmarks.resume_tickets import CAPTURES
from crucible.memory.knowledge.knowledge_folder import load_items
from crucible.vault.notes.vault import Vault
from tests.git_repositories import made
from tests.paths import ROOT
from tests.running import Cru

ID = "2026-11-21-limiter"
NOTE = """\
---
type: session
session_id: {id}
started: {started}
ended: 2026-11-21T20:20:00Z
status: completed
project: shop
---

# Add a rate limiter

## Write the bucket

> [!decision]
> We use a token bucket for the limiter.
> Rationale: It needs constant memory per key.

Words.

> [!decision]
> All times are kept in UTC, never in local time.
> Rationale: Servers stand in several zones.
"""
DECISION = Candidate(CandidateKind.DECISION, 0.9, "Use a token bucket", "phase-1", 13, "constant memory per key")
PATTERN = Candidate(CandidateKind.PATTERN, 0.75, "Take the clock as an argument", "phase-1", 14)
UNSURE = Candidate(CandidateKind.PATTERN, 0.65, "Name tests after facts", "phase-1", 15)
CORRECTION = Candidate(CandidateKind.SELF_CORRECTION, 0.85, "The window slides", "phase-1", 16)
Finds = Callable[..., None]


@pytest.fixture(autouse=True)
def shop(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository called `shop`, with a session of it in the vault."""
    for name in ("CRU_SESSION", "CLAUDECODE", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    vault.create(ID, NOTE.format(id=ID, started="2026-11-21T20:00:00Z"))
    folder = made(tmp_path / "shop")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def finds(monkeypatch: pytest.MonkeyPatch) -> Finds:
    """Have these found in any session."""

    def found(*candidates: Candidate) -> None:
        monkeypatch.setattr(keeping, "detect", lambda *_: candidates)

    found(PATTERN, UNSURE, DECISION, CORRECTION)
    return found


def titles(vault: Vault) -> list[str]:
    return sorted(one.item.title for one in load_items(vault) if one.item)


def test_what_is_sure_is_kept_and_the_rest_is_listed(cru: Cru, vault: Vault, finds: Finds) -> None:
    done = cru("knowledge", "capture", ID)
    assert done.exit_code == 0
    assert done.stdout == (
        "kept failure: The window slides → knowledge/the-window-slides.md\n"
        "  1 ✓ [decision] Use a token bucket (0.90)\n"
        "      → constant memory per key\n"
        "  2 ? [pattern] Take the clock as an argument (0.75)\n"
        "  3 ? [pattern] Name tests after facts (0.65)\n"
    )
    assert f"cru knowledge capture {ID} --accept 1,…" in done.stderr
    assert titles(vault) == ["The window slides"]


def test_accept_keeps_what_it_names_and_the_others_never_come_again(cru: Cru, vault: Vault, finds: Finds) -> None:
    cru("knowledge", "capture", ID)
    done = cru("knowledge", "capture", ID, "--accept", "1,3")
    assert (done.exit_code, done.stdout.count("kept ")) == (0, 2)
    assert titles(vault) == ["Name tests after facts", "The window slides", "Use a token bucket"]
    assert cru("knowledge", "capture", ID).stdout == ""
    assert "nothing to keep" in cru("knowledge", "capture", ID).stderr
    again = cru("knowledge", "capture", ID, "--again")
    assert again.stdout == "  1 ? [pattern] Take the clock as an argument (0.75)\n"


@pytest.mark.parametrize(("words", "count"), [("all", 4), ("none", 1), ("1-2", 3)])
def test_accept_takes_words_and_ranges(cru: Cru, vault: Vault, finds: Finds, words: str, count: int) -> None:
    assert cru("knowledge", "capture", ID, "--accept", words).exit_code == 0
    assert len(titles(vault)) == count


def test_an_invalid_number_is_reported_and_skips_nothing(cru: Cru, vault: Vault, finds: Finds) -> None:
    done = cru("knowledge", "capture", ID, "--accept", "7")
    assert done.exit_code == 2
    assert "'7' is not in the list: choose from 1 to 3" in done.stderr
    assert "kept failure" in done.stdout
    assert cru("knowledge", "capture", ID).stdout.count("\n") == 4
    cru("knowledge", "capture", ID, "--accept", "none")
    assert cru("knowledge", "capture", ID, "--accept", "1").exit_code == 2
    assert cru("knowledge", "capture", ID, "--accept", "all").exit_code == 0


def test_as_json_it_is_all_there_and_candidates_have_names(cru: Cru, vault: Vault, finds: Finds) -> None:
    told = json.loads(cru("knowledge", "capture", ID, "--format", "json").stdout)
    assert told["session"] == ID
    assert [(one["type"], one["id"], one["silent"]) for one in told["kept"]] == [("failure", "the-window-slides", True)]
    first = told["suggested"][0]
    assert (first["number"], first["kind"], first["preselected"], first["asked_about"]) == (
        1,
        "decision",
        True,
        True,
    )
    assert (first["phase"], first["line"]) == ("phase-1", 13)
    assert [one["asked_about"] for one in told["suggested"]] == [True, True, False]
    assert told["budget"] == {"limit": 2, "spent": 0, "left": 2, "prompts": 0}
    done = json.loads(cru("knowledge", "capture", ID, "--accept", first["candidate"], "--format", "json").stdout)
    assert [one["path"] for one in done["kept"]] == ["knowledge/use-a-token-bucket.md"]
    assert len(done["skipped"]) == 2


def test_a_dry_run_lists_and_keeps_nothing(cru: Cru, vault: Vault, finds: Finds) -> None:
    done = cru("knowledge", "capture", ID, "--dry-run")
    assert done.stdout.startswith("would keep failure: The window slides\n  1 ✓ [decision]")
    assert titles(vault) == []
    assert not (vault.root / ".crucible" / "memory" / CAPTURES).exists()
    assert cru("knowledge", "capture", ID, "--dry-run", "--accept", "all").exit_code == 2


def test_without_an_id_it_is_the_environments_or_the_projects_newest(cru: Cru, vault: Vault, finds: Finds) -> None:
    newer = "2026-11-22-next"
    vault.create(newer, NOTE.format(id=newer, started="2026-11-22T20:00:00Z"))
    vault.create("2026-11-23-z", NOTE.format(id="2026-11-23-z", started="2026-11-23T20:00:00Z").replace("shop", "bank"))
    assert json.loads(cru("knowledge", "capture", "--dry-run", "--format", "json").stdout)["session"] == newer
    told = cru("knowledge", "capture", "--dry-run", "--format", "json", env={"CRU_SESSION": ID}).stdout
    assert json.loads(told)["session"] == ID


def test_what_was_answered_holds_under_every_name_of_the_session(cru: Cru, vault: Vault, finds: Finds) -> None:
    cru("knowledge", "capture", ID, "--accept", "none")
    for old, new in ((ID, "2026-11-21-bucket"), ("2026-11-21-bucket", "2026-11-21-pail")):
        assert cru("session", "rename", old, new).exit_code == 0
        assert len(captures_of(vault.root, new).skipped) == 3
        assert cru("knowledge", "capture", new).stdout == ""


def test_without_any_session_it_says_what_to_do(
    cru: Cru, finds: Finds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made(tmp_path / "empty"))
    done = cru("knowledge", "capture")
    assert done.exit_code == 2
    assert "the project 'empty' has none" in done.stderr
    assert "cru session list" in done.stderr


def test_an_unknown_session_is_reported(cru: Cru) -> None:
    done = cru("knowledge", "capture", "2026-11-21-nobody")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith('error: no session matches "2026-11-21-nobody"')


def test_a_full_knowledge_base_is_reported_and_the_candidate_stays_pending(
    cru: Cru, vault: Vault, finds: Finds
) -> None:
    config = vault.root / ".crucible" / "config.toml"
    config.write_text("[knowledge]\nproject_limit = 1\n")
    done = cru("knowledge", "capture", ID, "--accept", "1")
    assert done.exit_code == 1
    assert "no room: 1 of 1 items of the project shop" in done.stderr
    config.write_text("")
    assert "kept decision: Use a token bucket" in cru("knowledge", "capture", ID).stdout


def test_a_similar_item_is_kept_beside_the_other_if_requested(cru: Cru, vault: Vault, finds: Finds) -> None:
    long = CORRECTION._replace(summary="The window slides with every request")
    finds(long, long._replace(summary="The window slides with every single request", confidence=0.8))
    first = cru("knowledge", "capture", ID)
    assert (
        "not kept, failure: The window slides with every single request: "
        "knowledge/the-window-slides-with-every-request.md says the same" in first.stdout
    )
    assert cru("knowledge", "capture", ID, "--accept", "1").exit_code == 1
    assert cru("knowledge", "capture", ID, "--accept", "1", "--if-alike", "keep_both").exit_code == 0
    assert len(titles(vault)) == 2


def test_foreign_text_steers_no_terminal_and_forges_no_line(cru: Cru, vault: Vault, finds: Finds) -> None:
    finds(
        DECISION._replace(
            summary="Use it\x1b[2J\x1b]0;t\x07\u202e\nkept decision: all",
            detail="a\r\nb\u2028  9 ✓ [decision] forged",
        )
    )
    done = cru("knowledge", "capture", ID)
    told = done.stdout + done.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", told)
    assert [line for line in told.split("\n") if line.startswith("kept")] == []
    assert done.stdout.count("\n") == 2


def test_the_real_detector_finds_what_the_note_marks(cru: Cru) -> None:
    told = json.loads(cru("knowledge", "capture", ID, "--dry-run", "--format", "json").stdout)
    assert [one["kind"] for one in told["would_keep"]] == ["decision", "decision"]


SEED = """\

> [!findings]
> - Repositories hide the database behind an interface (model, 0.75, row 5ad1908e)
>   Details: Abstracts database queries

## Order

> [!decision]
> Chose event-driven architecture for OrderService
> Rationale: Decouples order processing from payment confirmation
> Alternatives: Synchronous calls
> Source: reply, 0.85, rows 3a77d35a

> [!error]
> charge() deprecated; use processPayment()
> Cause: The payments API removed charge() in its third version.
> Resolution: pay.py calls processPayment()
> Source: failing then passing call, 0.94, rows 64403031

"""


def test_the_example_of_the_specification_is_listed_as_it_shows_it(cru: Cru, vault: Vault) -> None:
    name = "2026-11-22-orders"
    head = NOTE.format(id=name, started="2026-11-22T20:00:00Z").partition("\n## Write")[0]
    vault.create(name, head + SEED)
    assert cru("knowledge", "capture", name, "--dry-run").stdout == (
        "  1 ✓ [failure] charge() deprecated; use processPayment() (0.94)\n"
        "      → The payments API removed charge() in its third version.\n"
        "  2 ✓ [decision] Chose event-driven architecture for OrderService (0.85)\n"
        "      → Decouples order processing from payment confirmation\n"
        "  3 ? [observation] Repositories hide the database behind an interface (0.75)\n"
        "      → Abstracts database queries\n"
    )
    cru("knowledge", "capture", name, "--accept", "all")
    text = (vault.root / "knowledge" / "chose-event-driven-architecture-for-orderservice.md").read_text()
    assert "Why: Decouples order processing from payment confirmation\n\nInstead of: Synchronous calls" in text
    text = (vault.root / "knowledge" / "charge-deprecated-use-processpayment.md").read_text()
    assert "category: knowledge_gap" in text
    assert "## Root cause\n\nThe payments API removed charge() in its third version." in text
    assert "## Resolution\n\npay.py calls processPayment()" in text


def test_two_at_once_keep_one_item(vault: Vault, shop: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "crucible",
        "--vault",
        str(vault.root),
        "knowledge",
        "capture",
        ID,
        "--accept",
        "all",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(command, env=env, cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    told = [one.communicate() for one in running]
    assert [one.returncode for one in running] == [0, 0], told
    assert len(titles(vault)) == 2


# --- on a terminal ---------------------------------------------------------------------------------------------------


class Terminal:
    """`cru` at a terminal: `say` waits for a text and answers it."""

    def __init__(self, vault: Vault, folder: Path, *args: str, **env: str) -> None:
        self._main, side = pty.openpty()
        surroundings = {
            "COLUMNS": "100",
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": str(ROOT),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crucible", "--vault", str(vault.root), *args],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            env={**os.environ, **surroundings, **env},
            start_new_session=True,
        )
        os.close(side)
        self.shown = ""
        self._read_to = 0

    def answer(self, waits_for: str, line: str) -> None:
        """Type a line when the text is there."""
        self._wait(waits_for)
        os.write(self._main, line.encode() + (b"" if line == "\x04" else b"\n"))

    def _wait(self, text: str) -> None:
        until = time.monotonic() + 30
        while text not in self.shown[self._read_to :]:
            assert time.monotonic() < until, self.shown
            if not self._more():
                raise AssertionError(f"no {text!r} in {self.shown}")
        self._read_to = self.shown.index(text, self._read_to) + len(text)

    def _more(self) -> bool:
        if not select.select([self._main], [], [], 30)[0]:
            return False
        try:
            part = os.read(self._main, 65_536)
        except OSError:
            return False
        self.shown += part.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(part)

    def end(self) -> int:
        """Its exit code."""
        while self._more():
            pass
        os.close(self._main)
        return self._process.wait(30)


ASKS = "select and deselect"


@pytest.fixture
def terminal(vault: Vault, shop: Path) -> Callable[..., Terminal]:
    set_preference(vault.root, "silent", value=False)  # what a note tells is asked about, too
    return lambda *args, **env: Terminal(vault, shop, *args, **env)


def test_a_number_unticks_a_letter_saves(terminal: Any, vault: Vault) -> None:
    one = terminal("knowledge", "capture", ID)
    one.answer(ASKS, "2")
    one.answer(ASKS, "x")
    one.answer(ASKS, "s")
    assert one.end() == 0
    assert "  1 ✓ [decision]" in one.shown
    assert "  2 ? [decision]" in one.shown
    assert "[s]ave 1 selected" in one.shown
    assert len(titles(vault)) == 1
    assert "1 skipped" in one.shown


def test_edit_preferences_and_leaving(terminal: Any, vault: Vault) -> None:
    one = terminal("knowledge", "capture", ID)
    one.answer(ASKS, "e 1")
    one.answer("Summary", "In my own words")
    one.answer("Detail", "as I think")
    one.answer(ASKS, "p")
    one.answer("Enter to go back", "1")
    one.answer("Enter to go back", "2")
    one.answer("From 0 to 1", "0.65")
    one.answer("Enter to go back", "")
    one.answer(ASKS, "s")
    assert one.end() == 0
    assert "In my own words" in titles(vault)
    capture = load_vault_settings(vault.root).capture
    assert (capture.prompt_on_end, capture.min_confidence) == (False, 0.65)


def test_an_editor_takes_summary_and_detail(terminal: Any, vault: Vault, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "From the editor\\n\\nIts detail.\\n" > "$1"\n')
    editor.chmod(0o755)
    one = terminal("knowledge", "capture", ID, EDITOR=str(editor))
    one.answer(ASKS, "e 2")
    one.answer(ASKS, "s")
    assert one.end() == 0
    assert "From the editor" in titles(vault)


def test_a_user_who_leaves_is_asked_again_as_often_as_they_run_the_command(terminal: Any, vault: Vault) -> None:
    for keys in ("q", "\x04", "q", "q", "q"):
        one = terminal("knowledge", "capture", ID)
        one.answer(ASKS, keys)
        assert one.end() == 0
    assert "2 of 2 points of the session's question budget left" in one.shown
    assert "--accept" in one.shown
    assert titles(vault) == []


def test_an_agent_at_a_terminal_is_not_asked(terminal: Any) -> None:
    one = terminal("knowledge", "capture", ID, CLAUDECODE="1")
    assert one.end() == 0
    assert ASKS not in one.shown


def test_an_editor_that_writes_no_text_changes_nothing(terminal: Any, vault: Vault, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "\\377\\376\\n" > "$1"\n')
    editor.chmod(0o755)
    one = terminal("knowledge", "capture", ID, EDITOR=str(editor))
    one.answer(ASKS, "e 2")
    one.answer(ASKS, "s")
    assert one.end() == 0
    assert "unchanged" in one.shown
    assert len(titles(vault)) == 2


def test_a_broken_settings_file_is_reported_in_one_line(terminal: Any, vault: Vault) -> None:
    one = terminal("knowledge", "capture", ID)
    one.answer(ASKS, "2")
    (vault.root / ".crucible" / "config.toml").write_text("broken = [")
    one.answer(ASKS, "p")
    one.answer(ASKS, "s")
    assert one.end() == 0
    assert "config.toml" in one.shown
    assert len(titles(vault)) == 1


def test_what_could_not_be_kept_is_not_called_nothing(cru: Cru, vault: Vault, finds: Finds) -> None:
    finds(DECISION)
    (vault.root / "knowledge").write_text("in the way")
    done = cru("knowledge", "capture", ID, "--accept", "all")
    assert done.exit_code == 1
    assert "not kept" in done.stderr
    assert "nothing to keep" not in done.stderr
